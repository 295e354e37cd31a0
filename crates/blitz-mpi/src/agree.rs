//! How ranks agree about a collective call before any data moves, and how short reductions travel.
//!
//! Each rank describes its [`Call`]. Descriptions are combined by recursive doubling in frames of 96 bytes: after log2(p) rounds every rank has the
//! same frame. If two descriptions differ, the frame says which, everywhere, and nobody starts to move data: an error is clear, comes back on all ranks
//! alike, and leaves the cluster usable. 48 bytes of a frame are for numbers to be reduced, so that a short `all_reduce` is done with this alone. That is
//! also its fastest way: `MPI_Iallreduce` takes twice as long as `MPI_Allreduce` in Open MPI, an exchange of two messages as long.
//!
//! If p is no power of two, the first 2 (p - 2^k) ranks meet in pairs before, and the even ones of them are told the outcome afterwards. Neighbours
//! are always combined in the order of ranks, and by every rank alike: results are the same everywhere to the last bit.
//!
//! # Which message is whose
//! The place of the call is the tag. In one call no two messages go from one rank to the same other one. Calls are made in the same order
//! on all ranks, so that messages of a call 65,536 numbers earlier have long been received in order.

use crate::error::{Error, Result, check};
use crate::links::{Links, null_request};
use crate::portable::{Op, number_named};
use mpi::ffi::{self, MPI_Request};
use std::os::raw::c_int;

/// What a rank has called, as far as ranks must agree about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    /// What it is a part of, or `NONE`.
    pub(crate) whole: Kind,
    /// Operator and type of a reduction.
    pub(crate) reduces: u8,
    /// What this rank alone knows to be wrong.
    pub(crate) fault: Fault,
    /// `u32::MAX`: none.
    pub(crate) root: u32,
    /// Of an element, in bytes.
    pub(crate) size: u32,
    /// Who says so. Not a part of what is compared.
    pub(crate) rank: u32,
    /// In elements, where all ranks must have the same.
    pub(crate) length: u64,
}

/// As numbers, because whatever comes from another rank must be a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Kind(u8);

impl Kind {
    pub(crate) const NONE: Kind = Kind(0);
    pub(crate) const BARRIER: Kind = Kind(1);
    pub(crate) const ALL_REDUCE: Kind = Kind(2);
    pub(crate) const BROADCAST: Kind = Kind(3);
    pub(crate) const SCATTER: Kind = Kind(4);
    pub(crate) const GATHER: Kind = Kind(5);
    pub(crate) const ALL_GATHER: Kind = Kind(6);
    pub(crate) const ALL_TO_ALL: Kind = Kind(7);
    /// A rank takes part no more.
    pub(crate) const LEFT: Kind = Kind(8);

    // Operations of several calls.
    pub(crate) const CLOSE: Kind = Kind(16);
    pub(crate) const SORT: Kind = Kind(17);
    pub(crate) const REDISTRIBUTE: Kind = Kind(18);
    pub(crate) const BY_KEY: Kind = Kind(19);
    pub(crate) const JOIN: Kind = Kind(20);
    pub(crate) const READ: Kind = Kind(21);
    pub(crate) const WRITE: Kind = Kind(22);
    pub(crate) const DYNAMIC: Kind = Kind(23);

