//! The tour's report: one self-contained page. No script, no network, light or dark as the reader's system is.

use crate::machine::{Machine, today};
use crate::svg;
use crate::tour::promises::Promise;
use crate::tour::section::Section;
use blitz_core::text::escape;

const STYLE: &str = "\
:root{color-scheme:light dark;--page:#fbfaf8;--card:#fff;--text:#1c1d22;--soft:#5c6070;--edge:#e2e0da;\
--blitz:#1f5fd0;--rayon:#c4570f;--seq:#8a8f9c;--chili:#26835a;--tokio:#8a4fbf;--good:#1a7f4b;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--page:#14151a;--card:#1c1e25;--text:#e9e9ee;--soft:#a2a6b5;--edge:#32353f;\
--blitz:#7fa8ff;--rayon:#f2985c;--seq:#868c9b;--chili:#5fce9b;--tokio:#c79bf2;--good:#63d69a;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.25rem;margin:0 0 .4rem}
h3{font-size:1rem;margin:1rem 0 .2rem;color:var(--soft);font-weight:600}
p{margin:.4rem 0 .8rem}
.soft{color:var(--soft)}
section,.table{background:var(--card);border:1px solid var(--edge);border-radius:12px;padding:1.1rem;margin:1.1rem 0}
.table{overflow-x:auto}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.45rem .7rem .45rem 0;border-top:1px solid var(--edge);overflow-wrap:anywhere}
tr:first-child td,tr:first-child th{border-top:0}
code{font:.86em ui-monospace,SFMono-Regular,Menlo,monospace;overflow-wrap:anywhere}
code span{display:inline-block;max-width:100%}
.facts td:first-child{width:13rem}
.verdict{font-weight:600}
.yes{color:var(--good)}.no{color:var(--bad)}
svg{display:block;margin:.4rem 0 .8rem;font:13px system-ui,-apple-system,'Segoe UI',sans-serif}
svg text{fill:var(--text)}svg .label{font-weight:600}svg .name{fill:var(--soft)}svg .tick{fill:var(--soft);font-size:12px}
svg .grid{stroke:var(--edge)}svg .line{fill:none;stroke:currentColor;stroke-width:2}svg .bar,svg .dot{fill:currentColor}
svg[viewBox]{width:100%;max-width:40rem;height:auto}
svg .blitz{color:var(--blitz)}svg .rayon{color:var(--rayon)}svg .seq{color:var(--seq)}svg .line.seq{stroke-dasharray:4 4}\
svg .chili{color:var(--chili)}svg .tokio{color:var(--tokio)}
.grid2{display:grid;gap:0 2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))}
@media(max-width:40rem){table.promises,table.promises tbody,table.promises tr,table.promises td{display:block;border:0;padding:0}\
table.promises tr.head{display:none}table.promises tr{border-top:1px solid var(--edge);padding:.7rem 0}}
";

/// The page.
pub fn report(
    machine: &Machine,
    sections: &[Section],
    promises: &[Promise],
    disturbed: Option<&str>,
) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>Blitz on this machine</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Blitz on this machine</h1>\n\
         <p class=\"soft\">Measured on {} by <code>blitz tour</code>, against plain sequential code and rayon in interleaved rounds; \
         every result was checked. Bars are scaled per group; shorter is better.</p>\n",
        today()
    );
    if let Some(text) = disturbed {
        page.push_str(&format!("<p class=\"no\">{}</p>\n", escape(text)));
    }
    page.push_str(&promise_table(promises));
    page.push_str("<section>\n<h2>The machine</h2>\n<table class=\"facts\">\n");
    for (name, value) in machine.facts() {
        let (name, value) = (escape(name), escape(&value));
        page.push_str(&format!(
            "<tr><td class=\"soft\">{name}</td><td>{value}</td></tr>\n"
        ));
    }
    page.push_str("</table>\n</section>\n");
    for section in sections {
        page.push_str(&one(section));
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn promise_table(promises: &[Promise]) -> String {
    let mut table = String::from(
        "<div class=\"table\">\n<h2>Six promises</h2>\n<table class=\"promises\">\n\
         <tr class=\"head\"><th>promise</th><th>seen just now</th><th>again with</th></tr>\n",
    );
    for promise in promises {
        let (class, word) = promise.verdict();
        table.push_str(&format!(
            "<tr><td><b>{}. {}</b><br><span class=\"verdict {class}\">{word}</span></td><td>{}</td><td>{}</td></tr>\n",
            promise.number,
            escape(promise.name),
            escape(&promise.figure),
            command(&promise.command),
        ));
    }
    table.push_str("</table>\n</div>\n");
    table
}

/// A command line, which breaks between words only: a browser would also break a flag after its first hyphen.
fn command(line: &str) -> String {
    let words = line
        .split(' ')
        .map(|word| format!("<span>{}</span>", escape(word)));
    format!("<code>{}</code>", words.collect::<Vec<_>>().join(" "))
}

fn one(section: &Section) -> String {
    let mut text = format!(
        "<section>\n<h2>{}</h2>\n<p>{}</p>\n",
        escape(&section.title),
        escape(&section.story)
    );
    if !section.verdict.is_empty() {
        let verdict = escape(&section.verdict);
        text.push_str(&format!("<p class=\"verdict\">{verdict}</p>\n"));
    }
    text.push_str("<div class=\"grid2\">\n");
    for plot in &section.plots {
        text.push_str(&format!(
            "<div><h3>{}</h3>\n{}</div>\n",
            escape(&plot.title),
            svg::lines(plot)
        ));
    }
    for chart in &section.charts {
        text.push_str(&format!(
            "<div><h3>{}</h3>\n{}</div>\n",
            escape(&chart.title),
            svg::bars(chart)
        ));
    }
    text.push_str("</div>\n");
    if !section.commands.is_empty() {
        text.push_str("<p class=\"soft\">Again: ");
        for line in &section.commands {
            text.push_str(&format!("<br>{}", command(line)));
        }
        text.push_str("</p>\n");
    }
    text.push_str("</section>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;

    #[test]
    fn the_page_is_self_contained_and_closes_what_it_opens() {
        let section = Section {
            title: "a < b".into(),
            charts: vec![Chart::default()],
            ..Section::default()
        };
        let promise = Promise {
            number: 1,
            name: "never slower",
            kept: Some(true),
            figure: "+5 ns".into(),
            command: "blitz bench loops".into(),
        };
        let page = report(&Machine::look(), &[section], &[promise], None);
        assert!(page.contains("a &lt; b") && page.contains("never slower"));
        assert!(!page.contains("http") && !page.contains("<script"));
        for element in [
            "section", "table", "svg", "code", "span", "div", "main", "html", "p", "td", "tr",
        ] {
            let opened = page.matches(&format!("<{element}>")).count()
                + page.matches(&format!("<{element} ")).count();
            let closed = page.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{element}");
        }
    }
}
