//! A clock for tests.

use crate::context;
use crate::wake_batch::WakeBatch;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

/// Stops the clock of this runtime: [`Instant::now`](super::Instant::now) stays the same, and whenever the runtime has nothing else to
/// do the clock jumps to the next timer.
///
/// The system's clock, and with it [`std::time::Instant`], runs on.
///
/// # Panics
/// If the clock is paused already, if the thread is in no runtime, or if it is not a current-thread one. (With several threads, one may have nothing to do
/// while a task runs on another, and the clock would jump meanwhile.)
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::time::{self, Duration, Instant};
///
/// time::pause();
/// let start = Instant::now();
/// time::sleep(Duration::from_secs(3600)).await; // takes no time
/// assert_eq!(start.elapsed().as_secs(), 3600);
/// # });
/// ```
#[track_caller]
pub fn pause() {
    let driver = context::driver();
    assert!(
        driver.clock().can_stop(),
        "time::pause: only the clock of a current-thread runtime can be paused (use Builder::new_current_thread)"
    );
    assert!(driver.pause(), "the clock is paused already");
}

/// Lets the clock run again.
///
/// # Panics
/// If the clock is not paused, or the thread is in no runtime.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{self, Duration, Instant};
///
/// time::resume();
/// let start = Instant::now();
/// time::sleep(Duration::from_millis(1)).await; // really
/// assert!(start.elapsed() >= Duration::from_millis(1));
/// # });
/// ```
#[track_caller]
pub fn resume() {
    assert!(context::driver().resume(), "the clock is not paused");
}

/// Moves a paused clock forward, and lets the tasks run whose timers are due.
///
/// # Panics
/// If the clock is not paused, or the thread is in no runtime.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{self, Duration};
///
/// let alarm = blitz_io::spawn(time::sleep(Duration::from_secs(60)));
/// time::advance(Duration::from_secs(59)).await;
/// assert!(!alarm.is_finished());
/// alarm.await.unwrap();
/// # });
/// ```
pub async fn advance(duration: Duration) {
    let driver = context::driver();
    assert!(
        driver.clock().advance(duration),
        "only a paused clock can be moved: call `time::pause` first"
    );
    driver.fire(&mut WakeBatch::new());
    // Those who have been woken go first.
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