    fn name(self) -> &'static str {
        match self {
            Kind::BARRIER => "barrier",
            Kind::ALL_REDUCE => "all_reduce",
            Kind::BROADCAST => "broadcast",
            Kind::SCATTER => "scatter",
            Kind::GATHER => "gather",
            Kind::ALL_GATHER => "all_gather",
            Kind::ALL_TO_ALL => "all_to_all",
            Kind::LEFT => "left half way",
            Kind::CLOSE => "the end of the program",
            Kind::SORT => "sort",
            Kind::REDISTRIBUTE => "redistribute",
            Kind::BY_KEY => "group_by_key or reduce_by_key",
            Kind::JOIN => "join_by_key",
            Kind::READ => "the reading of files",
            Kind::WRITE => "the writing of a file",
            Kind::DYNAMIC => "for_each_dynamic",
            _ => "something unknown",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Fault(u8);

impl Fault {
    pub(crate) const NONE: Fault = Fault(0);
    /// Not one part for each rank.
    pub(crate) const PARTS: Fault = Fault(1);
    /// A part of more elements than MPI can count.
    pub(crate) const LONG: Fault = Fault(2);
    /// A root that is no rank.
    pub(crate) const ROOT: Fault = Fault(3);
}

impl Call {
    pub(crate) fn new(kind: Kind, size: usize) -> Call {
        Call {
            kind,
            whole: Kind::NONE,
            reduces: 0,
            fault: Fault::NONE,
            root: u32::MAX,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            rank: 0,
            length: 0,
        }
    }

    fn agrees_with(&self, other: &Call) -> bool {
        Call { rank: 0, ..*self } == Call { rank: 0, ..*other } && self.fault == Fault::NONE
    }

    fn words(&self) -> String {
        let mut words = format!("rank {} is in ", self.rank);
        if self.whole != Kind::NONE {
            words += &format!("{}: ", self.whole.name());
        }
        words += self.kind.name();
        if self.kind == Kind::ALL_REDUCE {
            words += &format!(
                " ({} of {}) of {}",
                Op::named(self.reduces >> 4),
                number_named(self.reduces & 15),
                self.length
            );
        }
        if self.size > 0 {
            words += &format!(" elements of {} bytes", self.size);
        }
        if self.root != u32::MAX {
            words += &format!(", root {}", self.root);
        }
        words += match self.fault {
            Fault::PARTS => ", without one part for each rank",
            Fault::LONG => ", with more elements than MPI can count",
            Fault::ROOT => ", which is no rank",
            _ => "",
        };
        words
    }
}

/// As many bytes of numbers go along.
pub(crate) const PAYLOAD: usize = 48;

/// Room for numbers of any type, aligned for all of them.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Payload(pub(crate) [u8; PAYLOAD]);

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Frame {
    call: Call,
    /// The same, or one that does not agree with it.
    other: Call,
    payload: Payload,
}

/// How payloads are combined: a function, and what it is told of the numbers in them.
#[derive(Clone, Copy)]
pub(crate) struct Combine {
    pub(crate) op: Op,
    pub(crate) length: usize,
    /// Adds the right payload to the left one.
    pub(crate) apply: fn(&Combine, &mut Payload, &Payload),
}

impl Frame {
    fn clashes(&self) -> bool {
        !self.call.agrees_with(&self.other)
    }

    /// The frame of two neighbouring groups of ranks.
    fn join(self, right: &Frame, combine: &Combine) -> Frame {
        if self.clashes() {
            return self;
        }
        if right.clashes() {
            return *right;
        }
        let mut both = self;
        if self.call.agrees_with(&right.call) {
            (combine.apply)(combine, &mut both.payload, &right.payload);
        } else {
            both.other = right.call;
        }
        both
    }
}

/// Where a rank is in an exchange.
#[derive(Clone, Copy)]
enum Step {
    /// Waits for the even neighbour's frame (odd ranks), or for the outcome (even ranks) at the beginning and at the end.
    Fold,
    Double {
        mask: usize,
    },
    /// The outcome goes to the even neighbour.
    Unfold,
    Outcome,
    Done,
}

/// Where a rank stands among the 2^k that double.
fn place(links: &Links, pairs: usize) -> usize {
    if links.rank < 2 * pairs {
        links.rank / 2
    } else {
        links.rank - pairs
    }
}

pub(crate) struct Exchange {
    tag: c_int,
    combine: Combine,
    step: Step,
    /// What this rank's group has agreed about so far; what comes in; what goes out. On the heap, where nothing moves while MPI uses it.
    frames: Vec<Frame>,
    requests: [MPI_Request; 2],
}

// SAFETY: handles of MPI; see `Links`.
unsafe impl Send for Exchange {}

const MINE: usize = 0;
const INCOMING: usize = 1;
const OUTGOING: usize = 2;

impl Exchange {
    /// Starts an exchange. Every rank calls this with the same tag.
    pub(crate) fn start(
        links: &mut Links,
        tag: c_int,
        mut call: Call,
        payload: Payload,
        combine: Combine,
    ) -> Result<Exchange> {
        call.rank = links.rank as u32;
        let frame = Frame {
            call,
            other: call,
            payload,
        };
        let mut exchange = Exchange {
            tag,
            combine,
            step: Step::Fold,
            frames: vec![frame; 3],
            requests: [null_request(); 2],
        };
        match exchange.first_step(links) {
            Ok(()) => Ok(exchange),
            Err(error) => {
                // One of two requests may be under way.
                std::mem::forget(exchange);
                Err(error)
            }
        }
    }

    fn first_step(&mut self, links: &mut Links) -> Result<()> {
        let pairs = self.pairs(links);
        if links.size == 1 {
            self.step = Step::Done;
        } else if links.rank >= 2 * pairs {
            self.double(links, 1)?;
        } else if links.rank.is_multiple_of(2) {
            self.receive(links, links.rank + 1)?;
            self.send(links, links.rank + 1)?;
            self.step = Step::Outcome;
        } else {
            self.receive(links, links.rank - 1)?;
        }
        Ok(())
    }

    /// How many pairs meet beforehand.
    fn pairs(&self, links: &Links) -> usize {
        links.size - (1 << links.size.ilog2())
    }

    fn double(&mut self, links: &mut Links, mask: usize) -> Result<()> {
        let (pairs, all) = (self.pairs(links), 1 << links.size.ilog2());
        if mask < all {
            let partner = place(links, pairs) ^ mask;
            let partner = if partner < pairs {
                2 * partner + 1
            } else {
                partner + pairs
            };
            self.receive(links, partner)?;
            self.send(links, partner)?;
            self.step = Step::Double { mask };
        } else if links.rank < 2 * pairs {
            self.send(links, links.rank - 1)?;
            self.step = Step::Unfold;
        } else {
            self.step = Step::Done;
        }
        Ok(())
    }

    fn send(&mut self, links: &mut Links, to: usize) -> Result<()> {
        self.frames[OUTGOING] = self.frames[MINE];
        links.stats.frames += 1;
        let frame = (&raw const self.frames[OUTGOING]).cast();
        // SAFETY: the frame stays on the heap and as it is until the request is done: `advance` waits for that before it sends again,
        // and whoever drops an exchange that is not done leaks it.
        self.requests[1] =
            unsafe { links.send(frame, size_of::<Frame>(), 1, to, self.tag, links.frames)? };
        Ok(())
    }

    fn receive(&mut self, links: &mut Links, from: usize) -> Result<()> {
        // SAFETY: as for `send`; there is room for a frame. A frame has no invalid patterns.
        check(unsafe {
            ffi::MPI_Irecv(
                (&raw mut self.frames[INCOMING]).cast(),
                size_of::<Frame>() as c_int,
                ffi::RSMPI_UINT8_T,
                from as c_int,
                self.tag,
                links.frames,
                &mut self.requests[0],
            )
        })
    }

    /// Goes as far as it can. True: done, and [`outcome`](Self::outcome) may be asked.
    pub(crate) fn advance(&mut self, links: &mut Links) -> Result<bool> {
        loop {
            if let Step::Done = self.step {
                return Ok(true);
            }
            let mut done = 0;
            // SAFETY: two requests of ours, or null ones.
            check(unsafe {
                ffi::MPI_Testall(
                    2,
                    self.requests.as_mut_ptr(),
                    &mut done,
                    ffi::RSMPI_STATUSES_IGNORE,
                )
            })?;
            if done == 0 {
                return Ok(false);
            }
            let (mine, incoming) = (self.frames[MINE], self.frames[INCOMING]);
            match self.step {
                Step::Fold => {
                    self.frames[MINE] = incoming.join(&mine, &self.combine);
                    self.double(links, 1)?;
                }
                Step::Double { mask } => {
                    self.frames[MINE] = if place(links, self.pairs(links)) & mask != 0 {
                        incoming.join(&mine, &self.combine)
                    } else {
                        mine.join(&incoming, &self.combine)
                    };
                    self.double(links, mask * 2)?;
                }
                Step::Outcome => {
                    self.frames[MINE] = incoming;
                    self.step = Step::Done;
                }
                Step::Unfold | Step::Done => self.step = Step::Done,
            }
        }
    }

    /// What all ranks have agreed about: the payload, or how they disagree.
    pub(crate) fn outcome(&self) -> Result<Payload> {
        let frame = &self.frames[MINE];
        if !frame.clashes() {
            return Ok(frame.payload);
        }
        let words = if frame.call.rank == frame.other.rank {
            frame.call.words()
        } else {
            format!("{}; {}", frame.call.words(), frame.other.words())
        };
        Err(Error::Mismatch(words))
    }
}
