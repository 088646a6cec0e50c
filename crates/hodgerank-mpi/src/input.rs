//! Input: which process reads what, and how labels and votes reach the processes that own them.

mod annotators;
pub mod labels;
mod local_votes;
pub mod read;
pub mod shard_plan;
pub mod studies;
pub mod votes;

pub(crate) use local_votes::LocalVotes;
pub use shard_plan::ShardPlan;
pub use studies::{DistributedStudy, KeptColumns};
