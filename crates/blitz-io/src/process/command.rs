//! What to run, and how.

use super::child::Child;
#[cfg(unix)]
use super::orphans;
use std::ffi::OsStr;
use std::future::Future;
use std::io;
#[cfg(unix)]
use std::os::unix::process::CommandExt;
#[cfg(windows)]
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

/// What to run, and how: [`std::process::Command`], whose children are awaited.
///
/// ```
/// # #[cfg(unix)] {
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// use blitz_io::process::Command;
///
/// let status = Command::new("sh").args(["-c", "exit 3"]).status().await?;
/// assert_eq!(status.code(), Some(3));
/// # std::io::Result::Ok(()) }).unwrap(); }
/// ```
#[derive(Debug)]
pub struct Command {
    std: std::process::Command,
    kill_on_drop: bool,
}

/// Defines methods that pass their arguments on to the standard library's command. The type parameters are tokio's, in tokio's order.
macro_rules! passed_on {
    ($(
        $(#[$doc:meta])*
        $name:ident$(<$($parameter:ident: $bound:path),+>)?($($argument:ident: $type:ty),*);
    )*) => {
        impl Command {$(
            $(#[$doc])*
            pub fn $name$(<$($parameter: $bound),+>)?(&mut self, $($argument: $type),*) -> &mut Self {
                self.std.$name($($argument),*);
                self
            }
        )*}
    };
}

passed_on! {
    /// Adds an argument.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let output = Command::new("echo").arg("one word").arg("two").output().await?;
    /// assert_eq!(output.stdout, b"one word two\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    arg<S: AsRef<OsStr>>(argument: S);
    /// Sets a variable of its environment.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let output = Command::new("sh").args(["-c", "echo $NAME"]).env("NAME", "Ada").output().await?;
    /// assert_eq!(output.stdout, b"Ada\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    env<K: AsRef<OsStr>, V: AsRef<OsStr>>(name: K, value: V);
    /// Does not pass a variable of our own environment on.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let output = Command::new("sh").args(["-c", "echo ${HOME-none}"]).env_remove("HOME").output().await?;
    /// assert_eq!(output.stdout, b"none\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    env_remove<K: AsRef<OsStr>>(name: K);
    /// Starts with an empty environment.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let output = Command::new("/usr/bin/env").env_clear().env("NAME", "Ada").output().await?;
    /// assert_eq!(output.stdout, b"NAME=Ada\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    env_clear();
    /// The directory that it starts in.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let output = Command::new("pwd").current_dir("/").output().await?;
    /// assert_eq!(output.stdout, b"/\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    current_dir<P: AsRef<Path>>(directory: P);
    /// Its standard input; ours, if nothing is said.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::io::AsyncWriteExt;
    /// use blitz_io::process::Command;
    /// use std::process::Stdio;
    ///
    /// let mut child = Command::new("wc").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// child.stdin.take().unwrap().write_all(b"hello").await?; // and closes it
    /// let output = child.wait_with_output().await?;
    /// assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "5");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    stdin<T: Into<Stdio>>(stdin: T);
    /// Its standard output; ours, if nothing is said.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    /// use blitz_io::process::Command;
    /// use std::process::Stdio;
    ///
    /// let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
    /// let mut text = String::new();
    /// child.stdout.take().unwrap().read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello\n");
    /// child.wait().await?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    stdout<T: Into<Stdio>>(stdout: T);
    /// Its standard error; ours, if nothing is said.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    /// use std::process::Stdio;
    ///
    /// // Nobody wants to know.
    /// let status = Command::new("ls").arg("/no/such/folder").stderr(Stdio::null()).status().await?;
    /// assert!(!status.success());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    stderr<T: Into<Stdio>>(stderr: T);
}

#[cfg(windows)]
passed_on! {
    /// Adds text to the command line as it is, without quotes around it.
    raw_arg<S: AsRef<OsStr>>(text: S);
    /// The flags that it is created with, those of `CreateProcess`.
    creation_flags(flags: u32);
}

#[cfg(unix)]
passed_on! {
    /// Its user.
    ///
    /// ```
    /// use blitz_io::process::Command;
    ///
    /// // Needs the right to: as a rule, only root has it.
    /// let mut command = Command::new("id");
    /// command.uid(1000).gid(1000);
    /// ```
    uid(user: u32);
    /// Its group.
    ///
    /// ```
    /// let mut command = blitz_io::process::Command::new("id");
    /// command.gid(1000);
    /// ```
    gid(group: u32);
    /// What it is told to be its own name.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let output = Command::new("sh").arg0("bash").args(["-c", "echo $0"]).output().await?;
    /// assert_eq!(output.stdout, b"bash\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    arg0<S: AsRef<OsStr>>(name: S);
    /// The group of processes that it joins; 0 for one of its own.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// // Ctrl-C in the terminal does not reach it.
    /// let status = Command::new("true").process_group(0).status().await?;
    /// assert!(status.success());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    process_group(group: i32);
}

impl Command {
    /// Runs a program, which is looked for as the standard library does.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// assert!(Command::new("true").status().await?.success());
    /// assert!(Command::new("no-such-program").status().await.is_err());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        std::process::Command::new(program).into()
    }

    /// Adds arguments.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let output = Command::new("echo").args(["one", "two"]).output().await?;
    /// assert_eq!(output.stdout, b"one two\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub fn args<I, S>(&mut self, arguments: I) -> &mut Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(arguments);
        self
    }

    /// Sets variables of its environment.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let variables = [("FIRST", "Ada"), ("LAST", "Lovelace")];
    /// let output = Command::new("sh").args(["-c", "echo $FIRST $LAST"]).envs(variables).output().await?;
    /// assert_eq!(output.stdout, b"Ada Lovelace\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub fn envs<I, K, V>(&mut self, variables: I) -> &mut Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(variables);
        self
    }

    /// Calls `prepare` in the child, before the program. Unix only.
    ///
    /// # Safety
    /// As [`CommandExt::pre_exec`]: the child is a copy of one thread of this process, in which locks may be held that nobody will ever release.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let mut command = Command::new("sh");
    /// command.args(["-c", "umask"]);
    /// // SAFETY: it does nothing but one system call.
    /// unsafe {
    ///     command.pre_exec(|| {
    ///         libc::umask(0o077);
    ///         Ok(())
    ///     });
    /// }
    /// assert_eq!(command.output().await?.stdout, b"0077\n");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    #[cfg(unix)]
    pub unsafe fn pre_exec<F>(&mut self, prepare: F) -> &mut Self
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        // SAFETY: the caller promises what it asks for.
        unsafe { self.std.pre_exec(prepare) };
        self
    }

    /// Whether a child is killed when its [`Child`] is dropped before it has been waited for. Otherwise it runs on.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    /// use blitz_io::time::{Duration, timeout};
    ///
    /// let mut command = Command::new("sleep");
    /// command.arg("1000").kill_on_drop(true);
    /// // The future is dropped when the time is over, with the child in it.
    /// assert!(timeout(Duration::from_millis(10), command.status()).await.is_err());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    pub fn kill_on_drop(&mut self, kill: bool) -> &mut Self {
        self.kill_on_drop = kill;
        self
    }

    /// See [`kill_on_drop`](Self::kill_on_drop).
    ///
    /// ```
    /// let mut command = blitz_io::process::Command::new("true");
    /// assert!(!command.get_kill_on_drop());
    /// assert!(command.kill_on_drop(true).get_kill_on_drop());
    /// ```
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// The standard library's command inside.
    ///
    /// ```
    /// let mut command = blitz_io::process::Command::new("echo");
    /// command.arg("hello");
    /// assert_eq!(command.as_std().get_program(), "echo");
    /// assert_eq!(command.as_std().get_args().count(), 1);
    /// ```
    pub fn as_std(&self) -> &std::process::Command {
        &self.std
    }

    /// The standard library's command inside.
    ///
    /// ```
    /// let mut command = blitz_io::process::Command::new("echo");
    /// command.as_std_mut().arg("hello");
    /// assert_eq!(command.as_std().get_args().count(), 1);
    /// ```
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.std
    }

    /// The standard library's command.
    ///
    /// ```
    /// let mut command = blitz_io::process::Command::new("echo");
    /// command.arg("hello");
    /// let blocking: std::process::Command = command.into_std();
    /// assert_eq!(blocking.get_program(), "echo");
    /// ```
    pub fn into_std(self) -> std::process::Command {
        self.std
    }

    /// Runs it. The thread waits until the program has been started, or the reason is known why not.
    ///
    /// # Errors
    /// Those of [`std::process::Command::spawn`], and if there are no descriptors left for its pipes (it is killed then).
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("0.01").spawn()?;
    /// // Something else meanwhile.
    /// assert!(child.wait().await?.success());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        // Before there is a child that nobody would know of.
        drop(crate::context::driver());
        #[cfg(unix)]
        orphans::adopt_those_left_behind();
        Child::new(self.std.spawn()?, self.kill_on_drop)
    }

    /// Runs it and waits for its end. Starts at once; pipes that were asked for are closed.
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn) and [`Child::wait`].
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let status = Command::new("false").status().await?;
    /// assert_eq!(status.code(), Some(1));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn();
        async {
            let mut child = child?;
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            child.wait().await
        }
    }

    /// Runs it, and waits for its end and everything that it prints. Starts at once. See [`Child::wait_with_output`].
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn) and [`Child::wait_with_output`].
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::process::Command;
    ///
    /// let output = Command::new("ls").arg("/no/such/folder").output().await?;
    /// assert!(!output.status.success());
    /// assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        self.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.spawn();
        async { child?.wait_with_output().await }
    }
}

impl From<std::process::Command> for Command {
    fn from(std: std::process::Command) -> Self {
        Command {
            std,
            kill_on_drop: false,
        }
    }
}
