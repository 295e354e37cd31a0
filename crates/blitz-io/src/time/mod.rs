//! Waiting for time: [`sleep`], [`timeout`], [`interval`].
//!
//! Timers are exact to about a thirtieth of a millisecond, and never early. Making, resetting and dropping a timer takes constant
//! time and no memory of its own, however many there are.
//!
//! In tests the clock can be [paused](pause). Then it moves when it is told to, or jumps to the next timer when the
//! runtime has nothing else to do.

mod control;
pub mod error;
mod instant;
mod interval;
mod sleep;
mod timeout;

pub use self::control::{advance, pause, resume};
#[doc(no_inline)]
pub use self::error::Elapsed;
pub use self::instant::Instant;
pub use self::interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use self::sleep::{Sleep, sleep, sleep_until};
pub use self::timeout::{Timeout, timeout, timeout_at};
pub use std::time::Duration;
