//! Walks a directory tree and counts a word in all files.
//!
//! The shape of the tree is not known beforehand, so this is a case for `scope`: a task per directory that spawns a task for each
//! directory below it. Tasks borrow the counters; the scope ends when the last task has.

use blitz_examples::{Random, Recipe};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const WORD: &str = "lightning";

#[derive(Debug, Default)]
struct Found {
    files: AtomicU64,
    words: AtomicU64,
    errors: AtomicU64,
}

impl Found {
    fn totals(&self) -> (u64, u64, u64) {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (load(&self.files), load(&self.words), load(&self.errors))
    }

    fn scan_file(&self, path: &Path) -> io::Result<()> {
        let text = fs::read_to_string(path)?;
        let words = text.split_whitespace().filter(|&word| word == WORD);
        self.words
            .fetch_add(words.count() as u64, Ordering::Relaxed);
        self.files.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Scans the files of a directory and calls `below` with each directory in it. What cannot be read is counted.
    fn scan(&self, directory: &Path, below: &mut dyn FnMut(PathBuf)) {
        let count_error = |_| {
            self.errors.fetch_add(1, Ordering::Relaxed);
        };
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => return count_error(error),
        };
        for entry in entries {
            let scanned = entry.and_then(|entry| {
                if entry.file_type()?.is_dir() {
                    below(entry.path());
                    Ok(())
                } else {
                    self.scan_file(&entry.path())
                }
            });
            scanned.unwrap_or_else(count_error);
        }
    }
}

fn scan_alone(found: &Found, directory: &Path) {
    found.scan(directory, &mut |below| scan_alone(found, &below));
}

fn scan_together<'scope>(scope: &blitz::Scope<'scope>, found: &'scope Found, directory: &Path) {
    found.scan(directory, &mut |below| {
        scope.spawn(move |scope| scan_together(scope, found, &below));
    });
}

/// A tree of directories with files in them, deleted again on drop.
struct Tree(PathBuf);

impl Tree {
    fn make(directories: usize, files: usize, words: usize) -> io::Result<Self> {
        let root = std::env::temp_dir().join(format!("blitz-scan-{}", std::process::id()));
        let tree = Tree(root.clone());
        let mut random = Random::new(5);
        let mut places = vec![root];
        for index in 0..directories {
            let parent = places[random.below(places.len())].clone();
            places.push(parent.join(format!("d{index}")));
        }
        for place in &places {
            fs::create_dir_all(place)?;
            for file in 0..files {
                let pick = |_| ["thunder", "rain", WORD, "cloud"][random.below(4)];
                let text: Vec<&str> = (0..words).map(pick).collect();
                fs::write(place.join(format!("{file}.txt")), text.join(" "))?;
            }
        }
        Ok(tree)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Leftovers in the temporary directory are no reason to fail.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn main() {
    let recipe = Recipe::start("file scanning: a word in all files of a directory tree");
    let directories = recipe.size(60, 10);
    let tree = match Tree::make(directories, 12, recipe.size(4_000, 200)) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("cannot make files to scan in the temporary directory: {error}");
            std::process::exit(1);
        }
    };
    let (files, words, errors) = recipe.compare(
        || {
            let found = Found::default();
            scan_alone(&found, &tree.0);
            found.totals()
        },
        || {
            let found = Found::default();
            blitz::scope(|scope| scan_together(scope, &found, &tree.0));
            found.totals()
        },
    );
    assert_eq!((files, errors), ((directories as u64 + 1) * 12, 0));
    println!("  {files} files, '{WORD}' {words} times");
}
