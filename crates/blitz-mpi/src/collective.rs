//! Collective calls: what each of them sends, once the ranks have agreed.
//!
//! | call | after the agreement |
//! |---|---|
//! | barrier, `all_reduce` up to 48 bytes | nothing |
//! | longer `all_reduce`, `broadcast` | one collective of MPI |
//! | `scatter`, `gather`, `all_gather`, `all_to_all` | one message for each pair of ranks that has data for each other; its length tells how much |
//!
//! The second kind leaves the shape of the tree to MPI. The third has no tree to win, and with plain messages nobody has to send counts first, and no
//! total is limited by what MPI can count.

use crate::agree::{Call, Combine, Fault, Kind, PAYLOAD, Payload};
use crate::cluster::Cluster;
use crate::core::{Body, Core};
use crate::error::{Error, Result, check};
use crate::links::{Batch, Links, Probed, count, null_request};
use crate::operation::Operation;
use crate::parts::Parts;
use crate::portable::{Number, Op};
use crate::slot::Slot;
use crate::steps::Whole;
use mpi::ffi;
use std::ops::Range;
use std::os::raw::c_int;
use std::sync::Arc;
use std::task::Waker;

const NOTHING: Payload = Payload([0; PAYLOAD]);

/// Begins a call.
fn start<R: Send + 'static>(
    cluster: &Cluster,
    bytes: usize,
    slot: Arc<Slot<R>>,
    (call, payload, combine): (Call, Payload, Combine),
    body: Box<dyn Body>,
) -> Operation<R> {
    let (shared, whole) = (&cluster.shared, cluster.whole.as_ref());
    let started = shared.begin(bytes, |core| {
        // The end itself goes on when users are told that the cluster is closed.
        if !whole.is_some_and(|whole| whole.kind == Kind::CLOSE) {
            core.open()?;
        }
        core.call(whole, call, payload, combine, body)
    });
    match started {
        Ok(()) => Operation::new(shared, slot),
        Err(error) => Operation::new(shared, Slot::filled(Err(error))),
    }
}

/// One more step, for those who have gone on: this rank has left.
pub(crate) fn say_left(core: &mut Core, whole: &Arc<Whole>) -> Result<()> {
    let body = Box::new(Bare { slot: Slot::new() });
    core.call(
        Some(whole),
        Call::new(Kind::LEFT, 0),
        NOTHING,
        nothing_to_combine(),
        body,
    )
}

/// Only the agreement.
struct Bare {
    slot: Arc<Slot<()>>,
}

impl Body for Bare {
    fn begin(&mut self, _: &mut Links, _: c_int, _: &Payload) -> Result<()> {
        Ok(())
    }

    fn advance(&mut self, _: &mut Links) -> Result<bool> {
        Ok(true)
    }

    fn finish(self: Box<Self>, wakes: &mut Vec<Waker>) {
        self.slot.fill(Ok(()), wakes);
    }

    fn fail(&mut self, error: Error, wakes: &mut Vec<Waker>) {
        self.slot.fill(Err(error), wakes);
    }

    fn bytes(&self) -> usize {
        0
    }
}

fn nothing_to_combine() -> Combine {
    Combine {
        op: Op::Sum,
        length: 0,
        apply: |_, _, _| {},
    }
}

pub(crate) fn barrier(cluster: &Cluster) -> Operation<()> {
    let slot = Slot::new();
    let body = Box::new(Bare {
        slot: Arc::clone(&slot),
    });
    let call = Call::new(Kind::BARRIER, 0);
    start(
        cluster,
        0,
        slot,
        (call, NOTHING, nothing_to_combine()),
        body,
    )
}

// Reductions.

struct Reduction<T> {
    op: Op,
    given: Vec<T>,
    result: Vec<T>,
    slot: Arc<Slot<Vec<T>>>,
    requests: Batch,
}

pub(crate) fn all_reduce<T: Number>(cluster: &Cluster, given: Vec<T>, op: Op) -> Operation<Vec<T>> {
    if size_of_val(&given[..]) <= PAYLOAD {
        let payload = in_payload(&given);
        return reduce_in_frames::<T, _, _>(
            cluster,
            op,
            given.len(),
            payload,
            given,
            |given, reduced| {
                for (at, number) in given.iter_mut().enumerate() {
                    *number = number_in(reduced, at);
                }
                std::mem::take(given)
            },
        );
    }
    let (length, bytes) = (given.len(), size_of_val(&given[..]));
    let mut call = reduction::<T>(op, length);
    if count(length).is_err() {
        call.fault = Fault::LONG;
    }
    let slot = Slot::new();
    let body = Box::new(Reduction {
        op,
        given,
        result: Vec::new(),
        slot: Arc::clone(&slot),
        requests: Batch::default(),
    });
    start(
        cluster,
        bytes,
        slot,
        (call, NOTHING, nothing_to_combine()),
        body,
    )
}

