//! Groups of bars: the one shape in which the tour shows figures, in the terminal and in the report.

use crate::terminal::{Ink, Terminal};
use blitz_bench::report::{RAYON, Row, SEQ, peer};
use blitz_core::text::human;

/// Bars that belong together, scaled per group: what counts is who is faster, not that ten million elements take longer
/// than ten.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What is shown; less is better unless it says otherwise.
    pub title: String,
    /// In the order they are shown.
    pub groups: Vec<Group>,
}

/// The bars of one size or one task.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they have in common.
    pub label: String,
    /// One per library.
    pub bars: Vec<Bar>,
}

/// One figure.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Whose it is.
    pub lib: String,
    /// How long the bar is, in any unit.
    pub value: f64,
    /// The figure, for people.
    pub text: String,
}

/// The libraries that the tour shows, and the class that colours each in the report.
const SHOWN: [(&str, &str); 7] = [
    (SEQ, "seq"),
    ("blitz", "blitz"),
    (RAYON, "rayon"),
    ("chili", "chili"),
    ("tokio", "tokio"),
    ("tokio+rayon", "tokio"),
    ("tokio+blocking", "tokio"),
];

/// The class of a library's bars and lines.
pub fn class_of(lib: &str) -> &'static str {
    let known = SHOWN.iter().find(|(name, _)| *name == lib);
    known.map_or("seq", |(_, class)| class)
}

/// How a library is called in front of people.
pub fn shown_name(lib: &str) -> &str {
    if lib == SEQ { "sequential" } else { lib }
}

impl Chart {
    /// The times of one bench, a group per size.
    pub fn of_times(title: &str, rows: &[Row], bench: &str, label: impl Fn(u64) -> String) -> Self {
        let figure = |row: &Row| (row.ns, human(row.ns));
        Self::of(title, rows, bench, label, figure)
    }

    /// The CPU time that one bench cost.
    pub fn of_cpu(title: &str, rows: &[Row], bench: &str, label: impl Fn(u64) -> String) -> Self {
        Self::of(title, rows, bench, label, |row| {
            let cpu = row.usage.map_or(0, |usage| usage.cpu_us) as f64;
            (cpu, format!("{:.1} ms of CPU", cpu / 1e3))
        })
    }

    fn of(
        title: &str,
        rows: &[Row],
        bench: &str,
        label: impl Fn(u64) -> String,
        figure: impl Fn(&Row) -> (f64, String),
    ) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let of_bench = rows.iter().filter(|row| row.bench == bench);
        for row in of_bench.filter(|row| SHOWN.iter().any(|(lib, _)| *lib == row.lib)) {
            let label = label(row.size);
            let (value, mut text) = figure(row);
            if let Some(seq) = peer(rows, row, SEQ).filter(|_| row.lib != SEQ) {
                let base = figure(seq).0;
                if base > 0.0 {
                    text.push_str(&format!(", {} sequential", times(value / base)));
                }
            }
            let bar = Bar {
                lib: row.lib.clone(),
                value,
                text,
            };
            match groups.iter_mut().find(|group| group.label == label) {
                Some(group) => group.bars.push(bar),
                None => groups.push(Group {
                    label,
                    bars: vec![bar],
                }),
            }
        }
        Chart {
            title: title.to_string(),
            groups,
        }
    }

    /// The chart as lines of text.
    pub fn draw(&self, terminal: &Terminal) -> String {
        let names = self.bars().map(|bar| shown_name(&bar.lib).len());
        let name_width = names.max().unwrap_or(0).max(10) + 1;
        let text_width = self.bars().map(|bar| bar.text.chars().count()).max();
        let room = terminal
            .width()
            .saturating_sub(name_width + 5 + text_width.unwrap_or(0));
        let room = room.clamp(8, 40);
        let mut text = format!("  {}\n", terminal.ink(Ink::Dim, &self.title));
        for group in &self.groups {
            text.push_str(&format!("  {}\n", group.label));
            for bar in &group.bars {
                let drawn = eighths(bar.value / group.longest(), room);
                let drawn = format!("{drawn:<room$}");
                let drawn = match bar.lib.as_str() {
                    "blitz" => terminal.ink(Ink::Good, &drawn),
                    _ => drawn,
                };
                let name = shown_name(&bar.lib);
                text.push_str(&format!("    {name:<name_width$}{drawn} {}\n", bar.text));
            }
        }
        text
    }

    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|group| &group.bars)
    }
}

impl Group {
    /// The value of the longest bar.
    pub fn longest(&self) -> f64 {
        let longest = self.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
        if longest > 0.0 { longest } else { 1.0 }
    }
}

/// `0.53x` or `1,400x`.
pub fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 100.0 => format!("{ratio:.0}x"),
        ratio if ratio >= 10.0 => format!("{ratio:.1}x"),
        ratio => format!("{ratio:.2}x"),
    }
}

/// A bar that ends on an eighth of a cell.
fn eighths(part: f64, cells: usize) -> String {
    const PARTS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (part.clamp(0.0, 1.0) * cells as f64 * 8.0).round() as usize;
    let eighths = eighths.max(1);
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(PARTS[eighths % 8]);
    }
    bar
}

/// `10`, `10k` or `10M`.
pub fn short_count(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}M", count / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(lib: &str, size: u64, ns: f64) -> Row {
        Row {
            group: "join".into(),
            bench: "tree".into(),
            size,
            lib: lib.into(),
            ns,
            spread: 0.0,
            usage: None,
            unpinned: None,
        }
    }

    #[test]
    fn rows_become_groups_by_size_with_ratios_to_sequential() {
        let rows = [
            row("seq", 10, 100.0),
            row("blitz", 10, 50.0),
            row("exotic", 10, 1.0),
            row("seq", 20, 7.0),
        ];
        let chart = Chart::of_times("times", &rows, "tree", |size| format!("{size} nodes"));
        assert_eq!(chart.groups.len(), 2);
        assert_eq!(chart.groups[0].bars.len(), 2);
        assert_eq!(chart.groups[0].bars[1].text, "50.0 ns, 0.50x sequential");
        assert_eq!(chart.groups[0].longest(), 100.0);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let rows = [row("seq", 10, 1e6), row("blitz", 10, 123_456.0)];
        let chart = Chart::of_times("times", &rows, "tree", short_count);
        let terminal = crate::terminal::terminal();
        let text = chart.draw(terminal);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest.unwrap() <= terminal.width(), "{text}");
    }

    #[test]
    fn bars_are_as_long_as_their_part() {
        assert_eq!(eighths(1.0, 4), "████");
        assert_eq!(eighths(0.5, 4), "██");
        assert_eq!(eighths(0.0, 4), "▏");
        assert_eq!(eighths(9.0, 4), "████");
    }

    #[test]
    fn counts_are_short() {
        assert_eq!(short_count(1000), "1000");
        assert_eq!(short_count(10_000), "10k");
        assert_eq!(short_count(10_000_000), "10M");
    }
}
