//! Child processes: pipes that carry everything, ends that are noticed, and no zombies.
#![cfg(target_os = "linux")]

mod common;

use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::process::{Child, Command, Stdio};
use blitz_io::{Builder, Runtime, spawn};
use common::{run, run_on, runtime, soon};
use std::future::Future;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// Copies its input to its output, until the end.
fn cat() -> Command {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// Waits until there is no process with this number, not even a zombie.
async fn is_reaped(id: u32) {
    let process = format!("/proc/{id}");
    for _ in 0..3000 {
        if !std::fs::exists(&process).unwrap() {
            return;
        }
        blitz_io::time::sleep(Duration::from_millis(10)).await;
    }
    let status = std::fs::read_to_string(format!("{process}/status"));
    panic!("process {id} is still there: {status:?}");
}

/// Bytes that show where they are from.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n % 251) as u8).collect()
}

#[test]
fn bug_35_the_environment_of_a_command_reaches_the_child() {
    run(|| async {
        let mut command = shell("echo $ONE $TWO $THREE; pwd");
        command
            .env("ONE", "1")
            .envs([("TWO", "2"), ("THREE", "x")])
            .env_remove("THREE")
            .current_dir("/");
        let output = soon(command.output()).await.unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "1 2\n/\n");
        let mut command = Command::new("/usr/bin/env");
        command.env_clear().env("ONLY", "this");
        let output = soon(command.output()).await.unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "ONLY=this\n");
        let mut command = shell("echo $0");
        command.as_std_mut().arg("name");
        let output = soon(command.output()).await.unwrap();
        assert_eq!(output.stdout, b"name\n");
    });
}

#[test]
fn bug_35_waiting_with_output_reads_both_pipes_at_once() {
    for make in [current_thread, || runtime(2)] {
        run_on(make, || async {
            // Each is more than a pipe holds, and whichever is read second blocks the child.
            let (out, error) = ("head -c 300000 /dev/zero", "head -c 400000 /dev/zero >&2");
            for script in [
                format!("{out}; {error}; exit 7"),
                format!("{error}; {out}; exit 7"),
                format!("{error} & {out}; wait; exit 7"),
            ] {
                let output = soon(shell(&script).output()).await.unwrap();
                assert_eq!(output.status.code(), Some(7));
                assert_eq!(output.stdout, vec![0; 300_000]);
                assert_eq!(output.stderr, vec![0; 400_000]);
            }
        });
    }
}

#[test]
fn more_than_the_pipes_hold_goes_through_a_child() {
    run(|| async {
        let expected = pattern(2_000_000);
        let mut child = cat().spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let sent = expected.clone();
        let writer = spawn(async move { stdin.write_all(&sent).await });
        let output = soon(child.wait_with_output()).await.unwrap();
        soon(writer).await.unwrap().unwrap();
        assert!(output.status.success());
        assert!(output.stdout == expected);
    });
}

#[test]
fn children_are_connected_with_each_other_without_us() {
    run(|| async {
        let mut first = shell("head -c 200000 /dev/zero");
        let mut first = first.stdout(Stdio::piped()).spawn().unwrap();
        let between: Stdio = first.stdout.take().unwrap().try_into().unwrap();
        let mut second = Command::new("wc");
        let second = second.arg("-c").stdin(between).output();
        let output = soon(second).await.unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "200000");
        assert!(soon(first.wait()).await.unwrap().success());
    });
}

#[test]
fn waiting_closes_the_standard_input_and_may_be_cancelled() {
    run_on(current_thread, || async {
        let mut child = cat().spawn().unwrap();
        let id = child.id().unwrap();
        assert!(std::fs::exists(format!("/proc/{id}")).unwrap());
        let stdin = child.stdin.take().unwrap();
        {
            let wait = pin!(child.wait());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(wait.poll(&mut cx).is_pending());
        }
        assert!(child.try_wait().unwrap().is_none());
        child.stdin = Some(stdin);
        assert!(soon(child.wait()).await.unwrap().success());
        assert_eq!(child.id(), None);
        assert!(soon(child.wait()).await.unwrap().success(), "known by now");
        assert!(child.try_wait().unwrap().unwrap().success());
        child.start_kill().unwrap();
        soon(child.kill()).await.unwrap();
        is_reaped(id).await;
    });
}

#[test]
fn a_child_that_is_killed_says_so() {
    run(|| async {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let id = child.id().unwrap();
        soon(child.kill()).await.unwrap();
        let status = child.try_wait().unwrap().unwrap();
        assert_eq!(status.signal(), Some(libc::SIGKILL));
        is_reaped(id).await;
    });
}

#[test]
fn a_child_that_is_dropped_is_killed_if_that_was_asked_for() {
    run(|| async {
        let mut command = Command::new("sleep");
        command.arg("1000").kill_on_drop(true);
        assert!(command.get_kill_on_drop());
        let child = command.spawn().unwrap();
        let id = child.id().unwrap();
        drop(child);
        is_reaped(id).await;
        // The same if it is a future that is dropped.
        let status = command.status();
        drop(status);
    });
}

