//! Beyond one machine: Blitz inside, MPI between.
//!
//! One process on each machine (a *rank*) has a Blitz pool; MPI moves data between them. Communication is awaited on the runtime, so that it overlaps with
//! computing, and vectors over all ranks ([`Distributed`]) have the operations that vectors on one machine have.
//!
//! ```no_run
//! use blitz_mpi::{Cluster, Distributed};
//!
//! Cluster::run(async |cluster| {
//!     let numbers = Distributed::from_fn(cluster, 1_000_000, |index| index as u64 * 7 % 1000);
//!     let sorted = numbers.sort_unstable().await.unwrap();
//!     println!("rank {} has {} of them", cluster.rank(), sorted.local().len());
//! })
//! .unwrap();
//! ```
//!
//! `mpirun -n 4 program` runs it on four ranks, `program` alone on one. The book's chapter "Beyond one machine" is the guide; this page is how it works.
//!
//! # Who enters MPI
//! One thread at a time: everything that MPI knows is behind one lock (`core.rs`), and MPI is asked for `MPI_THREAD_SERIALIZED` only. Nobody stays inside: every
//! call is one that returns at once (`MPI_Isend`, `MPI_Improbe`, `MPI_Testsome`, …). Calls that wait are made at the start and at the end only.
//!
//! MPI moves messages only while somebody is inside of it. A task of the runtime, the *driver*, looks at what is under way: again and again while something
//! should come soon, then with naps, and not at all when nothing is under way (`driver.rs`). A future that is polled for the first time looks for itself, for
//! 50 us at most, and one of those that found nothing goes on for 4 ms, in turns with all other tasks: so an answer that is nearly there needs no task switch, and ranks that compute in step
//! do not disturb each other.
//!
//! # Who owns the buffers
//! The library, until MPI says that it is done with them. Operations take what they send by value and give it back; what they receive is a new
//! vector. So there is nothing that a dropped or forgotten future could free too early, and nothing waits in a destructor. Borrowed slices could not be sent
//! this way: a future that is forgotten would leave MPI with a pointer to a frame that is gone. Any owner of a slice will do (`Vec`, `Arc<[T]>`, arrays), so that nothing is copied.
//! (`core.rs` has the argument.)
//!
//! # What arrives is a value
//! [`Plain`] data has no invalid bytes, so that whatever another rank sends is a value of the type that is asked for. An element's size goes along with every message
//! and every collective call, and one that differs is an error.
//!
//! # How ranks agree
//! A collective call begins with an agreement: frames of 96 bytes, combined by recursive doubling, tell all ranks what all ranks have called (`agree.rs`). If that does not
//! belong together, all of them get the same [`Error::Mismatch`], and no data has moved. Short reductions travel in the frames themselves.
//!
//! # How it ends
//! `session.rs`: everything that is under way comes to its end, what was never received is reported, and MPI is left by the thread that started it. A panic ends all ranks through `MPI_Abort`. A rank that
//! is killed is noticed by whatever started the ranks (`mpirun`, `srun`), not by MPI.
//!
//! # What errors come back
//! [`Error`]: MPI's own errors as text (its communicators return errors instead of ending the process), and what this crate finds out itself. After an error of MPI the buffers
//! of that operation are leaked, because nobody can say whether MPI still uses them.

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
mod steps;

pub use cluster::{Cluster, MAX_TAG};
pub use distributed::Distributed;
pub use dynamic::Balance;
pub use error::{Error, Result};
pub use operation::{Operation, Receive, ReceiveAny};
pub use parts::Parts;
pub use portable::{Number, Op, Plain, Portable};
pub use session::{Builder, Session};
pub use stats::Stats;

// The book's chapter, as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/many-machines.md")]
struct ManyMachinesChapter;