pub(crate) fn all_reduce_one<T: Number>(cluster: &Cluster, number: T, op: Op) -> Operation<T> {
    let payload = in_payload(&[number]);
    reduce_in_frames::<T, _, _>(cluster, op, 1, payload, (), |(), reduced| {
        number_in(reduced, 0)
    })
}

fn reduction<T: Number>(op: Op, length: usize) -> Call {
    let mut call = Call::new(Kind::ALL_REDUCE, size_of::<T>());
    call.reduces = op.code() << 4 | T::CODE;
    call.length = length as u64;
    call
}

fn in_payload<T: Number>(numbers: &[T]) -> Payload {
    let mut payload = NOTHING;
    assert!(size_of_val(numbers) <= PAYLOAD);
    // SAFETY: plain data without padding, of as many bytes, to memory of at least as many.
    unsafe {
        payload
            .0
            .as_mut_ptr()
            .copy_from_nonoverlapping(numbers.as_ptr().cast(), size_of_val(numbers));
    }
    payload
}

fn number_in<T: Number>(payload: &Payload, at: usize) -> T {
    assert!((at + 1) * size_of::<T>() <= PAYLOAD);
    // SAFETY: there are as many bytes, aligned for every type, and any are a number.
    unsafe { payload.0.as_ptr().cast::<T>().add(at).read() }
}

/// A reduction that the agreement brings along. `kept` is for its result.
struct InFrames<K, R> {
    kept: K,
    reduced: Payload,
    convert: fn(&mut K, &Payload) -> R,
    slot: Arc<Slot<R>>,
}

fn reduce_in_frames<T: Number, K: Send + 'static, R: Send + 'static>(
    cluster: &Cluster,
    op: Op,
    length: usize,
    payload: Payload,
    kept: K,
    convert: fn(&mut K, &Payload) -> R,
) -> Operation<R> {
    let slot = Slot::new();
    let body = Box::new(InFrames {
        kept,
        reduced: NOTHING,
        convert,
        slot: Arc::clone(&slot),
    });
    let combine = Combine {
        op,
        length,
        apply: combine_numbers::<T>,
    };
    let call = reduction::<T>(op, length);
    start(
        cluster,
        length * size_of::<T>(),
        slot,
        (call, payload, combine),
        body,
    )
}

impl<K: Send + 'static, R: Send + 'static> Body for InFrames<K, R> {
    fn begin(&mut self, _: &mut Links, _: c_int, agreed: &Payload) -> Result<()> {
        self.reduced = *agreed;
        Ok(())
    }

    fn advance(&mut self, _: &mut Links) -> Result<bool> {
        Ok(true)
    }

    fn finish(mut self: Box<Self>, wakes: &mut Vec<Waker>) {
        let result = (self.convert)(&mut self.kept, &self.reduced);
        self.slot.fill(Ok(result), wakes);
    }

    fn fail(&mut self, error: Error, wakes: &mut Vec<Waker>) {
        self.slot.fill(Err(error), wakes);
    }

    fn bytes(&self) -> usize {
        0
    }
}

fn combine_numbers<T: Number>(combine: &Combine, left: &mut Payload, right: &Payload) {
    assert!(combine.length * size_of::<T>() <= PAYLOAD);
    for at in 0..combine.length {
        // SAFETY: the payloads have room for as many numbers, and are aligned for every type.
        unsafe {
            let place = left.0.as_mut_ptr().cast::<T>().add(at);
            let right = right.0.as_ptr().cast::<T>().add(at);
            place.write(T::combine(combine.op, place.read(), right.read()));
        }
    }
}

