//! A web service, as one writes it with axum, tokio and rayon: JSON, events, bodies that stream, a computation, and an orderly end.
//!
//! `web [one]`: on one thread, or on all. It writes its address to the standard output. SIGTERM and SIGINT end it: what is under way is answered first.

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use axum::{Json, Router};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

#[derive(Deserialize)]
struct Numbers {
    numbers: Vec<i64>,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
    count: usize,
}

#[derive(Default)]
struct Counts {
    begun: AtomicU64,
    abandoned: AtomicU64,
}

fn main() {
    let mut builder = match std::env::args().nth(1).as_deref() {
        Some("one") => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().expect("a runtime");
    runtime.block_on(serve());
}

async fn serve() {
    let app = Router::new()
        .route("/sum", post(sum))
        .route("/events/{count}", get(events))
        .route("/echo", post(echo))
        .route("/slow/{milliseconds}", get(slow))
        .route("/counts", get(counts))
        .route("/primes/{below}", get(primes))
        .with_state(Arc::new(Counts::default()));
    let mut terminate = signal(SignalKind::terminate()).expect("a handler");
    let mut interrupt = signal(SignalKind::interrupt()).expect("a handler");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("{}", listener.local_addr().expect("it is bound"));
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
        .await
        .expect("the service runs");
    println!("the end");
}

async fn sum(Json(Numbers { numbers }): Json<Numbers>) -> Json<Sum> {
    Json(Sum {
        sum: numbers.iter().sum(),
        count: numbers.len(),
    })
}

/// Events from a task of their own, one a millisecond; without a count, they stop after the third and never end.
async fn events(Path(count): Path<u64>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        let mut clock = tokio::time::interval(Duration::from_millis(1));
        for number in 0..if count == 0 { 3 } else { count } {
            clock.tick().await;
            let event = Event::default()
                .event("tick")
                .id(number.to_string())
                .data(format!("number {number}"));
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if count == 0 {
            sender.closed().await;
        }
    });
    Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::new())
}

async fn echo(request: Request) -> Body {
    Body::from_stream(request.into_body().into_data_stream())
}

/// Counts those who did not wait for their answer.
struct Abandoned(Option<Arc<Counts>>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        if let Some(counts) = &self.0 {
            counts.abandoned.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn slow(State(counts): State<Arc<Counts>>, Path(milliseconds): Path<u64>) -> &'static str {
    counts.begun.fetch_add(1, Ordering::SeqCst);
    let mut abandoned = Abandoned(Some(counts));
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    abandoned.0 = None;
    "at last"
}

async fn counts(State(counts): State<Arc<Counts>>) -> Json<[u64; 2]> {
    let begun = counts.begun.load(Ordering::SeqCst);
    Json([begun, counts.abandoned.load(Ordering::SeqCst)])
}

/// The usual way from tokio to rayon and back.
async fn primes(Path(below): Path<u64>) -> String {
    let (sender, receiver) = oneshot::channel();
    rayon::spawn(move || {
        let is_prime = |number: &u64| {
            (2..*number)
                .take_while(|n| n * n <= *number)
                .all(|n| !number.is_multiple_of(n))
        };
        let count = (2..below).into_par_iter().filter(is_prime).count();
        // Nobody waits any more if the client has gone away.
        let _ = sender.send(count);
    });
    let count = receiver.await.expect("the computation does not panic");
    count.to_string()
}
