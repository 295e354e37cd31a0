//! The walks of ARCHITECTURE.md name code that exists.
//!
//! In a walk, whatever stands between backticks is a file, or the name of something that the file named last defines. A name in
//! another file of the same name, or in a comment, does not count.

use super::{quoted, read, root};
use std::path::{Path, PathBuf};

/// The file that a walk means: in the engine, in a crate, or in the repository.
fn file(named: &str) -> Option<PathBuf> {
    let folders = ["crates/blitz-core/src", "crates", "."];
    let places = folders.map(|folder| root().join(folder).join(named));
    places.into_iter().find(|place| place.exists())
}

/// A file's code, without its comments.
fn code(path: &Path) -> String {
    let text = read(path);
    let lines = text.lines().map(str::trim_start);
    lines
        .filter(|line| !line.starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// Does `name`, as a whole word, follow `before` in the code?
fn follows(code: &str, before: &str, name: &str) -> bool {
    let needle = format!("{before}{name}");
    code.match_indices(&needle).any(|(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let starts = !code[..at].ends_with(is_word);
        starts && !code[at + needle.len()..].starts_with(is_word)
    })
}

/// Does the code define something of this name, or a part of it?
fn defines(code: &str, name: &str) -> bool {
    let kinds = "fn struct enum trait const static type macro_rules! impl";
    let mut kinds = kinds.split(' ');
    kinds.any(|kind| follows(code, &format!("{kind} "), name))
}

/// Does it define this, which may be a part of a type: a function, or a variant?
fn holds(code: &str, name: &str) -> bool {
    let Some((whole, part)) = name.split_once("::") else {
        return defines(code, name);
    };
    let is_variant = |line: &str| {
        let rest = line.strip_prefix(part);
        rest.is_some_and(|rest| rest.starts_with([',', '(', ' ']))
    };
    defines(code, whole) && (follows(code, "fn ", part) || code.lines().any(is_variant))
}

/// The steps of a walk, and the paragraphs between them.
fn steps(walk: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    for line in walk.lines() {
        let is_numbered = line
            .split_once(". ")
            .is_some_and(|(n, _)| n.parse::<u32>().is_ok());
        if line.is_empty() || is_numbered {
            steps.push(String::new());
        }
        let step = steps.last_mut().expect("there is one");
        *step += line;
        *step += "\n";
    }
    steps
}

#[test]
fn every_step_of_the_walks_names_code_that_exists() {
    let map = read(&root().join("ARCHITECTURE.md"));
    let walks = map.split("\n## Four walks\n").nth(1).expect("the walks");
    let walks = walks.split("\n## ").next().unwrap();
    let (mut names, mut wrong) = (0, Vec::new());
    for walk in walks.split("\n### ").skip(1) {
        let title = walk.lines().next().unwrap_or_default();
        for step in steps(walk) {
            let mut last: Option<(String, String)> = None;
            for word in quoted(&step) {
                if word.ends_with(".rs") || word.contains('/') {
                    match file(&word) {
                        Some(path) if path.is_file() => last = Some((word, code(&path))),
                        Some(_folder) => last = None,
                        None => wrong.push(format!("{title}: no file {word}")),
                    }
                    continue;
                }
                names += 1;
                match &last {
                    Some((_, code)) if holds(code, &word) => {}
                    Some((file, _)) => wrong.push(format!("{title}: {word} is not in {file}")),
                    None => wrong.push(format!("{title}: {word} is in no file")),
                }
            }
        }
    }
    assert!(names > 80, "only {names} names have been found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
