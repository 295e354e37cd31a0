//! What cannot be reached from outside on a kernel with descriptors for processes: the way by SIGCHLD.

use super::exit::Watch;
#[cfg(target_os = "linux")]
use super::orphans;
use crate::Builder;
use crate::time::timeout;
use std::future::poll_fn;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A child that ends when its standard input does.
fn child() -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn without_descriptors_for_processes_the_signal_tells_of_their_ends() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut watched = Vec::new();
        for _ in 0..5 {
            watched.push((child(), Watch::by_signal().unwrap()));
        }
        // The last one first: the others are asked about, and go on.
        while let Some((mut child, mut watch)) = watched.pop() {
            assert!(child.try_wait().unwrap().is_none());
            drop(child.stdin.take());
            let end = poll_fn(|cx| watch.poll(cx, &mut child));
            let end = timeout(Duration::from_secs(30), end).await.unwrap();
            assert!(end.unwrap().success());
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn without_descriptors_for_processes_orphans_are_reaped_too() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut orphan = child();
        let stdin = orphan.stdin.take();
        let process = format!("/proc/{}", orphan.id());
        orphans::adopt(orphan, Watch::by_signal().unwrap());
        assert!(std::fs::exists(&process).unwrap());
        drop(stdin);
        for _ in 0..3000 {
            if !std::fs::exists(&process).unwrap() {
                return;
            }
            crate::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it has not been reaped");
    });
}
