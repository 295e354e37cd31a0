//! An echo server and its clients in one program: a task for each connection, and an orderly end.
//!
//! The end is the interesting part: stop accepting, let the connections that are open finish (*drain*), and only then drop
//! the runtime, which would otherwise cut them off.

use blitz_examples::Recipe;
use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::task::JoinSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Sends back what it gets until the client is through.
async fn echo(mut stream: TcpStream, served: Arc<AtomicUsize>) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..length]).await?;
        served.fetch_add(1, Ordering::Relaxed);
    }
}

async fn accept(listener: TcpListener, served: Arc<AtomicUsize>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(blitz_io::spawn(echo(stream, Arc::clone(&served)))),
            Err(error) => {
                // Out of file descriptors, for example: this connection is lost, the others are not.
                eprintln!("  cannot accept: {error}");
                blitz_io::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

async fn client(address: SocketAddr, requests: usize) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    for request in 0..requests {
        let text = format!("request {request}");
        stream.write_all(text.as_bytes()).await?;
        let mut answer = vec![0; text.len()];
        stream.read_exact(&mut answer).await?;
        assert_eq!(answer, text.as_bytes());
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let recipe = Recipe::start("Echo server: many connections, and an orderly end");
    let clients = recipe.size(200, 20);
    let requests = recipe.size(200, 20);
    let runtime = blitz_io::Runtime::new()?;
    let served = Arc::new(AtomicUsize::new(0));
    let accepting = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let accepting = blitz_io::spawn(accept(listener, Arc::clone(&served)));
        let mut all = JoinSet::new();
        for _ in 0..clients {
            all.spawn(client(address, requests));
        }
        while let Some(result) = all.join_next().await {
            result??;
        }
        io::Result::Ok(accepting)
    })?;
    accepting.abort();
    assert!(
        runtime.drain(Duration::from_secs(10)),
        "connections are left over"
    );
    let served = served.load(Ordering::Relaxed);
    assert_eq!(served, clients * requests);
    println!("  {served} requests of {clients} clients answered; everybody has left");
    Ok(())
}
