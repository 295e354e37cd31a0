//! A process that was spawned.

use super::exit::Watch;
#[cfg(unix)]
use super::orphans;
use super::pipes::{ChildStderr, ChildStdin, ChildStdout};
use crate::io::{AsyncRead, AsyncReadExt};
use std::future::poll_fn;
use std::io;
use std::process::{ExitStatus, Output};
use std::task::{Context, Poll, ready};

/// A process that was [spawned](super::Command::spawn).
///
/// ```
/// # #[cfg(unix)] {
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// use blitz_io::io::AsyncWriteExt;
/// use blitz_io::process::{Command, Stdio};
///
/// let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
/// let mut stdin = child.stdin.take().unwrap();
/// stdin.write_all(b"meow").await?;
/// drop(stdin);
/// let output = child.wait_with_output().await?;
/// assert_eq!(output.stdout, b"meow");
/// # std::io::Result::Ok(()) }).unwrap(); }
/// ```
#[derive(Debug)]
pub struct Child {
    /// The first, so that a process that is to be killed does not see the ends of its pipes before.
    process: Process,
    /// To write to it, if that is [piped](std::process::Stdio::piped).
    pub stdin: Option<ChildStdin>,
    /// What it prints, if that is [piped](std::process::Stdio::piped).
    pub stdout: Option<ChildStdout>,
    /// Its complaints, if these are [piped](std::process::Stdio::piped).
    pub stderr: Option<ChildStderr>,
}

/// What is dropped in a way of its own. The pipes are not in here: they can be moved out of a child, which therefore must not have a `Drop` of its own.
#[derive(Debug)]
struct Process {
    life: Life,
    kill_on_drop: bool,
}

#[derive(Debug)]
enum Life {
    /// Not reaped yet.
    Unreaped(std::process::Child, Watch),
    Over(ExitStatus),
    /// Only while it is being dropped.
    #[cfg_attr(windows, allow(dead_code))]
    GivenAway,
}

impl Child {
    /// Takes over a child. If that is not possible, it is killed.
    #[track_caller]
    pub(super) fn new(mut child: std::process::Child, kill_on_drop: bool) -> io::Result<Self> {
        match Self::take_over(&mut child) {
            Ok((watch, stdin, stdout, stderr)) => Ok(Child {
                process: Process {
                    life: Life::Unreaped(child, watch),
                    kill_on_drop,
                },
                stdin,
                stdout,
                stderr,
            }),
            Err(error) => {
                // The caller hears that there is none, so there must be none, and no zombie either: one that is killed is over soon.
                let _ = match child.kill() {
                    Ok(()) => child.wait().map(drop),
                    refused => refused,
                };
                #[cfg(unix)]
                orphans::leave_behind(child);
                Err(error)
            }
        }
    }

    #[allow(clippy::type_complexity, reason = "the parts of a child, in one place")]
    #[track_caller]
    fn take_over(
        child: &mut std::process::Child,
    ) -> io::Result<(
        Watch,
        Option<ChildStdin>,
        Option<ChildStdout>,
        Option<ChildStderr>,
    )> {
        let stdin = child.stdin.take().map(ChildStdin::from_std).transpose()?;
        let stdout = child.stdout.take().map(ChildStdout::from_std).transpose()?;
        let stderr = child.stderr.take().map(ChildStderr::from_std).transpose()?;
        Ok((Watch::new(child)?, stdin, stdout, stderr))
    }

