//! Scenario `descriptors`: a process runs out of file descriptors. Sockets, files, programs and runtimes give errors, and nothing hangs; when there
//! are descriptors again, all of it works.

use std::fs::File;
use std::io;
use std::time::Duration;

use blitz_io::net::{TcpListener, UdpSocket, UnixStream};
use blitz_io::process::Command;
use blitz_io::{Builder, JoinHandle, Runtime};

use super::dice::Dice;
use super::ends::echo;

pub fn child(seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let limit = dice.between(24, 90) as u64;
    allow(limit).map_err(|error| format!("the limit cannot be set: {error}"))?;
    let runtime = match dice.below(3) {
        0 => Builder::new_current_thread().build(),
        1 => Runtime::new(),
        _ => Builder::new_multi_thread()
            .worker_threads(dice.between(1, 2))
            .build(),
    };
    let runtime = runtime.map_err(|error| format!("a runtime does not start: {error}"))?;
    for _ in 0..dice.between(1, 4) {
        // Often some are left, so that things fail half-way.
        let mut hoard = hoard()?;
        hoard.truncate(hoard.len().saturating_sub(dice.below(9)));
        let tries = dice.between(1, 12);
        runtime.block_on(use_what_is_left(&mut dice, tries));
        drop(hoard);
    }
    runtime.block_on(async {
        let works =
            |what| move |error: io::Error| format!("with descriptors again, {what}: {error}");
        echo().await.map_err(works("a connection"))?;
        let mut program = program();
        program.status().await.map_err(works("a program"))?;
        Ok::<_, String>(())
    })?;
    drop(runtime);
    let another = Runtime::new().map_err(|error| format!("another runtime: {error}"))?;
    another
        .block_on(echo())
        .map_err(|error| format!("a connection of another runtime: {error}"))
}

fn allow(files: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: files,
        rlim_max: files,
    };
    // SAFETY: the structure is read during the call only.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Every descriptor that there is.
fn hoard() -> Result<Vec<File>, String> {
    let mut hoard = Vec::new();
    loop {
        match File::open("/dev/null") {
            Ok(file) => hoard.push(file),
            Err(error) if error.raw_os_error() == Some(libc::EMFILE) => return Ok(hoard),
            Err(error) => return Err(format!("/dev/null cannot be opened: {error}")),
        }
    }
}

fn program() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "exit 0"]);
    command
}

/// Any of it may fail. All of it ends.
async fn use_what_is_left(dice: &mut Dice, tries: usize) {
    let mut running: Vec<JoinHandle<()>> = Vec::new();
    let mut kept = Vec::new();
    for _ in 0..tries {
        match dice.below(8) {
            0 => running.push(blitz_io::spawn(async { drop(echo().await) })),
            1 => drop(echo().await),
            2 => kept.push(program().kill_on_drop(dice.once_in(2)).spawn()),
            3 => {
                // Nobody waits for it: an orphan.
                drop(program().spawn());
            }
            4 => running.push(blitz_io::spawn(async {
                drop(program().output().await);
            })),
            5 => drop(UnixStream::pair()),
            6 => {
                drop(TcpListener::bind("127.0.0.1:0").await);
                drop(UdpSocket::bind("127.0.0.1:0").await);
                drop(blitz_io::fs::read("/dev/null").await);
            }
            _ => {
                let short = Duration::from_micros(200);
                let other = blitz_io::spawn_blocking(move || {
                    let runtime = Runtime::new()?;
                    runtime.block_on(async { blitz_io::time::sleep(short).await });
                    io::Result::Ok(())
                });
                drop(other.await);
            }
        }
    }
    for child in kept.into_iter().flatten() {
        let mut child = child;
        if dice.once_in(3) {
            continue;
        }
        drop(child.wait().await);
    }
    for task in running {
        drop(task.await);
    }
}
