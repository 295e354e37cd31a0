//! tonic: one service with a method of each kind, and clients over TCP.

#[path = "each/mod.rs"]
mod each;

use each::on_each_runtime;
use futures_util::{StreamExt, TryStreamExt, future};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_stream::Stream;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status, Streaming};

on_each_runtime!(
    unary_calls_share_a_connection,
    the_server_streams,
    the_client_streams,
    both_sides_stream_and_answer_each_other,
    a_call_past_its_deadline_is_cancelled,
    a_stream_that_nobody_reads_any_more_is_dropped_there,
    the_server_ends_when_its_calls_have,
);

#[derive(Clone, PartialEq, prost::Message)]
pub struct Number {
    #[prost(sint64, tag = "1")]
    value: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Total {
    #[prost(sint64, tag = "1")]
    sum: i64,
    #[prost(uint32, tag = "2")]
    count: u32,
}

impl Total {
    fn add(&mut self, number: &Number) {
        self.sum += number.value;
        self.count += 1;
    }
}

mod generated {
    include!(concat!(env!("OUT_DIR"), "/real.Arithmetic.rs"));
}
use generated::arithmetic_client::ArithmeticClient;
use generated::arithmetic_server::{Arithmetic, ArithmeticServer};

#[derive(Default)]
struct Calls {
    streams: Arc<AtomicUsize>,
}

/// Counts the streams that are there.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

type Numbers = Pin<Box<dyn Stream<Item = Result<Number, Status>> + Send>>;

#[tonic::async_trait]
impl Arithmetic for Calls {
    async fn square(&self, request: Request<Number>) -> Result<Response<Number>, Status> {
        let Number { value } = request.into_inner();
        if value < 0 {
            tokio::time::sleep(Duration::from_secs(600)).await;
        }
        let squared = value.checked_mul(value);
        let value = squared.ok_or_else(|| Status::out_of_range("too large"))?;
        Ok(Response::new(Number { value }))
    }

    type CountStream = Numbers;

    async fn count(&self, request: Request<Number>) -> Result<Response<Numbers>, Status> {
        let Number { value: end } = request.into_inner();
        self.streams.fetch_add(1, Ordering::SeqCst);
        let counted = Counted(Arc::clone(&self.streams));
        let numbers = futures_util::stream::iter(0..end).map(move |value| {
            let _ = &counted;
            Ok(Number { value })
        });
        Ok(Response::new(numbers.boxed()))
    }

    async fn sum(&self, request: Request<Streaming<Number>>) -> Result<Response<Total>, Status> {
        let mut numbers = request.into_inner();
        let mut total = Total::default();
        while let Some(number) = numbers.message().await? {
            total.add(&number);
        }
        Ok(Response::new(total))
    }

    type RunningStream = ReceiverStream<Result<Total, Status>>;

