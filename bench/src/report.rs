//! Rows of results, and the three ways to write them: a table, JSON lines, tab-separated rows for a parent process.

use crate::args::Format;
use crate::usage::Usage;
use blitz_core::text::{human, json};

/// The name of the arm every `ratio_seq` is relative to.
pub const SEQ: &str = "seq";
/// The name of the arm every `ratio_rayon` is relative to.
pub const RAYON: &str = "rayon";
/// What is appended to a bench's name in JSON when its threads were not pinned.
const UNPINNED: &str = "/unpinned";

/// One measured figure: one library on one bench at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Group on the command line.
    pub group: String,
    /// Workload, then pool or gap: `tree/1thread`.
    pub bench: String,
    /// Nodes, tasks or microseconds.
    pub size: u64,
    /// The arm: `seq`, `blitz`, `rayon` …
    pub lib: String,
    /// Median nanoseconds per operation.
    pub ns: f64,
    /// Distance from the first to the third quartile of the samples, relative to the median.
    pub spread: f64,
    /// CPU time and context switches of the whole measurement, where that is what was measured.
    pub usage: Option<Usage>,
    /// The median without pinning, once known.
    pub unpinned: Option<f64>,
}

impl Row {
    /// Whether it is the same library's figure for the same thing.
    pub fn same_figure(&self, other: &Row) -> bool {
        self.group == other.group
            && self.bench == other.bench
            && self.size == other.size
            && self.lib == other.lib
    }
}

/// The row of another library on the same bench.
pub fn peer<'a>(rows: &'a [Row], row: &Row, lib: &str) -> Option<&'a Row> {
    rows.iter()
        .find(|other| other.bench == row.bench && other.size == row.size && other.lib == lib)
}

/// `ns` of a row relative to another library's; nothing if there is none, or if it is too small to divide by.
fn ratio(rows: &[Row], row: &Row, lib: &str, figure: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
    let base = figure(peer(rows, row, lib)?)?;
    let own = figure(row)?;
    (base > 0.05).then(|| own / base)
}

/// Copies the medians of an unpinned run into the matching rows of a pinned one.
pub fn add_unpinned(rows: &mut [Row], unpinned: &[Row]) {
    for row in rows {
        row.unpinned = unpinned
            .iter()
            .find(|other| other.same_figure(row))
            .map(|other| other.ns);
    }
}

/// Writes the rows; `pinned` says how the figures in `ns` were taken.
pub fn render(rows: &[Row], format: Format, pinned: bool) -> String {
    match format {
        Format::Table => table(rows, pinned),
        Format::Json => json_lines(rows, pinned),
        Format::Rows => tab_separated(rows),
    }
}

fn json_lines(rows: &[Row], pinned: bool) -> String {
    let mut text = String::new();
    let suffix = if pinned { "" } else { UNPINNED };
    for row in rows {
        text.push_str(&json_row(rows, row, suffix));
    }
    // The unpinned figures, once more as rows of their own.
    let unpinned: Vec<Row> = rows
        .iter()
        .filter_map(|row| {
            Some(Row {
                ns: row.unpinned?,
                usage: None,
                ..row.clone()
            })
        })
        .collect();
    for row in &unpinned {
        text.push_str(&json_row(&unpinned, row, UNPINNED));
    }
    text
}

fn json_row(rows: &[Row], row: &Row, suffix: &str) -> String {
    let mut text = String::new();
    json::object(&mut text, |object| {
        let ratio_to = |lib: &str| ratio(rows, row, lib, |row| Some(row.ns));
        object.text("group", &row.group);
        object.text("bench", &format!("{}{suffix}", row.bench));
        object.count("size", row.size);
        object.text("lib", &row.lib);
        object.decimals("ns", Some(row.ns), 2);
        object.decimals("ratio_seq", ratio_to(SEQ), 6);
        object.decimals("ratio_rayon", ratio_to(RAYON), 6);
        object.decimals("spread", Some(row.spread), 3);
        // To whoever else has run it.
        object.object("ratios", |ratios| {
            let same = |other: &&Row| other.bench == row.bench && other.size == row.size;
            for other in rows
                .iter()
                .filter(same)
                .filter(|other| other.lib != row.lib)
            {
                ratios.decimals(&other.lib, ratio_to(&other.lib), 6);
            }
        });
        if let Some(usage) = row.usage {
            let cpu = |row: &Row| row.usage.map(|usage| usage.cpu_us as f64);
            object.count("cpu_us", usage.cpu_us);
            object.decimals("cpu_ratio_seq", ratio(rows, row, SEQ, cpu), 6);
            object.decimals("cpu_ratio_rayon", ratio(rows, row, RAYON, cpu), 6);
            object.count("voluntary_switches", usage.voluntary);
            object.count("involuntary_switches", usage.involuntary);
        }
    });
    text.push('\n');
    text
}

