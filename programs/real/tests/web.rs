//! reqwest against the axum service of `web.rs`, which is a process of its own.

#[path = "each/mod.rs"]
mod each;

use bytes::Bytes;
use each::on_each_runtime;
use futures_util::{StreamExt, TryStreamExt, future};
use reqwest::{Body, Client, StatusCode};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

on_each_runtime!(
    json_is_answered_to_one_client_and_to_many,
    what_cannot_be_read_is_refused,
    events_arrive_in_order,
    a_body_streams_both_ways_at_once,
    one_connection_carries_many_requests,
    a_request_that_takes_too_long_times_out_and_is_dropped_there,
    a_stream_that_stalls_times_out,
    computations_run_beside_requests,
    a_signal_ends_the_service_when_what_is_under_way_is_answered,
);

/// The service's process; it ends with this value.
struct Service {
    process: Child,
    out: Lines<BufReader<ChildStdout>>,
    address: String,
}

impl Service {
    async fn start(mode: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_web"))
            .arg(mode)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the service starts");
        let mut out = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let address = out.next_line().await.expect("the service writes");
        Service {
            process,
            out,
            address: address.expect("its address"),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// The service on one thread, and on all of them.
async fn services() -> [Service; 2] {
    let (one, all) = tokio::join!(Service::start("one"), Service::start("all"));
    [one, all]
}

async fn json_is_answered_to_one_client_and_to_many() {
    for service in services().await {
        let (client, url) = (Client::new(), service.url("/sum"));
        let asked = (0..20_i64).map(|task| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move {
                for round in 0..20 {
                    let numbers: Vec<i64> = (0..round).map(|number| number * task).collect();
                    let expected = json!({ "sum": numbers.iter().sum::<i64>(), "count": round });
                    let asked = client.post(&url).json(&json!({ "numbers": numbers }));
                    let answer: Value = asked.send().await.unwrap().json().await.unwrap();
                    assert_eq!(answer, expected);
                }
            })
        });
        future::try_join_all(asked).await.unwrap();
    }
}

async fn what_cannot_be_read_is_refused() {
    let mut service = Service::start("all").await;
    let client = Client::new();
    let ask = async |body: &'static str| {
        let asked = client.post(service.url("/sum"));
        let asked = asked.header("content-type", "application/json").body(body);
        asked.send().await.unwrap().status()
    };
    assert_eq!(ask("{").await, StatusCode::BAD_REQUEST);
    assert_eq!(
        ask("{\"numbers\": 3}").await,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert_eq!(ask("{\"numbers\": [3]}").await, StatusCode::OK);
    let nowhere = client.get(service.url("/nowhere")).send().await.unwrap();
    assert_eq!(nowhere.status(), StatusCode::NOT_FOUND);
    let get = client.get(service.url("/sum")).send().await.unwrap();
    assert_eq!(get.status(), StatusCode::METHOD_NOT_ALLOWED);
    service.process.kill().await.unwrap();
    let refused = client.get(service.url("/sum")).send().await.unwrap_err();
    assert!(refused.is_connect(), "{refused:?}");
}

async fn events_arrive_in_order() {
    for service in services().await {
        let client = Client::new();
        let listeners = (0..5).map(async |_| {
            let answer = client.get(service.url("/events/50")).send().await.unwrap();
            assert_eq!(answer.headers()["content-type"], "text/event-stream");
            let text = answer.text().await.unwrap();
            let expected: String = (0..50)
                .map(|n| format!("event: tick\nid: {n}\ndata: number {n}\n\n"))
                .collect();
            assert_eq!(text, expected);
        });
        future::join_all(listeners).await;
    }
}

/// The piece of a stream with that number: its length differs from its neighbours'.
fn piece(number: usize) -> Bytes {
    let length = 1 + number * 7919 % 30_000;
    (0..length)
        .map(|at| (at * 31 + number) as u8)
        .collect::<Vec<u8>>()
        .into()
}

async fn a_body_streams_both_ways_at_once() {
    const PIECES: usize = 400;
    for service in services().await {
        let sent = futures_util::stream::iter(0..PIECES).then(async |number| {
            if number % 50 == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Ok::<_, std::io::Error>(piece(number))
        });
        let asked = Client::new().post(service.url("/echo"));
        let answer = asked
            .body(Body::wrap_stream(sent.boxed()))
            .send()
            .await
            .unwrap();
        let expected = (0..PIECES).map(piece).collect::<Vec<_>>().concat();
        let (mut received, mut length) = (answer.bytes_stream(), 0);
        while let Some(bytes) = received.try_next().await.unwrap() {
            assert!(bytes == expected[length..][..bytes.len()]);
            length += bytes.len();
        }
        assert_eq!(length, expected.len());
    }
}

async fn one_connection_carries_many_requests() {
    for service in services().await {
        let client = Client::builder().http2_prior_knowledge().build().unwrap();
        let url = service.url("/sum");
        let asked = (0..100_i64).map(async |number| {
            let numbers = json!({ "numbers": [number, 1] });
            let answer = client.post(&url).json(&numbers).send().await.unwrap();
            assert_eq!(answer.version(), reqwest::Version::HTTP_2);
            let answer: Value = answer.json().await.unwrap();
            assert_eq!(answer["sum"], number + 1);
        });
        future::join_all(asked).await;
    }
}

/// Requests to `/slow` that have begun, and those of which nobody waits for the answer any more.
async fn counts(client: &Client, service: &Service) -> [u64; 2] {
    let counts = client.get(service.url("/counts")).send().await.unwrap();
    counts.json().await.unwrap()
}

async fn a_request_that_takes_too_long_times_out_and_is_dropped_there() {
    for service in services().await {
        let client = Client::new();
        // On a busy machine the time may be up before the request has begun.
        while counts(&client, &service).await[0] == 0 {
            let slow = client.get(service.url("/slow/600000"));
            let late = slow.timeout(Duration::from_millis(100)).send().await;
            let late = late.unwrap_err();
            assert!(late.is_timeout(), "{late:?}");
        }
        loop {
            let [begun, abandoned] = counts(&client, &service).await;
            if begun == abandoned {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn a_stream_that_stalls_times_out() {
    for service in services().await {
        let client = Client::builder().read_timeout(Duration::from_millis(200));
        let client = client.build().unwrap();
        let mut text = String::new();
        // Once more if it was the machine that stalled.
        while !text.ends_with("data: number 2\n\n") {
            text.clear();
            let Ok(answer) = client.get(service.url("/events/0")).send().await else {
                continue;
            };
            let mut received = answer.bytes_stream();
            let end = loop {
                match received.next().await {
                    Some(Ok(bytes)) => text.push_str(std::str::from_utf8(&bytes).unwrap()),
                    end => break end,
                }
            };
            assert!(end.unwrap().unwrap_err().is_timeout());
        }
    }
}

async fn computations_run_beside_requests() {
    for service in services().await {
        let client = Client::new();
        let primes = (0..4).map(async |_| {
            let answer = client.get(service.url("/primes/30000")).send().await;
            assert_eq!(answer.unwrap().text().await.unwrap(), "3245");
        });
        let cheap = async {
            for _ in 0..50 {
                let asked = client.post(service.url("/sum"));
                let asked = asked.json(&json!({ "numbers": [1, 2] }));
                let answer: Value = asked.send().await.unwrap().json().await.unwrap();
                assert_eq!(answer["sum"], 3);
            }
        };
        future::join(future::join_all(primes), cheap).await;
    }
}

async fn a_signal_ends_the_service_when_what_is_under_way_is_answered() {
    for mut service in services().await {
        let client = Client::new();
        let slow = client.get(service.url("/slow/300")).send();
        let under_way = tokio::spawn(async move { slow.await.unwrap().text().await.unwrap() });
        while counts(&client, &service).await[0] == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let process = service.process.id().expect("it has not ended");
        // SAFETY: a signal to our own child, which has not been waited for.
        assert_eq!(unsafe { libc::kill(process as i32, libc::SIGTERM) }, 0);
        assert_eq!(under_way.await.unwrap(), "at last");
        assert_eq!(service.out.next_line().await.unwrap().unwrap(), "the end");
        let status = service.process.wait().await.unwrap();
        assert!(status.success());
    }
}
