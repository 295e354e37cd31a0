//! What the user of a file and the thread that works on it share, and how they take turns.
//!
//! Everything that the two exchange is in one locked [`State`]. The lock is held for copying, never while a thread waits for the disk. At most one
//! [`Job`] is under way at a time. A user that wants another kind of work waits for its end.
//!
//! **Accepted bytes are written.** They belong to the writing job. It writes them, checks whether more have been accepted meanwhile, and ends when there
//! are none. It finds and says that in one step under the lock. So a job is under way whenever there are accepted bytes. If a write fails,
//! bytes that were accepted after it are dropped, and the error waits for the next write, flush or sync.
//!
//! **Nobody waits for ever.** A user that waits leaves a waker under the lock, after it has seen a job under way there. The job takes all wakers out in the same
//! step in which it says that it has ended, or that there is room. A job that is dropped instead of run, because the runtime
//! ends, says so when it is dropped.

use crate::primitives::{Mutex, ignore_poison};
use blitz_core::checking::Flaws;
use std::io::{self, IoSlice, SeekFrom};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

#[cfg(all(test, loom))]
mod models;

/// The most that one job reads or writes, unless the user says something else.
const MAX_BUFFER: usize = 2 * 1024 * 1024;

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Find that there is nothing left to write, and say so in another step.
    EndsInTwoSteps,
    /// Take the wakers out, and make the change in another step.
    WakesBeforeChange,
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    flaws: Flaws<Flaw>,
}

#[derive(Debug)]
pub(super) struct State {
    /// What a job does just now.
    pub(super) under_way: Option<Work>,
    /// What the last job has found that nobody has asked for yet, except bytes.
    pub(super) found: Option<Found>,
    /// Bytes that have been read and not been handed out.
    pub(super) unread: Unread,
    /// Bytes for the writing job's next round.
    accepted: Vec<u8>,
    /// Why a write has failed, until somebody has been told.
    write_error: Option<io::Error>,
    /// Those who wait for a job to make progress.
    waiting: Vec<Waker>,
    pub(super) limit: usize,
    /// Whether reading without a job is worth trying.
    pub(super) reads_at_once: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
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
pub(super) enum Found {
    End,
    ReadError(io::Error),
    Result(Call, io::Result<u64>),
}

/// `bytes[start..end]`. The rest is there to be read into, without being cleared each time.
#[derive(Debug, Default)]
pub(super) struct Unread {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Unread {
    pub(super) fn new(bytes: Vec<u8>, length: usize) -> Self {
        Unread {
            bytes,
            start: 0,
            end: length,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(super) fn hand_out(&mut self, room: &mut [MaybeUninit<u8>]) -> usize {
        let length = self.len().min(room.len());
        let bytes = &self.bytes[self.start..self.start + length];
        // SAFETY: so many bytes fit, and what only we may write to does not overlap our own.
        unsafe {
            let start = room[..length].as_mut_ptr().cast();
            ptr::copy_nonoverlapping(bytes.as_ptr(), start, length);
        }
        self.start += length;
        length
    }

    /// Forgets the bytes, and says how many there were.
    pub(super) fn forget(&mut self) -> usize {
        let length = self.len();
        self.start = self.end;
        length
    }

    /// Gives the buffer away, to be read into.
    pub(super) fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(self).bytes
    }
}

impl Shared {
    pub(super) fn new() -> Arc<Self> {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Arc<Self> {
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
        Arc::new(Shared {
            state: Mutex::new(state),
            flaws,
        })
    }

    pub(super) fn with<R>(&self, access: impl FnOnce(&mut State) -> R) -> R {
        let mut guarded = ignore_poison(self.state.lock());
        access(&mut guarded)
    }

    /// As [`with`](Self::with), for somebody who may have to wait and leaves a waker then. It is cloned before the lock is taken, and dropped after it if it is not needed: both are somebody
    /// else's code.
    pub(super) fn polling<R>(
        &self,
        cx: &Context<'_>,
        access: impl FnOnce(&mut State, &mut Option<Waker>) -> R,
    ) -> R {
        let mut waker = Some(cx.waker().clone());
        self.with(|state| access(state, &mut waker))
    }

    /// A job changes the state, and tells those who wait.
    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        if self.flaws.has(Flaw::WakesBeforeChange) {
            let woken = self.with(|state| std::mem::take(&mut state.waiting));
            woken.into_iter().for_each(Waker::wake);
            return self.with(change);
        }
        let (result, woken) =
            self.with(|state| (change(state), std::mem::take(&mut state.waiting)));
        woken.into_iter().for_each(Waker::wake);
        result
    }