pub(crate) fn human_ratio(value: Option<f64>) -> String {
    match value {
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) if value >= 0.01 => format!("{value:.2}"),
        Some(value) => format!("{value:.4}"),
        None => "-".to_string(),
    }
}

fn table(rows: &[Row], pinned: bool) -> String {
    let with_usage = rows.iter().any(|row| row.usage.is_some());
    let with_unpinned = rows.iter().any(|row| row.unpinned.is_some());
    let mut header: Vec<String> = ["bench", "size", "lib", "time", "x seq", "x rayon", "spread"]
        .map(str::to_string)
        .to_vec();
    if with_usage {
        header
            .extend(["cpu", "cpu x seq", "cpu x rayon", "waits", "preempted"].map(str::to_string));
    }
    if with_unpinned {
        header.push("unpinned".to_string());
    }
    if !pinned {
        header[3] = "time (unpinned)".to_string();
    }

    let mut lines = vec![Some(header)];
    let mut previous: Option<&Row> = None;
    for row in rows {
        let first_of_bench =
            previous.is_none_or(|before| before.bench != row.bench || before.size != row.size);
        if first_of_bench {
            lines.push(None);
        }
        let mut cells = vec![
            if first_of_bench {
                row.bench.clone()
            } else {
                String::new()
            },
            if first_of_bench {
                row.size.to_string()
            } else {
                String::new()
            },
            row.lib.clone(),
            human(row.ns),
            human_ratio(ratio(rows, row, SEQ, |row| Some(row.ns))),
            human_ratio(ratio(rows, row, RAYON, |row| Some(row.ns))),
            format!("{:.0}%", row.spread * 100.0),
        ];
        if with_usage {
            let cpu = |row: &Row| row.usage.map(|usage| usage.cpu_us as f64);
            match row.usage {
                Some(usage) => cells.extend([
                    human(usage.cpu_us as f64 * 1e3),
                    human_ratio(ratio(rows, row, SEQ, cpu)),
                    human_ratio(ratio(rows, row, RAYON, cpu)),
                    usage.voluntary.to_string(),
                    usage.involuntary.to_string(),
                ]),
                None => cells.extend([const { String::new() }; 5]),
            }
        }
        if with_unpinned {
            cells.push(row.unpinned.map_or("-".to_string(), human));
        }
        lines.push(Some(cells));
        previous = Some(row);
    }
    align(&lines)
}

/// Pads cells to columns; `None` is an empty line. The first and third column read left to right, the rest are numbers.
pub fn align(lines: &[Option<Vec<String>>]) -> String {
    let columns = lines.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            lines
                .iter()
                .flatten()
                .filter_map(|cells| cells.get(column))
                .map(String::len)
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for line in lines {
        if let Some(cells) = line {
            let padded: Vec<String> = cells
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, &width))| match column {
                    0 | 2 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            text.push_str(padded.join("  ").trim_end());
        }
        text.push('\n');
    }
    text
}

fn tab_separated(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let usage = row.usage.map_or("-".to_string(), |usage| {
            format!("{},{},{}", usage.cpu_us, usage.voluntary, usage.involuntary)
        });
        text.push_str(&format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{usage}\n",
            row.group, row.bench, row.size, row.lib, row.ns, row.spread
        ));
    }
    text
}

