//! Blitz inside, MPI between. (design page to come)

mod agree;
mod cluster;
mod collective;
mod core;
mod distributed;
mod driver;
mod dynamic;
mod error;
mod links;
mod operation;
mod parts;
mod portable;
mod session;
mod slot;
mod stats;

pub use cluster::{Cluster, MAX_TAG};
pub use distributed::Distributed;
pub use dynamic::Balance;
pub use error::{Error, Result};
pub use operation::{Operation, Receive, ReceiveAny};
pub use parts::Parts;
pub use portable::{Number, Op, Plain, Portable};
pub use session::{Builder, Session};
pub use stats::Stats;