    /// A job begins, with a way to the file: nothing else does until it has said that it is through.
    pub(super) fn begin<F>(self: &Arc<Self>, state: &mut State, work: Work, file: F) -> Job<F> {
        state.under_way = Some(work);
        Job {
            file: Some(file),
            shared: Arc::clone(self),
            work,
        }
    }
}

impl State {
    /// Waits for the job that is under way.
    pub(super) fn wait<T>(&mut self, waker: &mut Option<Waker>) -> Poll<T> {
        if let Some(ours) = waker {
            let mut waiting = self.waiting.iter();
            if !waiting.any(|there| there.will_wake(ours)) {
                self.waiting.extend(waker.take());
            }
        }
        Poll::Pending
    }

    /// Waits until everything that was accepted has been written, and tells of an error if there was one.
    pub(super) fn poll_written(&mut self, waker: &mut Option<Waker>) -> Poll<io::Result<()>> {
        if self.under_way == Some(Work::Write) {
            return self.wait(waker);
        }
        Poll::Ready(self.write_error.take().map_or(Ok(()), Err))
    }

    /// Accepts bytes to be written, and says how many; the caller begins a job if there are some and none is under way. What one call brings is
    /// never divided between two rounds of a job, so that whole lines that are appended stay whole.
    pub(super) fn poll_accept(
        &mut self,
        waker: &mut Option<Waker>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let asked: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        let before = self.accepted.len();
        let must_wait = match self.under_way {
            None => false,
            Some(Work::Write) => before > 0 && before + asked > self.limit,
            Some(Work::Read | Work::Call(_)) => true,
        };
        if must_wait {
            return self.wait(waker);
        }
        if let Some(error) = self.write_error.take() {
            return Poll::Ready(Err(error));
        }
        for buffer in buffers {
            let room = self.limit.saturating_sub(self.accepted.len());
            let bytes = &buffer[..buffer.len().min(room)];
            self.accepted.extend_from_slice(bytes);
        }
        Poll::Ready(Ok(self.accepted.len() - before))
    }
}

/// The work of a thread on a file. If it is dropped before it is through, it leaves errors for those who wait.
pub(super) struct Job<F> {
    /// Until it is through. It is let go of before that can be seen: who waits for the end may take the file back.
    file: Option<F>,
    shared: Arc<Shared>,
    work: Work,
}

impl<F> Job<F> {
    pub(super) fn file(&self) -> &F {
        self.file.as_ref().expect("the job is not through")
    }

    /// It is through, with these changes.
    pub(super) fn end(mut self, change: impl FnOnce(&mut State)) {
        self.file = None;
        self.shared.change(|state| {
            state.under_way = None;
            change(state);
        });
    }

    /// Writes what has been accepted until there is nothing left. `result` is that of what had to be done before.
    pub(super) fn write_rounds(
        mut self,
        mut result: io::Result<()>,
        write: impl Fn(&F, &[u8]) -> io::Result<()>,
    ) {
        let shared = Arc::clone(&self.shared);
        let in_two_steps = shared.flaws.has(Flaw::EndsInTwoSteps);
        let mut bytes = Vec::new();
        while self.file.is_some() {
            if !bytes.is_empty() {
                result = write(self.file(), &bytes);
                bytes.clear();
            }
            let mut done = std::mem::replace(&mut result, Ok(())).err();
            let mut end = |state: &mut State, error| {
                self.file = None;
                state.under_way = None;
                state.write_error = error;
            };
            let through = shared.change(|state| {
                // Whoever waits for room finds it after this; after an error, what was accepted since goes with it.
                std::mem::swap(&mut bytes, &mut state.accepted);
                let through = done.is_some() || bytes.is_empty();
                if through && !in_two_steps {
                    end(state, done.take());
                }
                through
            });
            if through && in_two_steps {
                shared.change(|state| end(state, done));
            }
        }
    }
}

impl<F> Drop for Job<F> {
    fn drop(&mut self) {
        if self.file.take().is_none() {
            return;
        }
        let work = self.work;
        self.shared.change(|state| {
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

/// The runtime was shut down before the operation could begin. The words are tokio's; programs compare them.
pub(super) fn runtime_is_gone() -> io::Error {
    io::Error::other("background task failed")
}
