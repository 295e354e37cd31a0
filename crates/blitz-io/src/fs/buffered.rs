//! A file with its buffers, and the one operation on it that a blocking thread has in hand (see `job`).
//!
//! **Reading.** A job reads into a buffer of its own, which it leaves in the state. If the one who asked is gone by then, the next reader gets
//! the bytes: a cancelled read loses nothing. A write or a change of position first puts the file's position back to where the user is. Reading what is in
//! memory already needs no job (see `immediate`).
//!
//! **Writing.** Accepted bytes are written by a job that must be done: dropping the file, or the runtime, does not lose them.

use super::immediate::{self, Attempt};
use super::job::{self, Call, Found, Shared, State, Unread, Work};
use crate::blocking::Duty;
use crate::net::stream::{Incoming, Outgoing};
use crate::place::Place;
use crate::{context, coop};
use std::fs::File;
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

type Job<F> = job::Job<Arc<F>>;

/// What a job works on. All of this may block.
pub(crate) trait Medium: Send + Sync + 'static {
    /// Reads at its position.
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize>;

    /// Writes at its position.
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;

    /// Moves its position.
    fn seek(&self, to: SeekFrom) -> io::Result<u64>;

    /// Makes it longer or shorter.
    fn set_len(&self, length: u64) -> io::Result<()>;

    /// Reads what takes no waiting. This does not block.
    fn read_at_once(&self, room: &mut [MaybeUninit<u8>]) -> Attempt;
}

impl Medium for File {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        Read::read(&mut &*self, bytes)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(&mut &*self, bytes)
    }

    fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        Seek::seek(&mut &*self, to)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        File::set_len(self, length)
    }

    fn read_at_once(&self, room: &mut [MaybeUninit<u8>]) -> Attempt {
        immediate::read(self, room)
    }
}

/// A file with its buffers.
#[derive(Debug)]
pub(crate) struct Buffered<F = File> {
    pub(super) file: Arc<F>,
    shared: Arc<Shared>,
}

impl Buffered {
    pub(super) fn new(file: File) -> Self {
        Buffered {
            file: Arc::new(file),
            shared: Shared::new(),
        }
    }

    /// Gives the file back, or another handle to it if there is still a job for it.
    #[cfg(windows)]
    pub(crate) fn into_file(self) -> io::Result<File> {
        drop(self.shared);
        Arc::try_unwrap(self.file).or_else(|file| file.try_clone())
    }
}

impl<F: Medium> Buffered<F> {
    /// What it works on.
    #[cfg(windows)]
    pub(crate) fn medium(&self) -> &F {
        &self.file
    }

    /// Of something that has no position, and that others use as well.
    #[cfg(any(unix, windows))]
    pub(crate) fn of_stream(file: Arc<F>) -> Self {
        let buffered = Buffered {
            file,
            shared: Shared::new(),
        };
        buffered.position_is_shared();
        buffered
    }

    pub(super) fn limit(&self) -> usize {
        self.shared.with(|state| state.limit)
    }

    pub(super) fn set_limit(&self, limit: usize) {
        self.shared.with(|state| state.limit = limit);
    }

    /// The file's position is shared with another one, whose reads may hold it for long: no reading on a worker.
    pub(super) fn position_is_shared(&self) {
        self.shared.with(|state| state.reads_at_once = false);
    }

    /// Whether no job is under way, and the file's position is the user's.
    pub(super) fn is_settled(&self) -> bool {
        self.shared
            .with(|state| state.under_way.is_none() && state.unread.len() == 0)
    }

    /// Waits until no job is under way.
    pub(super) fn poll_idle(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.shared
            .polling(cx, |state, waker| match state.under_way {
                None => Poll::Ready(()),
                Some(_) => state.wait(waker),
            })
    }

