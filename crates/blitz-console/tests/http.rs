//! The server as clients see it: what it answers, whom it refuses, and that nobody can hurt it.

mod common;

use blitz_console::{Console, serve};
use common::{Events, body, exchange, get, snapshot, status};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

fn page() -> SocketAddr {
    serve("127.0.0.1:0").unwrap().local_addr()
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let address = page();
    let answer = exchange(
        address,
        format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes(),
    );
    assert_eq!(status(&answer), 200);
    assert!(answer.contains("Content-Security-Policy: default-src 'none'"));
    let page = body(&answer);
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.trim_end().ends_with("</html>"));
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http://", "https://", "@import", "src=", "url("] {
        assert!(!elsewhere.contains(word), "{word}");
    }
}

#[test]
fn events_are_frames_and_time_goes_on_in_them() {
    let mut events = Events::open(page());
    let times: Vec<f64> = (0..4)
        .map(|_| {
            let frame = events.next_frame();
            assert_eq!(
                frame.at("process").at("pid").number(),
                f64::from(std::process::id())
            );
            frame.at("at").number()
        })
        .collect();
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
}

#[test]
fn metrics_are_what_prometheus_reads() {
    let address = page();
    // Names that are the same, and that have to be written with care.
    let _runtimes = ["twin", "twin", "a \"quoted\" \\ one\r\n"].map(|name| {
        let mut builder = blitz_io::Builder::new_multi_thread();
        builder.worker_threads(1).name(name).build().unwrap()
    });
    let (status, text) = get(address, "/metrics", "");
    assert_eq!(status, 200);
    let mut families = std::collections::HashSet::new();
    let mut known = std::collections::HashSet::new();
    let mut family = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(matches!(kind, "counter" | "gauge"), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            assert!(families.insert(name.to_string()), "twice: {line}");
            family = name.to_string();
        } else if !line.starts_with("# HELP ") {
            let (series, value) = line.rsplit_once(' ').unwrap();
            assert!(known.insert(series), "twice: {line}");
            assert!(value.parse::<f64>().unwrap() >= 0.0, "{line}");
            let name = series.split('{').next().unwrap();
            assert_eq!(name, family, "{line}");
            let labels = &series[name.len()..];
            assert!(labels.is_empty() || labels.starts_with('{') && labels.ends_with("\"}"));
        }
    }
    assert!(families.contains("blitz_process_threads"), "{text}");
}

#[test]
fn an_address_that_others_reach_needs_a_token_and_says_so() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = serve(address).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
        let text = refused.to_string();
        assert!(
            text.contains("token") && text.contains("127.0.0.1"),
            "{text}"
        );
    }
    assert!(Console::new().token("").serve("127.0.0.1:0").is_err());
}

#[test]
fn with_a_token_nobody_looks_who_does_not_know_it() {
    let console = Console::new().token("a b&c").serve("0.0.0.0:0").unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], console.local_addr().port()));
    for path in ["/", "/events", "/metrics", "/snapshot", "/nothing"] {
        for wrong in [
            "",
            "?token=",
            "?token=a",
            "?token=a%20b%26cc",
            "?x=a%20b%26c",
        ] {
            let (status, text) = get(address, &format!("{path}{wrong}"), "");
            assert_eq!(status, 401, "{path}{wrong}");
            assert!(text.contains("?token="), "{text}");
        }
    }
    assert_eq!(get(address, "/?token=a%20b%26c", "").0, 200);
    for scheme in ["Bearer", "bearer", "BEARER", "Bearer "] {
        let header = format!("Authorization: {scheme} a b&c\r\n");
        assert_eq!(get(address, "/metrics", &header).0, 200);
        // An old one in a bookmark.
        assert_eq!(get(address, "/metrics?token=old", &header).0, 200);
    }
    let wrong = "Authorization: Bearer old\r\n";
    assert_eq!(get(address, "/?token=a%20b%26c", wrong).0, 200);
    assert_eq!(get(address, "/?token=old", wrong).0, 401);
    assert_eq!(get(address, "/", "Authorization: Basic a b&c\r\n").0, 401);
    assert_eq!(
        get(address, "/", "Authorization: Bearer nothing\r\n").0,
        401
    );
}