impl<T: Number> Body for Reduction<T> {
    fn begin(&mut self, links: &mut Links, _: c_int, _: &Payload) -> Result<()> {
        let (length, bytes) = (self.given.len(), self.bytes());
        self.result = Vec::with_capacity(length);
        let mut request = null_request();
        // SAFETY: `given` has `length` numbers and `result` has room for them; both stay until the request is done, because this body does.
        check(unsafe {
            ffi::MPI_Iallreduce(
                self.given.as_ptr().cast(),
                self.result.as_mut_ptr().cast(),
                count(length)?,
                T::datatype(),
                links.operator::<T>(self.op)?,
                links.blocks,
                &mut request,
            )
        })?;
        self.requests.push(request);
        links.stats.tree_calls += 1;
        links.stats.tree_bytes += bytes as u64;
        Ok(())
    }

    fn advance(&mut self, _: &mut Links) -> Result<bool> {
        self.requests.test()
    }

    fn finish(mut self: Box<Self>, wakes: &mut Vec<Waker>) {
        // SAFETY: MPI has written as many numbers.
        unsafe { self.result.set_len(self.given.len()) };
        self.slot.fill(Ok(std::mem::take(&mut self.result)), wakes);
    }

    fn fail(&mut self, error: Error, wakes: &mut Vec<Waker>) {
        self.slot.fill(Err(error), wakes);
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.given[..])
    }

    fn is_tree(&self) -> bool {
        true
    }
}

// Broadcast.

struct Broadcast<T> {
    root: usize,
    data: Vec<T>,
    length: usize,
    slot: Arc<Slot<Vec<T>>>,
    requests: Batch,
}

/// # Safety
/// `T` is plain.
pub(crate) unsafe fn broadcast<T: Send + 'static>(
    cluster: &Cluster,
    root: usize,
    mut data: Vec<T>,
) -> Operation<Vec<T>> {
    if cluster.rank() != root {
        data.clear();
    }
    let mut call = Call::new(Kind::BROADCAST, size_of::<T>());
    set_root(&mut call, root, cluster.size());
    if count(data.len()).is_err() {
        call.fault = Fault::LONG;
    }
    // The others learn the length: all but the root add 0.
    let mut payload = NOTHING;
    payload.0[..8].copy_from_slice(&(data.len() as u64).to_ne_bytes());
    let bytes = size_of_val(&data[..]);
    let slot = Slot::new();
    let body = Box::new(Broadcast {
        root,
        length: data.len(),
        data,
        slot: Arc::clone(&slot),
        requests: Batch::default(),
    });
    let combine = Combine {
        op: Op::Sum,
        length: 1,
        apply: combine_numbers::<u64>,
    };
    start(cluster, bytes, slot, (call, payload, combine), body)
}

fn length_of(payload: &Payload) -> u64 {
    u64::from_ne_bytes(payload.0[..8].try_into().expect("eight bytes"))
}

fn set_root(call: &mut Call, root: usize, size: usize) {
    call.root = u32::try_from(root).unwrap_or(u32::MAX - 1);
    if root >= size {
        call.fault = Fault::ROOT;
    }
}

impl<T: Send + 'static> Body for Broadcast<T> {
    fn begin(&mut self, links: &mut Links, _: c_int, agreed: &Payload) -> Result<()> {
        self.length = length_of(agreed) as usize;
        if self.length == 0 {
            // Nobody has anything, and everybody knows. (The address of an empty vector may mean something else to MPI.)
            return Ok(());
        }
        self.data.reserve_exact(self.length - self.data.len());
        if links.rank == self.root && links.size > 1 {
            links.stats.tree_bytes += self.bytes() as u64;
        }
        links.stats.tree_calls += 1;
        let mut request = null_request();
        // SAFETY: there is room for `length` elements, on the root they are there; the body keeps them until the request is done.
        check(unsafe {
            ffi::MPI_Ibcast(
                self.data.as_mut_ptr().cast(),
                count(self.length)?,
                links.datatype(size_of::<T>())?,
                self.root as c_int,
                links.blocks,
                &mut request,
            )
        })?;
        self.requests.push(request);
        Ok(())
    }

    fn advance(&mut self, _: &mut Links) -> Result<bool> {
        self.requests.test()
    }

    fn finish(mut self: Box<Self>, wakes: &mut Vec<Waker>) {
        // SAFETY: the root had as many elements, and MPI has written them everywhere else.
        unsafe { self.data.set_len(self.length) };
        self.slot.fill(Ok(std::mem::take(&mut self.data)), wakes);
    }

    fn fail(&mut self, error: Error, wakes: &mut Vec<Waker>) {
        self.slot.fill(Err(error), wakes);
    }

    fn bytes(&self) -> usize {
        self.length * size_of::<T>()
    }

    fn is_tree(&self) -> bool {
        true
    }
}

