//! Curves over two logarithmic axes, as SVG: what speeds up over cores, and what costs how much at which size.

use super::svg::{Anchor, Element};

/// Colours of what is not a curve, for a picture in a file of its own. Curves have the colour of their class: `.name{color:…}`.
pub const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#33363f}.grid{stroke:#d9d9d3}.line{fill:none;stroke:currentColor;stroke-width:2}.dot{fill:currentColor}\
@media(prefers-color-scheme:dark){text{fill:#d7d9e0}.grid{stroke:#3a3d48}}";

/// One axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Where it begins and ends; both positive.
    pub range: [f64; 2],
    /// The lines across, and what is written beside them.
    pub ticks: Vec<(f64, String)>,
    /// What is shown, if that has to be said.
    pub label: String,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its colour.
    pub class: &'static str,
    /// For the legend.
    pub name: String,
    /// From left to right.
    pub points: Vec<[f64; 2]>,
    /// Does each point get a dot?
    pub dots: bool,
}

/// The picture.
#[derive(Clone, Debug)]
pub struct Plot {
    /// In the units in which a letter is 12 high.
    pub size: [f64; 2],
    /// What is shown.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From below.
    pub y: Axis,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
}

const TOP: f64 = 12.0;
/// From a label to its axis.
const GAP: f64 = 6.0;
/// Between lines of the legend.
const ROW: f64 = 18.0;

impl Plot {
    /// Speed-ups over cores.
    pub fn of_speedups(size: [f64; 2], cores: &[usize], curves: Vec<Curve>) -> Self {
        let most = cores.iter().fold(2, |most, &cores| most.max(cores));
        let axis = |unit, label: &str| Axis {
            range: [1.0, most as f64],
            ticks: cores
                .iter()
                .map(|&cores| (cores as f64, format!("{cores}{unit}")))
                .collect(),
            label: label.into(),
        };
        Plot {
            size,
            title: "Speed-up over cores".into(),
            x: axis("", "cores"),
            y: axis("x", ""),
            curves,
        }
    }

    /// Draws into an element with the plot's coordinates.
    pub fn draw(&self, svg: &mut Element<'_>) {
        let [left, right] = self.sides();
        let keys = self.keys();
        let rows = keys.last().map_or(0.0, |key| key[1]);
        let bottom = self.size[1] - 44.0 - ROW * rows;
        let x_of = |x: f64| left + self.x.part(x) * (right - left);
        let y_of = |y: f64| bottom - self.y.part(y) * (bottom - TOP);
        for (value, text) in &self.x.ticks {
            let x = x_of(*value);
            svg.line("grid", [x, TOP], [x, bottom]);
            svg.text("tick", [x, bottom + 16.0], Anchor::Middle, text);
        }
        for (value, text) in &self.y.ticks {
            let y = y_of(*value);
            svg.line("grid", [left, y], [right, y]);
            svg.text("tick", [left - GAP, y + 4.0], Anchor::End, text);
        }
        for (curve, [x, row]) in self.curves.iter().zip(keys) {
            let points = || curve.points.iter().map(|&[x, y]| [x_of(x), y_of(y)]);
            let line = format!("line {}", curve.class);
            let y = bottom + 36.0 + ROW * row;
            // A single point is no line.
            if curve.points.len() > 1 {
                svg.path(&line, points());
                svg.path(&line, [[x, y - 4.0], [x + 20.0, y - 4.0]]);
            }
            if curve.dots {
                let dot = format!("dot {}", curve.class);
                for at in points().chain([[x + 10.0, y - 4.0]]) {
                    svg.circle(&dot, at, 3.5);
                }
            }
            svg.text("tick", [x + 26.0, y], Anchor::Start, &curve.name);
        }
        svg.text("tick", [right, bottom + 36.0], Anchor::End, &self.x.label);
    }

    /// Where the plot begins and ends, so that there is room for labels beside it.
    fn sides(&self) -> [f64; 2] {
        let labels = self.y.ticks.iter().map(|(_, text)| wide(text));
        let left = GAP + 2.0 + labels.fold(4.0 * LETTER, f64::max);
        let last = self.x.ticks.last().map_or(0.0, |(_, text)| wide(text));
        [left, self.size[0] - last / 2.0 - 2.0]
    }

    /// Where the legend has each curve: x, and the row.
    fn keys(&self) -> Vec<[f64; 2]> {
        let [left, right] = self.sides();
        let (mut x, mut row) = (left, 0.0);
        let mut end = right - wide(&self.x.label);
        let places = self.curves.iter().map(|curve| {
            let width = 26.0 + wide(&curve.name);
            if x > left && x + width > end {
                (x, row, end) = (left, row + 1.0, right);
            }
            let place = [x, row];
            x += width + 14.0;
            place
        });
        places.collect()
    }
}

/// How much room a letter takes; nobody here knows its real width.
const LETTER: f64 = 7.6;

fn wide(text: &str) -> f64 {
    LETTER * text.chars().count() as f64
}

impl Axis {
    /// Where a value lies, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        let [from, to] = self.range;
        ((value.max(from) / from).ln() / (to / from).ln()).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(names: &[&'static str]) -> Plot {
        let curve = |&name: &&'static str| Curve {
            class: name,
            name: name.into(),
            points: vec![[0.5, 0.0], [2.0, 2.0], [400.0, f64::NAN], [9.0, 1e9]],
            dots: true,
        };
        Plot::of_speedups(
            [320.0, 240.0],
            &[1, 4, 16],
            names.iter().map(curve).collect(),
        )
    }

    /// The numbers behind an attribute's name.
    fn numbers(svg: &str, name: &str) -> Vec<f64> {
        let attribute = format!(" {name}=\"");
        let parts = svg.split(&attribute).skip(1);
        let number = |part: &str| part.split('"').next()?.parse().ok();
        parts.filter_map(number).collect()
    }

    #[test]
    fn points_stay_inside() {
        let mut svg = String::new();
        plot(&["one", "two"]).draw(&mut Element::new(&mut svg, "svg"));
        let (x, y) = (numbers(&svg, "cx"), numbers(&svg, "cy"));
        assert_eq!((x.len(), y.len()), (10, 10));
        let [left, right] = plot(&[]).sides();
        assert!(x.iter().all(|x| (left..=right).contains(x)), "{x:?}");
        assert!(y.iter().all(|y| (TOP..=240.0).contains(y)), "{y:?}");
        // Two of sixteen: a quarter of the way.
        let quarter = left + (right - left) / 4.0;
        assert!(x.iter().any(|x| (x - quarter).abs() < 0.01), "{x:?}");
    }

    #[test]
    fn long_labels_have_room() {
        let mut plot = plot(&["one"]);
        let [left, right] = plot.sides();
        plot.y.ticks.push((1.0, "100000x".into()));
        plot.x.ticks.push((1.0, "100M".into()));
        let [more, less] = plot.sides();
        assert!(more > left + 2.0 * LETTER && less < right, "{more} {less}");
    }

    #[test]
    fn a_long_legend_takes_more_rows_from_the_plot() {
        let long = "a name that is not short";
        let rows = |plot: Plot| plot.keys().iter().map(|key| key[1]).collect::<Vec<_>>();
        assert_eq!(rows(plot(&["a", "b"])), [0.0, 0.0]);
        assert_eq!(rows(plot(&[long, "b", long])), [0.0, 1.0, 1.0]);
    }
}
