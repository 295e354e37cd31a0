//! A live page that shows what a Blitz program does: threads, tasks, loops and joins.
//!
//! ```
//! let console = blitz_console::serve("127.0.0.1:0")?; // 0: any port that is free
//! println!("open http://{}", console.local_addr());
//! assert!(console.local_addr().ip().is_loopback());
//! # std::io::Result::Ok(())
//! ```
//!
//! Open the address in a browser, or call `blitz top 127.0.0.1:6670` in a terminal. The page needs nothing from elsewhere, and it changes nothing in the program.
//!
//! A program that is to be looked at only now and then calls [`from_env`] instead: it serves the page if the environment says `BLITZ_CONSOLE=127.0.0.1:6670`, and does nothing otherwise. (With port 0 it takes one that is free, and says on standard error which.)
//!
//! # What is where
//!
//! | item | what it is for |
//! |---|---|
//! | [`serve`] | the page at a loopback address, in one line |
//! | [`from_env`] | the same, if the environment asks for it |
//! | [`Console`], [`Serving`] | a page for other machines, with a token; how to end it |
//! | [`top`] | the page's contents in a terminal: what `blitz top` is |
//! | [`json`] | reading what the page gets |
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `hooks` | something to show: a look into a table for each spawn of a task, and a few stores for each poll |
//!
//! ```toml
//! blitz-console = { version = "0.1", features = ["hooks"] }
//! ```
//!
//! It adds a word to each task and two stores to each poll, and is not on by default, because all crates of a build share it. Without it the page shows the process only, and says so.
//!
//! # By itself
//! With `hooks`, a program that is linked with this crate serves the page by itself, as soon as it makes its first pool or runtime, if the environment variable `BLITZ_CONSOLE` has an address
//! (and `BLITZ_CONSOLE_TOKEN` a token). A crate that no line names is not linked: `use blitz_console as _;` is enough. `compat/tokio` and `compat/rayon` name it with their
//! feature `blitz-console`. On systems other than Linux, Android, the BSDs, Apple's and Windows, call [`from_env`].
//!
//! # What it costs
//! Without anybody looking: what the hooks cost, and a thread that sleeps. While somebody looks, the thread samples what everybody does 250 times a second. Times of
//! tasks and shares of threads come from these samples; counts, and the times of loops and outermost joins, are exact.
//!
//! # Who may look
//! On a loopback address everybody on this machine, under the machine's own names. On any other address only who knows the token ([`Console::token`]); without
//! one, [`Console::serve`] refuses.
//!
//! # Platforms
//! Where `blitz-io` has sockets: Linux, Windows, macOS, the BSDs. What the system says about the process (its memory and CPU time) is shown on Linux. Rust 1.85 or later.

#[cfg(feature = "hooks")]
mod by_itself;
mod eye;
mod frame;
mod metrics;
mod request;
mod server;
mod system;
pub mod top;
mod warnings;

/// As much JSON as it takes to read what the page gets.
pub mod json {
    #[doc(inline)]
    pub use blitz_core::text::json::Value;
}

use blitz_core::companion::{self, ForkLock, complain};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Of the thread and the runtime that serve.
#[cfg(feature = "hooks")]
const NAME: &str = blitz_io::console::OWN_NAME;
#[cfg(not(feature = "hooks"))]
const NAME: &str = "blitz-console";

/// Ports from 1024 on that browsers refuse to open (the "bad ports" of the fetch standard).
const REFUSED_PORTS: [u16; 18] = [
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
    6679, 6697,
];

/// Serves the page at a loopback address, on a thread of its own.
///
/// # Errors
/// If the address is taken, is not one of this machine's, or is not a loopback address.
///
/// ```
/// let console = blitz_console::serve("127.0.0.1:0")?;
/// assert!(console.local_addr().ip().is_loopback());
/// # std::io::Result::Ok(())
/// ```
pub fn serve(address: impl ToSocketAddrs) -> io::Result<Serving> {
    Console::new().serve(address)
}

/// Serves at the address in the environment variable `BLITZ_CONSOLE`, if there is one; with the token in `BLITZ_CONSOLE_TOKEN`, if there is one. If that has been done already, also by itself (see
/// the crate's documentation), it is the same page.
///
/// ```
/// // Nothing happens if the variable is not set.
/// let _console = blitz_console::from_env()?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// As for [`Console::serve`], and if one of the variables is not a text.
pub fn from_env() -> io::Result<Option<Serving>> {
    let Some(address) = asked_for() else {
        return Ok(None);
    };
    let mut served = BY_ENV.lock();
    if served.is_none() {
        *served = Some(serve_by_env(address)?);
    }
    Ok(served.clone())
}

