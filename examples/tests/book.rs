//! The book, the README and the map speak about files, pages and tests that exist.
//!
//! A page about a protocol names its races and the test that covers each. A test that has been renamed since leaves a claim behind that nothing
//! checks, which nobody notices by reading. So the pages are read here, and what they name is looked up in the sources.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "book/figures.rs"]
mod figures;
#[path = "book/walks.rs"]
mod walks;

/// The root of the repository.
fn root() -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR"));
    examples.parent().expect("the root is above").to_path_buf()
}

/// All files below a folder whose names end like this.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The book's pages, and those of the repository itself.
fn pages() -> Vec<PathBuf> {
    let mut pages = files_below(&root().join("docs"), ".md");
    assert!(pages.len() > 20, "the book has been found");
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ] {
        pages.push(root().join(name));
    }
    pages
}

/// Everything between single backticks, outside of code blocks.
fn quoted(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, block) in text.split("```").enumerate() {
        if index % 2 == 0 {
            words.extend(block.split('`').skip(1).step_by(2).map(str::to_string));
        }
    }
    words
}

/// The names of all functions in the sources.
fn functions() -> HashSet<String> {
    let mut names = HashSet::new();
    for folder in ["crates", "compat", "bench", "examples"] {
        for file in files_below(&root().join(folder), ".rs") {
            let text = read(&file);
            for part in text.split("fn ").skip(1) {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                let end = part.find(|c| !is_word(c)).unwrap_or(part.len());
                names.insert(part[..end].to_string());
            }
        }
    }
    assert!(names.contains("join"), "the sources have been found");
    names
}

/// Does a word look like the name of a test, which reads as a sentence?
fn reads_as_a_sentence(word: &str) -> bool {
    let lower = word
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    lower && word.split('_').filter(|part| !part.is_empty()).count() >= 5
}

#[test]
fn every_test_that_a_page_names_exists() {
    let functions = functions();
    let mut missing = Vec::new();
    let mut looked_up = 0;
    for page in pages() {
        for word in quoted(&read(&page)) {
            // `…::name` and `name` are the same test.
            let name = word.rsplit("::").next().unwrap_or(&word);
            if name.starts_with("loom_") && !name.ends_with('_') || reads_as_a_sentence(name) {
                looked_up += 1;
                if !functions.contains(name) {
                    missing.push(format!("{}: {name}", page.display()));
                }
            }
        }
    }
    assert!(looked_up > 100, "only {looked_up} names have been found");
    assert!(missing.is_empty(), "no such test:\n{}", missing.join("\n"));
}

#[test]
fn every_protocols_page_names_tests() {
    let folder = root().join("docs/internals");
    for page in files_below(&folder, ".md") {
        let is_overview = page.ends_with("overview.md");
        let words = quoted(&read(&page));
        let names = |word: &String| word.starts_with("loom_") || reads_as_a_sentence(word);
        let tests = words.iter().filter(|word| names(word)).count();
        assert!(
            is_overview || tests >= 3,
            "{} names {tests} tests",
            page.display()
        );
    }
}

