//! The handle to the cluster: who am I, and how do I talk to the others.

use crate::collective;
use crate::core::Parcel;
use crate::driver::Shared;
use crate::error::{Error, Result};
use crate::operation::{Operation, Receive, ReceiveAny};
use crate::parts::Parts;
use crate::portable::{Number, Op, Plain, Portable, goes_as_it_is};
use crate::session::{Builder, Session};
use crate::slot::Slot;
use crate::stats::Stats;
use crate::steps::Whole;
use std::fmt;
use std::sync::Arc;

/// The largest tag of a message.
pub const MAX_TAG: u16 = 3999;

/// All ranks of the program, seen from one of them. Cheap to clone; tasks may have their own.
///
/// Operations begin when they are called and return a future; see [`Operation`]. *Collective* ones (`barrier` to `all_to_all`, and most of
/// [`Distributed`](crate::Distributed)) are called by all ranks, in the same order. Ranks whose calls do not belong together get
/// [`Error::Mismatch`].
#[derive(Clone)]
pub struct Cluster {
    pub(crate) shared: Arc<Shared>,
    /// What its collective calls are a part of. `None` in every handle of a user.
    pub(crate) whole: Option<Arc<Whole>>,
}

impl Cluster {
    /// Starts MPI and a runtime for this rank. A program that was not started by `mpirun` is a cluster of one.
    ///
    /// # Errors
    /// [`Error::Initialised`] the second time; [`Error::Runtime`] if there are no threads to be had.
    pub fn init() -> Result<Session> {
        Builder::new().init()
    }

    /// Runs `program` on every rank, and ends the cluster: the whole of a `main`.
    ///
    /// A panic ends all ranks, with its message and rank, and exit code 101.
    ///
    /// ```no_run
    /// use blitz_mpi::{Cluster, Op};
    ///
    /// Cluster::run(async |cluster| {
    ///     let ranks = cluster.all_reduce_one(1u64, Op::Sum).await.unwrap();
    ///     assert_eq!(ranks, cluster.size() as u64);
    /// })
    /// .unwrap();
    /// ```
    ///
    /// # Errors
    /// As [`init`](Self::init) and [`Session::close`].
    pub fn run<R>(program: impl AsyncFnOnce(&Cluster) -> R) -> Result<R> {
        Builder::new().run(program)
    }

    /// Settings: threads per rank.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// This rank's number, from 0.
    pub fn rank(&self) -> usize {
        self.shared.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.shared.size
    }

    /// The threads of this rank's pool.
    pub fn threads(&self) -> usize {
        self.shared.threads
    }

    /// What this rank has sent so far.
    pub fn stats(&self) -> Stats {
        self.shared.lock().stats()
    }

    /// Ends all ranks at once, with a message that names this one, and this exit code.
    pub fn abort(&self, code: i32, message: &str) -> ! {
        crate::session::abort(&self.shared, code, message)
    }

    // Messages.

