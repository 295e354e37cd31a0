//! A chat server and its guests in one program: what one says, all others hear, once and in order.
//!
//! The room is a broadcast channel. A connection is one task that waits for two things at once, a line from its guest and a message from the room;
//! both may be dropped half-way, so `select!` loses nothing. A guest that reads too slowly falls behind the room's memory: it is told how
//! much it has missed, and nobody else waits for it.

use blitz_examples::Recipe;
use blitz_io::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use blitz_io::net::tcp::OwnedWriteHalf;
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::select;
use blitz_io::shutdown::{Shutdown, WorkGuard};
use blitz_io::sync::Barrier;
use blitz_io::sync::broadcast::{self, error::RecvError};
use blitz_io::task::JoinSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Who said it, and what. Shared by all who hear it.
type Message = Arc<(usize, String)>;

/// What the room remembers for those who are slow.
const MEMORY: usize = 4096;

async fn attend(
    stream: TcpStream,
    guest: usize,
    room: broadcast::Sender<Message>,
    guard: WorkGuard,
) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines().max_length(1000);
    let mut messages = room.subscribe();
    // From here on it hears everything.
    writer.write_all(b"welcome\n").await?;
    loop {
        select! {
            line = lines.next_line() => match line? {
                // Nobody may be listening: that is no error.
                Some(text) => drop(room.send(Arc::new((guest, text)))),
                None => return Ok(()),
            },
            message = messages.recv() => match message {
                Ok(message) => tell(&mut writer, guest, &message).await?,
                Err(RecvError::Lagged(missed)) => {
                    let line = format!("* you missed {missed} messages\n");
                    writer.write_all(line.as_bytes()).await?;
                }
                Err(RecvError::Closed) => return Ok(()),
            },
            () = guard.shutdown().wait() => break,
        }
    }
    // What has been said before the end is still heard.
    while let Ok(message) = messages.try_recv() {
        tell(&mut writer, guest, &message).await?;
    }
    writer.write_all(b"* the room closes\n").await
}

/// Passes a message on, unless it is the guest's own.
async fn tell(writer: &mut OwnedWriteHalf, guest: usize, message: &Message) -> io::Result<()> {
    if message.0 == guest {
        return Ok(());
    }
    let line = format!("{}: {}\n", message.0, message.1);
    writer.write_all(line.as_bytes()).await
}

async fn open(listener: TcpListener, shutdown: Shutdown) {
    let (room, _) = broadcast::channel(MEMORY);
    for guest in 0.. {
        let accepted = select! {
            accepted = listener.accept() => accepted,
            () = shutdown.wait() => return,
        };
        let (Ok((stream, _)), Some(guard)) = (accepted, shutdown.guard()) else {
            return;
        };
        blitz_io::spawn(attend(stream, guest, room.clone(), guard));
    }
}

/// Says `count` things, and hears what the others say. Returns the number of lines it heard.
async fn visit(
    address: SocketAddr,
    name: usize,
    guests: usize,
    count: usize,
    door: Arc<Barrier>,
) -> io::Result<usize> {
    let stream = TcpStream::connect(address).await?;
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    assert_eq!(lines.next_line().await?.as_deref(), Some("welcome"));
    // Everybody is in the room before the first one speaks.
    door.wait().await;
    let speaking = async {
        for number in 0..count {
            writer
                .write_all(format!("{name} {number}\n").as_bytes())
                .await?;
        }
        io::Result::Ok(())
    };
    let hearing = async {
        let mut next = vec![0; guests];
        let mut heard = 0;
        while heard < (guests - 1) * count {
            let line = lines
                .next_line()
                .await?
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            let words: Vec<_> = line
                .split([':', ' '])
                .filter_map(|word| word.parse::<usize>().ok())
                .collect();
            let &[_, speaker, number] = &words[..] else {
                return Err(io::Error::other(format!("guest {name} heard: {line}")));
            };
            assert_ne!(speaker, name, "nobody hears himself");
            assert_eq!(number, next[speaker], "once, and in order");
            next[speaker] += 1;
            heard += 1;
        }
        Ok(heard)
    };
    let ((), heard) = blitz_io::try_join!(speaking, hearing)?;
    Ok(heard)
}

#[blitz_io::main]
async fn main() -> io::Result<()> {
    let recipe = Recipe::start("Chat: what one says, all others hear");
    let (guests, count) = (recipe.size(40, 10), recipe.size(100, 20));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let shutdown = Shutdown::new();
    let opened = blitz_io::spawn(open(listener, shutdown.clone()));

    // One guest says nothing and stays to the end.
    let silent = TcpStream::connect(address).await?;
    let mut silent = BufReader::new(silent).lines();
    assert_eq!(silent.next_line().await?.as_deref(), Some("welcome"));

    let door = Arc::new(Barrier::new(guests));
    let mut visits = JoinSet::new();
    for name in 0..guests {
        visits.spawn(visit(address, name, guests, count, Arc::clone(&door)));
    }
    let mut heard = 0;
    while let Some(result) = visits.join_next().await {
        heard += result??;
    }
    assert_eq!(heard, guests * (guests - 1) * count);

    let closing = shutdown.drain(Duration::from_secs(10)).await;
    closing.map_err(io::Error::other)?;
    opened.await?;
    let mut last = String::new();
    let mut lines = 0;
    while let Some(line) = silent.next_line().await? {
        last = line;
        lines += 1;
    }
    assert_eq!(
        (lines, last.as_str()),
        (guests * count + 1, "* the room closes")
    );
    println!(
        "  {guests} guests said {} things and heard {heard}, each once and in order",
        guests * count
    );
    Ok(())
}
