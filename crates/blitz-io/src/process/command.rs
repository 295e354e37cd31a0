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
    arg<S: AsRef<OsStr>>(argument: S);
    /// Sets a variable of its environment.
    env<K: AsRef<OsStr>, V: AsRef<OsStr>>(name: K, value: V);
    /// Does not pass a variable of our own environment on.
    env_remove<K: AsRef<OsStr>>(name: K);
    /// Starts with an empty environment.
    env_clear();
    /// The directory that it starts in.
    current_dir<P: AsRef<Path>>(directory: P);
    /// Its standard input; ours, if nothing is said.
    stdin<T: Into<Stdio>>(stdin: T);
    /// Its standard output; ours, if nothing is said.
    stdout<T: Into<Stdio>>(stdout: T);
    /// Its standard error; ours, if nothing is said.
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
    uid(user: u32);
    /// Its group.
    gid(group: u32);
    /// What it is told to be its own name.
    arg0<S: AsRef<OsStr>>(name: S);
    /// The group of processes that it joins; 0 for one of its own.
    process_group(group: i32);
}

impl Command {
    /// Runs a program, which is looked for as the standard library does.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        std::process::Command::new(program).into()
    }

    /// Adds arguments.
    pub fn args<I, S>(&mut self, arguments: I) -> &mut Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(arguments);
        self
    }

    /// Sets variables of its environment.
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
    pub fn kill_on_drop(&mut self, kill: bool) -> &mut Self {
        self.kill_on_drop = kill;
        self
    }

    /// See [`kill_on_drop`](Self::kill_on_drop).
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// The standard library's command inside.
    pub fn as_std(&self) -> &std::process::Command {
        &self.std
    }

    /// The standard library's command inside.
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.std
    }

    /// The standard library's command.
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
