//! One HTML page about a recorded program: what to expect of more cores, the places that make the span, and a picture of work and span. Nothing is loaded from
//! elsewhere.

use crate::machine::{Machine, Waiting};
use crate::program::{Program, Step, Times};
use crate::world::mean_speedup;
use blitz_core::text::plot::{Curve, Plot};
use blitz_core::text::svg::Element;
use blitz_core::text::{escape, human};
use std::fmt::Write;

const STYLE: &str = "
:root{--text:#22252d;--soft:#6a6e7a;--line:#d9d9d3;--back:#fbfbf9;--blue:#1f5fd0;--orange:#c4570f;--green:#1a7f4b}
@media(prefers-color-scheme:dark){:root{--text:#e2e4ea;--soft:#9a9eac;--line:#3a3d48;--back:#16181d;--blue:#7fa8ff;--orange:#f2985c;--green:#63d69a}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);max-width:960px;margin:0 auto;padding:16px}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}p{color:var(--soft)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}td,th{padding:3px 8px;text-align:right;border-bottom:1px solid var(--line)}
td:first-child,th:first-child{text-align:left;overflow-wrap:anywhere}
svg{width:100%;height:auto}.scroll svg{min-width:640px}svg text{font:12px system-ui,sans-serif;fill:var(--text)}.grid{stroke:var(--line)}
.line{fill:none;stroke:currentColor;stroke-width:2}.ideal{color:var(--soft);stroke-dasharray:3 4}.limit{color:var(--orange)}.simulated{color:var(--blue)}
.scroll{overflow-x:auto}.bar{stroke:var(--back);stroke-width:.5}.on{fill:var(--orange)}.off{fill:var(--blue);opacity:.55}
";

/// The numbers of cores that curves have a point for.
pub const CORES: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// The page. `table`: what the profiler printed, if it is there.
pub fn html(title: &str, program: &Program, machine: &Machine, table: Option<&str>) -> String {
    let shape = program.shape();
    let (work, span) = (program.work_ns(), shape.span_ns.max(1));
    let mut body = format!(
        "<h1>{}</h1>\n<p>{} of work, a span of {}: parallelism {:.1}. Recorded with {} threads, in {}.</p>\n",
        escape(title),
        human(work as f64),
        human(span as f64),
        work as f64 / span as f64,
        program.threads,
        human(program.elapsed_ns as f64),
    );
    body.push_str("<h2>What to expect of more cores</h2>\n");
    body.push_str(&speedups(program, machine, span));
    body.push_str("<h2>The places that make the span</h2>\n<p>What lies on the longest path through the computation: no number of cores shortens it. To scale further, cut what is on top.</p>\n");
    body.push_str(&places(program, &shape, work, span));
    body.push_str("<h2>Work and span</h2>\n<p>Time goes from left to right as if there were cores for everything; what runs at the same time lies below each other. The longest path is orange.</p>\n");
    body.push_str(&picture(program));
    if let Some(table) = table {
        let _ = writeln!(
            body,
            "<h2>What the profiler said</h2>\n<pre class=\"scroll\">{}</pre>",
            escape(table)
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{}</title><style>{STYLE}</style></head><body>\n{body}</body></html>\n",
        escape(title)
    )
}

/// Speed-ups over cores: a curve for each class, name and row of values, one for each of the cores.
pub fn plot<const N: usize>(cores: &[usize], curves: [(&'static str, &str, Vec<f64>); N]) -> Plot {
    let points = |values: Vec<f64>| cores.iter().map(|&cores| cores as f64).zip(values);
    let curves = curves.map(|(class, name, values)| Curve {
        class,
        name: name.into(),
        points: points(values).map(<[f64; 2]>::from).collect(),
        dots: false,
    });
    Plot::of_speedups([640.0, 380.0], cores, curves.into())
}

fn speedups(program: &Program, machine: &Machine, span: u64) -> String {
    let work = program.work_ns() as f64;
    let on = |cores: usize, waiting| {
        let machine = Machine {
            workers: cores,
            cpus: cores,
            waiting,
            ..machine.clone()
        };
        // The mean of a few, so that one lucky theft does not bend the curve.
        mean_speedup(program, &machine, 3)
    };
    let simulated: Vec<f64> = CORES.map(|cores| on(cores, Waiting::Descendants)).into();
    let limit: Vec<f64> = CORES
        .map(|cores| (cores as f64).min(work / span as f64))
        .into();
    let plot = plot(
        &CORES,
        [
            ("ideal", "ideal", CORES.map(|cores| cores as f64).into()),
            ("limit", "at most: work and span", limit.clone()),
            (
                "simulated",
                "simulated, with thefts and wakes",
                simulated.clone(),
            ),
        ],
    );
    let mut text = String::new();
    plot.draw(&mut Element::picture(&mut text, plot.size, &plot.title));
    text.push_str("<table><tr><th>cores</th><th>simulated</th><th>at most</th></tr>\n");
    for ((cores, simulated), limit) in CORES.iter().zip(simulated).zip(limit) {
        let _ = writeln!(
            text,
            "<tr><td>{cores}</td><td>{simulated:.2}x</td><td>{limit:.2}x</td></tr>"
        );
    }
    text.push_str("</table>\n");
    text
}

fn places(program: &Program, shape: &crate::program::Shape, work: u64, span: u64) -> String {
    let mut order: Vec<usize> = (0..program.places.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse((shape.on_span[place], shape.work[place])));
    let mut text = String::from(
        "<table><tr><th>place</th><th>on the span</th><th></th><th>work</th><th></th></tr>\n",
    );
    let shown = order
        .into_iter()
        .filter(|&place| shape.on_span[place] + shape.work[place] > 0)
        .take(20);
    for place in shown {
        let (on_span, of_work) = (shape.on_span[place], shape.work[place]);
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{:.1} %</td><td>{}</td><td>{:.1} %</td></tr>",
            escape(&program.places[place]),
            human(on_span as f64),
            100.0 * on_span as f64 / span as f64,
            human(of_work as f64),
            100.0 * of_work as f64 / work.max(1) as f64,
        );
    }
    text.push_str("</table>\n");
    text
}

/// A box of the picture.
struct Bar {
    begin: u64,
    end: u64,
    row: usize,
    place: usize,
    on_span: bool,
    work: u64,
}

const ROWS: usize = 48;
const BARS: usize = 4000;

/// Everything as early as it could be, each fork's right half in rows of its own.
struct Layout<'a> {
    program: &'a Program,
    bars: Vec<Bar>,
    /// What is shorter is not drawn.
    least: u64,
    times: Times,
}

impl Layout<'_> {
    /// Draws everything. Tasks may be spawned by tasks however deep, so this must not recurse.
    fn draw(&mut self) {
        enum Role {
            /// The whole, or a task.
            Own,
            Left {
                right: usize,
                on_span: bool,
            },
            Right {
                left_end: u64,
            },
        }
        /// A path in rows from `row` on; `below` is the first that is free.
        struct Frame {
            path: usize,
            at: usize,
            begin: u64,
            now: u64,
            row: usize,
            below: usize,
            on_span: bool,
            role: Role,
        }
        let frame = |path, begin, row, on_span, role| Frame {
            path,
            at: 0,
            begin,
            now: begin,
            row,
            below: row + 1,
            on_span,
            role,
        };
        let program = self.program;
        let mut frames = vec![frame(program.root(), 0, 0, true, Role::Own)];
        while let Some(top) = frames.last_mut() {
            let (now, row, on_span) = (top.now, top.row, top.on_span);
            let Some(step) = program.paths[top.path].steps.get(top.at) else {
                let ended = frames.pop().expect("it is the top");
                let Some(outer) = frames.last_mut() else {
                    return;
                };
                match ended.role {
                    Role::Left { right, on_span } => {
                        let role = Role::Right { left_end: now };
                        frames.push(frame(right, ended.begin, ended.below, on_span, role));
                    }
                    Role::Right { left_end } => {
                        outer.now = left_end.max(now);
                        outer.below = outer.below.max(ended.below);
                    }
                    Role::Own => outer.below = ended.below,
                }
                continue;
            };
            top.at += 1;
            match step {
                Step::Run {
                    ns, span_ns, place, ..
                } => {
                    top.now += span_ns;
                    self.bar(now, *span_ns, row, *place, on_span, *ns);
                }
                Step::Loop {
                    ns, items, place, ..
                } => {
                    let length = ns / items.max(&1);
                    top.now += length;
                    self.bar(now, length, row, *place, on_span, *ns);
                }
                Step::Fork { left, right, .. } => {
                    let [left_ns, right_ns] = [left, right].map(|half| self.times.lengths[*half]);
                    let role = Role::Left {
                        right: *right,
                        on_span: on_span && right_ns > left_ns,
                    };
                    let on_span = on_span && left_ns >= right_ns;
                    frames.push(frame(*left, now, row, on_span, role));
                }
                Step::Spawn(task) => {
                    let below = top.below;
                    frames.push(frame(program.tasks[*task], now, below, false, Role::Own));
                }
                Step::Meet(tasks) => {
                    let ends = tasks.iter().filter_map(|&task| self.times.tasks[task]);
                    top.now = ends.map(|(_, end)| end).fold(now, u64::max);
                }
            }
        }
    }

    fn bar(&mut self, begin: u64, length: u64, row: usize, place: usize, on_span: bool, work: u64) {
        let drawn = (row < ROWS || on_span) && self.bars.len() < BARS;
        if drawn && length >= self.least {
            self.bars.push(Bar {
                begin,
                end: begin + length,
                row: row.min(ROWS),
                place,
                on_span,
                work,
            });
        }
    }
}

pub(crate) fn picture(program: &Program) -> String {
    let times = program.times();
    let span = times.lengths[program.root()].max(1);
    let mut layout = Layout {
        program,
        bars: Vec::new(),
        least: span / 2000,
        times,
    };
    layout.draw();
    let rows = layout.bars.iter().map(|bar| bar.row + 1).max().unwrap_or(1);
    let mut text = String::from("<div class=\"scroll\">");
    let size = [960.0, (rows * 12 + 4) as f64];
    let mut svg = Element::picture(&mut text, size, "Work and span");
    for bar in &layout.bars {
        let x = 960.0 * bar.begin as f64 / span as f64;
        let width = 960.0 * (bar.end - bar.begin) as f64 / span as f64;
        let class = if bar.on_span { "bar on" } else { "bar off" };
        let size = [width.max(0.3), 11.0];
        let mut drawn = svg.rect(class, [x, (bar.row * 12) as f64], size);
        drawn.title(&format!(
            "{}\n{} ({} of work)",
            program.places[bar.place],
            human((bar.end - bar.begin) as f64),
            human(bar.work as f64),
        ));
    }
    drop(svg);
    text.push_str("</div>\n");
    text
}
