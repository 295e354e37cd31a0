//! `join!` and `try_join!`: several futures at once, all of them.
//!
//! The futures, and later their outputs, live in the frame of the caller. A future that is ready is dropped at once and not
//! polled again. Each poll of the whole starts one future later than the one before: a future that uses up the budget of the task leaves
//! nothing for those behind it, and must not always be the first.

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

    (@next (biased) $start:ident $($index:literal)+) => { 0 };
    (@next (fair) $start:ident $($index:literal)+) => {
        if $start + 1 == [$($index),+].len() { 0 } else { $start + 1 }
    };

    (@step (all) $slot:ident $cx:ident) => { $slot.as_mut().is_done($cx) };
    (@step (ok) $slot:ident $cx:ident) => {
        match $slot.as_mut().try_is_done($cx) {
            ::core::result::Result::Ok(done) => done,
            ::core::result::Result::Err(error) => {
                return $crate::future::support::Poll::Ready(::core::result::Result::Err(error));
            }
        }
    };

    (@through (all)) => { () };
    (@through (ok)) => { ::core::result::Result::Ok(()) };

    (@outputs (all) $end:ident $($slot:ident)+) => {{
        let () = $end;
        ($($slot.as_mut().take(),)+)
    }};
    (@outputs (ok) $end:ident $($slot:ident)+) => {
        match $end {
            ::core::result::Result::Ok(()) => ::core::result::Result::Ok(($($slot.as_mut().take_ok(),)+)),
            ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
        }
    };

    (@write $mode:tt $kind:tt [$({ [$slot:ident $index:literal] ($future:expr) })+]) => {{
        $(let $slot = $crate::future::support::IntoFuture::into_future($future);)+
        $(let mut $slot = $crate::future::support::pin!($crate::future::support::MaybeDone::new($slot));)+
        let mut start: usize = 0;
        let end = $crate::future::support::poll_fn(|cx| {
            let mut all = true;
            // Those from there on, and then those before.
            for later in [true, false] {
                $(if (start <= $index) == later {
                    all &= $crate::__join!(@step $kind $slot cx);
                })+
            }
            start = $crate::__join!(@next $mode start $($index)+);
            if all {
                $crate::future::support::Poll::Ready($crate::__join!(@through $kind))
            } else {
                $crate::future::support::Poll::Pending
            }
        })
        .await;
        $crate::__join!(@outputs $kind end $($slot)+)
    }};
}
