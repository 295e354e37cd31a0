//! The predicted speed-up over the number of cores, as an SVG document that looks right in light and dark.

use super::report::{CORES, Profile};

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 62.0;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#33363f}.grid{stroke:#d9d9d3}.ideal{stroke:#9a9da8;stroke-dasharray:3 4}\
.limit{stroke:#c4570f}.expected{stroke:#1f5fd0}path{fill:none;stroke-width:2}.dot{fill:#1a7f4b}\
@media(prefers-color-scheme:dark){text{fill:#d7d9e0}.grid{stroke:#3a3d48}.limit{stroke:#f2985c}.expected{stroke:#7fa8ff}.dot{fill:#63d69a}}";

/// The document.
pub(super) fn svg(profile: &Profile) -> String {
    let most = *CORES.last().expect("there are some") as f64;
    let doublings = most.log2();
    let x_of = |cores: f64| LEFT + cores.max(1.0).log2() / doublings * (WIDTH - LEFT - RIGHT);
    let y_of = |speedup: f64| {
        let part = speedup.max(1.0).log2() / doublings;
        HEIGHT - BOTTOM - part.min(1.0) * (HEIGHT - TOP - BOTTOM)
    };
    let mut body = String::new();
    for cores in [1].into_iter().chain(CORES) {
        let (x, y) = (x_of(cores as f64), y_of(cores as f64));
        let bottom = HEIGHT - BOTTOM;
        body.push_str(&format!(
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
             <line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{cores}</text>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{cores}x</text>\n",
            WIDTH - RIGHT,
            bottom + 16.0,
            LEFT - 6.0,
            y + 4.0,
        ));
    }
    let mut curve = |class: &str, speedup: &dyn Fn(usize) -> f64| {
        let points: Vec<String> = [1]
            .into_iter()
            .chain(CORES)
            .map(|cores| format!("{:.1} {:.1}", x_of(cores as f64), y_of(speedup(cores))))
            .collect();
        body.push_str(&format!(
            "<path class=\"{class}\" d=\"M{}\"/>\n",
            points.join(" L")
        ));
    };
    curve("ideal", &|cores| cores as f64);
    curve("limit", &|cores| profile.speedup_limit(cores));
    curve("expected", &|cores| profile.speedup_expected(cores));
    let (threads, measured) = (profile.threads() as f64, profile.speedup_measured());
    body.push_str(&format!(
        "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"/>\n",
        x_of(threads.min(most)),
        y_of(measured)
    ));
    let legend = [
        ("ideal", "ideal"),
        ("limit", "at most"),
        ("expected", "expected"),
    ];
    for (index, (class, name)) in legend.into_iter().enumerate() {
        let x = LEFT + 92.0 * index as f64;
        let y = HEIGHT - 14.0;
        body.push_str(&format!(
            "<path class=\"{class}\" d=\"M{x} {} L{} {}\"/><text x=\"{}\" y=\"{y}\">{name}</text>\n",
            y - 4.0,
            x + 20.0,
            y - 4.0,
            x + 26.0
        ));
    }
    body.push_str(&format!(
        "<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"5\"/><text x=\"{}\" y=\"{}\">measured: {measured:.2}x</text>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\">cores</text>\n",
        LEFT + 286.0,
        HEIGHT - 18.0,
        LEFT + 298.0,
        HEIGHT - 14.0,
        WIDTH - RIGHT,
        HEIGHT - BOTTOM + 32.0,
    ));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n\
         <title>Speed-up over cores; parallelism {:.1}</title>\n<style>{STYLE}</style>\n{body}</svg>\n",
        profile.parallelism()
    )
}
