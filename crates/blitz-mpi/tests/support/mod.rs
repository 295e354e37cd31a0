//! Tests on several ranks: a test starts `mpirun` with its own program and name; under `mpirun`, the same test is the body.

use blitz_mpi::Cluster;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const INSIDE: &str = "BLITZ_MPI_TEST";

/// A command that starts a test of this program on `ranks` ranks.
pub fn mpirun(test: &str, ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    // Open MPI counts CPUs unless it is told not to; MPICH does not, and does not know the word.
    let version = Command::new("mpirun").arg("--version").output();
    if text(&version.expect("mpirun is installed")).contains("Open MPI") {
        command.args(["--oversubscribe", "--bind-to", "none"]);
    }
    command
        .args(["-n", &ranks.to_string()])
        .arg(std::env::current_exe().expect("a test knows its program"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, test)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        // Containers often forbid to read another process's memory; MPI goes without, and need not say so.
        .env("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
        .env("RUST_BACKTRACE", "0");
    command
}

/// Runs it, for 100 seconds at most: ranks that wait for each other for ever are a failure, not a test that hangs. (Far more than it
/// takes: machines are slow at times.)
pub fn finish(mut command: Command) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mpirun is installed");
    let id = child.id();
    let (ended, end) = channel::<()>();
    let watch = std::thread::spawn(move || {
        if end.recv_timeout(Duration::from_secs(100)) == Err(RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").arg(id.to_string()).status();
        }
    });
    let output = child.wait_with_output().expect("it can be waited for");
    drop(ended);
    watch.join().expect("the watch does not panic");
    output
}

/// Whether this process is a rank of a test.
pub fn inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

pub fn text(output: &Output) -> String {
    format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs `body` with 1, 2, 3 and 5 ranks.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn on_ranks(test: &str, body: impl AsyncFnOnce(&Cluster)) {
    if inside() {
        return Cluster::builder().threads(2).run(body).expect("a good end");
    }
    for ranks in [1, 2, 3, 5] {
        let output = finish(mpirun(test, ranks));
        assert!(output.status.success(), "{ranks} ranks: {}", text(&output));
        let passed = text(&output).matches("1 passed").count();
        assert_eq!(passed, ranks, "{ranks} ranks: {}", text(&output));
    }
}

/// Numbers that look random.
#[allow(dead_code, reason = "not every test program needs it")]
pub struct Numbers(pub u64);

#[allow(dead_code, reason = "not every test program needs it")]
impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}
