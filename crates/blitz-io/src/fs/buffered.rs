//! A file's buffers, and the one operation on it that a blocking thread has in hand.
//!
//! **Order.** At most one job works on a file at a time; whoever wants another kind of operation waits for its end. Everything that the two
//! sides exchange is in one locked [`State`]; the lock is held for copying and never while a thread waits for the disk. (Reading what is
//! in memory already needs no job; see `immediate`.)
//!
//! **Reading.** A job reads into a buffer of its own, which it leaves here. If the one who asked is gone by then, the next reader gets the
//! bytes: a cancelled read loses nothing. A write or a change of position first puts the file's position back to where the user is.
//!
//! **Writing.** Bytes that have been accepted are the writing job's. It writes them, looks whether more have been accepted meanwhile, and ends when
//! there are none, which it decides under the lock: so there is a job under way whenever there are accepted bytes, and dropping the
//! file, or the runtime, does not lose them (the job is one that must be done). If a write fails, what was accepted after it is dropped, and the
//! error waits for the next write, flush or sync. What one call has written is never divided between two rounds, so that
//! whole lines that are appended stay whole.
//!
//! **Nobody waits for ever.** Who waits leaves a waker under the lock, after having seen a job under way there; the job takes all wakers out
//! in the same step in which it says that it is through, or that there is room. A job that is dropped instead of run, because the runtime
//! ends, says so on its way out.

use super::immediate::{self, Attempt};
use super::runtime_is_gone;
use crate::blocking::Duty;
use crate::net::stream::{Incoming, Outgoing};
use crate::{context, coop};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

/// The most that one job reads or writes, unless the user says something else.
pub(super) const MAX_BUFFER: usize = 2 * 1024 * 1024;

/// A file with its buffers.
#[derive(Debug)]
pub(super) struct Buffered {
    pub(super) file: Arc<File>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared(Mutex<State>);

#[derive(Debug)]
struct State {
    /// What a job does just now.
    under_way: Option<Work>,
    /// What the last job has found that nobody has asked for yet, except bytes.
    found: Option<Found>,
    /// Bytes that have been read and not been handed out.
    unread: Unread,
    /// Bytes for the writing job's next round.
    accepted: Vec<u8>,
    /// Why a write has failed, until somebody has been told.
    write_error: Option<io::Error>,
    /// Those who wait for a job to make progress.
    waiting: Vec<Waker>,
    limit: usize,
    /// Whether reading without a job is worth trying.
    reads_at_once: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Read,
    Write,
    Call(Call),
}

/// An operation with a number as its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// The new position.
    Seek(SeekFrom),
    /// Nothing.
    SetLen(u64),
}

#[derive(Debug)]
enum Found {
    End,
    ReadError(io::Error),
    Result(Call, io::Result<u64>),
}

/// `bytes[start..end]`. The rest is there to be read into, without being cleared each time.
#[derive(Debug, Default)]
struct Unread {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Unread {
    fn len(&self) -> usize {
        self.end - self.start
    }

    fn hand_out(&mut self, room: &mut [MaybeUninit<u8>]) -> usize {
        let length = self.len().min(room.len());
        let bytes = &self.bytes[self.start..self.start + length];
        room[..length].write_copy_of_slice(bytes);
        self.start += length;
        length
    }