#[test]
fn every_source_file_that_a_page_names_exists() {
    let sources: Vec<String> = files_below(&root(), ".rs")
        .iter()
        .map(|path| format!("/{}", path.strip_prefix(root()).unwrap().display()))
        .collect();
    let mut missing = Vec::new();
    for page in pages() {
        for word in quoted(&read(&page)) {
            let is_path = word.ends_with(".rs")
                && word
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_-/.".contains(c));
            if is_path
                && !sources
                    .iter()
                    .any(|path| path.ends_with(&format!("/{word}")))
            {
                missing.push(format!("{}: {word}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = read(&page);
        for part in text.split("](").skip(1) {
            let Some(target) = part.split(')').next() else {
                continue;
            };
            if target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            // The book is built from its folder alone.
            let docs = root().join("docs");
            let stays = !page.starts_with(&docs) || is_below(&path, &docs);
            let found = stays
                && path.exists()
                && (anchor.is_empty() || anchors(&read(&path)).contains(anchor));
            if !found {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

fn is_below(path: &Path, folder: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    whole(path).is_some_and(|path| path.starts_with(whole(folder).expect("it is there")))
}

/// What can be linked to in a page: its headings, as mdBook and GitHub spell them.
fn anchors(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let spelled = headings.map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|&c| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_');
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    });
    spelled.collect()
}

#[test]
fn the_contents_list_every_page() {
    let docs = root().join("docs");
    let contents = read(&docs.join("SUMMARY.md"));
    for page in files_below(&docs, ".md") {
        let name = page.strip_prefix(&docs).unwrap().display().to_string();
        assert!(
            name == "SUMMARY.md" || contents.contains(&format!("({name})")),
            "SUMMARY.md does not list {name}"
        );
    }
}

#[test]
fn every_page_with_code_is_tested() {
    let sources = ["crates", "examples"].map(|folder| files_below(&root().join(folder), ".rs"));
    // Where pages become doc tests, with their paths from the root in string literals.
    let included: Vec<String> = sources
        .iter()
        .flatten()
        .map(|file| read(file))
        .filter(|text| text.contains("include_str!("))
        .collect();
    for page in pages() {
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        let is_tested = || {
            let ending = format!("{name}\"");
            included.iter().any(|text| text.contains(&ending))
        };
        assert!(
            !read(&page).contains("```rust") || is_tested(),
            "the code in {name} is not a doc test"
        );
    }
}

#[test]
fn every_recipe_is_in_the_cookbook() {
    let cookbook = read(&root().join("docs/cookbook.md"));
    let recipes = files_below(&root().join("examples/src/bin"), ".rs");
    assert!(recipes.len() >= 12);
    for recipe in recipes {
        let name = recipe.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            cookbook.contains(&name),
            "the cookbook does not have {name}"
        );
    }
}

/// The cases that `conformance/NAME-known.txt` lists.
fn known_cases(name: &str) -> Vec<String> {
    let list = read(&root().join("conformance").join(format!("{name}-known.txt")));
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (case, reason) = line.split_once(" | ").expect("a case and its reason");
            assert!(!reason.trim().is_empty(), "{case} has no reason");
            case.trim().to_string()
        })
        .collect()
}

/// Does a name match a pattern in which `*` stands for anything?
fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, rest)) => name
            .strip_prefix(start)
            .is_some_and(|name| (0..=name.len()).any(|cut| matches(&name[cut..], rest))),
    }
}

/// Everything between `<code>` and `</code>` in a section, without Markdown's backslashes, and the number in parentheses after it, or 1.
fn patterns(page: &str, heading: &str) -> Vec<(String, usize)> {
    let text = read(&root().join(page));
    let section = text.split(&format!("\n## {heading}\n")).nth(1);
    let section = section.unwrap_or_else(|| panic!("{page} has no section {heading}"));
    let section = section.split("\n## ").next().unwrap();
    let pieces = section.split("<code>").skip(1);
    pieces
        .map(|piece| {
            let (pattern, after) = piece.split_once("</code>").expect("a closing tag");
            let count = after
                .strip_prefix(" (")
                .and_then(|after| after.split(')').next()?.parse().ok());
            (pattern.replace('\\', ""), count.unwrap_or(1))
        })
        .collect()
}

#[test]
fn the_pages_list_exactly_the_cases_that_are_known_to_fail() {
    for (name, page, heading) in [
        (
            "rayon",
            "docs/coming-from-rayon.md",
            "Rayon's tests that fail",
        ),
        (
            "tokio",
            "docs/coming-from-tokio.md",
            "What of tokio's own tests does not pass",
        ),
    ] {
        let known = known_cases(name);
        let patterns = patterns(page, heading);
        for (pattern, count) in &patterns {
            let found = known.iter().filter(|case| matches(case, pattern)).count();
            assert_eq!(found, *count, "{page} says {pattern}");
        }
        for case in &known {
            let rows = patterns.iter().filter(|(one, _)| matches(case, one));
            assert_eq!(rows.count(), 1, "{page} lists {case} once");
        }
    }
}