    /// Waits until no job is under way, and puts the file's position to where the user is.
    pub(super) fn poll_settled(&self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.poll_idle(cx));
        if !self.is_settled() {
            // Only what cannot seek fails here, and that has no position.
            let _ = ready!(self.poll_call(cx, Call::Seek(SeekFrom::Current(0))));
        }
        // The answer to that call, if it has been made, is nobody else's.
        self.shared.with(|state| {
            let answer = |found: &mut Found| matches!(found, Found::Result(..));
            drop(state.found.take_if(answer));
        });
        Poll::Ready(())
    }

    /// Waits until everything that was accepted has been written, and tells of an error if there was one.
    pub(super) fn poll_written(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared
            .polling(cx, |state, waker| state.poll_written(waker))
    }

    /// Makes a call, after everything before it. A call that was made for somebody who is gone counts for the next who asks for the same,
    /// unless there was something else between.
    pub(super) fn poll_call(&self, cx: &mut Context<'_>, call: Call) -> Poll<io::Result<u64>> {
        let begun = self.shared.polling(cx, |state, waker| {
            if state.under_way.is_some() {
                return Err(state.wait(waker));
            }
            match state.found.take() {
                Some(Found::Result(made, result)) if made == call => {
                    return Err(Poll::Ready(result));
                }
                _ => {}
            }
            let ahead = state.unread.forget() as i64;
            Ok((self.begin(state, Work::Call(call), waker), ahead))
        });
        let (job, ahead) = match begun {
            Ok(begun) => begun,
            Err(answer) => return answer,
        };
        start(job, Duty::MustBeDone, move |job| {
            let result = make_call(&**job.file(), call, ahead);
            job.end(|state| state.found = Some(Found::Result(call, result)));
        });
        Poll::Pending
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
        let begun = self.shared.polling(cx, |state, waker| {
            if state.under_way.is_some() {
                return Err(state.wait(waker));
            }
            let wanted = room.len().min(state.limit);
            if let Some(answer) = self.read_at_hand(state, &mut room[..wanted]) {
                return Err(Poll::Ready(answer));
            }
            let buffer = state.unread.take_buffer();
            Ok((self.begin(state, Work::Read, waker), buffer, wanted))
        });
        let (job, mut buffer, wanted) = match begun {
            Ok(begun) => begun,
            Err(Poll::Ready(answer)) => return Poll::Ready(answer),
            Err(Poll::Pending) => {
                unit.refund();
                return Poll::Pending;
            }
        };
        unit.refund();
        start(job, Duty::MayBeCancelled, move |job| {
            if buffer.len() < wanted {
                buffer.resize(wanted, 0);
            }
            let result = retry(|| job.file().read(&mut buffer[..wanted]));
            job.end(|state| {
                state.unread = Unread::new(buffer, *result.as_ref().unwrap_or(&0));
                state.found = match result {
                    Ok(0) => Some(Found::End),
                    Ok(_) => None,
                    Err(error) => Some(Found::ReadError(error)),
                };
            });
        });
        Poll::Pending
    }

    /// Reads what does not take a job.
    fn read_at_hand(
        &self,
        state: &mut State,
        room: &mut [MaybeUninit<u8>],
    ) -> Option<io::Result<usize>> {
        if state.unread.len() > 0 {
            return Some(Ok(state.unread.hand_out(room)));
        }
        match state.found.take() {
            Some(Found::End) => return Some(Ok(0)),
            Some(Found::ReadError(error)) => return Some(Err(error)),
            Some(Found::Result(..)) | None => {}
        }
        if state.reads_at_once {
            match self.file.read_at_once(room) {
                Attempt::Read(length) => return Some(Ok(length)),
                Attempt::NotNow => {}
                Attempt::Never => state.reads_at_once = false,
            }
        }
        None
    }

    /// A job begins that somebody waits for.
    fn begin(&self, state: &mut State, work: Work, waker: &mut Option<Waker>) -> Job<F> {
        let _pending: Poll<()> = state.wait(waker);
        self.shared.begin(state, work, Arc::clone(&self.file))
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for Buffered {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsHandle for Buffered {
    fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
        self.file.as_handle()
    }
}

/// Sends a job to a thread. If there is none for it any more, it says so.
fn start<F: Medium>(job: Job<F>, duty: Duty, run: impl FnOnce(Job<F>) + Send + 'static) {
    let run = move || run(job);
    drop(context::with(|shared| {
        shared.blocking.spawn(Place::here(), duty, run)
    }));
}

impl<F: Medium> Incoming for Buffered<F> {
    fn poll_read(
        &self,
        cx: &mut Context<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_some(cx, room)
    }
}

impl<F: Medium> Outgoing for Buffered<F> {
    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let unit = ready!(coop::take_unit(cx));
        let mut begun = None;
        let accepted = self.shared.polling(cx, |state, waker| {
            let accepted = state.poll_accept(waker, buffers);
            if matches!(accepted, Poll::Ready(Ok(1..))) && state.under_way.is_none() {
                state.found = None;
                let ahead = state.unread.forget() as i64;
                let file = Arc::clone(&self.file);
                begun = Some((self.shared.begin(state, Work::Write, file), ahead));
            }
            accepted
        });
        if accepted.is_pending() {
            unit.refund();
        }
        if let Some((job, ahead)) = begun {
            start(job, Duty::MustBeDone, move |job| {
                let back = go_back(&**job.file(), ahead);
                job.write_rounds(back, |file, bytes| file.write_all(bytes));
            });
        }
        accepted
    }

    fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_written(cx)
    }

    fn poll_close(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_written(cx)
    }
}

/// Blocks. The file is `ahead` bytes ahead of the user, who finds it where it should be even if the call fails.
fn make_call(file: &impl Medium, call: Call, ahead: i64) -> io::Result<u64> {
    go_back(file, ahead)?;
    match call {
        Call::Seek(to) => file.seek(to),
        Call::SetLen(length) => file.set_len(length).map(|()| 0),
    }
}

/// Moves the file's position back.
fn go_back(file: &impl Medium, distance: i64) -> io::Result<()> {
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
