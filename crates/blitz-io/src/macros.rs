//! What macros need, under the names that tokio has for it: some programs name these although they are hidden.

/// See the module's documentation.
pub mod support {
    pub use crate::coop::poll_budget_available;
    pub use crate::future::support::start as thread_rng_n;
    pub use std::future::{Future, IntoFuture, poll_fn};
    pub use std::pin::Pin;
    pub use std::result::Result;
    pub use std::task::{Context, Poll, ready};
}

/// Pins futures (or other values) to the frame of the caller, under their own names.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let future = async { 7 };
/// blitz_io::pin!(future);
/// assert_eq!((&mut future).await, 7);
///
/// blitz_io::pin! {
///     let other = async { 8 };
/// }
/// assert_eq!(other.await, 8);
/// # });
/// ```
#[macro_export]
macro_rules! pin {
    ($($name:ident),* $(,)?) => { $(
        // Shadowed: nobody can move what is pinned.
        #[allow(unused_mut)]
        let mut $name = ::core::pin::pin!($name);
    )* };
    ($(let $name:ident = $value:expr;)*) => { $(
        #[allow(unused_mut)]
        let mut $name = ::core::pin::pin!($value);
    )* };
}
