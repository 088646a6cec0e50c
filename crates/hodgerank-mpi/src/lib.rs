//! Ranking over several machines.
