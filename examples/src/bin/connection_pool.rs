//! A pool of connections: many tasks, few connections, and none that is used twice at once.
//!
//! A semaphore counts the places. Whoever has a permit takes a connection that lies idle, or opens one; when it is through, the connection goes
//! back, and then the permit, which belongs to the same value. A connection that broke is dropped instead.

use blitz_examples::Recipe;
use blitz_io::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufStream};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::sync::{OwnedSemaphorePermit, Semaphore};
use blitz_io::task::{JoinSet, yield_now};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

struct Pool {
    address: SocketAddr,
    places: Arc<Semaphore>,
    // Never locked across an await.
    idle: Mutex<Vec<BufStream<TcpStream>>>,
    opened: AtomicUsize,
    used: AtomicUsize,
    most_used: AtomicUsize,
}

/// A connection and the right to use it.
struct Pooled {
    stream: Option<BufStream<TcpStream>>,
    pool: Arc<Pool>,
    // Dropped last: the connection is back before the next one may look for it.
    _place: OwnedSemaphorePermit,
}

impl Pool {
    fn new(address: SocketAddr, size: usize) -> Arc<Self> {
        Arc::new(Pool {
            address,
            places: Arc::new(Semaphore::new(size)),
            idle: Mutex::default(),
            opened: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            most_used: AtomicUsize::new(0),
        })
    }

    async fn get(self: &Arc<Self>) -> io::Result<Pooled> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.expect("the pool is never closed");
        let idle = self.idle.lock().unwrap().pop();
        let stream = match idle {
            Some(stream) => stream,
            None => {
                self.opened.fetch_add(1, Ordering::Relaxed);
                BufStream::new(TcpStream::connect(self.address).await?)
            }
        };
        let used = self.used.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_used.fetch_max(used, Ordering::Relaxed);
        Ok(Pooled {
            stream: Some(stream),
            pool: Arc::clone(self),
            _place: place,
        })
    }
}

impl Pooled {
    /// One line there and one line back. If that fails, or is dropped half-way, the connection is not used again: nobody knows what would
    /// be read from it.
    async fn request(&mut self, line: &str) -> io::Result<String> {
        let mut stream = self.stream.take().ok_or(io::ErrorKind::NotConnected)?;
        stream.write_all(format!("{line}\n").as_bytes()).await?;
        stream.flush().await?;
        let mut answer = String::new();
        if stream.read_line(&mut answer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.stream = Some(stream);
        Ok(answer.trim_end().to_owned())
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.pool.used.fetch_sub(1, Ordering::Relaxed);
        self.pool.idle.lock().unwrap().extend(self.stream.take());
    }
}

/// Doubles numbers, and hangs up on every hundredth request.
async fn serve(stream: TcpStream, requests: Arc<AtomicUsize>) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await? {
        if requests.fetch_add(1, Ordering::Relaxed) % 100 == 99 {
            return Ok(());
        }
        yield_now().await;
        let number: u64 = line.parse().map_err(io::Error::other)?;
        writer
            .write_all(format!("{}\n", 2 * number).as_bytes())
            .await?;
    }
    Ok(())
}

#[blitz_io::main]
async fn main() -> io::Result<()> {
    let recipe = Recipe::start("Connection pool: many tasks, few connections");
    let (tasks, size) = (recipe.size(5000, 500), 4);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let pool = Pool::new(listener.local_addr()?, size);
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    blitz_io::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            blitz_io::spawn(serve(stream, Arc::clone(&counted)));
        }
    });

    let mut all = JoinSet::new();
    for number in 0..tasks as u64 {
        let pool = Arc::clone(&pool);
        all.spawn(async move {
            let mut retries = 0;
            loop {
                match pool.get().await?.request(&number.to_string()).await {
                    Ok(answer) => {
                        assert_eq!(answer, (2 * number).to_string(), "somebody else's answer");
                        return io::Result::Ok(retries);
                    }
                    // The connection broke; another one may work.
                    Err(_) if retries < 50 => retries += 1,
                    Err(error) => return Err(error),
                }
            }
        });
    }
    let mut broken = 0;
    while let Some(result) = all.join_next().await {
        broken += result??;
    }
    let opened = pool.opened.load(Ordering::Relaxed);
    assert_eq!(
        requests.load(Ordering::Relaxed),
        tasks + broken,
        "each request once, and once more if its connection broke"
    );
    assert!(opened <= size + broken, "connections are used again");
    let most = pool.most_used.load(Ordering::Relaxed);
    assert!(most <= size, "more than there are places");
    assert_eq!(pool.places.available_permits(), size, "all are back");
    println!(
        "  {tasks} requests over {size} places: {opened} connections opened, {broken} of which broke; at most {most} used at once"
    );
    Ok(())
}