    /// Forgets the bytes, and says how many there were.
    fn forget(&mut self) -> usize {
        let length = self.len();
        self.start = self.end;
        length
    }
}

impl Buffered {
    pub(super) fn new(file: File) -> Self {
        let state = State {
            under_way: None,
            found: None,
            unread: Unread::default(),
            accepted: Vec::new(),
            write_error: None,
            waiting: Vec::new(),
            limit: MAX_BUFFER,
            reads_at_once: true,
        };
        Buffered {
            file: Arc::new(file),
            shared: Arc::new(Shared(Mutex::new(state))),
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.shared.lock().limit
    }

    pub(super) fn set_limit(&self, limit: usize) {
        self.shared.lock().limit = limit.max(1);
    }

    /// The file's position is shared with another one, whose reads may hold it for long: no reading on a worker.
    pub(super) fn position_is_shared(&self) {
        self.shared.lock().reads_at_once = false;
    }

    /// Whether no job is under way.
    pub(super) fn is_settled(&self) -> bool {
        self.shared.lock().under_way.is_none()
    }

    /// How many bytes the file's position is ahead of the user's.
    pub(super) fn ahead(&self) -> usize {
        self.shared.lock().unread.len()
    }

    /// Waits until no job is under way.
    pub(super) fn poll_settled(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.shared.lock();
        match state.under_way {
            None => Poll::Ready(()),
            Some(_) => state.wait(cx),
        }
    }

    /// Waits until everything that was accepted has been written, and tells of an error if there was one.
    pub(super) fn poll_written(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.lock();
        if state.under_way == Some(Work::Write) {
            return state.wait(cx);
        }
        Poll::Ready(state.write_error.take().map_or(Ok(()), Err))
    }

    /// Makes a call, after everything before it. A call that was made for somebody who is gone counts for the next who asks for the same,
    /// unless there was something else between.
    pub(super) fn poll_call(&self, cx: &mut Context<'_>, call: Call) -> Poll<io::Result<u64>> {
        let mut state = self.shared.lock();
        if state.under_way.is_some() {
            return state.wait(cx);
        }
        if let Some(Found::Result(made, result)) = state.found.take()
            && made == call
        {
            return Poll::Ready(result);
        }
        let ahead = state.unread.forget() as i64;
        let work = move |mut file: &File| match call {
            Call::Seek(SeekFrom::Current(distance)) => {
                let distance = distance.checked_sub(ahead).ok_or_else(too_far)?;
                file.seek(SeekFrom::Current(distance))
            }
            Call::Seek(to) => file.seek(to),
            Call::SetLen(length) => {
                go_back(file, ahead)?;
                file.set_len(length).map(|()| 0)
            }
        };
        let job = self.begin(&mut state, Work::Call(call));
        let waiting = state.wait(cx);
        drop(state);
        job.start(Duty::MustBeDone, move |file, job| {
            let result = work(&file);
            drop(file);
            job.end(|state| state.found = Some(Found::Result(call, result)));
        });
        waiting
    }

    fn poll_read_some(
        &self,
        cx: &mut Context<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        if room.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let unit = ready!(coop::take_unit(cx));
        let mut state = self.shared.lock();
        if state.under_way.is_some() {
            unit.refund();
            return state.wait(cx);
        }
        if state.unread.len() > 0 {
            return Poll::Ready(Ok(state.unread.hand_out(room)));
        }
        match state.found.take() {
            Some(Found::End) => return Poll::Ready(Ok(0)),
            Some(Found::ReadError(error)) => return Poll::Ready(Err(error)),
            Some(Found::Result(..)) | None => {}
        }
        if state.reads_at_once {
            match immediate::read(&self.file, room) {
                Attempt::Read(length) => return Poll::Ready(Ok(length)),
                Attempt::NotNow => {}
                Attempt::Never => state.reads_at_once = false,
            }
        }
        unit.refund();
        let wanted = room.len().min(state.limit);
        let mut buffer = std::mem::take(&mut state.unread).bytes;
        let job = self.begin(&mut state, Work::Read);
        let waiting = state.wait(cx);
        drop(state);
        job.start(Duty::MayBeCancelled, move |file, job| {
            if buffer.len() < wanted {
                buffer.resize(wanted, 0);
            }
            let result = retry(|| (&*file).read(&mut buffer[..wanted]));
            drop(file);
            job.end(|state| {
                state.unread.bytes = buffer;
                (state.unread.start, state.unread.end) = (0, *result.as_ref().unwrap_or(&0));
                state.found = match result {
                    Ok(0) => Some(Found::End),
                    Ok(_) => None,
                    Err(error) => Some(Found::ReadError(error)),
                };
            });
        });
        waiting
    }

    /// A job begins: nothing else does until it has said that it is through. Whoever calls this starts it after letting go of the state.
    fn begin(&self, state: &mut State, work: Work) -> Job {
        state.under_way = Some(work);
        Job {
            file: Some(Arc::clone(&self.file)),
            shared: Arc::clone(&self.shared),
            work,
            through: false,
        }
    }
}

impl Incoming for Buffered {
    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let length = buffer.len();
        // SAFETY: the same memory; only initialised bytes are written to it.
        let room = unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), length) };
        self.poll_read_some(cx, room)
    }

    fn poll_read_uninit(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_some(cx, buffer)
    }

    /// Into the first one that has room: the others would need another copy.
    fn poll_read_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        match buffers.iter_mut().find(|buffer| !buffer.is_empty()) {
            Some(buffer) => self.poll_read(cx, buffer),
            None => Poll::Ready(Ok(0)),
        }
    }
}

