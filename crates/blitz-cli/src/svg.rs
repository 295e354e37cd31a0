//! Charts as inline SVG.
//!
//! Bars have widths in per cent and text of fixed size above them, so that they fill any screen without shrinking their
//! labels. Colours are classes; the page's style sheet decides about light and dark.

use crate::chart::{Chart, class_of, shown_name};
use blitz_core::text::plot::{Axis, Plot};
use blitz_core::text::svg::{Anchor, Element};

/// A chart of bars.
pub fn bars(chart: &Chart) -> String {
    const LINE: f64 = 34.0;
    const LABEL: f64 = 26.0;
    const GAP: f64 = 6.0;
    let of_group = |bars: usize| LABEL + LINE * bars as f64 + GAP;
    let groups = || chart.groups.iter();
    let height: f64 = groups().map(|group| of_group(group.bars.len())).sum();
    let mut out = String::new();
    let mut svg = Element::new(&mut out, "svg")
        .with("class", "bars")
        .with("width", "100%")
        .number("height", height)
        .with("role", "img");
    svg.title(&chart.title);
    let mut y = 0.0;
    for group in groups() {
        y += LABEL;
        svg.text("label", [0.0, y - 6.0], Anchor::Start, &group.label);
        for bar in &group.bars {
            let mut text = svg.child("text").number("x", 0.0).number("y", y + 13.0);
            let mut name = text.child("tspan").with("class", "name");
            name.content(shown_name(&bar.lib));
            drop(name);
            text.content(&format!(" {}", bar.text));
            drop(text);
            let part = (bar.value / group.longest() * 100.0).max(0.4);
            svg.child("rect")
                .with("class", &format!("bar {}", class_of(&bar.lib)))
                .number("y", y + 18.0)
                .with("width", &format!("{part:.1}%"))
                .number("height", 10.0)
                .number("rx", 2.0);
            y += LINE;
        }
        y += GAP;
    }
    drop(svg);
    out
}

/// A plot of curves; it scales with its box.
pub fn lines(plot: &Plot) -> String {
    let mut out = String::new();
    plot.draw(&mut Element::picture(&mut out, plot.size, &plot.title));
    out
}

/// An axis from one power of ten around the values to another one.
pub fn decades(values: impl Iterator<Item = f64>, text: fn(f64) -> String, label: &str) -> Axis {
    let (mut from, mut to) = (i32::MAX, i32::MIN);
    for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
        from = from.min(value.log10().floor() as i32);
        to = to.max(value.log10().ceil() as i32);
    }
    if from > to {
        (from, to) = (0, 1);
    }
    let to = to.max(from + 1);
    let ticks = (from..=to).map(|exponent| 10_f64.powi(exponent));
    Axis {
        range: [10_f64.powi(from), 10_f64.powi(to)],
        ticks: ticks.map(|value| (value, text(value))).collect(),
        label: label.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Bar, Group};

    #[test]
    fn the_longest_bar_fills_the_width() {
        let bar = |lib: &str, value| Bar {
            lib: lib.into(),
            value,
            text: "x".into(),
        };
        let chart = Chart {
            title: "t".into(),
            groups: vec![Group {
                label: "<1>".into(),
                bars: vec![bar("seq", 4.0), bar("blitz", 1.0)],
            }],
        };
        let svg = bars(&chart);
        assert!(svg.contains("width=\"100.0%\"") && svg.contains("width=\"25.0%\""));
        assert!(svg.contains("&lt;1&gt;"));
    }

    #[test]
    fn an_axis_goes_from_one_power_of_ten_to_another() {
        let text = |value| format!("{value}");
        let range = |values: &[f64]| decades(values.iter().copied(), text, "").range;
        assert_eq!(range(&[3.0, 700.0]), [1.0, 1000.0]);
        assert_eq!(range(&[10.0]), [10.0, 100.0]);
        assert_eq!(range(&[0.0, f64::NAN]), [1.0, 10.0]);
        let axis = decades([0.4, 12.0].into_iter(), text, "n");
        let ticks: Vec<&str> = axis.ticks.iter().map(|(_, text)| &**text).collect();
        assert_eq!(ticks, ["0.1", "1", "10", "100"]);
    }
}
