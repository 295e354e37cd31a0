//! A server that ends in order while its clients are busy: no request that it has begun goes without its answer.
//!
//! Everything hangs on one `Shutdown`. The accept loop stops when it is triggered; a connection that waits for its client stops waiting; one that works on
//! a request holds a guard until the answer is out. `drain` triggers, and waits for the guards, but not for ever. In a
//! real program a signal would call it.

use blitz_examples::Recipe;
use blitz_io::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::select;
use blitz_io::shutdown::{Shutdown, WorkGuard};
use blitz_io::task::JoinSet;
use blitz_io::time::{Duration, sleep, timeout};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Default)]
struct Counts {
    begun: AtomicUsize,
    answered: AtomicUsize,
}

/// Requests are lines, and so are answers.
async fn serve(stream: TcpStream, guard: WorkGuard, counts: Arc<Counts>) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    // No client makes us store more than this.
    let mut lines = BufReader::new(reader).lines().max_length(1000);
    loop {
        let request = select! {
            // The end first: a client that always has another request must not hold it up.
            biased;
            () = guard.shutdown().wait() => return Ok(()),
            // Nothing is lost if this is dropped half-way.
            request = lines.next_line() => request?,
        };
        let Some(request) = request else {
            return Ok(());
        };
        counts.begun.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(3)).await; // hard work, which the end waits for
        let answer = format!("{}\n", request.to_uppercase());
        writer.write_all(answer.as_bytes()).await?;
        counts.answered.fetch_add(1, Ordering::Relaxed);
    }
}

async fn accept(listener: TcpListener, shutdown: Shutdown, counts: Arc<Counts>) {
    loop {
        let accepted = select! {
            () = shutdown.wait() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, for example: the others go on.
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        // The trigger may have come in between: then there is no guard, and no connection.
        let Some(guard) = shutdown.guard() else {
            return;
        };
        let serving = serve(stream, guard, Arc::clone(&counts));
        blitz_io::spawn(async move {
            // A client that is gone is its own business.
            let _ = serving.await;
        });
    }
}

/// Asks again and again until the server is through with it, and returns how many answers it got.
async fn ask(address: SocketAddr, name: usize) -> usize {
    let Ok(stream) = TcpStream::connect(address).await else {
        return 0;
    };
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    for round in 0.. {
        let request = format!("client {name} round {round}");
        if writer
            .write_all(format!("{request}\n").as_bytes())
            .await
            .is_err()
        {
            return round;
        }
        match lines.next_line().await {
            Ok(Some(answer)) => assert_eq!(answer, request.to_uppercase()),
            _ => return round,
        }
    }
    unreachable!("the server ends first")
}

#[blitz_io::main]
async fn main() -> io::Result<()> {
    let recipe =
        Recipe::start("Graceful shutdown: what has begun is finished, nothing else begins");
    let clients = recipe.size(200, 20);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let shutdown = Shutdown::new();
    let counts = Arc::new(Counts::default());
    let accepting = blitz_io::spawn(accept(listener, shutdown.clone(), Arc::clone(&counts)));

    let mut asking = JoinSet::new();
    for name in 0..clients {
        asking.spawn(ask(address, name));
    }
    while counts.answered.load(Ordering::Relaxed) < 5 * clients {
        sleep(Duration::from_millis(1)).await;
    }

    let busy = shutdown.guards();
    let drained = shutdown.drain(Duration::from_secs(10)).await;
    drained.map_err(io::Error::other)?;
    let (begun, answered) = (&counts.begun, &counts.answered);
    let begun_at_end = begun.load(Ordering::Relaxed);
    assert_eq!(
        begun_at_end,
        answered.load(Ordering::Relaxed),
        "answered before the end"
    );
    accepting.await?;

    let mut received = 0;
    let all = async {
        while let Some(answers) = asking.join_next().await {
            received += answers?;
        }
        io::Result::Ok(())
    };
    timeout(Duration::from_secs(10), all).await??;
    assert_eq!(received, begun_at_end, "every answer has arrived");
    assert_eq!(
        begun.load(Ordering::Relaxed),
        begun_at_end,
        "nothing has begun after the end"
    );
    println!(
        "  the end came while {busy} connections were open; all {received} requests that had begun were answered"
    );
    Ok(())
}
