//! What is under way, behind one lock: whoever holds it may enter MPI.
//!
//! # What is kept, and until when
//! MPI reads and writes memory until a request is done, whatever happens to the future that waits for it. So the memory belongs to this file: a *landing*
//! owns the buffers of a message, a *body* those of a collective call. They are given away when MPI has said that the request is done, and not before.
//! A future that is dropped or forgotten changes nothing about that. After an error of MPI, where nobody can say whether it is done, and
//! when the process ends too early, they are leaked.

mod mail;

pub(crate) use mail::{Parcel, Received};

use crate::agree::{Call, Combine, Exchange, Payload};
use crate::error::{Error, Result, check};
use crate::links::Links;
use crate::stats::Stats;
use crate::steps::{Place, Whole};
use mail::Mail;
use mpi::environment::Universe;
use mpi::ffi::{self, MPI_Request, MPI_Status};
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::raw::c_int;
use std::sync::Arc;
use std::task::Waker;

/// What owns the memory of a request, and what happens when it is done.
pub(crate) trait Landing: Send {
    fn landed(self: Box<Self>, core: &mut Core, result: Result<()>);
}

/// The data of a collective call, once the ranks have agreed.
pub(crate) trait Body: Send {
    /// Starts to move data. `tag` tells this call's messages from others'.
    fn begin(&mut self, links: &mut Links, tag: c_int, agreed: &Payload) -> Result<()>;

    /// Goes on. True: done.
    fn advance(&mut self, links: &mut Links) -> Result<bool>;

    /// The future's result. Not called while requests may be under way.
    fn finish(self: Box<Self>, wakes: &mut Vec<Waker>);

    /// The same, for an error, and memory that MPI may still use stays with the body.
    fn fail(&mut self, error: Error, wakes: &mut Vec<Waker>);

    /// About how many bytes go to or from other ranks.
    fn bytes(&self) -> usize;

    /// Whether it is a collective of MPI, which must begin in the same order everywhere.
    fn is_tree(&self) -> bool {
        false
    }
}

enum Stage {
    Agreeing,
    /// The ranks agree. A collective of MPI begins when the one before it has.
    Agreed(Payload),
    Moving,
}

struct Running {
    place: Place,
    whole: Option<Arc<Whole>>,
    exchange: Exchange,
    stage: Stage,
    body: Box<dyn Body>,
}

/// Whether users may begin operations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    /// They are told `Closed`. What has begun goes on.
    Closing,
    /// Nothing is under way, and nothing may begin.
    Shut,
}

pub(crate) struct Core {
    pub(crate) links: Links,
    requests: Vec<MPI_Request>,
    /// As long as `requests`. Raw, because MPI has pointers into what they own.
    landings: Vec<(*mut dyn Landing, usize)>,
    /// Scratch for `MPI_Testsome`.
    done: Vec<c_int>,
    statuses: Vec<MaybeUninit<MPI_Status>>,
    mail: Mail,
    running: VecDeque<Running>,
    calls: u64,
    /// Bytes under way.
    pub(crate) bytes: usize,
    pub(crate) door: Door,
    universe: Option<Universe>,
}

// SAFETY: handles of MPI (see `Links`), and landings, which are `Send` and belong to this value.
unsafe impl Send for Core {}

