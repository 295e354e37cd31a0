//! Recordings: the shape of a computation as a text, for programs that look at it later.

use super::path::{Path, Writer};
use super::report::{Profile, describe};
use super::{Profiler, strand};
use std::path::PathBuf;
use std::time::Duration;

/// What is shorter is not told in detail.
const GRAIN: Duration = Duration::from_micros(2);

/// The folder that [`record`] writes to, if it is set.
const FOLDER: &str = "BLITZ_PROFILE";

/// As [`profile`](crate::profile()), and keeps the shape of the computation: [`Profile::recording`].
///
/// Started by `blitz profile --bin PROGRAM`, a program leaves what it has recorded to that: the table, the JSON, the recording and a page are written
/// when it ends. (The environment variable `BLITZ_PROFILE` names the folder.)
///
/// ```
/// let (sum, profile) = blitz_core::profile::record(|| {
///     let (a, b) = blitz_core::join(|| 1, || 2);
///     a + b
/// });
/// assert_eq!(sum, 3);
/// assert!(profile.recording().unwrap().starts_with("blitz recording"));
/// ```
///
/// # Panics
/// If the computation does.
pub fn record<R>(computation: impl FnOnce() -> R) -> (R, Profile) {
    let (result, profile) = Profiler::new().recording(GRAIN).run(computation);
    if let Some(folder) = std::env::var_os(FOLDER) {
        if let Err(error) = leave(PathBuf::from(folder), &profile) {
            eprintln!("blitz: the profile cannot be written: {error}");
        }
    }
    (result, profile)
}

/// Writes the parts of a profile to a folder, the n-th of this process with n in their names.
fn leave(folder: PathBuf, profile: &Profile) -> std::io::Result<()> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    std::fs::create_dir_all(&folder)?;
    let path = |extension| folder.join(format!("profile-{number}.{extension}"));
    std::fs::write(path("txt"), profile.to_string())?;
    std::fs::write(path("json"), profile.to_json())?;
    std::fs::write(path("recording"), profile.recording().unwrap_or_default())
}

/// The recording as a text: numbers about the whole, the places, and then the steps (see [`Writer`]).
pub(super) fn text(path: &Path, profile: &Profile, ticks_per_us: u64) -> String {
    let mut places: Vec<strand::Origin> = Vec::new();
    let ns = |ticks: u64| (u128::from(ticks) * 1000 / u128::from(ticks_per_us)) as u64;
    let mut writer = Writer {
        text: String::new(),
        places: &mut places,
        ns: &ns,
    };
    writer.path(path);
    let steps = writer.text;
    let mut text = format!(
        "blitz recording 1\nthreads {}\nelapsed {}\nwork {}\nspan {}\nsteals {}\nlines {}\n",
        profile.threads(),
        profile.elapsed().as_nanos(),
        profile.work().as_nanos(),
        profile.span().as_nanos(),
        profile.steals(),
        // So many follow the word `steps`: a reader sees whether it has all of them.
        steps.lines().count(),
    );
    for origin in places {
        let label = origin
            .label
            .map_or(String::new(), |label| format!(" [{label}]"));
        let place = one_line(&format!("{}{label}", describe(origin)));
        text.push_str(&format!("place {place}\n"));
    }
    text.push_str("steps\n");
    text.push_str(&steps);
    text
}

/// Control characters, line breaks among them, as `\u{a}`; and a backslash that would be read as the beginning of one.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        if letter.is_control() || text[at..].starts_with("\\u{") {
            line.extend(letter.escape_unicode());
        } else {
            line.push(letter);
        }
    }
    line
}
