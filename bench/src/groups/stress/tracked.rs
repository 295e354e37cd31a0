//! Tokens that are counted from birth to drop: every closure and every result of the stress carries one.
//!
//! A closure that is leaked leaves the count above zero; one that is dropped twice, or run after it was dropped, takes it
//! below zero or trips the token's own mark.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// Counts tokens alive and tokens ever made.
#[derive(Debug, Default)]
pub struct Ledger {
    alive: AtomicI64,
    made: AtomicI64,
    misused: AtomicI64,
}

impl Ledger {
    /// A new token on this ledger.
    pub fn token(&self) -> Token<&Self> {
        Token::new(self)
    }

    /// A new token that keeps the ledger: for what is not bound to a frame.
    pub fn shared_token(self: &Arc<Self>) -> Token<Arc<Self>> {
        Token::new(Arc::clone(self))
    }

    /// Tokens ever made.
    pub fn made(&self) -> i64 {
        self.made.load(Ordering::Relaxed)
    }

    /// What is wrong once everything is over, if anything.
    pub fn settle(&self) -> Result<(), String> {
        let misused = self.misused.load(Ordering::SeqCst);
        if misused != 0 {
            return Err(format!(
                "{misused} tokens were used or dropped after their end"
            ));
        }
        match self.alive.load(Ordering::SeqCst) {
            0 => Ok(()),
            leaked if leaked > 0 => Err(format!("{leaked} closures or results were leaked")),
            extra => Err(format!("{} drops too many", -extra)),
        }
    }
}

const LIVE: u32 = 0x600D_F00D;
const DEAD: u32 = 0xDEAD_BEEF;

/// Alive until dropped; see [`Ledger`].
#[derive(Debug)]
pub struct Token<L: Deref<Target = Ledger>> {
    ledger: L,
    mark: AtomicU32,
}

impl<L: Deref<Target = Ledger>> Token<L> {
    fn new(ledger: L) -> Self {
        ledger.alive.fetch_add(1, Ordering::Relaxed);
        ledger.made.fetch_add(1, Ordering::Relaxed);
        Token {
            ledger,
            mark: AtomicU32::new(LIVE),
        }
    }

    /// To be called where the closure that owns the token runs.
    pub fn touch(&self) {
        if self.mark.load(Ordering::Relaxed) != LIVE {
            self.ledger.misused.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl<L: Deref<Target = Ledger>> Drop for Token<L> {
    fn drop(&mut self) {
        // A plain swap: two threads dropping one token are caught whichever comes second.
        if self.mark.swap(DEAD, Ordering::Relaxed) != LIVE {
            self.ledger.misused.fetch_add(1, Ordering::SeqCst);
        }
        self.ledger.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balanced_ledger_settles() {
        let ledger = Ledger::default();
        let token = ledger.token();
        token.touch();
        assert!(ledger.settle().is_err(), "one is still alive");
        drop(token);
        assert_eq!(ledger.settle(), Ok(()));
        assert_eq!(ledger.made(), 1);
    }

    #[test]
    fn a_leak_is_reported() {
        let ledger = Ledger::default();
        std::mem::forget(ledger.token());
        assert!(ledger.settle().unwrap_err().contains("leaked"));
    }

    #[test]
    fn a_dead_token_that_is_touched_is_reported() {
        let ledger = Ledger::default();
        let token = ledger.token();
        token.mark.store(DEAD, Ordering::Relaxed);
        token.touch();
        drop(token);
        assert!(ledger.settle().is_err());
    }
}
