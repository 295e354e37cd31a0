//! tokio-tungstenite: a server that echoes, and its clients.

#[path = "each/mod.rs"]
mod each;

use each::on_each_runtime;
use futures_util::{SinkExt, StreamExt, future};
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, frame::coding::CloseCode};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};
use tokio_tungstenite::{accept_async, connect_async};

on_each_runtime!(
    text_and_binary_messages_come_back,
    many_clients_talk_at_once,
    one_task_writes_while_another_reads,
    a_ping_is_answered,
    both_sides_agree_about_the_end,
    a_client_that_vanishes_is_noticed,
);

struct Echo {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Echo {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(async move {
                    let (mut write, mut read) = accept_async(stream).await?.split();
                    while let Some(message) = read.next().await {
                        let message = message?;
                        if message.is_text() || message.is_binary() {
                            write.send(message).await?;
                        }
                    }
                    Ok::<(), Error>(())
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Echo { address, accepting }
    }

    fn url(&self) -> String {
        format!("ws://{}/", self.address)
    }
}

async fn text_and_binary_messages_come_back() {
    let echo = Echo::start().await;
    let (mut socket, _) = connect_async(echo.url()).await.unwrap();
    for length in [0, 1, 125, 126, 65_535, 65_536, 3_000_000] {
        let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        let binary = Message::Binary(Bytes::from(bytes));
        socket.send(binary.clone()).await.unwrap();
        assert!(socket.next().await.unwrap().unwrap() == binary);
        let text = Message::text("é".repeat(length / 2));
        socket.send(text.clone()).await.unwrap();
        assert!(socket.next().await.unwrap().unwrap() == text);
    }
    socket.close(None).await.unwrap();
}

async fn many_clients_talk_at_once() {
    let echo = Echo::start().await;
    let clients = (0..40).map(|client| {
        let url = echo.url();
        tokio::spawn(async move {
            let (mut socket, _) = connect_async(url).await.unwrap();
            for round in 0..50 {
                let said = Message::text(format!("{client} says {round}"));
                socket.send(said.clone()).await.unwrap();
                assert_eq!(socket.next().await.unwrap().unwrap(), said);
            }
            socket.close(None).await.unwrap();
        })
    });
    future::try_join_all(clients).await.unwrap();
}

async fn one_task_writes_while_another_reads() {
    const MESSAGES: usize = 2000;
    let echo = Echo::start().await;
    let (socket, _) = connect_async(echo.url()).await.unwrap();
    let (mut write, mut read) = socket.split();
    let message = |number: usize| Message::text("x".repeat(number % 977) + &number.to_string());
    let writer = tokio::spawn(async move {
        for number in 0..MESSAGES {
            write.feed(message(number)).await.unwrap();
        }
        write.flush().await.unwrap();
        write
    });
    for number in 0..MESSAGES {
        assert_eq!(read.next().await.unwrap().unwrap(), message(number));
    }
    let write = writer.await.unwrap();
    let mut socket = write.reunite(read).unwrap();
    socket.close(None).await.unwrap();
}

async fn a_ping_is_answered() {
    let echo = Echo::start().await;
    let (mut socket, _) = connect_async(echo.url()).await.unwrap();
    let payload = Bytes::from_static(b"are you there?");
    socket.send(Message::Ping(payload.clone())).await.unwrap();
    assert_eq!(
        socket.next().await.unwrap().unwrap(),
        Message::Pong(payload)
    );
}

async fn both_sides_agree_about_the_end() {
    let echo = Echo::start().await;
    let (mut socket, _) = connect_async(echo.url()).await.unwrap();
    let reason = CloseFrame {
        code: CloseCode::Away,
        reason: "enough".into(),
    };
    socket.close(Some(reason.clone())).await.unwrap();
    let answer = socket.next().await.unwrap().unwrap();
    assert_eq!(answer, Message::Close(Some(reason)));
    assert!(socket.next().await.is_none());
    assert!(matches!(
        socket.send(Message::text("late")).await,
        Err(Error::AlreadyClosed | Error::ConnectionClosed)
    ));
}

async fn a_client_that_vanishes_is_noticed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = accept_async(stream).await.unwrap();
        assert_eq!(
            socket.next().await.unwrap().unwrap(),
            Message::text("hello")
        );
        socket.next().await.unwrap().unwrap_err()
    });
    let (mut socket, _) = connect_async(url).await.unwrap();
    socket.send(Message::text("hello")).await.unwrap();
    drop(socket);
    let error = server.await.unwrap();
    assert!(
        matches!(error, Error::Protocol(_) | Error::Io(_)),
        "{error:?}"
    );
}
