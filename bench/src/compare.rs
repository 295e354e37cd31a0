//! `compare OLD NEW`: what got worse between two files that `--json` has written.
//!
//! The two runs were made at different times, on a machine that may have been busy. So it is not their times that are compared but their ratios: of Blitz to
//! another arm of the same bench, which ran in turns with it. Plain code if that is an arm, else the fastest peer in both files. A row got worse if its ratio grew by more
//! than a twentieth and by more than the spread of the four samples that it is made of.

use std::collections::BTreeMap;

use crate::report::{SEQ, align, human_ratio};
use blitz_core::text::json::Value;

/// Less than this is no news.
const LEAST: f64 = 0.05;

/// One row of a file.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    ns: f64,
    spread: f64,
}

/// Group, bench and size: then the figures by library.
type Benches = BTreeMap<(String, String, u64), BTreeMap<String, Figure>>;

/// What the two files say, and whether something got worse.
#[derive(Debug, PartialEq)]
pub struct Comparison {
    /// A table, and what could not be compared.
    pub text: String,
    /// So many rows got worse.
    pub worse: usize,
}

/// Compares two files.
pub fn compare(old: &str, new: &str) -> Result<Comparison, String> {
    let (old, new) = (
        read(old).map_err(|why| format!("the old file: {why}"))?,
        read(new).map_err(|why| format!("the new file: {why}"))?,
    );
    let mut worse = Vec::new();
    let (mut better, mut same, mut alone) = (0, 0, 0);
    for (key, before) in &old {
        let Some(after) = new.get(key) else {
            alone += 1;
            continue;
        };
        for lib in before.keys().filter(|lib| is_ours(lib)) {
            let Some(change) = change(before, after, lib) else {
                alone += 1;
                continue;
            };
            if change.grew() > change.noise {
                worse.push((key, lib, change));
            } else if change.grew() < -change.noise {
                better += 1;
            } else {
                same += 1;
            }
        }
    }
    worse.sort_by(|a, b| b.2.grew().total_cmp(&a.2.grew()));
    let header = [
        "bench", "size", "lib", "against", "before", "now", "grew", "noise",
    ];
    let mut lines = vec![Some(header.map(str::to_string).to_vec())];
    for ((group, bench, size), lib, change) in &worse {
        lines.push(Some(vec![
            format!("{group} {bench}"),
            size.to_string(),
            (*lib).clone(),
            change.base.clone(),
            human_ratio(Some(change.before)),
            human_ratio(Some(change.after)),
            format!("{:.0}%", change.grew() * 100.0),
            format!("{:.0}%", change.noise * 100.0),
        ]));
    }
    let mut text = if worse.is_empty() {
        String::new()
    } else {
        align(&lines)
    };
    text.push_str(&format!(
        "{} worse, {better} better, {same} as before; {alone} in one of the files only, or without another arm\n",
        worse.len()
    ));
    Ok(Comparison {
        text,
        worse: worse.len(),
    })
}

/// Arms that are this project.
fn is_ours(lib: &str) -> bool {
    lib == "blitz" || lib.starts_with("blitz")
}

/// How a row's ratio has changed.
struct Change {
    base: String,
    before: f64,
    after: f64,
    noise: f64,
}

impl Change {
    fn grew(&self) -> f64 {
        self.after / self.before - 1.0
    }
}

fn change(
    before: &BTreeMap<String, Figure>,
    after: &BTreeMap<String, Figure>,
    lib: &str,
) -> Option<Change> {
    let (old, new) = (before.get(lib)?, after.get(lib)?);
    let peers = before
        .iter()
        .filter(|(name, figure)| !is_ours(name) && figure.ns > 0.0);
    let in_both = peers.filter(|(name, _)| after.get(*name).is_some_and(|now| now.ns > 0.0));
    let (base, old_base) = in_both.min_by(|(a, one), (b, other)| {
        let plain = |name: &str| name != SEQ;
        plain(a).cmp(&plain(b)).then(one.ns.total_cmp(&other.ns))
    })?;
    let new_base = after.get(base)?;
    (old.ns > 0.0).then(|| Change {
        base: base.clone(),
        before: old.ns / old_base.ns,
        after: new.ns / new_base.ns,
        noise: LEAST.max((old.spread + old_base.spread + new.spread + new_base.spread) / 2.0),
    })
}

fn read(text: &str) -> Result<Benches, String> {
    let mut benches = Benches::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let row = row(line)
            .ok_or_else(|| format!("line {number} is no row that `--json` writes: {line}"))?;
        let (key, lib, figure) = row;
        benches.entry(key).or_default().insert(lib, figure);
    }
    if benches.is_empty() {
        return Err("there is no row in it".into());
    }
    Ok(benches)
}

#[allow(clippy::type_complexity, reason = "read right above")]
fn row(line: &str) -> Option<((String, String, u64), String, Figure)> {
    let row = Value::read(line)?;
    let text = |name| match row.at(name) {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let number = |name| match row.at(name) {
        Value::Number(number) => Some(*number),
        _ => None,
    };
    let key = (text("group")?, text("bench")?, number("size")? as u64);
    let figure = Figure {
        ns: number("ns")?,
        spread: number("spread").unwrap_or(0.0),
    };
    Some((key, text("lib")?, figure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;
    use crate::report::{Row, render};

    fn file(rows: &[(&str, f64)]) -> String {
        let rows: Vec<Row> = rows
            .iter()
            .map(|&(lib, ns)| Row {
                group: "flat".into(),
                bench: "flat/hot".into(),
                size: 10,
                lib: lib.into(),
                ns,
                spread: 0.02,
                usage: None,
                unpinned: None,
            })
            .collect();
        render(&rows, Format::Json, true)
    }

    #[test]
    fn a_ratio_that_grew_is_told_and_a_slower_machine_is_not() {
        let old = file(&[("seq", 100.0), ("blitz", 50.0), ("rayon", 60.0)]);
        let slower = file(&[("seq", 200.0), ("blitz", 100.0), ("rayon", 60.0)]);
        let same = compare(&old, &slower).unwrap();
        assert_eq!(same.worse, 0, "{}", same.text);
        let worse = file(&[("seq", 100.0), ("blitz", 60.0), ("rayon", 90.0)]);
        let found = compare(&old, &worse).unwrap();
        assert_eq!(found.worse, 1);
        assert!(found.text.contains("flat/hot") && found.text.contains("20%"));
        assert!(compare(&worse, &old).unwrap().text.contains("1 better"));
    }

    #[test]
    fn without_plain_code_the_fastest_peer_in_both_files_is_the_measure() {
        let old = file(&[("blitz", 50.0), ("tokio", 80.0), ("smol", 60.0)]);
        let new = file(&[("blitz", 50.0), ("tokio", 40.0)]);
        let found = compare(&old, &new).unwrap();
        assert_eq!(found.worse, 1);
        assert!(found.text.contains("tokio"));
    }

    #[test]
    fn a_file_that_is_no_list_of_rows_is_an_error_that_names_the_line() {
        let rows = file(&[("seq", 1.0), ("blitz", 1.0)]);
        assert!(compare("", &rows).unwrap_err().contains("old"));
        let broken = format!("{rows}bench  size  lib\n");
        assert!(compare(&rows, &broken).unwrap_err().contains("line 3"));
    }
}
