//! Charts as inline SVG.
//!
//! Bars have widths in per cent and text of fixed size above them, so that they fill any screen without shrinking their
//! labels. Colours are classes; the page's style sheet decides about light and dark.

use crate::chart::{Chart, class_of, shown_name};
use blitz_core::text::escape;

/// A chart of bars.
pub fn bars(chart: &Chart) -> String {
    const LINE: usize = 34;
    const LABEL: usize = 26;
    let mut body = String::new();
    let mut y = 0;
    for group in &chart.groups {
        y += LABEL;
        let label = escape(&group.label);
        body.push_str(&format!(
            "<text class=\"label\" x=\"0\" y=\"{}\">{label}</text>\n",
            y - 6
        ));
        for bar in &group.bars {
            let part = (bar.value / group.longest() * 100.0).max(0.4);
            let name = escape(shown_name(&bar.lib));
            let figure = escape(&bar.text);
            body.push_str(&format!(
                "<text x=\"0\" y=\"{}\"><tspan class=\"name\">{name}</tspan> {figure}</text>\n\
                 <rect class=\"bar {}\" x=\"0\" y=\"{}\" width=\"{part:.1}%\" height=\"10\" rx=\"2\"/>\n",
                y + 13,
                class_of(&bar.lib),
                y + 18,
            ));
            y += LINE;
        }
        y += 6;
    }
    let title = escape(&chart.title);
    format!(
        "<svg class=\"bars\" width=\"100%\" height=\"{y}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n{body}</svg>\n"
    )
}

/// One line of a plot.
#[derive(Clone, Debug)]
pub struct Series {
    /// Whose it is: also the class that colours it.
    pub lib: String,
    /// Points with positive coordinates, by ascending x.
    pub points: Vec<(f64, f64)>,
}

/// A plot with two logarithmic axes.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What is shown.
    pub title: String,
    /// Under the horizontal axis.
    pub x_label: String,
    /// How a value of the vertical axis is written.
    pub y_text: fn(f64) -> String,
    /// The lines.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;

/// The plot as SVG; it scales with its box.
pub fn lines(plot: &Plot) -> String {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let x_range = Decades::around(points().map(|point| point.0));
    let y_range = Decades::around(points().map(|point| point.1));
    let x_of = |x: f64| LEFT + x_range.part(x) * (WIDTH - LEFT - RIGHT);
    let y_of = |y: f64| HEIGHT - BOTTOM - y_range.part(y) * (HEIGHT - TOP - BOTTOM);
    let mut body = String::new();
    for exponent in x_range.from..=x_range.to {
        let (x, bottom) = (x_of(10f64.powi(exponent)), HEIGHT - BOTTOM);
        let text = crate::chart::short_count(10f64.powi(exponent) as u64);
        let anchor = if exponent == x_range.to {
            "end"
        } else {
            "middle"
        };
        body.push_str(&format!(
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\n\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{text}</text>\n",
            bottom + 14.0
        ));
    }
    for exponent in y_range.from..=y_range.to {
        let value = 10f64.powi(exponent);
        let y = y_of(value);
        body.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\"/>\n\
             <text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            WIDTH - RIGHT,
            LEFT - 5.0,
            y + 3.5,
            escape(&(plot.y_text)(value)),
        ));
    }
    let mut key_x = LEFT;
    for series in &plot.series {
        let class = class_of(&series.lib);
        let path: Vec<String> = series
            .points
            .iter()
            .map(|&(x, y)| format!("{:.1},{:.1}", x_of(x), y_of(y)))
            .collect();
        body.push_str(&format!(
            "<polyline class=\"line {class}\" points=\"{}\"/>\n",
            path.join(" ")
        ));
        for &(x, y) in &series.points {
            body.push_str(&format!(
                "<circle class=\"bar {class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\"/>\n",
                x_of(x),
                y_of(y)
            ));
        }
        let name = escape(shown_name(&series.lib));
        let key_y = HEIGHT - 6.0;
        body.push_str(&format!(
            "<rect class=\"bar {class}\" x=\"{key_x}\" y=\"{}\" width=\"9\" height=\"9\" rx=\"2\"/>\n\
             <text class=\"tick\" x=\"{}\" y=\"{key_y}\">{name}</text>\n",
            key_y - 8.5,
            key_x + 13.0,
        ));
        key_x += 26.0 + 6.0 * name.len() as f64;
    }
    let x_label = escape(&plot.x_label);
    body.push_str(&format!(
        "<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{x_label}</text>\n",
        WIDTH - RIGHT,
        HEIGHT - 6.0
    ));
    let title = escape(&plot.title);
    format!(
        "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n{body}</svg>\n"
    )
}

/// Whole powers of ten around some values.
struct Decades {
    from: i32,
    to: i32,
}

impl Decades {
    fn around(values: impl Iterator<Item = f64>) -> Self {
        let (mut from, mut to) = (i32::MAX, i32::MIN);
        for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
            from = from.min(value.log10().floor() as i32);
            to = to.max(value.log10().ceil() as i32);
        }
        if from > to {
            (from, to) = (0, 1);
        }
        Decades {
            from,
            to: to.max(from + 1),
        }
    }

    /// Where a value lies, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        let exponent = value.max(1e-300).log10();
        ((exponent - f64::from(self.from)) / f64::from(self.to - self.from)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Bar, Group};

    #[test]
    fn text_cannot_break_out_of_its_element() {
        assert_eq!(escape("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
    }

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
    fn points_of_a_plot_stay_inside_of_it() {
        let plot = Plot {
            title: "t".into(),
            x_label: "n".into(),
            y_text: |value| format!("{value}"),
            series: vec![Series {
                lib: "blitz".into(),
                points: vec![(1.0, 0.4), (1e7, 2000.0)],
            }],
        };
        let svg = lines(&plot);
        let points = svg
            .split("points=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        for point in points.split(' ') {
            let (x, y) = point.split_once(',').unwrap();
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            assert!(
                (LEFT..=WIDTH).contains(&x) && (TOP..=HEIGHT).contains(&y),
                "{point}"
            );
        }
    }
}