impl Outgoing for Buffered {
    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let unit = ready!(coop::take_unit(cx));
        let mut state = self.shared.lock();
        let asked: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        let must_wait = match state.under_way {
            None => false,
            // A call is not divided between two rounds.
            Some(Work::Write) => {
                !state.accepted.is_empty() && state.accepted.len() + asked > state.limit
            }
            Some(Work::Read | Work::Call(_)) => true,
        };
        if must_wait {
            unit.refund();
            return state.wait(cx);
        }
        if let Some(error) = state.write_error.take() {
            return Poll::Ready(Err(error));
        }
        if asked == 0 {
            return Poll::Ready(Ok(0));
        }
        let before = state.accepted.len();
        let most = state.limit;
        for buffer in buffers {
            let room = most - state.accepted.len();
            let bytes = &buffer[..buffer.len().min(room)];
            state.accepted.extend_from_slice(bytes);
        }
        let accepted = state.accepted.len() - before;
        if state.under_way.is_none() {
            state.found = None;
            let ahead = state.unread.forget() as i64;
            let job = self.begin(&mut state, Work::Write);
            drop(state);
            job.start(Duty::MustBeDone, move |file, job| {
                write_rounds(file, job, ahead)
            });
        }
        Poll::Ready(Ok(accepted))
    }

    fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_written(cx)
    }

    fn poll_close(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_written(cx)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Waits for the job that is under way.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        if !self.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// The work of a thread on a file. If it is dropped before it is through, it leaves errors for those who wait.
struct Job {
    /// Until the work begins.
    file: Option<Arc<File>>,
    shared: Arc<Shared>,
    work: Work,
    through: bool,
}

impl Job {
    /// Sends it to a thread. `run` drops the file before it says that it is through: who waits for that may take the file back.
    fn start(mut self, duty: Duty, run: impl FnOnce(Arc<File>, Job) + Send + 'static) {
        let job = move || {
            let file = self.file.take().expect("a job runs once");
            run(file, self);
        };
        drop(context::with(|shared| shared.blocking.spawn(duty, job)));
    }

    /// It is through, with these changes.
    fn end(mut self, change: impl FnOnce(&mut State)) {
        self.through = true;
        self.change(|state| {
            state.under_way = None;
            change(state);
        });
    }

    /// Changes the state, and tells those who wait.
    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.shared.lock();
        let result = change(&mut state);
        let woken = std::mem::take(&mut state.waiting);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        result
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.through {
            return;
        }
        // The file must not seem to be in use once the job is over.
        self.file = None;
        let work = self.work;
        self.change(|state| {
            state.under_way = None;
            match work {
                Work::Read => state.found = Some(Found::ReadError(runtime_is_gone())),
                Work::Call(call) => {
                    state.found = Some(Found::Result(call, Err(runtime_is_gone())));
                }
                Work::Write => {
                    state.accepted.clear();
                    state.write_error = Some(runtime_is_gone());
                }
            }
        });
    }
}

/// Writes what has been accepted until there is nothing left.
fn write_rounds(file: Arc<File>, mut job: Job, ahead: i64) {
    let mut result = go_back(&file, ahead);
    let mut file = Some(file);
    let mut bytes = Vec::new();
    while let Some(open) = &file {
        if !bytes.is_empty() {
            result = (&**open).write_all(&bytes);
            bytes.clear();
        }
        let done = std::mem::replace(&mut result, Ok(()));
        job.through = job.change(|state| {
            // Whoever waits for room finds it after this; after an error, what was accepted since goes with it.
            std::mem::swap(&mut bytes, &mut state.accepted);
            let through = done.is_err() || bytes.is_empty();
            if through {
                // The file must not seem to be in use once the job is over.
                file = None;
                state.under_way = None;
                state.write_error = done.err();
            }
            through
        });
    }
}

/// Moves the file's position back.
fn go_back(mut file: &File, distance: i64) -> io::Result<()> {
    match distance {
        0 => Ok(()),
        _ => file.seek(SeekFrom::Current(-distance)).map(drop),
    }
}

fn retry<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn too_far() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "seeking this far back leaves the range of positions",
    )
}
