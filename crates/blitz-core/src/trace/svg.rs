//! The trace as a picture: a lane per thread, states as bars, events as marks.

use super::timeline::{Kind, Phase, Timeline, Trace};
use crate::text::svg::{Anchor, Element};
use std::time::Duration;

const WIDTH: f64 = 960.0;
const NAME: f64 = 120.0;
const LANE: f64 = 44.0;
const TOP: f64 = 34.0;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#33363f}.guest{fill:#8fb3f5}.run{fill:#1f5fd0}.wait{fill:#e8c27a}\
.search{fill:#d4d6dd}.sleep{fill:#f1f1ee}.steal{fill:#c4570f}.wake{fill:#1a7f4b}.expose{fill:#7a4fc4}.force{fill:#b3261e}.axis{stroke:#9a9da8}\
@media(prefers-color-scheme:dark){text{fill:#d7d9e0}.guest{fill:#3c5fa8}.run{fill:#7fa8ff}.wait{fill:#a8803a}.search{fill:#4b4f5c}\
.sleep{fill:#24262d}.steal{fill:#f2985c}.wake{fill:#63d69a}.expose{fill:#b79cf0}.force{fill:#ff8a80}}";

/// What is drawn as bars, in the order of the legend, and what as marks.
const STATES: [Kind; 5] = [
    Kind::Guest,
    Kind::Run,
    Kind::Wait,
    Kind::Search,
    Kind::Sleep,
];
const MARKS: [Kind; 4] = [Kind::Steal, Kind::Wake, Kind::Expose, Kind::Force];

/// The document.
pub(super) fn picture(trace: &Trace) -> String {
    let lanes = trace.threads().len();
    let bottom = TOP + LANE * lanes as f64 + 4.0;
    let scale = Scale(trace.elapsed());
    let in_all = format!("{}, {lanes} threads", ms(trace.elapsed()));
    let title = "What the threads did";
    let mut out = String::new();
    let mut svg = Element::document(&mut out, [WIDTH, bottom + 54.0], title, STYLE);
    svg.text("", [0.0, 16.0], Anchor::Start, &in_all);
    for (index, thread) in trace.threads().iter().enumerate() {
        let y = TOP + LANE * index as f64;
        let name: String = thread.name().chars().take(18).collect();
        svg.text("", [0.0, y + 18.0], Anchor::Start, &name);
        lane(&mut svg, thread, y, scale);
    }
    for fifth in 0..=5 {
        let at = trace.elapsed().mul_f64(f64::from(fifth) / 5.0);
        let x = scale.x(at);
        svg.line("axis", [x, bottom], [x, bottom + 5.0]);
        let anchor = match fifth {
            5 => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.text("", [x, bottom + 18.0], anchor, &ms(at));
    }
    for (index, kind) in STATES.into_iter().chain(MARKS).enumerate() {
        let (x, y) = (NAME + 88.0 * index as f64, bottom + 34.0);
        svg.rect(kind.name(), [x, y], [12.0; 2]);
        svg.text("", [x + 17.0, y + 10.0], Anchor::Start, kind.name());
    }
    drop(svg);
    out
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

#[derive(Clone, Copy)]
struct Scale(Duration);

impl Scale {
    fn x(self, at: Duration) -> f64 {
        let part = at.as_secs_f64() / self.0.as_secs_f64().max(1e-9);
        NAME + part.min(1.0) * (WIDTH - NAME)
    }
}

/// A rectangle to draw: its class, where, and how large.
type Bar = (&'static str, [f64; 2], [f64; 2]);

/// One thread: states first, those inside of others thinner and on top, then marks.
fn lane(svg: &mut Element<'_>, thread: &Timeline, y: f64, scale: Scale) {
    let mut bars: Vec<Bar> = Vec::new();
    let mut marks: Vec<Bar> = Vec::new();
    // Beginnings that have no end yet: the kind, and when.
    let mut open: Vec<(Kind, Duration)> = Vec::new();
    // Bars and marks narrower than this would be drawn thousands of times at the same place.
    let mut last_bar = (f64::MIN, 0);
    let mut last_mark = f64::MIN;
    for event in thread.events() {
        match event.phase {
            Phase::Begin => open.push((event.kind, event.at)),
            Phase::End => {
                let Some((kind, since)) = open.pop() else {
                    continue;
                };
                let (x, end) = (scale.x(since), scale.x(event.at));
                let depth = open.len();
                if end - last_bar.0 < 0.2 && depth >= last_bar.1 {
                    continue;
                }
                last_bar = (end, depth);
                let inset = 2.0 * depth.min(6) as f64;
                let size = [(end - x).max(0.3), 28.0 - 2.0 * inset];
                bars.push((kind.name(), [x, y + inset], size));
            }
            Phase::Instant => {
                let x = scale.x(event.at);
                if x - last_mark < 0.4 {
                    continue;
                }
                last_mark = x;
                marks.push((event.kind.name(), [x, y + 30.0], [1.6, 8.0]));
            }
        }
    }
    // What ends first lies inside: so it goes on top, that is, last.
    for (class, at, size) in bars.into_iter().rev().chain(marks) {
        svg.rect(class, at, size);
    }
}
