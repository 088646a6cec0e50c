//! The passes over the input.
//!
//! Every command starts with [`Session::first_pass`]: all processes rank all votes together, and
//! each owns some distinct votes. Commands on rows continue with [`FirstPass::second_pass`](first_pass::FirstPass::second_pass): each
//! process reads its own files again, with the results that the owners of its votes found.
//!
//! [`Session::first_pass`]: crate::session::Session::first_pass

mod annotator_results;
mod exclusion;
mod first_pass;
mod owner_results;

pub(crate) use first_pass::Job;
