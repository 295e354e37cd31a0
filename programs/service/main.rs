//! A small web service, as one writes it with axum, tokio and rayon: cheap requests, and one that computes on all cores.
//!
//! It is built twice from this source: `plain`, with the registry's tokio and rayon, and `patched`, with two lines more in the manifest.
//! `blitz bench service` starts both and puts the same load on them.
//!
//! It writes its address to the standard output, and ends when its standard input does.

use axum::extract::{Path, State};
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Work for one item; about 20 us.
const STEPS: u64 = 18_000;
/// Items of one computation: 20 ms on one core.
const ITEMS: u64 = 1024;

#[derive(Serialize)]
struct Greeting {
    hello: String,
    length: usize,
}

#[derive(Serialize)]
struct Computed {
    result: u64,
}

#[tokio::main]
async fn main() {
    let done = Arc::new(AtomicU64::new(0));
    let app = Router::new()
        .route("/hello/{name}", get(hello))
        .route("/compute/{seed}", get(compute))
        .route(
            "/done",
            get(|State(done): State<Arc<AtomicU64>>| async move {
                done.load(Ordering::Relaxed).to_string()
            }),
        )
        .with_state(done);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("{}", listener.local_addr().expect("it is bound"));
    // Answers are small, and a client may have sent its next request already: without this the kernel keeps an answer back until the one before has been acknowledged, which
    // the client does with its next request.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let server = axum::serve(listener, app).with_graceful_shutdown(end_of_input());
    server.await.expect("the service runs");
}

async fn hello(Path(name): Path<String>) -> Json<Greeting> {
    let length = name.len();
    Json(Greeting {
        hello: name,
        length,
    })
}

/// The usual way from tokio to rayon and back.
async fn compute(State(done): State<Arc<AtomicU64>>, Path(seed): Path<u64>) -> Json<Computed> {
    let (sender, receiver) = oneshot::channel();
    rayon::spawn(move || {
        let result = (0..ITEMS)
            .into_par_iter()
            .map(|item| mix(seed + item))
            .reduce(|| 0, u64::wrapping_add);
        // Nobody waits any more if the client has gone away.
        let _ = sender.send(result);
    });
    let result = receiver.await.expect("the computation does not panic");
    done.fetch_add(1, Ordering::Relaxed);
    Json(Computed { result })
}

fn mix(seed: u64) -> u64 {
    (0..STEPS).fold(seed | 1, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

async fn end_of_input() {
    let mut nothing = String::new();
    // A thread of its own: the one that `tokio::io::stdin` would block could not be stopped either.
    let read = tokio::task::spawn_blocking(move || std::io::stdin().read_line(&mut nothing));
    let _ = read.await;
}
