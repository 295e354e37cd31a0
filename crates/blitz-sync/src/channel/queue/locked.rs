//! A bounded queue under a lock, for channels with much room: it takes memory for the messages that are there, not for those that would fit.
//!
//! A [ring](super::ring) goes through all of its cells, however few messages are in it at a time, so in the end it has touched the memory of its whole capacity. People ask for room for a
//! million messages, or for four billion, when they mean "practically no limit".
//!
//! # Why it is correct
//! Everything that a question of a channel is about (messages, reserved room, who waits, the end) is behind one lock, so each answer is of one moment. It is held for a few
//! instructions, and for the moving of messages when the memory grows; no foreign code runs under it.

use super::{Limited, Look, Queue, Refused, Released, Wake};
use crate::primitives::{Mutex, ignore_poison};
use blitz_primitives::flaw::Flaws;
use std::collections::VecDeque;
use std::mem;
use std::ops::DerefMut;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    ReceiverWaitsBlindly,
    ForgetsReserved,
}

/// An empty queue keeps memory for so many messages.
const KEPT: usize = 32;

pub(crate) struct Locked<T> {
    state: Mutex<State<T>>,
    capacity: usize,
    flaws: Flaws<Flaw>,
}

struct State<T> {
    messages: VecDeque<T>,
    /// Room that somebody has a right to but has not used yet. `messages.len() + reserved <= capacity`, always.
    reserved: usize,
    receivers_wait: bool,
    /// Nobody else takes any room.
    senders_wait: bool,
    closed: bool,
}

impl<T> State<T> {
    /// Will nothing come any more, after what is there?
    fn is_over(&self) -> bool {
        self.closed && self.reserved == 0
    }

    fn look(&self) -> Look {
        if !self.messages.is_empty() {
            Look::Filled
        } else if self.is_over() {
            Look::Finished
        } else {
            Look::Empty
        }
    }

    /// May somebody who does not wait in line take room for `count`?
    fn admit(&self, count: usize, capacity: usize) -> Result<(), Refused<()>> {
        if self.closed {
            Err(Refused::Closed(()))
        } else if self.senders_wait || self.room(capacity) < count {
            Err(Refused::Full(()))
        } else {
            Ok(())
        }
    }

    fn room(&self, capacity: usize) -> usize {
        capacity - self.messages.len() - self.reserved
    }
}

impl<T> Locked<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self::with_flaws(capacity, Flaws::NONE)
    }

    pub(crate) fn with_flaws(capacity: usize, flaws: Flaws<Flaw>) -> Self {
        Locked {
            state: Mutex::new(State {
                messages: VecDeque::new(),
                reserved: 0,
                receivers_wait: false,
                senders_wait: false,
                closed: false,
            }),
            capacity,
            flaws,
        }
    }

    fn state(&self) -> impl DerefMut<Target = State<T>> + '_ {
        // Nothing panics under it but an allocation that is too large, before anything has changed.
        ignore_poison(self.state.lock())
    }
}

impl<T> Queue<T> for Locked<T> {
    fn push(&self, message: T) -> Result<bool, Refused<T>> {
        let mut state = self.state();
        match state.admit(1, self.capacity) {
            Ok(()) => {
                state.messages.push_back(message);
                Ok(state.receivers_wait)
            }
            Err(refused) => {
                drop(state);
                Err(match refused {
                    Refused::Full(()) => Refused::Full(message),
                    Refused::Closed(()) => Refused::Closed(message),
                })
            }
        }
    }

    unsafe fn pop(&self) -> Option<(T, bool)> {
        let mut state = self.state();
        let message = state.messages.pop_front()?;
        let senders_wait = state.senders_wait;
        // What a crowd of messages took is given back, but not under the lock.
        let room = if state.messages.is_empty() && state.messages.capacity() > KEPT {
            mem::take(&mut state.messages)
        } else {
            VecDeque::new()
        };
        drop(state);
        drop(room);
        Some((message, senders_wait))
    }

    fn announce_receiver(&self) -> Look {
        let mut state = self.state();
        let look = if self.flaws.has(Flaw::ReceiverWaitsBlindly) {
            Look::Empty
        } else {
            state.look()
        };
        if look == Look::Empty {
            state.receivers_wait = true;
        }
        look
    }

    fn retract_receivers(&self) {
        self.state().receivers_wait = false;
    }

    fn look(&self) -> Look {
        self.state().look()
    }

    fn close(&self) -> bool {
        !mem::replace(&mut self.state().closed, true)
    }

    fn is_closed(&self) -> bool {
        self.state().closed
    }

    fn len(&self) -> usize {
        self.state().messages.len()
    }

    fn capacity(&self) -> Option<usize> {
        Some(self.capacity)
    }
}

impl<T> Limited<T> for Locked<T> {
    fn reserve(&self, count: usize) -> Result<(), Refused<()>> {
        let mut state = self.state();
        state.admit(count, self.capacity)?;
        if !self.flaws.has(Flaw::ForgetsReserved) {
            state.reserved += count;
        }
        Ok(())
    }

    fn push_reserved(&self, message: T) -> Wake {
        let mut state = self.state();
        debug_assert!(
            state.reserved > 0 || self.flaws.has(Flaw::ForgetsReserved),
            "pushed without a reservation"
        );
        state.messages.push_back(message);
        state.reserved = state.reserved.saturating_sub(1);
        match state.receivers_wait {
            false => Wake::None,
            true if state.is_over() => Wake::All,
            true => Wake::One,
        }
    }

    fn release(&self, count: usize) -> Released {
        let mut state = self.state();
        debug_assert!(state.reserved >= count);
        state.reserved -= count;
        Released {
            serve_senders: state.senders_wait,
            finished: state.is_over() && state.receivers_wait,
        }
    }

    fn announce_sender(&self, count: usize, first: bool) -> Result<usize, Refused<()>> {
        let mut state = self.state();
        if state.closed {
            return Err(Refused::Closed(()));
        }
        let part = if first {
            state.room(self.capacity).min(count)
        } else {
            0
        };
        state.reserved += part;
        state.senders_wait |= part < count;
        Ok(part)
    }

    fn retract_senders(&self) {
        self.state().senders_wait = false;
    }

    fn reserve_rest(&self) -> usize {
        let mut state = self.state();
        let room = state.room(self.capacity);
        state.reserved += room;
        room
    }

    fn room(&self) -> usize {
        let state = self.state();
        if state.senders_wait {
            0
        } else {
            state.room(self.capacity)
        }
    }
}