    /// The number of the process; `None` once it has been waited for, when the number may be another one's.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let mut child = Command::new("true").spawn()?;
    /// assert!(child.id().is_some());
    /// child.wait().await?;
    /// assert!(child.id().is_none());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub fn id(&self) -> Option<u32> {
        match &self.process.life {
            Life::Unreaped(child, _) => Some(child.id()),
            _ => None,
        }
    }

    /// The handle of the process; `None` once it has been waited for.
    #[cfg(windows)]
    pub fn raw_handle(&self) -> Option<std::os::windows::io::RawHandle> {
        use std::os::windows::io::AsRawHandle;

        match &self.process.life {
            Life::Unreaped(child, _) => Some(child.as_raw_handle()),
            _ => None,
        }
    }

    /// Waits until the process has ended. Closes its standard input first, which it may wait for.
    ///
    /// May be cancelled, and called again, also in another runtime than the one that has spawned it.
    ///
    /// # Errors
    /// If the runtime has been shut down and this is not called in another one, or if somebody else has waited for the process.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn()?;
    /// assert_eq!(child.wait().await?.code(), Some(3));
    /// assert_eq!(child.wait().await?.code(), Some(3)); // as often as you like
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        poll_fn(|cx| self.poll_wait(cx)).await
    }

    fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        if let Life::Unreaped(child, watch) = &mut self.process.life {
            let status = ready!(watch.poll(cx, child))?;
            self.process.life = Life::Over(status);
        }
        Poll::Ready(self.known())
    }

    /// What is known of its end, without waiting.
    ///
    /// # Errors
    /// If somebody else has waited for the process.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let mut child = Command::new("cat").stdin(std::process::Stdio::piped()).spawn()?;
    /// assert!(child.try_wait()?.is_none()); // it waits for input
    /// child.wait().await?; // which ends here
    /// assert!(child.try_wait()?.unwrap().success());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if let Life::Unreaped(child, _) = &mut self.process.life {
            match child.try_wait()? {
                Some(status) => self.process.life = Life::Over(status),
                None => return Ok(None),
            }
        }
        self.known().map(Some)
    }

    fn known(&self) -> io::Result<ExitStatus> {
        match self.process.life {
            Life::Over(status) => Ok(status),
            _ => Err(io::Error::other("the process is not this handle's")),
        }
    }

    /// Kills the process (SIGKILL on Unix), and does not wait for its end. One that has been waited for needs no killing: that is no error.
    ///
    /// # Errors
    /// Those of [`std::process::Child::kill`].
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("1000").spawn()?;
    /// child.start_kill()?;
    /// assert!(!child.wait().await?.success());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub fn start_kill(&mut self) -> io::Result<()> {
        self.process.kill()
    }

    /// Kills the process (SIGKILL on Unix), and waits for its end. The first poll kills; whoever drops the future after that does not hear of the end.
    ///
    /// # Errors
    /// As [`start_kill`](Self::start_kill) and [`wait`](Self::wait).
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("1000").spawn()?;
    /// child.kill().await?;
    /// assert!(child.id().is_none()); // it has ended
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await.map(drop)
    }

    /// Reads standard output and standard error to their ends and waits for the process, all at the same time: however much it prints, and
    /// wherever, nothing waits for something that waits for it. Closes its standard input first.
    ///
    /// What is not [piped](std::process::Stdio::piped) is empty. If the future is dropped, so is the child.
    ///
    /// # Errors
    /// Those of reading and waiting.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    /// use std::process::Stdio;
    ///
    /// let child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
    /// let output = child.wait_with_output().await?;
    /// assert!(output.status.success());
    /// assert_eq!(output.stdout, b"hello\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        let (stdout, stderr) = (self.stdout.take(), self.stderr.take());
        let (status, stdout, stderr) =
            crate::try_join!(self.wait(), everything(stdout), everything(stderr))?;
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    }
}

async fn everything(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

impl Process {
    fn kill(&mut self) -> io::Result<()> {
        match &mut self.life {
            Life::Unreaped(child, _) => child.kill(),
            Life::Over(_) | Life::GivenAway => Ok(()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.kill_on_drop {
            // It may have ended on its own.
            let _ = self.kill();
        }
        // On Windows there is nothing to reap.
        #[cfg(unix)]
        if let Life::Unreaped(mut child, watch) = std::mem::replace(&mut self.life, Life::GivenAway)
        {
            if let Ok(None) = child.try_wait() {
                orphans::adopt(child, watch);
            }
        }
    }
}
