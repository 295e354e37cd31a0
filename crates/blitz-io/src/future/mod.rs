//! Several futures as one: [`race`], [`race_all`], and what [`select!`](crate::select), [`join!`](crate::join) and
//! [`try_join!`](crate::try_join) are made of.
//!
//! They take any futures and work on any executor: a wake-up of one part wakes the whole, which then polls its parts. Nothing
//! is allocated. The parts are polled in place, in the frame of the task that awaits them. For a time limit use
//! [`time::timeout`](crate::time::timeout), which can be used wherever a future can.
//!
//! # What is lost when a future is dropped
//!
//! A branch of [`select!`](crate::select) that does not come first is dropped. So is a future that a [`timeout`](crate::time::timeout) or [`race`]
//! gives up. That ends the operation halfway. What is lost then depends on the operation. *Cancel-safe* means that
//! nothing is lost, and that the operation can simply be started again.
//!
//! | operation | dropped before it is ready |
//! |---|---|
//! | `sleep`, `Interval::tick` | safe: no tick is lost (a new `sleep` starts from the beginning; keep one and pass `&mut`) |
//! | `TcpListener::accept`, `UnixListener::accept` | safe: the connection goes to the next `accept` |
//! | `TcpStream::connect` | safe: the attempt is given up |
//! | `readable`, `writable`, `ready` | safe |
//! | `read`, `read_buf`, `fill_buf` | safe: nothing has been read |
//! | `write`, `write_vectored`, `write_buf` | safe: nothing has been written |
//! | `recv`, `recv_from`, `send`, `send_to` of datagram sockets | safe |
//! | `Lines::next_line`, `Split::next_segment` | safe: a part of a line stays in the reader |
//! | `read_until` | the part that has been read is in the buffer; call it again with the same buffer |
//! | `read_to_end` | the part that has been read is in the vector; call it again with the same vector |
//! | `read_exact`, `read_line`, `read_to_string`, `read_u32` … | **not safe**: what has been read is lost |
//! | `write_all`, `write_u32` …, `copy`, `copy_bidirectional` | **not safe**: you do not know how much was written |
//! | `write_all_buf` | what is left in the buffer has not been written; call it again with the same buffer |
//! | `flush`, `shutdown` | safe: to be called again |
//! | `fs::File::read`, `write`, `ReadDir::next_entry` | safe: what a thread reads meanwhile is there for the next call |
//! | functions of `fs`, `File::seek`, `set_len` | done or not done |
//! | `Child::wait`, `Signal::recv` | safe: ends and signals wait to be asked for |
//! | `Child::wait_with_output` | **not safe**: the child is dropped with the future |
//! | `lock`, `read`, `write`, `acquire` of locks, `Notify::notified`, `Barrier::wait` | safe, except that the place in the queue is lost |
//! | `recv` of all channels, `changed` of `watch` | safe: a message is taken when it is returned |
//! | `send` of `mpsc` and `mpmc` | the message is dropped with the future, unsent; `reserve` and then send to keep it |
//! | `JoinHandle`, `JoinSet::join_next` | safe: the task keeps running |
//! | `stream::next`, and all streams of this crate | safe: an item is taken when it is returned, not before |
//! | `Shutdown::wait`, `Shutdown::drained` | safe |
//! | an `async` block of your own | it stops at its current `await` |

mod join;
mod maybe_done;
mod race;
mod select;

pub use self::race::{Race, RaceAll, race, race_all};
pub(crate) use self::select::seed;

/// What the macros expand to.
#[doc(hidden)]
pub mod support {
    pub use super::maybe_done::maybe_done;
    pub use super::select::start;
    pub use crate::coop::poll_budget_available;
    pub use ::core::future::{Future, IntoFuture, poll_fn};
    pub use ::core::pin::Pin;
    pub use ::core::task::Poll;
}

/// Gives the macro `$callback` a name and a number for each future that it may be given: macros cannot count.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_slots {
    ($callback:ident $($input:tt)*) => {
        $crate::$callback! { @parse [
            [b0 0] [b1 1] [b2 2] [b3 3] [b4 4] [b5 5] [b6 6] [b7 7]
            [b8 8] [b9 9] [b10 10] [b11 11] [b12 12] [b13 13] [b14 14] [b15 15]
            [b16 16] [b17 17] [b18 18] [b19 19] [b20 20] [b21 21] [b22 22] [b23 23]
            [b24 24] [b25 25] [b26 26] [b27 27] [b28 28] [b29 29] [b30 30] [b31 31]
            [b32 32] [b33 33] [b34 34] [b35 35] [b36 36] [b37 37] [b38 38] [b39 39]
            [b40 40] [b41 41] [b42 42] [b43 43] [b44 44] [b45 45] [b46 46] [b47 47]
            [b48 48] [b49 49] [b50 50] [b51 51] [b52 52] [b53 53] [b54 54] [b55 55]
            [b56 56] [b57 57] [b58 58] [b59 59] [b60 60] [b61 61] [b62 62] [b63 63]
        ] [] $($input)* }
    };
}