    /// Sends a slice, from whatever owns it (`Vec`, `Box<[T]>`, `Arc<[T]>`, an array), which comes back when it may be used again. No copy but
    /// MPI's own for short messages.
    ///
    /// Short messages are on their way when this returns. A long one may need the receiver to ask for it first. Messages with the same
    /// tag from one rank to another are received in the order in which they were sent.
    ///
    /// ```no_run
    /// # use blitz_mpi::{Cluster, Result};
    /// # async fn example(cluster: &Cluster) -> Result<()> {
    /// let right = (cluster.rank() + 1) % cluster.size();
    /// let left = (cluster.rank() + cluster.size() - 1) % cluster.size();
    /// let sending = cluster.send(right, 7, vec![cluster.rank() as u64]);
    /// assert_eq!(cluster.recv::<u64>(left, 7).await?, [left as u64]);
    /// sending.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send<T: Plain, B: AsRef<[T]> + Send + 'static>(
        &self,
        to: usize,
        tag: u16,
        data: B,
    ) -> Operation<B> {
        self.send_any_tag(
            to,
            if tag <= MAX_TAG {
                Ok(tag)
            } else {
                Err(Error::NoSuchTag(tag))
            },
            data,
        )
    }

    pub(crate) fn send_any_tag<T: Plain, B: AsRef<[T]> + Send + 'static>(
        &self,
        to: usize,
        tag: Result<u16>,
        data: B,
    ) -> Operation<B> {
        const { assert!(size_of::<T>() > 0, "elements without bytes cannot be sent") };
        let slot = Slot::new();
        let started = tag.and_then(|tag| {
            let parcel = Parcel::new(data, &slot);
            self.shared
                .begin(parcel.bytes(), |core| core.send::<T, B>(to, tag, parcel))
        });
        match started {
            Ok(()) => Operation::new(&self.shared, slot),
            Err(error) => Operation::new(&self.shared, Slot::filled(Err(error))),
        }
    }

    /// Receives a message, of any length, from a rank.
    ///
    /// Dropping the future loses no message. [`Error::ElementSize`] if the sender's elements have another size.
    pub fn recv<T: Plain>(&self, from: usize, tag: u16) -> Receive<T> {
        Receive(self.receive_from(Some(from), tag))
    }

    /// Receives a message from any rank, and tells which.
    pub fn recv_any<T: Plain>(&self, tag: u16) -> ReceiveAny<T> {
        self.receive_from(None, tag)
    }

    fn receive_from<T: Plain>(&self, from: Option<usize>, tag: u16) -> ReceiveAny<T> {
        if tag > MAX_TAG {
            return ReceiveAny::refused(&self.shared, Error::NoSuchTag(tag));
        }
        self.receive_any_tag(from, tag)
    }

    pub(crate) fn receive_any_tag<T: Plain>(&self, from: Option<usize>, tag: u16) -> ReceiveAny<T> {
        const {
            assert!(
                size_of::<T>() > 0,
                "elements without bytes cannot be received"
            )
        };
        ReceiveAny::start(&self.shared, from, tag)
    }

    // Collectives.

    /// Waits until all ranks are here.
    pub fn barrier(&self) -> Operation<()> {
        collective::barrier(self)
    }

    /// Combines the ranks' numbers, element by element; all ranks get the result, the same to the last bit.
    ///
    /// Up to 48 bytes take log2(ranks) small messages (and up to two more), and nothing else. All ranks give as many numbers.
    pub fn all_reduce<T: Number>(&self, numbers: Vec<T>, op: Op) -> Operation<Vec<T>> {
        collective::all_reduce(self, numbers, op)
    }

    /// [`all_reduce`](Self::all_reduce) of one number.
    pub fn all_reduce_one<T: Number>(&self, number: T, op: Op) -> Operation<T> {
        collective::all_reduce_one(self, number, op)
    }

    /// Gives all ranks what the root has; what the others give is ignored (`vec![]` will do).
    pub fn broadcast<T: Plain>(&self, root: usize, data: Vec<T>) -> Operation<Vec<T>> {
        const { assert!(size_of::<T>() > 0) };
        // SAFETY: it is plain.
        unsafe { collective::broadcast(self, root, data) }
    }

    /// Gives each rank its part of what the root has; the others give `None`.
    pub fn scatter<T: Plain>(&self, root: usize, parts: Option<Parts<T>>) -> Operation<Vec<T>> {
        const { assert!(size_of::<T>() > 0) };
        // SAFETY: it is plain and has a size.
        unsafe { collective::scatter(self, root, parts) }
    }

    /// Gives the root what all ranks have, of any lengths; the others get `None`.
    pub fn gather<T: Plain>(&self, root: usize, data: Vec<T>) -> Operation<Option<Parts<T>>> {
        const { assert!(size_of::<T>() > 0) };
        // SAFETY: it is plain and has a size.
        unsafe { collective::gather(self, root, data) }
    }

    /// Gives all ranks what all ranks have, of any lengths.
    pub fn all_gather<T: Plain>(&self, data: Vec<T>) -> Operation<Parts<T>> {
        const { assert!(size_of::<T>() > 0) };
        // SAFETY: it is plain and has a size.
        unsafe { collective::all_gather(self, data) }
    }

    /// Gives each rank its part of what every rank has, of any lengths.
    pub fn all_to_all<T: Plain>(&self, parts: Parts<T>) -> Operation<Parts<T>> {
        const { assert!(size_of::<T>() > 0) };
        // SAFETY: it is plain and has a size.
        unsafe { collective::all_to_all(self, parts) }
    }

    // The same for what is packed.

    /// As [`all_to_all`](Self::all_to_all), for anything portable.
    pub(crate) async fn exchange<T: Portable>(&self, parts: Parts<T>) -> Result<Parts<T>> {
        if goes_as_it_is::<T>() {
            // SAFETY: it is plain and has a size.
            return unsafe { collective::all_to_all(self, parts) }.await;
        }
        let packed = parts.iter().map(pack).collect::<Vec<_>>();
        drop(parts);
        unpack(self.all_to_all(Parts::from(packed)).await?)
    }

    /// As [`gather`](Self::gather), for anything portable.
    pub(crate) async fn gather_portable<T: Portable>(
        &self,
        root: usize,
        data: Vec<T>,
    ) -> Result<Option<Parts<T>>> {
        if goes_as_it_is::<T>() {
            // SAFETY: it is plain and has a size.
            return unsafe { collective::gather(self, root, data) }.await;
        }
        self.gather(root, pack(&data))
            .await?
            .map(unpack)
            .transpose()
    }

    /// As [`all_gather`](Self::all_gather), for anything portable.
    pub(crate) async fn all_gather_portable<T: Portable>(&self, data: Vec<T>) -> Result<Parts<T>> {
        if goes_as_it_is::<T>() {
            // SAFETY: it is plain and has a size.
            return unsafe { collective::all_gather(self, data) }.await;
        }
        unpack(self.all_gather(pack(&data)).await?)
    }

    /// As [`scatter`](Self::scatter), for anything portable.
    pub(crate) async fn scatter_portable<T: Portable>(
        &self,
        root: usize,
        parts: Option<Parts<T>>,
    ) -> Result<Vec<T>> {
        if goes_as_it_is::<T>() {
            // SAFETY: it is plain and has a size.
            return unsafe { collective::scatter(self, root, parts) }.await;
        }
        let packed = parts.map(|parts| Parts::from(parts.iter().map(pack).collect::<Vec<_>>()));
        unpack_part(&self.scatter(root, packed).await?)
    }
}

/// A part begins with its number of elements: an element may have no bytes.
fn pack<T: Portable>(items: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    (items.len() as u64).pack(&mut bytes);
    items.iter().for_each(|item| item.pack(&mut bytes));
    bytes
}

fn unpack_part<T: Portable>(mut bytes: &[u8]) -> Result<Vec<T>> {
    if bytes.is_empty() {
        // Nobody has sent anything.
        return Ok(Vec::new());
    }
    Vec::<T>::unpack(&mut bytes)
}

fn unpack<T: Portable>(packed: Parts<u8>) -> Result<Parts<T>> {
    let parts = packed
        .iter()
        .map(unpack_part)
        .collect::<Result<Vec<Vec<T>>>>()?;
    Ok(Parts::from(parts))
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cluster(rank {} of {})", self.rank(), self.size())
    }
}
