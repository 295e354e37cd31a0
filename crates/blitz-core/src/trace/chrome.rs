//! The trace in the format that Chrome's tracing page and Perfetto read: a list of events as JSON.

use crate::text::json_string;

use super::timeline::{Kind, Phase, Trace};

/// The document.
pub(super) fn json(trace: &Trace) -> String {
    let mut entries = Vec::new();
    for (index, thread) in trace.threads().iter().enumerate() {
        let tid = index + 1;
        entries.push(format!(
            "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"args\":{{\"name\":{}}}}}",
            json_string(thread.name())
        ));
        for event in thread.events() {
            let phase = match event.phase {
                Phase::Begin => "\"ph\":\"B\"",
                Phase::End => "\"ph\":\"E\"",
                Phase::Instant => "\"ph\":\"i\",\"s\":\"t\"",
            };
            let about = match (event.kind, event.phase) {
                (_, Phase::End) => String::new(),
                (Kind::Steal, _) => format!(",\"args\":{{\"from seat\":{}}}", event.about),
                (Kind::Guest, _) => format!(",\"args\":{{\"seat\":{}}}", event.about),
                _ => String::new(),
            };
            entries.push(format!(
                "{{\"name\":\"{}\",\"cat\":\"blitz\",{phase},\"ts\":{:.3},\"pid\":1,\"tid\":{tid}{about}}}",
                event.kind.name(),
                event.at.as_secs_f64() * 1e6,
            ));
        }
    }
    format!(
        "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n",
        entries.join(",\n")
    )
}
