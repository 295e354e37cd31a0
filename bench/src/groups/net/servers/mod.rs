//! The servers, one of each kind and runtime: accept, and a task per connection.

#[cfg(feature = "full")]
mod hello;

use super::Service;
use crate::executors::{AsyncLib, Blitz, Executor, Tokio};
use std::net::SocketAddr;

#[cfg(feature = "full")]
pub use hello::HELLO;

const ANYWHERE: &str = "127.0.0.1:0";

/// Reads and writes back until the peer is gone.
macro_rules! echo {
    ($stream:ident) => {{
        let mut stream = $stream;
        let mut buffer = [0; 1024];
        while let Ok(length @ 1..) = stream.read(&mut buffer).await {
            if stream.write_all(&buffer[..length]).await.is_err() {
                break;
            }
        }
    }};
}

/// Accepts, sets the usual option, and starts a task per connection.
macro_rules! accept {
    ($lib:expr, $listener:ident, $stream:ident => $connection:expr) => {
        $lib.spawn(async move {
            loop {
                let ($stream, _) = $listener.accept().await.expect("connections come in");
                $stream.set_nodelay(true).expect("sockets have options");
                $lib.spawn(async move { $connection });
            }
        })
    };
}

/// Starts a server and returns where it listens.
pub fn start(lib: AsyncLib, service: Service) -> SocketAddr {
    match lib {
        AsyncLib::Blitz => start_blitz(service),
        AsyncLib::Tokio => start_tokio(service),
        #[cfg(feature = "full")]
        AsyncLib::Smol => start_smol(service),
    }
}

fn start_blitz(service: Service) -> SocketAddr {
    use blitz_io::io::{AsyncReadExt, AsyncWriteExt};

    let listener =
        Blitz::block_on(blitz_io::net::TcpListener::bind(ANYWHERE)).expect("an address is free");
    let address = listener.local_addr().expect("it has an address");
    match service {
        Service::Echo => accept!(AsyncLib::Blitz, listener, stream => echo!(stream)),
        #[cfg(feature = "full")]
        Service::Hello => {
            accept!(AsyncLib::Blitz, listener, stream => hello::serve(stream).await);
        }
    }
    address
}

fn start_tokio(service: Service) -> SocketAddr {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let listener =
        Tokio::block_on(tokio::net::TcpListener::bind(ANYWHERE)).expect("an address is free");
    let address = listener.local_addr().expect("it has an address");
    match service {
        Service::Echo => accept!(AsyncLib::Tokio, listener, stream => echo!(stream)),
        #[cfg(feature = "full")]
        Service::Hello => accept!(AsyncLib::Tokio, listener, stream => {
            hello::serve(hyper_util::rt::TokioIo::new(stream)).await;
        }),
    }
    address
}

#[cfg(feature = "full")]
fn start_smol(service: Service) -> SocketAddr {
    use smol::io::{AsyncReadExt, AsyncWriteExt};

    assert_eq!(service, Service::Echo, "smol has no hyper server here");
    let listener =
        smol::block_on(smol::net::TcpListener::bind(ANYWHERE)).expect("an address is free");
    let address = listener.local_addr().expect("it has an address");
    accept!(AsyncLib::Smol, listener, stream => echo!(stream));
    address
}
