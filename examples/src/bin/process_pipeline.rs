//! Processes connected through async pipes: a stream that is much longer than the pipes, and nobody reads ahead of the others.
//!
//! ```text
//! this program --pipe--> tr a-z A-Z --pipe--> this program --pipe--> tr A-Z N-ZA-M --pipe--> this program
//! ```
//!
//! Every arrow is a pipe of some 64 KB. A writer whose pipe is full waits without a thread, so the slowest part sets the pace for all (back pressure), and
//! nothing piles up: the program counts what is on its way.

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    pipeline::main()
}

#[cfg(not(unix))]
fn main() {
    println!("Process pipeline: needs Unix");
}

#[cfg(unix)]
mod pipeline {
    use blitz_examples::{Random, Recipe};
    use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
    use blitz_io::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    const PIECE: usize = 32 * 1024;

    /// What has been sent into the pipeline and has not come out.
    #[derive(Default)]
    struct OnTheWay {
        bytes: AtomicUsize,
        most: AtomicUsize,
    }

    impl OnTheWay {
        fn sent(&self, length: usize) {
            let now = self.bytes.fetch_add(length, Ordering::Relaxed) + length;
            self.most.fetch_max(now, Ordering::Relaxed);
        }

        fn arrived(&self, length: usize) {
            self.bytes.fetch_sub(length, Ordering::Relaxed);
        }
    }

    /// The stream, piece by piece; the same for the sender and for the one who checks.
    struct Pieces(Random);

    impl Pieces {
        fn new() -> Self {
            Pieces(Random::new(23))
        }

        fn next(&mut self, piece: &mut [u8]) {
            for byte in piece {
                *byte = b'a' + self.0.below(26) as u8;
            }
        }
    }

    /// What both programs together do with a byte.
    fn expected(byte: u8) -> u8 {
        b'A' + (byte - b'a' + 13) % 26
    }

    fn translate(from: &str, to: &str) -> io::Result<(Child, ChildStdin, ChildStdout)> {
        let mut command = Command::new("tr");
        command
            .args([from, to])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = child.stdout.take().expect("it is piped");
        Ok((child, stdin, stdout))
    }

    async fn send(mut to: ChildStdin, pieces: usize, on_the_way: Arc<OnTheWay>) -> io::Result<()> {
        let mut source = Pieces::new();
        let mut piece = vec![0; PIECE];
        for _ in 0..pieces {
            source.next(&mut piece);
            on_the_way.sent(PIECE);
            to.write_all(&piece).await?;
        }
        // Dropping the pipe tells the program that this was all.
        Ok(())
    }

    /// Carries bytes from one program to the next.
    async fn carry(mut from: ChildStdout, mut to: ChildStdin) -> io::Result<()> {
        let mut buffer = vec![0; PIECE];
        loop {
            match from.read(&mut buffer).await? {
                0 => return Ok(()),
                length => to.write_all(&buffer[..length]).await?,
            }
        }
    }

    /// Takes what comes out, and compares it with what was sent.
    async fn check(mut from: ChildStdout, on_the_way: Arc<OnTheWay>) -> io::Result<usize> {
        let mut source = Pieces::new();
        let (mut piece, mut arrived) = (vec![0; PIECE], vec![0; PIECE]);
        let mut total = 0;
        loop {
            match from.read(&mut arrived).await? {
                0 => return Ok(total),
                length => {
                    source.next(&mut piece[..length]);
                    let right = piece[..length].iter().map(|&byte| expected(byte));
                    assert!(
                        right.eq(arrived[..length].iter().copied()),
                        "WRONG: after {total} bytes"
                    );
                    on_the_way.arrived(length);
                    total += length;
                }
            }
        }
    }

    pub fn main() -> io::Result<()> {
        let recipe = Recipe::start("Process pipeline: two programs, four pipes, one long stream");
        let pieces = recipe.size(2_000, 200);
        let runtime = blitz_io::Runtime::new()?;
        let on_the_way = Arc::new(OnTheWay::default());
        let start = Instant::now();
        let total = runtime.block_on(async {
            let (mut first, first_in, first_out) = translate("a-z", "A-Z")?;
            let (mut second, second_in, second_out) = translate("A-Z", "N-ZA-M")?;
            let sending = blitz_io::spawn(send(first_in, pieces, Arc::clone(&on_the_way)));
            let carrying = blitz_io::spawn(carry(first_out, second_in));
            let checking = blitz_io::spawn(check(second_out, Arc::clone(&on_the_way)));
            sending.await??;
            carrying.await??;
            let total = checking.await??;
            assert!(first.wait().await?.success());
            assert!(second.wait().await?.success());
            io::Result::Ok(total)
        })?;
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(total, pieces * PIECE, "WRONG: bytes are missing");
        let most = on_the_way.most.load(Ordering::Relaxed);
        // Four pipes, what the programs and this one have in hand.
        assert!(most < 2_000_000, "WRONG: {most} bytes piled up");
        println!(
            "  {:.1} MB through two programs in {seconds:.2} s, every byte checked; never more than {} KB on the way",
            total as f64 / 1e6,
            most / 1000,
        );
        Ok(())
    }
}