#[test]
fn children_that_are_dropped_run_on_and_leave_no_zombies() {
    for make in [current_thread, || runtime(2)] {
        run_on(make, || async {
            let mut ids = Vec::new();
            for _ in 0..10 {
                let mut command = Command::new("true");
                ids.push(command.spawn().unwrap().id().unwrap());
            }
            // This one only ends after it has been dropped.
            let mut child = cat().spawn().unwrap();
            let (mut stdin, mut stdout) =
                (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            ids.push(child.id().unwrap());
            drop(child);
            stdin.write_all(b"still there").await.unwrap();
            drop(stdin);
            let mut text = String::new();
            soon(stdout.read_to_string(&mut text)).await.unwrap();
            assert_eq!(text, "still there");
            for id in ids {
                is_reaped(id).await;
            }
        });
    }
}

#[test]
fn children_that_outlive_their_runtime_are_reaped_by_the_next_one() {
    let runtime_of_child = runtime(1);
    let (child, dropped, pipes) = runtime_of_child.block_on(async {
        let mut children = [cat().spawn().unwrap(), cat().spawn().unwrap()];
        let pipes = children
            .each_mut()
            .map(|child| child.stdin.take().unwrap().into_owned_fd().unwrap());
        let [child, dropped] = children;
        (child, dropped.id().unwrap(), pipes)
    });
    let kept = child.id().unwrap();
    drop(runtime_of_child);
    // Another one waits, too, and is dropped, and ends before it has seen anything.
    current_thread().block_on(async {
        let mut child: Child = child;
        let wait = pin!(child.wait());
        assert!(
            wait.poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
    });
    // They end when nobody watches.
    drop(pipes);
    run(move || async move {
        for _ in 0..2 {
            assert!(soon(Command::new("true").status()).await.unwrap().success());
        }
        is_reaped(kept).await;
        is_reaped(dropped).await;
    });
}

#[test]
fn a_child_may_be_waited_for_in_another_runtime_than_the_one_that_has_spawned_it() {
    let runtime_of_child = runtime(1);
    let (mut child, mut other) = runtime_of_child.block_on(async {
        let mut child = cat().spawn().unwrap();
        {
            // Waiting has begun there.
            let wait = pin!(child.wait());
            let _ = wait.poll(&mut Context::from_waker(Waker::noop()));
        }
        (child, Command::new("false").spawn().unwrap())
    });
    drop(runtime_of_child);
    current_thread().block_on(async {
        assert!(soon(child.wait()).await.unwrap().success());
        assert!(!soon(other.wait()).await.unwrap().success());
    });
}

#[test]
fn writing_to_a_child_that_is_gone_is_an_error_and_no_more() {
    run(|| async {
        let mut child = Command::new("true");
        let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        assert!(soon(child.wait()).await.unwrap().success());
        let error = soon(stdin.write_all(&pattern(1_000_000))).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_writer_that_waits_is_told_when_the_child_goes() {
    run(|| async {
        let mut child = Command::new("sleep");
        child.arg("1000").stdin(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Nobody reads: it fills the pipe and waits.
        let writer = spawn(async move { stdin.write_all(&pattern(1_000_000)).await });
        for _ in 0..20 {
            blitz_io::task::yield_now().await;
        }
        soon(child.kill()).await.unwrap();
        let error = soon(writer).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    run(|| async {
        let error = Command::new("no-such-program-anywhere").spawn();
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
        let error = soon(Command::new("/").output()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    });
    let outside = std::panic::catch_unwind(|| Command::new("true").spawn());
    assert!(outside.is_err(), "no runtime");
}

#[test]
fn many_children_at_once_each_have_their_own_end_and_output() {
    run(|| async {
        let tasks: Vec<_> = (0..24)
            .map(|number| {
                spawn(async move {
                    let script = format!("echo {number}; echo {number} >&2; exit {number}");
                    let output = soon(shell(&script).output()).await.unwrap();
                    assert_eq!(output.status.code(), Some(number));
                    let text = format!("{number}\n");
                    assert_eq!(output.stdout, text.as_bytes());
                    assert_eq!(output.stderr, text.as_bytes());
                })
            })
            .collect();
        for task in tasks {
            soon(task).await.unwrap();
        }
    });
}

#[test]
fn pipes_can_be_moved_out_of_a_child() {
    run(|| async {
        let child = cat().spawn().unwrap();
        drop(child.stdin.unwrap());
        let mut stdout = child.stdout.unwrap();
        let mut printed = String::new();
        soon(stdout.read_to_string(&mut printed)).await.unwrap();
        assert_eq!(printed, "");
        let Child { stdin, stderr, .. } = cat().spawn().unwrap();
        assert!(stdin.is_some() && stderr.is_none());
    });
}
