//! More tasks block silently than there are threads to serve the others: the program says so.
#![cfg(unix)]

mod common;

use common::line_of_child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// In a process of its own: it writes to the standard error.
const CHILD: &str = "BLITZ_TEST_BLOCKS_TOO_OFTEN";

#[test]
fn more_silent_blockers_than_threads_are_told_of() {
    if std::env::var_os(CHILD).is_some() {
        return block_too_often();
    }
    let test = "more_silent_blockers_than_threads_are_told_of";
    let told = line_of_child(test, CHILD, "block_in_place");
    assert!(
        told.unwrap()
            .starts_with("Blitz: 18 tasks of a runtime block their threads")
    );
}

fn block_too_often() {
    let runtime = blitz_io::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    let lock = Arc::new(Mutex::new(()));
    let held = lock.lock().unwrap();
    for _ in 0..40 {
        let lock = Arc::clone(&lock);
        runtime.spawn(async move { drop(lock.lock()) });
    }
    // Nobody gets to it.
    let later = runtime.spawn(async { blitz_io::time::sleep(Duration::from_secs(60)).await });
    runtime.block_on(later).unwrap();
    drop(held);
}
