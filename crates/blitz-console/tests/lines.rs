//! A program of its own: whoever has asked for metrics looks for some time.
#![cfg(feature = "hooks")]

mod common;

use blitz_io::task::Builder;
use common::Events;

#[test]
fn more_lines_than_are_shown_are_counted_and_all_are_metrics() {
    let page = blitz_console::serve("127.0.0.1:0").unwrap().local_addr();
    let mut builder = blitz_io::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).name("lines").build().unwrap();
    let names: Vec<String> = (0..300).map(|index| format!("line{index}.")).collect();
    let tasks: Vec<_> = names
        .iter()
        .map(|name| {
            let task = Builder::new().name(name);
            task.spawn_on(std::future::pending::<()>(), runtime.handle())
                .unwrap()
        })
        .collect();
    let mut events = Events::open(page);
    let frame = events.until("all lines", |frame| {
        frame.at("spawn_lines").number() >= 300.0
    });
    assert_eq!(frame.at("spawns").items().len(), 200);
    let all_are_there = || {
        let (status, text) = common::get(page, "/metrics", "");
        assert_eq!(status, 200);
        for name in &names {
            let label = format!("name=\"{name}\"}}");
            let lines = text.lines().filter(|line| line.contains(&label));
            assert_eq!(lines.count(), 3, "{name}");
        }
    };
    all_are_there();
    // Counters stay.
    tasks.iter().for_each(|task| task.abort());
    events.until("their end", |frame| {
        frame.at("runtimes").items()[0].at("alive").number() == 0.0
    });
    all_are_there();
}
