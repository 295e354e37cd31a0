//! Figures stand once, in `docs/figures.toml`, and the pages say what stands there.
//!
//! Two things can go wrong, and are looked for: a page does not say what the file says, and a page has a figure that the file does not know. With
//! `BLITZ_FIGURES=write` the first is put right: values, and rows of the table of measurements, go from the file into the pages (`.ci/figures write`).

use super::{read, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;

const FILE: &str = "docs/figures.toml";
const TABLE: &str = "docs/measurements.md";
/// The pages that have no other figures.
const PAGES: [&str; 3] = ["README.md", TABLE, "docs/limits.md"];
/// What makes a number a figure, behind it. So do a point or a comma in it.
const UNITS: [&str; 9] = ["ns", "us", "ms", "s", "bytes", "%", "x", "MiB", "times"];
/// A value in a page is at most so long.
const LONGEST: usize = 40;

/// An entry of the file: keys with one or several strings.
type Entry = BTreeMap<String, Vec<String>>;

/// The part of TOML that the file is written in: tables, strings, arrays of strings.
fn entries() -> BTreeMap<String, Entry> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let (mut id, mut key) = (String::new(), String::new());
    for line in read(&root().join(FILE)).lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') || line == "]" {
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'))
        {
            id = name.to_string();
            let twice = entries.insert(id.clone(), Entry::new());
            assert!(twice.is_none(), "{FILE}: two entries {id}");
            continue;
        }
        let value = match line.split_once(" = ") {
            Some((name, value)) if !line.starts_with('"') || name.ends_with('"') => {
                key = name.trim_matches('"').to_string();
                value
            }
            _ => line,
        };
        let entry = entries.get_mut(&id).expect("an entry has begun");
        let values = entry.entry(key.clone()).or_default();
        if value != "[" {
            let text = value.trim_end_matches(',');
            let text = text
                .strip_prefix('"')
                .and_then(|text| text.strip_suffix('"'));
            let text = text.unwrap_or_else(|| panic!("{FILE}: {line}"));
            let text = text.replace("\\n", "\n").replace("\\\"", "\"");
            values.push(text.replace("\\\\", "\\"));
        }
    }
    entries
}

/// What a page is to say: text, and values in between.
struct Sentence {
    /// The text before the first value, between two, after the last.
    texts: Vec<String>,
    values: Vec<String>,
}

impl Sentence {
    /// `used` hears of the values in it.
    fn new(id: &str, entry: &Entry, pattern: &str, used: &mut BTreeSet<String>) -> Self {
        let mut pieces = pattern.split('{');
        let mut texts = vec![pieces.next().unwrap_or_default().to_string()];
        let mut values = Vec::new();
        for piece in pieces {
            let (name, text) = piece.split_once('}').expect("a value's name and its brace");
            let value = entry.get(name).and_then(|value| value.first());
            values.push(
                value
                    .unwrap_or_else(|| panic!("{FILE}: {id} has no {name}"))
                    .clone(),
            );
            texts.push(text.to_string());
            used.insert(format!("{id}.{name}"));
        }
        Sentence { texts, values }
    }

    fn says(&self) -> String {
        let mut says = self.texts[0].clone();
        for (value, text) in self.values.iter().zip(&self.texts[1..]) {
            says += value;
            says += text;
        }
        says
    }

    /// The one place where the page says this, but with other values.
    fn stale(&self, page: &str) -> Option<Range<usize>> {
        let first = &self.texts[0];
        let mut places = page.match_indices(first).filter_map(|(start, _)| {
            let mut end = start + first.len();
            for text in &self.texts[1..] {
                let found = page[end..].find(text.as_str())?;
                if found > LONGEST {
                    return None;
                }
                end += found + text.len();
            }
            Some(start..end)
        });
        let place = places.next();
        place.filter(|_| places.next().is_none())
    }
}

/// The numbers in a page that are figures.
fn figures(page: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut end = 0;
    for (start, _) in page.match_indices(|c: char| c.is_ascii_digit()) {
        if start < end {
            continue;
        }
        let rest = &page[start..];
        let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let number = &rest[..rest.find(|c| !is_number(c)).unwrap_or(rest.len())];
        let number = number.split("..").next().unwrap_or_default();
        let number = number.trim_end_matches(['.', ',']);
        end = start + number.len();
        let is_name = page[..start].ends_with(|c: char| c.is_alphanumeric() || "/-_".contains(c));
        let behind = page[end..].trim_start_matches([' ', '\n']);
        let unit = behind.find(|c: char| !c.is_alphanumeric() && c != '%');
        let has_unit = UNITS.contains(&&behind[..unit.unwrap_or(behind.len())]);
        if !is_name && (has_unit || number.contains(['.', ','])) {
            found.push(start..end);
        }
    }
    found
}

#[test]
fn pages_state_the_figures_of_the_file_and_no_others() {
    let entries = entries();
    let writes = std::env::var_os("BLITZ_FIGURES").is_some_and(|how| how == "write");
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for name in PAGES {
        let mut page = read(&root().join(name));
        let before = page.clone();
        let mut said = Vec::new();
        for (id, entry) in &entries {
            if let Some(row) = entry.get("row").filter(|_| name == TABLE) {
                let cell = Sentence::new(id, entry, &entry["figure"][0], &mut used).says();
                let line = format!("| {} | {cell} | {} |", row[0], entry["command"][0]);
                let start = format!("| {} | ", row[0]);
                let old = page.lines().find(|line| line.starts_with(&start));
                match old.map(str::to_string) {
                    Some(old) if writes => page = page.replace(&old, &line),
                    Some(old) if old == line => {}
                    _ => wrong.push(format!("{name} has no row\n  {line}")),
                }
                said.push(line);
            }
            for pattern in entry.get(name).into_iter().flatten() {
                let sentence = Sentence::new(id, entry, pattern, &mut used);
                // Else nobody could tell where the value stands that is to be replaced.
                let is_framed = sentence.texts.iter().all(|text| !text.is_empty());
                assert!(is_framed, "{FILE}: text around each value: {pattern}");
                let says = sentence.says();
                if !page.contains(&says) {
                    match sentence.stale(&page).filter(|_| writes) {
                        Some(stale) => page.replace_range(stale, &says),
                        None => wrong.push(format!("{name} does not say\n  {says}")),
                    }
                }
                said.push(says);
            }
        }
        let known: Vec<Range<usize>> = said
            .iter()
            .flat_map(|says| page.match_indices(says.as_str()))
            .map(|(at, says)| at..at + says.len())
            .collect();
        let is_known = |figure: &Range<usize>| {
            let within =
                |known: &Range<usize>| known.start <= figure.start && figure.end <= known.end;
            known.iter().any(within)
        };
        for figure in figures(&page)
            .into_iter()
            .filter(|figure| !is_known(figure))
        {
            let line = page[..figure.start].lines().count();
            wrong.push(format!("{name}:{line}: {} is not in {FILE}", &page[figure]));
        }
        if page != before {
            fs::write(root().join(name), page).unwrap();
        }
    }
    for (id, entry) in &entries {
        for key in entry.keys() {
            let is_value = !["measured", "command", "row", "figure"].contains(&key.as_str());
            if is_value && !PAGES.contains(&key.as_str()) && !used.contains(&format!("{id}.{key}"))
            {
                wrong.push(format!("{FILE}: {id}.{key} is on no page"));
            }
        }
        for key in ["measured", "command"] {
            if !entry.contains_key(key) {
                wrong.push(format!("{FILE}: {id} does not say {key}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
