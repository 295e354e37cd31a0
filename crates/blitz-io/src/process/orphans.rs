//! Children that nobody waits for any more: they are reaped when they end.
//!
//! An orphan is its own waker. It leaves itself with whatever watches the process, and only that keeps it alive. When the process ends, the driver's
//! thread wakes the orphan, which reaps the process and frees everything. This takes no task, no thread and no polling.
//!
//! If the runtime ends first, the orphan is told. The thread that ends this runtime may be in another one; then the orphan moves there. If not, its process is put
//! on a list. The next runtime that spawns a process looks through the list.

use super::exit::Watch;
use crate::coop;
use crate::primitives::ignore_poison;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

/// Sees to it that a child is reaped.
pub(super) fn adopt(child: Child, watch: Watch) {
    Arc::new(Orphan(Mutex::new(Some((child, watch))))).look();
}

struct Orphan(Mutex<Option<(Child, Watch)>>);

impl Orphan {
    /// Reaps the child if it has ended, and otherwise waits for that.
    fn look(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        let mut place = ignore_poison(self.0.lock());
        let Some((child, watch)) = &mut *place else {
            return;
        };
        let mut cx = Context::from_waker(&waker);
        match coop::without_budget(|| watch.poll(&mut cx, child)) {
            Poll::Pending => {}
            Poll::Ready(result) => {
                let through = place.take();
                drop(place);
                if let (Err(_), Some((child, _))) = (result, through) {
                    leave_behind(child);
                }
            }
        }
    }
}

impl Wake for Orphan {
    fn wake(self: Arc<Self>) {
        self.look();
    }
}

/// Children whose runtimes have ended before them.
static LEFT_BEHIND: Mutex<Vec<Child>> = Mutex::new(Vec::new());

fn left_behind() -> MutexGuard<'static, Vec<Child>> {
    ignore_poison(LEFT_BEHIND.lock())
}

/// There is no runtime to watch this child. One that cannot be waited for is forgotten.
pub(super) fn leave_behind(mut child: Child) {
    if let Ok(None) = child.try_wait() {
        left_behind().push(child);
    }
}

/// Looks after children that have been left behind, in the runtime that this thread is in.
pub(super) fn adopt_those_left_behind() {
    // Not with the lock held: those for which there are no descriptors go back to the list.
    let left = std::mem::take(&mut *left_behind());
    for mut child in left {
        if let Ok(None) = child.try_wait() {
            match Watch::new(&child) {
                Ok(watch) => adopt(child, watch),
                Err(_) => leave_behind(child),
            }
        }
    }
}