// Parts to and from ranks.

/// What a rank gives and gets.
struct Plan {
    /// To whom which part of the data goes.
    sends: Vec<(usize, Range<usize>)>,
    /// What it keeps.
    own: Range<usize>,
    /// From how many it gets something.
    sources: usize,
}

struct Swap<T, R> {
    plan: Plan,
    data: Vec<T>,
    tag: c_int,
    /// Messages that have come, until all have.
    probed: Vec<Probed>,
    received: Parts<T>,
    length: usize,
    requests: Batch,
    convert: fn(Parts<T>) -> R,
    slot: Arc<Slot<R>>,
    bytes: usize,
}

// SAFETY: handles of MPI (see `Links`) beside data that is `Send`.
unsafe impl<T: Send, R: Send> Send for Swap<T, R> {}

/// # Safety
/// `T` is plain and has a size. The ranks' plans fit together.
unsafe fn swap<T: Send + 'static, R: Send + 'static>(
    cluster: &Cluster,
    mut call: Call,
    data: Vec<T>,
    plan: Plan,
    convert: fn(Parts<T>) -> R,
) -> Operation<R> {
    if plan
        .sends
        .iter()
        .any(|(_, part)| count(part.len()).is_err())
        && call.fault == Fault::NONE
    {
        call.fault = Fault::LONG;
    }
    let bytes = size_of_val(&data[..]);
    let slot = Slot::new();
    let body = Box::new(Swap {
        plan,
        data,
        tag: 0,
        probed: Vec::new(),
        received: Parts::empty(cluster.size()),
        length: 0,
        requests: Batch::default(),
        convert,
        slot: Arc::clone(&slot),
        bytes,
    });
    start(
        cluster,
        bytes,
        slot,
        (call, NOTHING, nothing_to_combine()),
        body,
    )
}

impl<T: Send + 'static, R: Send + 'static> Body for Swap<T, R> {
    fn begin(&mut self, links: &mut Links, tag: c_int, _: &Payload) -> Result<()> {
        self.tag = tag;
        let size = size_of::<T>();
        for (to, part) in &self.plan.sends {
            let slice = &self.data[part.clone()];
            links.stats.messages += 1;
            links.stats.bytes += size_of_val(slice) as u64;
            // SAFETY: the data stays as it is until all requests are done.
            let request = unsafe {
                links.send(
                    slice.as_ptr().cast(),
                    slice.len(),
                    size,
                    *to,
                    self.tag,
                    links.blocks,
                )?
            };
            self.requests.push(request);
        }
        if self.plan.sources == 0 {
            self.receive(links)?;
        }
        Ok(())
    }

    fn advance(&mut self, links: &mut Links) -> Result<bool> {
        while self.probed.len() < self.plan.sources {
            let Some(probed) = links.probe(Some(self.tag), links.blocks)? else {
                return Ok(false);
            };
            self.probed.push(probed);
            if self.probed.len() == self.plan.sources {
                self.receive(links)?;
            }
        }
        self.requests.test()
    }

    fn finish(mut self: Box<Self>, wakes: &mut Vec<Waker>) {
        // SAFETY: `receive` has copied this rank's own part, and MPI has written the others.
        unsafe { self.received.data.set_len(self.length) };
        let received = std::mem::replace(&mut self.received, Parts::empty(0));
        self.slot.fill(Ok((self.convert)(received)), wakes);
    }

