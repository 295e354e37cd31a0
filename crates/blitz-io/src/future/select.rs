//! `select!`: the first of several futures to be ready, in place.
//!
//! The macro makes an enum with a variant for each branch, and keeps the futures as a tuple in the frame of the caller. It polls the futures that are not
//! disabled until one is ready with a value that fits its pattern. Only the value leaves the block in which the futures live. So the losers are
//! dropped before the handler runs, and the handler is ordinary code of the caller: it may `await`, `return`, `break` and use `?`.
//!
//! A guard that always says no asks whether a value fits. A pattern binds by value only when its guard has said yes. So the value stays
//! whole, and the handler gets what the future returned. No value is ever taken from a future and thrown away, except one
//! that does not fit.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    /// Zero until somebody asks.
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// Where a `select!` with this many branches starts.
///
/// The generator is Steele's SplitMix64: its state is only added to, so that one call need not wait for the arithmetic of the one
/// before. A range is reached by Lemire's multiplication.
#[doc(hidden)]
#[inline]
pub fn start(branches: u32) -> u32 {
    let state = match STATE.get() {
        0 => by_chance(),
        state => state,
    };
    STATE.set(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (((mixed >> 32) * u64::from(branches)) >> 32) as u32
}

#[cold]
fn by_chance() -> u64 {
    RandomState::new().hash_one(0)
}

/// From now on the seed determines what comes on this thread: it begins to work for a runtime.
pub(crate) fn seed(seed: u64) {
    STATE.set(seed);
}

/// Awaits several futures at once and runs the handler of the first that is ready; the others are dropped.
///
/// ```text
/// select! {
///     biased;                                          // optional
///     pattern = future => handler,
///     pattern = future, if condition => handler,       // as many as you like, up to 64
///     else => handler,                                 // optional
/// }
/// ```
///
/// The syntax and the rules are tokio's:
/// 1. All conditions are evaluated. A branch whose condition is false is disabled; its future is made but not polled.
/// 2. All futures are made, in order, and then polled: from a random branch on, so that none is starved, or with `biased;` from
///    the first on, every time.
/// 3. A future is ready. If its value fits the pattern, all futures are dropped, and then the handler runs; its value is that of the
///    `select!`. If it does not fit, the value is dropped and the branch is disabled.
/// 4. All branches are disabled: the handler of `else` runs.
///
/// The handlers are ordinary code of the function around: they may `await`, `return`, `break` and use `?`. They may use what
/// other branches' futures have borrowed, which are gone by then.
///
/// To wait for the same future in every round of a loop, make it outside, pin it, and pass it as `&mut`.
/// What the others lose when they are dropped is in [a table](crate::future#what-is-lost-when-a-future-is-dropped). The futures of this
/// crate that are not safe to drop do no harm in a branch that is only ever dropped together with the stream that it works on.
///
/// # Panics
/// If all branches are disabled and there is no `else`.
///
/// # Cost
/// No allocation. The futures live in the frame of the caller.
///
/// ```
/// use blitz_io::time::{Duration, sleep};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let task = blitz_io::spawn(async { 40 + 2 });
/// let answer = blitz_io::select! {
///     Ok(number) = task => number,
///     _ = sleep(Duration::from_secs(5)) => 0,
/// };
/// assert_eq!(answer, 42);
/// # });
/// ```
///
/// A loop with a deadline for all of it, a condition and an `else`:
/// ```
/// use blitz_io::time::{Duration, interval, sleep};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut deadline = std::pin::pin!(sleep(Duration::from_secs(5)));
/// let mut beat = interval(Duration::from_millis(1));
/// let mut left = 3;
/// loop {
///     blitz_io::select! {
///         _ = beat.tick(), if left > 0 => left -= 1,
///         () = &mut deadline, if left > 0 => panic!("too slow"),
///         else => break,
///     }
/// }
/// assert_eq!(left, 0);
/// # });
/// ```
#[macro_export]
macro_rules! select {
    (biased; $($branches:tt)*) => { $crate::__with_slots! { __select (biased) $($branches)* } };
    ($($branches:tt)*) => { $crate::__with_slots! { __select (fair) $($branches)* } };
}

/// See [`select!`]: first the branches are parsed, one each round, then the whole is written.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (@parse $slots:tt [] $mode:tt) => {
        ::core::compile_error!("select!: there is nothing to wait for; write at least one branch: `pattern = future => handler`")
    };
    (@parse $slots:tt [] $mode:tt else => $otherwise:expr $(,)?) => { $otherwise };
    (@parse $slots:tt $branches:tt $mode:tt) => {
        $crate::__select! { @write $mode $branches (::core::panic!(
            "select!: all branches are disabled, and there is no `else` branch"
        )) }
    };
    (@parse $slots:tt $branches:tt $mode:tt else => $otherwise:expr $(,)?) => {
        $crate::__select! { @write $mode $branches ($otherwise) }
    };
    (@parse $slots:tt $branches:tt $mode:tt else $($rest:tt)*) => {
        ::core::compile_error!("select!: `else` is written `else => handler`, without a pattern or a condition, and is the last branch")
    };
    (@parse [] $branches:tt $mode:tt $($rest:tt)+) => {
        ::core::compile_error!("select!: there are more than 64 branches")
    };
    (@parse [$slot:tt $($slots:tt)*] [$($branches:tt)*] $mode:tt
        $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:block, $($rest:tt)*) => {
        $crate::__select! { @parse [$($slots)*] [$($branches)* { $slot ($pattern) ($future) ($($condition)?) ($handler) }] $mode $($rest)* }
    };
    (@parse [$slot:tt $($slots:tt)*] [$($branches:tt)*] $mode:tt
        $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:block $($rest:tt)*) => {
        $crate::__select! { @parse [$($slots)*] [$($branches)* { $slot ($pattern) ($future) ($($condition)?) ($handler) }] $mode $($rest)* }
    };
    (@parse [$slot:tt $($slots:tt)*] [$($branches:tt)*] $mode:tt
        $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:expr $(, $($rest:tt)*)?) => {
        $crate::__select! { @parse [$($slots)*] [$($branches)* { $slot ($pattern) ($future) ($($condition)?) ($handler) }] $mode $($($rest)*)? }
    };
    (@parse $slots:tt $branches:tt $mode:tt $pattern:pat = $future:expr $(, if $condition:expr)?) => {
        ::core::compile_error!(::core::concat!(
            "select!: the branch `", ::core::stringify!($pattern), " = ", ::core::stringify!($future),
            "` has no handler; write `pattern = future => handler`"
        ))
    };
    (@parse $slots:tt $branches:tt $mode:tt $pattern:pat => $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "select!: the branch `", ::core::stringify!($pattern), " => …` has no future; write `pattern = future => handler`"
        ))
    };
    (@parse $slots:tt $branches:tt $mode:tt $($rest:tt)+) => {
        ::core::compile_error!(::core::concat!(
            "select!: expected `pattern = future => handler`, `pattern = future, if condition => handler` or `else => handler`, and a comma after a handler that is not a block; found `",
            ::core::stringify!($($rest)+), "`"
        ))
    };

    // One branch is polled; leaves the closure if that is the end.
    (@branch $cx:ident $futures:ident $disabled:ident $waits:ident $slot:ident $index:tt $pattern:pat) => {
        '__branch: {
            // SAFETY: the futures are in the frame of the caller, which nobody but this closure can name, and which does not move them
            // until they are dropped there.
            let future = unsafe { $crate::future::support::Pin::new_unchecked(&mut $futures.$index) };
            // An arm that leaves beside one that has the value: if nothing says what type that is, it is `()`.
            #[allow(unused_mut)]
            let mut output = match $crate::future::support::Future::poll(future, $cx) {
                $crate::future::support::Poll::Ready(output) => output,
                $crate::future::support::Poll::Pending => {
                    $waits = true;
                    break '__branch;
                }
            };
            let mut fits = false;
            #[allow(unused, clippy::all)]
            match output {
                // The guard sees whether it fits, and leaves the value whole.
                $pattern if { fits = true; false } => ::core::unreachable!(),
                _ => {}
            }
            if fits {
                return $crate::future::support::Poll::Ready(__Selected::$slot(output));
            }
            $disabled[$index / 8] |= 1 << ($index % 8);
        }
    };

    (@poll (biased) $cx:ident $futures:ident $disabled:ident $waits:ident $([$slot:ident $index:tt $pattern:pat])+) => {
        $(if $disabled[$index / 8] & (1 << ($index % 8)) == 0 {
            $crate::__select!(@branch $cx $futures $disabled $waits $slot $index $pattern)
        })+
    };
    (@poll (fair) $cx:ident $futures:ident $disabled:ident $waits:ident $([$slot:ident $index:tt $pattern:pat])+) => {
        const __BRANCHES: u32 = [$($index),+].len() as u32;
        let start = $crate::future::support::start(__BRANCHES);
        // Those from there on, and then those before.
        for later in [true, false] {
            $(if (start <= $index) == later && $disabled[$index / 8] & (1 << ($index % 8)) == 0 {
                $crate::__select!(@branch $cx $futures $disabled $waits $slot $index $pattern)
            })+
        }
    };

    (@write $mode:tt
        [$({ [$slot:ident $index:tt] ($pattern:pat) ($future:expr) ($($condition:expr)?) ($handler:expr) })+]
        ($otherwise:expr)
    ) => {{
        #[allow(non_camel_case_types, dead_code, clippy::large_enum_variant)]
        enum __Selected<$($slot),+> { $($slot($slot),)+ __None }
        #[allow(unused_mut)]
        let mut selected = {
            // A bit for each branch.
            let mut disabled = [0_u8; [$($index),+].len().div_ceil(8)];
            $(if !(true $(&& $condition)?) { disabled[$index / 8] |= 1 << ($index % 8); })+
            // In a tuple first: what the expressions borrow is kept as long as the tuple.
            let futures = ($($future,)+);
            let mut futures = ($($crate::future::support::IntoFuture::into_future(futures.$index),)+);
            // Only a reference to all of them goes into what is awaited.
            let futures = &mut futures;
            $crate::future::support::poll_fn(|cx| {
                // With nothing left of the task's budget, those that could be ready say that they are not, and others that have none to
                // spend would always be first.
                if $crate::future::support::poll_budget_available(cx).is_pending() {
                    return $crate::future::support::Poll::Pending;
                }
                let mut waits = false;
                // All of them: the closure would hold a reference to each.
                let futures = &mut *futures;
                $crate::__select!(@poll $mode cx futures disabled waits $([$slot $index $pattern])+);
                if waits {
                    $crate::future::support::Poll::Pending
                } else {
                    $crate::future::support::Poll::Ready(__Selected::__None)
                }
            })
            .await
        };
        match selected {
            $(__Selected::$slot($pattern) => $handler,)+
            __Selected::__None => $otherwise,
            #[allow(unreachable_patterns)]
            _ => ::core::unreachable!("it fitted a moment ago"),
        }
    }};
}