/// What `BLITZ_CONSOLE` says. Empty, it says nothing.
fn asked_for() -> Option<std::ffi::OsString> {
    std::env::var_os("BLITZ_CONSOLE").filter(|address| !address.is_empty())
}

/// The page that was asked for by the environment; of this process, not of one that it was forked from.
static BY_ENV: ForkLock<Option<Serving>> = ForkLock::new(None);

fn serve_by_env(address: std::ffi::OsString) -> io::Result<Serving> {
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    let text = |value: std::ffi::OsString, name: &str| {
        value
            .into_string()
            .map_err(|_| wrong(format!("{name} is not a text")))
    };
    let address = text(address, "BLITZ_CONSOLE")?;
    let mut console = Console::new();
    if let Some(token) = std::env::var_os("BLITZ_CONSOLE_TOKEN") {
        console = console.token(text(token, "BLITZ_CONSOLE_TOKEN")?);
    }
    let serving = console.serve(&*address).map_err(|error| {
        io::Error::new(error.kind(), format!("BLITZ_CONSOLE={address}: {error}"))
    })?;
    if address.rsplit(':').next() == Some("0") {
        // Nobody else knows which one it is.
        complain(format_args!(
            "BLITZ_CONSOLE={address}: the console is at http://{}",
            serving.local_addr()
        ));
    }
    Ok(serving)
}

/// Runs `work` on a thread of the console's own, such that no fork meets it as it starts or ends. A panic ends the thread, not the program.
fn on_a_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    companion::notice_forks();
    let builder = std::thread::Builder::new().name(NAME.into());
    let work = move || drop(catch_unwind(AssertUnwindSafe(work)));
    companion::start_thread(builder, work).map(drop)
}

/// How to serve.
///
/// ```
/// let refused = blitz_console::Console::new().serve("0.0.0.0:0").unwrap_err();
/// assert!(refused.to_string().contains("token"));
/// let console = blitz_console::Console::new().token("a long secret").serve("0.0.0.0:0")?;
/// # console.stop();
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Console {
    token: Option<String>,
}

impl Console {
    /// For loopback addresses, without a token.
    ///
    /// ```
    /// let console = blitz_console::Console::new().serve("127.0.0.1:0")?;
    /// # console.stop();
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Only who knows the token may look: as `?token=…` in the address, or in the header `Authorization: Bearer …`.
    ///
    /// The connection is not encrypted: whoever can listen to it learns the token and sees what the page shows.
    ///
    /// ```
    /// // On all addresses of this machine, for those who know the token.
    /// let console = blitz_console::Console::new().token("a long secret").serve("0.0.0.0:0")?;
    /// println!("http://this-machine:{}/?token=a+long+secret", console.local_addr().port());
    /// # console.stop();
    /// # std::io::Result::Ok(())
    /// ```
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Serves the page, on a thread of its own.
    ///
    /// # Errors
    /// If the address is taken or not one of this machine's, or if it is not a loopback address and there is no token.
    ///
    /// ```
    /// let first = blitz_console::Console::new().serve("127.0.0.1:0")?;
    /// let taken = blitz_console::Console::new().serve(first.local_addr());
    /// assert!(taken.is_err());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn serve(self, address: impl ToSocketAddrs) -> io::Result<Serving> {
        let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
        let refused = |why: String| io::Error::new(io::ErrorKind::PermissionDenied, why);
        let access = match self.token {
            Some(token) if token.is_empty() => {
                return Err(refused("the console's token is empty".into()));
            }
            Some(token) => server::Access::Token(token),
            None => server::Access::Loopback,
        };
        let open = addresses.iter().find(|one| !one.ip().is_loopback());
        if let (Some(open), server::Access::Loopback) = (open, &access) {
            return Err(refused(format!(
                "others could look at {open}, which is not a loopback address: give the console a token \
                 (Console::token, or BLITZ_CONSOLE_TOKEN), or use 127.0.0.1"
            )));
        }
        let (address, stop) = server::start(&addresses, access)?;
        if REFUSED_PORTS.contains(&address.port()) {
            complain(format_args!(
                "browsers do not open port {}, which once was for something else; 6670 would do",
                address.port()
            ));
        }
        Ok(Serving { address, stop })
    }
}

/// A page that is served. Dropping this changes nothing: it is served until [`Serving::stop`] or the end of the program.
///
/// ```
/// let console = blitz_console::serve("127.0.0.1:0")?;
/// println!("open http://{}", console.local_addr());
/// // The program runs, and somebody looks at it.
/// console.stop();
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct Serving {
    address: SocketAddr,
    stop: server::Stop,
}

impl Serving {
    /// Where.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Closes the page.
    pub fn stop(self) {
        let mut by_env = BY_ENV.lock();
        by_env.take_if(|served| served.address == self.address);
        drop(by_env);
        self.stop.stop();
    }
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serving")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

// What the package's front page shows is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
