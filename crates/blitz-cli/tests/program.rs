//! The program as its user meets it: what it says to wrong words, what its help shows, and what Ctrl-C leaves behind.

use std::process::{Command, Output};

fn blitz(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_blitz"))
        .args(words)
        .output()
        .expect("the program starts")
}

#[test]
fn wrong_words_get_a_short_message_and_a_code_of_their_own() {
    let wrong: &[(&[&str], &str)] = &[
        (&["tuor"], "tour"),
        (&["tour", "--fast"], "--fast"),
        (&["tour", "--out"], "--out"),
        (&["doctor", "now"], "now"),
        (&["trace"], "fib"),
        (&["profile", "nothing"], "queens"),
        (&["top"], "which address"),
        (&["console", "page"], "demo"),
        (&["bench"], "join"),
        (&["bench", "jion"], "join"),
        (&["bench", "join", "--fast"], "--fast"),
        (&["stress", "--seconds", "many"], "many"),
    ];
    for (words, hint) in wrong {
        let output = blitz(words);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(message.contains(hint), "{words:?}: {message}");
        // What is wrong, and one line for each thing that could be meant.
        assert!(message.lines().count() <= 33, "{words:?}: {message}");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn a_simulation_says_before_it_begins_that_its_picture_cannot_be_written() {
    let recording = std::env::temp_dir().join(format!("blitz-{}.recording", std::process::id()));
    let text = "blitz recording 1\nplace a\nsteps\nl 900000 1000 0\n";
    std::fs::write(&recording, text).unwrap();
    let nowhere = recording.join("a.svg");
    let words = ["simulate", recording.to_str().unwrap(), "--cores", "2"];
    let output = blitz(&[&words[..], &["--out", nowhere.to_str().unwrap()]].concat());
    std::fs::remove_file(&recording).unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(message.contains("cannot be written"), "{message}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(!table.contains("simulated"), "{table}");
}

#[test]
fn every_help_shows_an_example() {
    for sub in [
        "tour", "bench", "doctor", "stress", "profile", "trace", "console", "top",
    ] {
        let output = blitz(&[sub, "--help"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{sub}");
        let example = text.split("example:").nth(1);
        assert!(
            example.is_some_and(|example| example.contains(&format!("blitz {sub}"))),
            "{sub}: {text}"
        );
    }
    let all = blitz(&["--help"]);
    assert!(String::from_utf8_lossy(&all.stdout).contains("example: blitz tour"));
}

#[cfg(target_os = "linux")]
mod in_a_terminal {
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    const HIDE: &str = "\x1b[?25l";
    const SHOW: &str = "\x1b[?25h";

    /// Both ends of a new terminal: ours, and the program's.
    fn terminal() -> (File, OwnedFd) {
        let (mut ours, mut theirs) = (-1, -1);
        let none = std::ptr::null_mut();
        // SAFETY: two places for descriptors; name, settings and size may be left out.
        let result =
            unsafe { libc::openpty(&mut ours, &mut theirs, none, none.cast(), none.cast()) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
        // SAFETY: both are open, and nobody else has them.
        unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
    }

    fn start_tour(theirs: OwnedFd) -> Child {
        let stream = || Stdio::from(theirs.try_clone().expect("a descriptor is free"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_blitz"));
        let report = std::env::temp_dir().join("blitz-interrupted.html");
        command.args(["tour", "--quick", "--out"]).arg(report);
        command.stdin(stream()).stdout(stream()).stderr(stream());
        // SAFETY: between fork and exec only two system calls are made: the terminal becomes that of the program.
        unsafe {
            command.pre_exec(|| {
                if libc::setsid() == -1 || libc::ioctl(0, libc::TIOCSCTTY, 0) == -1 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        command.spawn().expect("the program starts")
    }

    #[test]
    fn an_interrupt_leaves_a_clean_terminal() {
        let (mut ours, theirs) = terminal();
        let mut tour = start_tour(theirs);
        let mut seen = String::new();
        let mut buffer = [0; 4096];
        // A bar is being drawn, with the cursor hidden.
        while !seen.contains(HIDE) {
            let length = ours.read(&mut buffer).expect("the tour draws a bar");
            seen.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
        ours.write_all(b"\x03").expect("a key is pressed");
        // When the last process with the other end is gone, reading fails or ends.
        while let Ok(length @ 1..) = ours.read(&mut buffer) {
            seen.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
        let status = tour.wait().expect("it ends");
        assert_eq!(status.code(), Some(128 + libc::SIGINT), "{seen}");
        let (hidden, shown) = (seen.rfind(HIDE), seen.rfind(SHOW));
        assert!(shown > hidden, "the cursor stays hidden: {seen:?}");
        // After the last bar its line is wiped.
        let after = &seen[hidden.expect("it was hidden")..];
        assert!(after.contains("\r\x1b[2K"), "{after:?}");
    }
}