    fn fail(&mut self, error: Error, wakes: &mut Vec<Waker>) {
        self.slot.fill(Err(error), wakes);
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<T: Send + 'static, R> Swap<T, R> {
    /// All lengths are known: everything is received to its place.
    fn receive(&mut self, links: &mut Links) -> Result<()> {
        let size = size_of::<T>();
        let counts = &mut self.received.counts;
        counts[links.rank] = self.plan.own.len();
        for probed in &self.probed {
            counts[probed.source] = probed.bytes / size;
        }
        let starts = starts(counts);
        self.length = counts.iter().sum();
        if self.probed.is_empty() && self.plan.own == (0..self.data.len()) {
            // Nothing came, and everything stays: on one rank, say.
            self.received.data = std::mem::take(&mut self.data);
            return Ok(());
        }
        self.received.data = Vec::with_capacity(self.length);
        let place = self.received.data.as_mut_ptr();
        let own = &self.data[self.plan.own.clone()];
        // SAFETY: room for all parts one after the other, and this rank's comes to its place. Plain data may be copied.
        unsafe {
            place
                .add(starts[links.rank])
                .copy_from_nonoverlapping(own.as_ptr(), own.len())
        };
        for probed in &self.probed {
            // SAFETY: as above. The memory stays until all requests are done.
            let request = unsafe {
                let place = place.add(starts[probed.source]).cast();
                links.receive(probed.message, place, probed.bytes / size, size)?
            };
            self.requests.push(request);
        }
        Ok(())
    }
}

fn starts(counts: &[usize]) -> Vec<usize> {
    counts
        .iter()
        .scan(0, |sum, &count| {
            let start = *sum;
            *sum += count;
            Some(start)
        })
        .collect()
}

/// The other ranks, each rank's right neighbour first, so that not all begin with the same one.
fn others(rank: usize, size: usize) -> impl Iterator<Item = usize> {
    (1..size).map(move |step| (rank + step) % size)
}

/// # Safety
/// `T` is plain and has a size.
pub(crate) unsafe fn scatter<T: Send + 'static>(
    cluster: &Cluster,
    root: usize,
    parts: Option<Parts<T>>,
) -> Operation<Vec<T>> {
    let mut call = Call::new(Kind::SCATTER, size_of::<T>());
    set_root(&mut call, root, cluster.size());
    let mut plan = Plan {
        sends: Vec::new(),
        own: 0..0,
        sources: usize::from(cluster.rank() != root),
    };
    let mut data = Vec::new();
    if cluster.rank() == root {
        match parts {
            Some(parts) if parts.counts.len() == cluster.size() => {
                let ranges = parts.ranges();
                plan.own = ranges[root].clone();
                plan.sends = others(root, cluster.size())
                    .map(|to| (to, ranges[to].clone()))
                    .collect();
                data = parts.data;
            }
            _ => call.fault = Fault::PARTS,
        }
    }
    // SAFETY: the root sends to everybody else, and everybody else waits for one message.
    unsafe { swap(cluster, call, data, plan, |parts| parts.data) }
}

/// # Safety
/// `T` is plain and has a size.
pub(crate) unsafe fn gather<T: Send + 'static>(
    cluster: &Cluster,
    root: usize,
    data: Vec<T>,
) -> Operation<Option<Parts<T>>> {
    let mut call = Call::new(Kind::GATHER, size_of::<T>());
    set_root(&mut call, root, cluster.size());
    let all = 0..data.len();
    // SAFETY: everybody but the root sends one message to the root, which waits for as many.
    unsafe {
        if cluster.rank() == root {
            let plan = Plan {
                sends: Vec::new(),
                own: all,
                sources: cluster.size() - 1,
            };
            swap(cluster, call, data, plan, Some)
        } else {
            let plan = Plan {
                sends: vec![(root, all)],
                own: 0..0,
                sources: 0,
            };
            swap(cluster, call, data, plan, |_| None)
        }
    }
}

/// # Safety
/// `T` is plain and has a size.
pub(crate) unsafe fn all_gather<T: Send + 'static>(
    cluster: &Cluster,
    data: Vec<T>,
) -> Operation<Parts<T>> {
    let call = Call::new(Kind::ALL_GATHER, size_of::<T>());
    let all = 0..data.len();
    let plan = Plan {
        sends: others(cluster.rank(), cluster.size())
            .map(|to| (to, all.clone()))
            .collect(),
        own: all,
        sources: cluster.size() - 1,
    };
    // SAFETY: everybody sends to everybody else.
    unsafe { swap(cluster, call, data, plan, |parts| parts) }
}

/// # Safety
/// `T` is plain and has a size.
pub(crate) unsafe fn all_to_all<T: Send + 'static>(
    cluster: &Cluster,
    parts: Parts<T>,
) -> Operation<Parts<T>> {
    let mut call = Call::new(Kind::ALL_TO_ALL, size_of::<T>());
    let mut plan = Plan {
        sends: Vec::new(),
        own: 0..0,
        sources: cluster.size() - 1,
    };
    if parts.counts.len() == cluster.size() {
        let ranges = parts.ranges();
        plan.own = ranges[cluster.rank()].clone();
        plan.sends = others(cluster.rank(), cluster.size())
            .map(|to| (to, ranges[to].clone()))
            .collect();
    } else {
        call.fault = Fault::PARTS;
    }
    // SAFETY: everybody sends to everybody else.
    unsafe { swap(cluster, call, parts.data, plan, |parts| parts) }
}
