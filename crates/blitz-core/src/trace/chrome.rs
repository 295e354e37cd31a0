//! The trace in the format that Chrome's tracing page and Perfetto read: a list of events as JSON.

use super::timeline::{Event, Kind, Phase, Trace};
use crate::text::json::{Object, object};

/// The document, an event a line.
pub(super) fn json(trace: &Trace) -> String {
    let mut out = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (index, thread) in trace.threads().iter().enumerate() {
        let tid = index as u64 + 1;
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        object(&mut out, |entry| {
            entry.text("name", "thread_name");
            entry.text("ph", "M");
            entry.count("pid", 1);
            entry.count("tid", tid);
            entry.object("args", |about| about.text("name", thread.name()));
        });
        for event in thread.events() {
            out.push_str(",\n");
            object(&mut out, |entry| write(entry, event, tid));
        }
    }
    out.push_str("\n]}\n");
    out
}

fn write(entry: &mut Object<'_>, event: &Event, tid: u64) {
    entry.text("name", event.kind.name());
    entry.text("cat", "blitz");
    match event.phase {
        Phase::Begin => entry.text("ph", "B"),
        Phase::End => entry.text("ph", "E"),
        Phase::Instant => {
            entry.text("ph", "i");
            // A mark in the row of this thread only.
            entry.text("s", "t");
        }
    }
    entry.decimals("ts", Some(event.at.as_secs_f64() * 1e6), 3);
    entry.count("pid", 1);
    entry.count("tid", tid);
    let about = match (event.kind, event.phase) {
        (_, Phase::End) => return,
        (Kind::Steal, _) => "from seat",
        (Kind::Guest, _) => "seat",
        _ => return,
    };
    entry.object("args", |args| args.count(about, u64::from(event.about)));
}
