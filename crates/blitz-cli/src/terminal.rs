//! Writing for a person at a terminal, or for a file.
//!
//! At a terminal there are colours and a progress bar that is drawn over itself. Anywhere else (a pipe, a file, `NO_COLOR` for
//! the colours) the same text comes without a single escape code, and progress is one line per step.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What standard output is.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// A person is watching: the progress bar may be redrawn.
    pub live: bool,
    colour: bool,
    width: usize,
}

/// Roles of text; each has a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// A heading.
    Title,
    /// Something good, and Blitz's own bars.
    Good,
    /// Something to look at.
    Warn,
    /// Less important.
    Dim,
}

/// The terminal of this process.
pub fn terminal() -> &'static Terminal {
    static TERMINAL: OnceLock<Terminal> = OnceLock::new();
    TERMINAL.get_or_init(|| {
        let live =
            std::io::stdout().is_terminal() && std::env::var("TERM").as_deref() != Ok("dumb");
        Terminal {
            live,
            colour: live && std::env::var_os("NO_COLOR").is_none(),
            width: size().map_or(80, |(columns, _)| columns).clamp(48, 110),
        }
    })
}

/// Writes to standard output. A reader that has gone away ends the program: nobody is listening.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() == ErrorKind::BrokenPipe
    {
        std::process::exit(0);
    }
}

impl Terminal {
    /// Is it one that can be painted over?
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// How many columns a line may have.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The text in its role's colour.
    pub fn ink(&self, ink: Ink, text: &str) -> String {
        if !self.colour {
            return text.to_string();
        }
        let code = match ink {
            Ink::Title => "1",
            Ink::Good => "36",
            Ink::Warn => "33",
            Ink::Dim => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Prints a heading.
    pub fn title(&self, text: &str) {
        print(&format!("\n{}\n", self.ink(Ink::Title, text)));
    }

    /// Prints a paragraph, wrapped.
    pub fn paragraph(&self, text: &str) {
        print(&format!("{}\n", wrap(text, self.width, "")));
    }
}

/// Breaks a text into lines of at most `width` columns; all but the first begin with `indent`.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always one");
        let begun = !line.is_empty() && line != indent;
        if begun && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{indent}{word}"));
        } else {
            if begun {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// The progress of one step: at a terminal a bar that draws itself, over itself, until this is dropped.
pub struct Progress {
    step: Arc<Step>,
    painter: Option<JoinHandle<()>>,
}

/// What the bar shows.
struct Step {
    label: String,
    start: Instant,
    expected: Duration,
    note: Mutex<String>,
    over: AtomicBool,
}

impl Progress {
    /// Begins a step that is expected to take this long.
    pub fn start(label: &str, expected: Duration) -> Self {
        const REPAINT: Duration = Duration::from_millis(200);
        let step = Arc::new(Step {
            label: label.to_string(),
            start: Instant::now(),
            expected,
            note: Mutex::default(),
            over: AtomicBool::new(false),
        });
        let terminal = terminal();
        if !terminal.live {
            print(&format!("{label} …\n"));
            return Progress {
                step,
                painter: None,
            };
        }
        let shown = Arc::clone(&step);
        let painter = std::thread::spawn(move || {
            while !shown.over.load(Ordering::Acquire) {
                print(&shown.line(terminal));
                std::thread::park_timeout(REPAINT);
            }
        });
        Progress {
            step,
            painter: Some(painter),
        }
    }

    /// Says what is being done now.
    pub fn note(&self, note: &str) {
        let mut shown = self
            .step
            .note
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *shown = note.to_string();
    }
}

impl Step {
    fn line(&self, terminal: &Terminal) -> String {
        const CELLS: usize = 24;
        let part = self.start.elapsed().as_secs_f64() / self.expected.as_secs_f64().max(0.1);
        let part = part.min(0.99);
        let full = (part * CELLS as f64).round() as usize;
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(CELLS - full));
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        let plain = format!("{} {:>3.0} % {note}", self.label, part * 100.0);
        let room = terminal.width().saturating_sub(CELLS + 1);
        let text: String = plain.chars().take(room).collect();
        format!("\r\x1b[2K\x1b[?25l{} {text}", terminal.ink(Ink::Good, &bar))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.step.over.store(true, Ordering::Release);
        if let Some(painter) = self.painter.take() {
            painter.thread().unpark();
            // A painter that has panicked paints no more; the step itself goes on.
            let _ = painter.join();
            print("\r\x1b[2K\x1b[?25h");
        }
    }
}

/// Columns and lines of the terminal, now.
#[cfg(unix)]
pub fn size() -> Option<(usize, usize)> {
    // SAFETY: `winsize` is plain integers, for which zero bits are a valid value.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: `size` is writable and of the type this request fills in.
    let rc = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &mut size) };
    (rc == 0 && size.ws_col > 0).then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

/// See above.
#[cfg(not(unix))]
pub fn size() -> Option<(usize, usize)> {
    None
}

/// From now on an interrupt leaves a clean terminal: no half-drawn bar, the cursor visible.
pub fn restore_on_interrupt() {
    #[cfg(unix)]
    {
        extern "C" fn restore(signal: libc::c_int) {
            const CLEAN: &[u8] = b"\r\x1b[2K\x1b[?25h\x1b[0m";
            // SAFETY: `isatty`, `write` and `_exit` may be called from a signal handler; the buffer is static.
            unsafe {
                if libc::isatty(libc::STDOUT_FILENO) == 1 {
                    libc::write(libc::STDOUT_FILENO, CLEAN.as_ptr().cast(), CLEAN.len());
                }
                libc::_exit(128 + signal);
            }
        }
        let handler = restore as extern "C" fn(libc::c_int) as libc::sighandler_t;
        for signal in [libc::SIGINT, libc::SIGTERM] {
            // SAFETY: the handler calls only what is safe in a signal handler.
            unsafe { libc::signal(signal, handler) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_broken_between_words_and_no_word_is_lost() {
        let text = "one two three four five six";
        let wrapped = wrap(text, 10, "  ");
        assert!(wrapped.lines().all(|line| line.chars().count() <= 10));
        assert_eq!(wrapped.split_whitespace().count(), 6);
        assert!(wrapped.lines().skip(1).all(|line| line.starts_with("  ")));
    }

    #[test]
    fn a_word_longer_than_the_line_gets_a_line_of_its_own() {
        assert_eq!(
            wrap("a incomprehensible b", 5, ""),
            "a\nincomprehensible\nb"
        );
    }

    #[test]
    fn without_colours_there_are_no_escape_codes() {
        let plain = Terminal {
            live: false,
            colour: false,
            width: 80,
        };
        assert_eq!(plain.ink(Ink::Warn, "careful"), "careful");
    }

    #[test]
    fn a_progress_line_fits_the_width() {
        let terminal = Terminal {
            live: true,
            colour: false,
            width: 60,
        };
        let step = Step {
            label: "a step with a long name".into(),
            start: Instant::now(),
            expected: Duration::from_secs(1),
            note: Mutex::new("and a note that is far too long for what is left of the line".into()),
            over: AtomicBool::new(false),
        };
        let line = step.line(&terminal);
        let visible = line.trim_start_matches("\r\x1b[2K\x1b[?25l");
        assert!(visible.chars().count() <= 60, "{visible}");
    }
}
