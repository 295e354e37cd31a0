//! The standard streams. They are the process's, so each test runs a process: this program again, which then is the child that a test asks for.
#![cfg(unix)]

mod common;

use blitz_io::io::{self, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use common::{run, runtime};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Says that the process is the child of a test.
const CHILD: &str = "BLITZ_IO_TEST_STDIO";

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// This program, doing only the test `name`, as a child with pipes.
fn child(name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn what_comes_in_goes_out_in_order() {
    if is_child() {
        return run(|| async {
            let mut lines = BufReader::new(io::stdin()).lines();
            let (mut out, mut err) = (io::stdout(), io::stderr());
            // The test harness has begun a line.
            out.write_all(b"\n").await.unwrap();
            while let Some(line) = lines.next_line().await.unwrap() {
                out.write_all(format!("out {line}\n").as_bytes())
                    .await
                    .unwrap();
                err.write_all(format!("err {line}\n").as_bytes())
                    .await
                    .unwrap();
            }
            out.flush().await.unwrap();
            err.flush().await.unwrap();
        });
    }
    let mut child = child("what_comes_in_goes_out_in_order");
    let mut input = child.stdin.take().unwrap();
    // More than a pipe holds, so the child reads and writes at the same time.
    let writes = std::thread::spawn(move || {
        for n in 0..20_000 {
            writeln!(input, "line {n}").unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    writes.join().unwrap();
    assert!(output.status.success());
    for (bytes, prefix) in [(output.stdout, "out line "), (output.stderr, "err line ")] {
        let text = String::from_utf8(bytes).unwrap();
        // The harness says something, too.
        let numbers = text.lines().filter_map(|line| line.strip_prefix(prefix));
        assert!(numbers.map(|n| n.parse::<u32>().unwrap()).eq(0..20_000));
    }
}

#[test]
fn bytes_that_nobody_has_flushed_are_written_before_the_runtime_has_ended() {
    if is_child() {
        let runtime = runtime(1);
        runtime.block_on(async {
            io::stdout().write_all(b"unflushed").await.unwrap();
        });
        drop(runtime);
        std::process::exit(0);
    }
    let child = child("bytes_that_nobody_has_flushed_are_written_before_the_runtime_has_ended");
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.ends_with(b"unflushed"));
}

#[test]
fn a_read_that_waits_keeps_no_worker_and_can_be_left_behind() {
    if is_child() {
        let runtime = runtime(1);
        runtime.block_on(async {
            let reads = blitz_io::spawn(async { io::stdin().read(&mut [0]).await });
            // The one worker is free for this while the read waits.
            let other =
                blitz_io::spawn(async { blitz_io::time::sleep(Duration::from_millis(20)).await });
            other.await.unwrap();
            assert!(!reads.is_finished());
            let mut out = io::stdout();
            out.write_all(b"free").await.unwrap();
            out.flush().await.unwrap();
        });
        runtime.shutdown_background();
        std::process::exit(0);
    }
    let mut child = child("a_read_that_waits_keeps_no_worker_and_can_be_left_behind");
    // Open and silent until the child has ended.
    let input = child.stdin.take();
    let mut text = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(text.ends_with(b"free"));
    drop(input);
}

#[test]
fn dropping_a_stream_leaves_it_open() {
    if is_child() {
        return run(|| async {
            for _ in 0..3 {
                drop((io::stdin(), io::stdout(), io::stderr()));
            }
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).await.unwrap();
            let mut out = io::stdout();
            out.write_all(text.as_bytes()).await.unwrap();
            out.flush().await.unwrap();
        });
    }
    let mut child = child("dropping_a_stream_leaves_it_open");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"still here")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("still here")
    );
}
