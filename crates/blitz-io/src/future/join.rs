//! `join!` and `try_join!`: several futures at once, all of them.
//!
//! The futures, and later their outputs, live in the frame of the caller. A future that is ready is dropped at once and not
//! polled again. Each poll of the whole starts one future later than the one before. The reason: a future that uses up the budget of the task leaves
//! nothing for those after it, so it must not always be the first.

/// Awaits all futures at once and returns their outputs as a tuple.
///
/// They run in the task that awaits them, one at a time; to use several threads, [`spawn`](crate::spawn) them and join the handles.
/// With `biased;` in front they are polled in the order in which they are written, every time.
///
/// # Cost
/// No allocation. The futures live in the frame of the caller. At most 64.
///
/// ```
/// use blitz_io::time::{Duration, Instant, sleep};
///
/// # let runtime = blitz_io::Builder::new_current_thread().start_paused(true).build().unwrap();
/// # runtime.block_on(async {
/// let start = Instant::now();
/// let (word, number, ()) = blitz_io::join!(
///     async { "word" },
///     async { sleep(Duration::from_secs(1)).await; 7 },
///     sleep(Duration::from_secs(2)),
/// );
/// assert_eq!((word, number), ("word", 7));
/// assert!(start.elapsed() < Duration::from_millis(2100));
/// # });
/// ```
#[macro_export]
macro_rules! join {
    (biased; $($futures:tt)*) => { $crate::__with_slots! { __join (biased) (all) $($futures)* } };
    ($($futures:tt)*) => { $crate::__with_slots! { __join (fair) (all) $($futures)* } };
}

/// Awaits all futures at once and returns the values of all, as a tuple in `Ok`, or the first error.
///
/// At the first error the other futures are dropped. All must have the same type of error. Otherwise as [`join!`](crate::join).
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let both = blitz_io::try_join!(async { Ok::<_, String>(1) }, async { Ok("one") });
/// assert_eq!(both, Ok((1, "one")));
///
/// let failed = blitz_io::try_join!(async { Err::<(), _>("no") }, std::future::pending::<Result<(), _>>());
/// assert_eq!(failed, Err("no"));
/// # });
/// ```
#[macro_export]
macro_rules! try_join {
    (biased; $($futures:tt)*) => { $crate::__with_slots! { __join (biased) (ok) $($futures)* } };
    ($($futures:tt)*) => { $crate::__with_slots! { __join (fair) (ok) $($futures)* } };
}

/// See [`join!`] and [`try_join!`].
#[doc(hidden)]
#[macro_export]
macro_rules! __join {
    (@parse $slots:tt [] $mode:tt (all)) => { () };
    (@parse $slots:tt [] $mode:tt (ok)) => { ::core::result::Result::Ok(()) };
    (@parse $slots:tt $futures:tt $mode:tt $kind:tt) => { $crate::__join! { @write $mode $kind $futures } };
    (@parse [] $futures:tt $mode:tt $kind:tt $($rest:tt)+) => {
        ::core::compile_error!("join!, try_join!: there are more than 64 futures; spawn them in a JoinSet instead")
    };
    (@parse [$slot:tt $($slots:tt)*] [$($futures:tt)*] $mode:tt $kind:tt $future:expr $(, $($rest:tt)*)?) => {
        $crate::__join! { @parse [$($slots)*] [$($futures)* { $slot ($future) }] $mode $kind $($($rest)*)? }
    };
    (@parse $slots:tt $futures:tt $mode:tt $kind:tt $($rest:tt)+) => {
        ::core::compile_error!(::core::concat!(
            "join!, try_join!: expected futures with commas between them; found `", ::core::stringify!($($rest)+), "`"
        ))
    };

    (@step (all) $future:expr, $cx:ident) => { $future.is_done($cx) };
    (@step (ok) $future:expr, $cx:ident) => {
        match $future.try_is_done($cx) {
            ::core::result::Result::Ok(done) => done,
            ::core::result::Result::Err(error) => {
                return $crate::future::support::Poll::Ready(::core::result::Result::Err(error));
            }
        }
    };

    (@pin $futures:ident $index:tt) => {{
        // SAFETY: the futures are in the frame of the caller, which nobody but the closure can name, and which does not move them
        // until they are dropped there.
        unsafe { $crate::future::support::Pin::new_unchecked(&mut $futures.$index) }
    }};

    (@outputs (all) $futures:ident $($index:tt)+) => {
        ($($crate::__join!(@pin $futures $index).take(),)+)
    };
    (@outputs (ok) $futures:ident $($index:tt)+) => {
        ::core::result::Result::Ok(($($crate::__join!(@pin $futures $index).take_ok(),)+))
    };

    (@poll (biased) $kind:tt $futures:ident $($index:tt)+) => {
        $crate::future::support::poll_fn(move |cx| {
            let mut all = true;
            $(all &= $crate::__join!(@step $kind $crate::__join!(@pin $futures $index), cx);)+
            if all {
                $crate::future::support::Poll::Ready($crate::__join!(@outputs $kind $futures $($index)+))
            } else {
                $crate::future::support::Poll::Pending
            }
        })
    };
    (@poll (fair) $kind:tt $futures:ident $($index:tt)+) => {{
        let mut start: u32 = 0;
        $crate::future::support::poll_fn(move |cx| {
            const __FUTURES: u32 = [$($index),+].len() as u32;
            let mut all = true;
            // Those from there on, and then those before.
            for later in [true, false] {
                $(if (start <= $index) == later {
                    all &= $crate::__join!(@step $kind $crate::__join!(@pin $futures $index), cx);
                })+
            }
            start = if start + 1 == __FUTURES { 0 } else { start + 1 };
            if all {
                $crate::future::support::Poll::Ready($crate::__join!(@outputs $kind $futures $($index)+))
            } else {
                $crate::future::support::Poll::Pending
            }
        })
    }};

    (@write $mode:tt $kind:tt [$({ [$slot:ident $index:tt] ($future:expr) })+]) => {{
        let mut futures = ($($crate::future::support::maybe_done($future),)+);
        // Only a reference to all of them goes into what is awaited.
        let futures = &mut futures;
        $crate::__join!(@poll $mode $kind futures $($index)+).await
    }};
}