/// Reads what [`Format::Rows`] wrote. Lines of another shape are an error: a child that prints them has failed.
pub fn parse_rows(text: &str) -> Result<Vec<Row>, String> {
    text.lines()
        .map(|line| parse_row(line).ok_or_else(|| format!("not a row: {line:?}")))
        .collect()
}

fn parse_row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [group, bench, size, lib, ns, spread, usage] = cells[..] else {
        return None;
    };
    let usage = match usage {
        "-" => None,
        counts => {
            let counts: Vec<u64> = counts
                .split(',')
                .map(|count| count.parse().ok())
                .collect::<Option<_>>()?;
            let [cpu_us, voluntary, involuntary] = counts[..] else {
                return None;
            };
            Some(Usage {
                cpu_us,
                voluntary,
                involuntary,
            })
        }
    };
    Some(Row {
        group: group.to_string(),
        bench: bench.to_string(),
        size: size.parse().ok()?,
        lib: lib.to_string(),
        ns: ns.parse().ok()?,
        spread: spread.parse().ok()?,
        usage,
        unpinned: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(lib: &str, ns: f64) -> Row {
        Row {
            group: "join".into(),
            bench: "tree/1thread".into(),
            size: 1023,
            lib: lib.into(),
            ns,
            spread: 0.02,
            usage: None,
            unpinned: None,
        }
    }

    #[test]
    fn a_json_row_has_the_agreed_fields_in_order() {
        let rows = [row("seq", 100.0), row("blitz", 250.0), row("rayon", 1000.0)];
        let text = json_lines(&rows, true);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            r#"{"group":"join","bench":"tree/1thread","size":1023,"lib":"blitz","ns":250.00,"ratio_seq":2.500000,"ratio_rayon":0.250000,"spread":0.020,"ratios":{"seq":2.500000,"rayon":0.250000}}"#
        );
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn a_ratio_to_a_missing_or_empty_baseline_is_null() {
        let rows = [row("seq", 0.0), row("blitz", 8.0)];
        assert!(json_lines(&rows, true).contains(r#""ratio_seq":null,"ratio_rayon":null"#));
    }

    #[test]
    fn cpu_rows_add_cpu_and_switches() {
        let mut cpu_row = row("seq", 1.0);
        cpu_row.usage = Some(Usage {
            cpu_us: 5000,
            voluntary: 3,
            involuntary: 1,
        });
        let text = json_lines(&[cpu_row], true);
        assert!(
            text.contains(r#""cpu_us":5000,"cpu_ratio_seq":1.000000"#),
            "{text}"
        );
        assert!(text.contains(r#""voluntary_switches":3"#));
    }

    #[test]
    fn unpinned_figures_become_rows_of_their_own_with_their_own_ratios() {
        let mut rows = vec![row("seq", 100.0), row("blitz", 200.0)];
        add_unpinned(&mut rows, &[row("seq", 50.0), row("blitz", 300.0)]);
        let text = json_lines(&rows, true);
        let last = text.lines().last().unwrap();
        assert!(
            last.contains(r#""bench":"tree/1thread/unpinned""#),
            "{last}"
        );
        assert!(last.contains(r#""ratio_seq":6.000000"#), "{last}");
    }

    #[test]
    fn rows_survive_the_way_to_a_parent_process() {
        let mut with_usage = row("chili", 12.5);
        with_usage.usage = Some(Usage {
            cpu_us: 9,
            voluntary: 8,
            involuntary: 7,
        });
        let rows = vec![row("seq", 1.25), with_usage];
        assert_eq!(parse_rows(&tab_separated(&rows)).unwrap(), rows);
        assert!(parse_rows("thread 'main' panicked\n").is_err());
    }

    #[test]
    fn table_columns_line_up() {
        let rows = [row("seq", 100.0), row("blitz", 12_345_678.0)];
        let text = table(&rows, true);
        let ends: Vec<usize> = text
            .lines()
            .filter(|line| line.contains(" ns") || line.contains(" ms"))
            .map(|line| line.find(" ns").or(line.find(" ms")).unwrap())
            .collect();
        assert_eq!(ends.len(), 2);
        assert_eq!(ends[0], ends[1]);
    }
}
