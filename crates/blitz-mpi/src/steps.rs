//! Operations of several collective calls: a sort, say.
//!
//! Ranks make collective calls in the same order. Two operations of several calls that are awaited together cannot: which of them comes to its second call first is
//! another one on every rank. So only the first call of an operation has a place in the order of all calls. The later ones are its *steps*: their
//! messages carry its number and theirs, and they wait for nobody else's. (Collectives of MPI have to begin in the same order everywhere. Steps do not use them.)
//!
//! # Who leaves, says so
//! A rank that gives up half way, because its future is dropped or because it cannot read what has come, would be waited for. So it takes part in one more step, with the
//! word that it has left: all ranks get [`Error::Mismatch`](crate::Error::Mismatch), and the cluster can be used as before. It waits with that until the step before has been agreed
//! about: if that one fails, it does so everywhere, and nobody makes another step. After the *last* step there is nothing to leave.

use crate::agree::Kind;
use crate::cluster::Cluster;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// As many steps can be told apart.
const STEPS: u8 = 16;

/// Where a collective call belongs.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// In the order of all calls.
    number: u64,
    step: u8,
}

impl Place {
    pub(crate) fn first(number: u64) -> Place {
        Place { number, step: 0 }
    }

    pub(crate) fn is_first(self) -> bool {
        self.step == 0
    }

    /// What tells its messages from others': 20 bits, which every MPI has. As many as 65,536 calls may be under way.
    pub(crate) fn tag(self) -> std::os::raw::c_int {
        ((self.number & 0xffff) << 4) as std::os::raw::c_int | i32::from(self.step)
    }
}

/// An operation of several calls, as the engine sees it.
pub(crate) struct Whole {
    pub(crate) kind: Kind,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// `None`: it has not begun.
    number: Option<u64>,
    called: u8,
    agreed: u8,
    /// This rank takes part in no further step: the last one has been called, or one has failed.
    over: bool,
    /// To be said when the step that is under way has been agreed about.
    left: bool,
}

impl Whole {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn number(&self) -> Option<u64> {
        self.state().number
    }

    /// The place of its next call. `begin` gives a number to the first.
    pub(crate) fn next(&self, begin: impl FnOnce() -> u64) -> Place {
        let mut state = self.state();
        let step = state.called;
        assert!(step < STEPS, "an operation of more than {STEPS} steps");
        state.called += 1;
        let number = *state.number.get_or_insert_with(begin);
        Place { number, step }
    }

    /// A step has been agreed about. True: this rank has left meanwhile, and [`leaves`](Self::leaves) now.
    pub(crate) fn agreed(&self) -> bool {
        let mut state = self.state();
        state.agreed += 1;
        state.left
    }

    /// A step has failed, on all ranks.
    pub(crate) fn failed(&self) {
        self.state().over = true;
    }

    /// This rank takes part no more. True: the others are to be told, now.
    pub(crate) fn leaves(&self) -> bool {
        let mut state = self.state();
        if state.over || state.number.is_none() {
            return false;
        }
        state.left = state.agreed < state.called;
        state.over = !state.left;
        state.over
    }
}

/// The cluster, for the calls of one operation.
pub(crate) struct Steps {
    cluster: Cluster,
    whole: Arc<Whole>,
}

impl Steps {
    pub(crate) fn new(cluster: &Cluster, kind: Kind) -> Steps {
        let whole = Arc::new(Whole {
            kind,
            state: Mutex::new(State::default()),
        });
        Steps {
            cluster: Cluster {
                shared: Arc::clone(&cluster.shared),
                whole: Some(Arc::clone(&whole)),
            },
            whole,
        }
    }

    /// For the last call.
    pub(crate) fn last(&self) -> &Cluster {
        self.whole.state().over = true;
        &self.cluster
    }

    /// The number of the first call, once that has been made.
    pub(crate) fn number(&self) -> Option<u64> {
        self.whole.number()
    }
}

impl Deref for Steps {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if !self.whole.state().over {
            self.cluster.shared.begin(0, |core| core.leave(&self.whole));
        }
    }
}