#[test]
fn a_page_from_elsewhere_cannot_ask_under_its_own_name() {
    let address = page();
    let ask = |host: &str| {
        let request = format!("GET /snapshot HTTP/1.1\r\nHost: {host}\r\n\r\n");
        status(&exchange(address, request.as_bytes()))
    };
    for own in ["localhost", "localhost:6670", "127.0.0.1:1", "[::1]:6670"] {
        assert_eq!(ask(own), 200, "{own}");
    }
    for other in [
        "example.org",
        "localhost.example.org",
        "10.0.0.1:6670",
        "localhost:6670@example.org",
        "",
    ] {
        assert_eq!(ask(other), 403, "{other}");
    }
}

#[test]
fn nonsense_gets_an_answer_and_harms_nobody() {
    let address = page();
    let long = "a".repeat(64 * 1024);
    let requests = [
        ("\r\n\r\n".to_string(), 400),
        ("GET / HTTP/9\r\n\r\n".to_string(), 400),
        ("\u{0}\u{1}\r\n\r\n".to_string(), 400),
        ("GET / HTTP/1.1\r\nHost localhost\r\n\r\n".to_string(), 400),
        (format!("GET /{long} HTTP/1.1\r\n"), 431),
        (
            "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_string(),
            405,
        ),
        ("DELETE /metrics HTTP/1.1\r\n\r\n".to_string(), 405),
        ("GET /../etc/passwd HTTP/1.1\r\n\r\n".to_string(), 404),
        ("GET /%2e%2e HTTP/1.1\r\n\r\n".to_string(), 404),
    ];
    for (request, wanted) in requests {
        let answer = exchange(address, request.as_bytes());
        // Who is refused in the middle of a long request may not hear why.
        let heard = status(&answer);
        let short: String = request.chars().take(40).collect();
        assert!(
            heard == wanted || wanted == 431 && heard == 0,
            "{short:?}: {answer}"
        );
    }
    // Those who leave in the middle.
    for part in ["", "GET", "GET / HTTP/1.1\r\nHost:"] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(part.as_bytes()).unwrap();
    }
    assert_eq!(get(address, "/", "").0, 200);
}

#[test]
fn a_hundred_clients_see_the_same_frames() {
    let address = page();
    let clients: Vec<_> = (0..100)
        .map(|_| std::thread::spawn(move || Events::open(address).next_text()))
        .collect();
    let texts: Vec<String> = clients.into_iter().map(|one| one.join().unwrap()).collect();
    let different: std::collections::HashSet<&String> = texts.iter().collect();
    // They came within some frames; nobody had one made for himself.
    assert!(different.len() < 50, "{} different frames", different.len());
}

#[test]
fn clients_that_never_read_keep_nobody_from_looking() {
    let address = page();
    let silent: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            let request = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n");
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut events = Events::open(address);
    (0..8).for_each(|_| drop(events.next_frame()));
    drop(silent);
    (0..4).for_each(|_| drop(events.next_frame()));
    assert!(snapshot(address).at("at").number() > 0.0);
}

#[test]
fn a_page_that_is_stopped_is_gone() {
    let console = serve("127.0.0.1:0").unwrap();
    let address = console.local_addr();
    assert_eq!(get(address, "/", "").0, 200);
    console.stop();
    let end = std::time::Instant::now() + common::LONG;
    loop {
        let gone = match TcpStream::connect(address) {
            Err(_) => true,
            Ok(mut stream) => {
                stream.set_read_timeout(Some(common::LONG)).unwrap();
                let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
                !matches!(stream.read(&mut [0; 1]), Ok(1))
            }
        };
        if gone {
            return;
        }
        assert!(std::time::Instant::now() < end, "still there");
    }
}
