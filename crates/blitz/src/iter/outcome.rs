//! How loops are stopped from outside, and what a loop that could be stopped has come to.

pub use crate::engine::CancelToken;

/// How a loop that could be stopped has ended.
///
/// # Examples
///
/// ```
/// use blitz::iter::{CancelToken, Outcome};
/// use blitz::prelude::*;
/// let run = [1, 2].par_iter().with_cancel(&CancelToken::new()).for_each(|_| ());
/// assert_eq!(run.outcome, Outcome::Completed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing stopped it.
    Completed,
    /// The token was cancelled before all items were done.
    Cancelled,
    /// The deadline passed before all items were done.
    TimedOut,
}

/// What a loop that could be stopped has come to.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// use std::time::Duration;
///
/// let run = (1..=10u64).into_par_iter().with_timeout(Duration::from_secs(60)).sum::<u64>();
/// assert_eq!((run.done, run.is_completed()), (10, true));
/// assert_eq!(run.completed(), Ok(55));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the loop may have been stopped; `outcome` tells"]
pub struct Run<R> {
    /// The result. If the loop was stopped, it is made of the items that were done, in order, with gaps.
    pub value: R,
    /// How it ended.
    pub outcome: Outcome,
    /// How many items were done.
    pub done: usize,
}

impl<R> Run<R> {
    /// Were all items done, as far as they were wanted?
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// let run = [1, 2].par_iter().with_cancel(&CancelToken::new()).sum::<i32>();
    /// assert!(run.is_completed());
    /// ```
    pub fn is_completed(&self) -> bool {
        self.outcome == Outcome::Completed
    }

    /// The result, if the loop was not stopped.
    ///
    /// # Errors
    ///
    /// How it was stopped, after how many items. The partial result is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// let token = CancelToken::new();
    /// token.cancel();
    /// let run = [1, 2].par_iter().with_cancel(&token).sum::<i32>();
    /// assert_eq!(run.completed().unwrap_err().done, 0);
    /// ```
    pub fn completed(self) -> Result<R, Stopped> {
        match self.outcome {
            Outcome::Completed => Ok(self.value),
            outcome => Err(Stopped {
                outcome,
                done: self.done,
            }),
        }
    }
}

/// The error of [`Run::completed`]: the loop was stopped.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let run = [1, 2].par_iter().with_deadline(std::time::Instant::now()).sum::<i32>();
/// let stopped = run.completed().unwrap_err();
/// assert_eq!(stopped.to_string(), "the loop was stopped after 0 items: its deadline passed");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// How it was stopped; not [`Outcome::Completed`].
    pub outcome: Outcome,
    /// How many items had been done.
    pub done: usize,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = match self.outcome {
            Outcome::TimedOut => "its deadline passed",
            _ => "it was cancelled",
        };
        write!(f, "the loop was stopped after {} items: {how}", self.done)
    }
}

impl std::error::Error for Stopped {}