impl Core {
    pub(crate) fn new(links: Links, universe: Universe) -> Core {
        let size = links.size;
        Core {
            links,
            requests: Vec::new(),
            landings: Vec::new(),
            done: Vec::new(),
            statuses: Vec::new(),
            mail: Mail::new(size),
            running: VecDeque::new(),
            calls: 0,
            bytes: 0,
            door: Door::Open,
            universe: Some(universe),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        self.links.stats
    }

    pub(crate) fn open(&self) -> Result<()> {
        match self.door {
            Door::Open => Ok(()),
            _ => Err(Error::Closed),
        }
    }

    /// How many operations wait for MPI.
    pub(crate) fn under_way(&self) -> usize {
        self.requests.len() + self.mail.awaited() + self.running.len()
    }

    /// Looks at everything once. True: something has come to its end, or a step further.
    pub(crate) fn progress(&mut self) -> bool {
        let mut moved = self.land();
        if self.mail.awaited() > 0 || self.door != Door::Open {
            moved |= self.fetch_mail();
        }
        if self.door != Door::Open {
            self.take_in();
        }
        moved |= self.run_collectives();
        moved
    }

    /// Starts what `request` stands for. `landing` owns its memory.
    ///
    /// # Safety
    /// The request was started with memory that `landing` owns.
    unsafe fn fly(&mut self, request: MPI_Request, landing: *mut dyn Landing, bytes: usize) {
        self.requests.push(request);
        self.landings.push((landing, bytes));
        self.bytes += bytes;
    }

    fn land(&mut self) -> bool {
        if self.requests.is_empty() {
            return false;
        }
        let count = self.requests.len();
        self.done.resize(count, 0);
        self.statuses.resize(count, MaybeUninit::zeroed());
        let mut done = 0;
        // SAFETY: as many requests of ours as said, and as much room for the answers.
        let code = unsafe {
            ffi::MPI_Testsome(
                count as c_int,
                self.requests.as_mut_ptr(),
                &mut done,
                self.done.as_mut_ptr(),
                self.statuses.as_mut_ptr().cast(),
            )
        };
        if done <= 0 {
            // None, or MPI_UNDEFINED: no request is active, which does not happen.
            return false;
        }
        let some_failed = code == ffi::MPI_ERR_IN_STATUS as c_int;
        let mut landed: Vec<(usize, Result<()>)> = (0..done as usize)
            .map(|at| {
                // SAFETY: MPI has written this status; any pattern is one.
                let status = unsafe { self.statuses[at].assume_init() };
                let result = if some_failed {
                    check(status.MPI_ERROR)
                } else {
                    Ok(())
                };
                (self.done[at] as usize, result)
            })
            .collect();
        // From the end, so that the indices of the others stay right.
        landed.sort_unstable_by_key(|&(index, _)| std::cmp::Reverse(index));
        for (index, result) in landed {
            self.requests.swap_remove(index);
            let (landing, bytes) = self.landings.swap_remove(index);
            self.bytes -= bytes;
            // SAFETY: made by `Box::into_raw`, and it was in the table once.
            unsafe { Box::from_raw(landing) }.landed(self, result);
        }
        true
    }

    // Collectives.

    /// Begins a collective call: all ranks make the same calls in the same order, and the same steps of a `whole`.
    pub(crate) fn call(
        &mut self,
        whole: Option<&Arc<Whole>>,
        mut call: Call,
        payload: Payload,
        combine: Combine,
        body: Box<dyn Body>,
    ) -> Result<()> {
        let mut number = || {
            self.calls += 1;
            self.calls
        };
        let place = match whole {
            None => Place::first(number()),
            Some(whole) => {
                call.whole = whole.kind;
                whole.next(number)
            }
        };
        debug_assert!(place.is_first() || !body.is_tree());
        self.links.stats.collectives += 1;
        let exchange = Exchange::start(&mut self.links, place.tag(), call, payload, combine)?;
        self.running.push_back(Running {
            place,
            whole: whole.cloned(),
            exchange,
            stage: Stage::Agreeing,
            body,
        });
        Ok(())
    }

    /// This rank takes no further part in an operation of several calls, and the others are told.
    pub(crate) fn leave(&mut self, whole: &Arc<Whole>) {
        // At the very end nobody listens any more.
        if self.door != Door::Shut && whole.leaves() {
            // An error is one of MPI, and there is nobody who could be told.
            let _ = crate::collective::say_left(self, whole);
        }
    }

    fn run_collectives(&mut self) -> bool {
        let mut moved = false;
        let mut turn = true;
        let mut leaving = Vec::new();
        let mut at = 0;
        while at < self.running.len() {
            let running = &mut self.running[at];
            let links = &mut self.links;
            let agreeing = matches!(running.stage, Stage::Agreeing);
            let result = running.advance(links, turn, &mut self.bytes, &mut moved);
            if let Some(whole) = &running.whole
                && agreeing
            {
                match &result {
                    Err(_) => whole.failed(),
                    Ok(false) if matches!(running.stage, Stage::Agreeing) => {}
                    Ok(_) if whole.agreed() => leaving.push(Arc::clone(whole)),
                    Ok(_) => {}
                }
            }
            match result {
                Ok(false) => {
                    turn &= matches!(running.stage, Stage::Moving) || !running.body.is_tree();
                    at += 1;
                }
                Ok(true) => {
                    moved = true;
                    let running = self.running.remove(at).expect("it is there");
                    self.bytes -= running.under_way();
                    running.body.finish(&mut links.wakes);
                }
                Err(error) => {
                    moved = true;
                    let mut running = self.running.remove(at).expect("it is there");
                    self.bytes -= running.under_way();
                    let harmless = matches!(error, Error::Mismatch(_));
                    running.body.fail(error, &mut links.wakes);
                    if !harmless {
                        // Nobody knows what MPI still does with it.
                        std::mem::forget(running);
                    }
                }
            }
        }
        for whole in leaving {
            self.leave(&whole);
        }
        moved
    }

    // The end.

    /// Whether all that was sent to this rank is here, and nothing is under way any more.
    pub(crate) fn drain(&mut self, expected: &[u64]) -> bool {
        self.refuse_all(&Error::Closed);
        self.progress();
        let done =
            self.mail.all_seen(expected) && self.requests.is_empty() && self.running.is_empty();
        if done {
            self.door = Door::Shut;
        }
        done
    }

    /// Leaves MPI. Every rank calls this when nothing is under way.
    pub(crate) fn finalize(&mut self) {
        if let Some(universe) = self.universe.take() {
            self.links.close();
            drop(universe);
        }
    }

    /// Ends all ranks.
    pub(crate) fn abort(code: c_int) -> ! {
        // SAFETY: MPI is initialised; it ends the process.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
        std::process::abort()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // MPI may still use their memory. (Landings are raw: they stay anyway.)
        std::mem::forget(std::mem::take(&mut self.running));
        // A session that has not been closed does not leave MPI: that would wait for the other ranks.
        std::mem::forget(self.universe.take());
    }
}

impl Running {
    fn advance(
        &mut self,
        links: &mut Links,
        turn: bool,
        bytes: &mut usize,
        moved: &mut bool,
    ) -> Result<bool> {
        if let Stage::Agreeing = self.stage {
            if !self.exchange.advance(links)? {
                return Ok(false);
            }
            self.stage = Stage::Agreed(self.exchange.outcome()?);
            *moved = true;
        }
        if let Stage::Agreed(payload) = self.stage {
            if !turn && self.body.is_tree() {
                return Ok(false);
            }
            self.body.begin(links, self.place.tag(), &payload)?;
            self.stage = Stage::Moving;
            *bytes += self.under_way();
            *moved = true;
        }
        self.body.advance(links)
    }

    /// What is counted as under way for it.
    fn under_way(&self) -> usize {
        match self.stage {
            Stage::Moving => self.body.bytes(),
            _ => 0,
        }
    }
}