    async fn running(
        &self,
        request: Request<Streaming<Number>>,
    ) -> Result<Response<Self::RunningStream>, Status> {
        let mut numbers = request.into_inner();
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            let mut total = Total::default();
            while let Ok(Some(number)) = numbers.message().await {
                total.add(&number);
                if sender.send(Ok(total.clone())).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

/// A server, and what ends it.
struct Running {
    address: SocketAddr,
    streams: Arc<AtomicUsize>,
    end: Option<oneshot::Sender<()>>,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Running {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let calls = Calls::default();
        let streams = Arc::clone(&calls.streams);
        let server = Server::builder()
            .add_service(ArithmeticServer::new(calls))
            .serve_with_incoming_shutdown(TcpListenerStream::new(listener), async {
                let _ = ended.await;
            });
        Running {
            address,
            streams,
            end: Some(end),
            server: tokio::spawn(server),
        }
    }

    async fn client(&self) -> ArithmeticClient<Channel> {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        ArithmeticClient::new(endpoint.connect().await.unwrap())
    }

    async fn end(mut self) {
        drop(self.end.take());
        self.server.await.unwrap().unwrap();
    }
}

fn numbers(count: i64) -> impl Stream<Item = Number> + Send + 'static {
    futures_util::stream::iter(0..count).map(|value| Number { value })
}

async fn unary_calls_share_a_connection() {
    let server = Running::start().await;
    let client = server.client().await;
    let calls = (0..200_i64).map(|value| {
        let mut client = client.clone();
        tokio::spawn(async move {
            let squared = client.square(Number { value }).await.unwrap();
            assert_eq!(squared.into_inner().value, value * value);
        })
    });
    future::try_join_all(calls).await.unwrap();
    let mut client = client;
    let refused = client.square(Number { value: i64::MAX }).await.unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange);
    assert_eq!(refused.message(), "too large");
    drop(client);
    server.end().await;
}

async fn the_server_streams() {
    let server = Running::start().await;
    let client = server.client().await;
    let readers = (0..4).map(async |_| {
        let mut client = client.clone();
        let stream = client.count(Number { value: 5000 }).await.unwrap();
        let read: Vec<Number> = stream.into_inner().try_collect().await.unwrap();
        assert!(read.iter().map(|number| number.value).eq(0..5000));
    });
    future::join_all(readers).await;
    drop(client);
    server.end().await;
}

async fn the_client_streams() {
    let server = Running::start().await;
    let mut client = server.client().await;
    let total = client.sum(numbers(5000)).await.unwrap().into_inner();
    assert_eq!((total.sum, total.count), (4999 * 5000 / 2, 5000));
    let total = client.sum(numbers(0)).await.unwrap().into_inner();
    assert_eq!(total, Total::default());
    drop(client);
    server.end().await;
}

async fn both_sides_stream_and_answer_each_other() {
    let server = Running::start().await;
    let client = server.client().await;
    let talks = (0..8_i64).map(|step| {
        let mut client = client.clone();
        tokio::spawn(async move {
            let (sender, receiver) = mpsc::channel(1);
            let receiver = ReceiverStream::new(receiver);
            let mut answers = client.running(receiver).await.unwrap().into_inner();
            let mut expected = Total::default();
            for round in 0..100 {
                // The next number depends on the last answer: neither side may hold anything back.
                let number = Number {
                    value: expected.sum % 1000 + step * round,
                };
                expected.add(&number);
                sender.send(number).await.unwrap();
                assert_eq!(answers.message().await.unwrap().unwrap(), expected);
            }
            drop(sender);
            assert_eq!(answers.message().await.unwrap(), None);
        })
    });
    future::try_join_all(talks).await.unwrap();
    drop(client);
    server.end().await;
}

async fn a_call_past_its_deadline_is_cancelled() {
    let server = Running::start().await;
    let mut client = server.client().await;
    let mut late = Request::new(Number { value: -1 });
    late.set_timeout(Duration::from_millis(50));
    let late = client.square(late).await.unwrap_err();
    // Whose clock is first: the client's, or that of the server, to whom the deadline is told.
    assert!(
        matches!(late.code(), Code::Cancelled | Code::DeadlineExceeded),
        "{late:?}"
    );
    let squared = client.square(Number { value: 3 }).await.unwrap();
    assert_eq!(squared.into_inner().value, 9);
    drop(client);
    server.end().await;
}

async fn a_stream_that_nobody_reads_any_more_is_dropped_there() {
    let server = Running::start().await;
    let mut client = server.client().await;
    let stream = client.count(Number { value: i64::MAX }).await.unwrap();
    let mut stream = stream.into_inner();
    for value in 0..1000 {
        assert_eq!(stream.message().await.unwrap(), Some(Number { value }));
    }
    assert_eq!(server.streams.load(Ordering::SeqCst), 1);
    drop(stream);
    while server.streams.load(Ordering::SeqCst) != 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(client);
    server.end().await;
}

async fn the_server_ends_when_its_calls_have() {
    let mut server = Running::start().await;
    let mut client = server.client().await;
    let (sender, receiver) = mpsc::channel(1);
    let receiver = ReceiverStream::new(receiver);
    let mut answers = client.running(receiver).await.unwrap().into_inner();
    drop(server.end.take());
    for count in 1..=10 {
        sender.send(Number { value: 2 }).await.unwrap();
        let sum = i64::from(2 * count);
        assert_eq!(answers.message().await.unwrap(), Some(Total { sum, count }));
    }
    assert!(!server.server.is_finished());
    drop(sender);
    assert_eq!(answers.message().await.unwrap(), None);
    server.server.await.unwrap().unwrap();
}
