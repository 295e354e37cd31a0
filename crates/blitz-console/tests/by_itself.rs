//! A program that names the crate and says nothing else serves the page, if the environment asks for it.

use blitz_console as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What the programs do: this test, run again.
const PROGRAM: &str = "BLITZ_CONSOLE_TEST_PROGRAM";

#[test]
fn a_program_without_a_line_of_it_serves_the_page() {
    match std::env::var(PROGRAM).as_deref() {
        Ok("computes") => {
            assert_eq!(blitz_core::join(|| 1, || 2), (1, 2));
            wait_for_parent();
        }
        Ok("has a runtime") => {
            let runtime = blitz_io::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {});
            wait_for_parent();
        }
        Ok("asks as well") => {
            blitz_core::join(|| (), || ());
            let served = blitz_console::from_env().unwrap().unwrap();
            assert_eq!(
                Ok(served.local_addr().to_string()),
                std::env::var("BLITZ_CONSOLE")
            );
            wait_for_parent();
        }
        Ok("asks for nothing") => {
            blitz_core::join(|| (), || ());
            assert!(blitz_console::from_env().unwrap().is_none());
        }
        _ => {
            assert!(run("asks for nothing", "").wait().unwrap().success());
            for program in ["computes", "has a runtime", "asks as well"] {
                serves(program);
            }
            says_which_port_is_free();
        }
    }
}

/// Until it goes.
fn wait_for_parent() {
    let _ = std::io::stdin().read(&mut [0]);
}

fn run(program: &str, address: &str) -> Child {
    command(program, address).spawn().unwrap()
}

fn command(program: &str, address: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["a_program_without", "--nocapture"]);
    command.env(PROGRAM, program).env("BLITZ_CONSOLE", address);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command
}

fn says_which_port_is_free() {
    let mut command = command("computes", "127.0.0.1:0");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let (_, address) = line.split_once("http://").expect(&line);
    TcpStream::connect(address).expect(&line);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(lines.count(), 0, "one line");
}

fn serves(program: &str) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let mut child = run(program, &address.to_string());
    let mut stream = loop {
        if let Ok(stream) = TcpStream::connect(address) {
            break stream;
        }
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "{program}: {ended:?}");
        std::thread::sleep(Duration::from_millis(5));
    };
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{program}: {answer}");
    assert!(answer.contains("blitz_"), "{program}: {answer}");
    // It sees the end of its input.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success(), "{program}");
}
