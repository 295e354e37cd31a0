//! Letting the others go first.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets every other task that is ready run once before this one goes on.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// for _ in 0..10 {
///     blitz_io::task::yield_now().await;
/// }
/// # });
/// ```
pub async fn yield_now() {
    YieldNow { yielded: false }.await;
}

/// See [`yield_now`].
struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        // Woken while it is polled, a task goes to the end of the queue.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
