//! The predicted speed-up over the number of cores, as an SVG document that looks right in light and dark.

use super::report::{CORES, Profile};
use crate::text::plot::{Curve, Plot, STYLE};
use crate::text::svg::Element;

const COLOURS: &str = ".ideal{color:#9a9da8;stroke-dasharray:3 4}.limit{color:#c4570f}.expected{color:#1f5fd0}.measured{color:#1a7f4b}\
@media(prefers-color-scheme:dark){.limit{color:#f2985c}.expected{color:#7fa8ff}.measured{color:#63d69a}}";

/// The document.
pub(super) fn svg(profile: &Profile) -> String {
    let cores: Vec<usize> = [1].into_iter().chain(CORES).collect();
    let curve = |class, name: &str, speedup: &dyn Fn(usize) -> f64| Curve {
        class,
        name: name.into(),
        points: cores.iter().map(|&n| [n as f64, speedup(n)]).collect(),
        dots: false,
    };
    let here = profile.speedup_measured();
    let curves = vec![
        curve("ideal", "ideal", &|cores| cores as f64),
        curve("limit", "at most", &|cores| profile.speedup_limit(cores)),
        curve("expected", "expected", &|cores| {
            profile.speedup_expected(cores)
        }),
        Curve {
            class: "measured",
            name: format!("measured: {here:.2}x"),
            points: vec![[profile.threads() as f64, here]],
            dots: true,
        },
    ];
    let mut plot = Plot::of_speedups([480.0, 320.0], &cores, curves);
    plot.title = format!("{}; parallelism {:.1}", plot.title, profile.parallelism());
    let style = format!("{STYLE}{COLOURS}");
    let mut out = String::new();
    plot.draw(&mut Element::document(
        &mut out,
        plot.size,
        &plot.title,
        &style,
    ));
    out
}
