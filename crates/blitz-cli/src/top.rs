//! `blitz top`: what the page of a running program shows, in the terminal.

use crate::terminal::{self, terminal};
use crate::words::TopOptions;
use blitz_console::top::{self, Options};
use std::process::ExitCode;

/// Shows the program until it ends.
pub fn run(options: &TopOptions) -> ExitCode {
    let token = options.token.clone();
    let is_live = terminal().is_live() && !options.once;
    let size = terminal::size().filter(|_| terminal().is_live());
    let options = Options {
        address: options.address.clone(),
        token: token.or_else(|| std::env::var("BLITZ_CONSOLE_TOKEN").ok()),
        once: !is_live,
        size: size.unwrap_or((200, 200)),
    };
    if is_live {
        terminal::print("\x1b[2J\x1b[H");
    }
    match top::run(&options, &mut std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads any more.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("blitz: {error}");
            ExitCode::FAILURE
        }
    }
}
