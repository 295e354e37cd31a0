//! Both ways at once: a proxy.
//!
//! Every poll gives both directions the chance to go on, and neither waits for the other: a peer that sends without reading stops
//! its own direction and nothing else, so two such peers cannot block each other through us. The end of one direction is passed on, and
//! the other goes on until it ends too.

use super::copy::Copier;
use super::{AsyncRead, AsyncWrite, BUFFER};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Copies from `a` to `b` and from `b` to `a` until both have come to their ends, and returns how much went each way.
/// Not cancel-safe: how far it got is not known then.
///
/// When one ends, the other is told (it is shut down for writing, after what was left is flushed), and the other direction goes on.
///
/// # Errors
/// The first of either direction. The other direction stops with it.
///
/// # Cost
/// An allocation of 8 KiB for each direction.
///
/// ```
/// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (mut client, mut inner) = io::duplex(16);
/// let (mut outer, mut server) = io::duplex(16);
/// let proxy = blitz_io::spawn(async move { io::copy_bidirectional(&mut inner, &mut outer).await });
///
/// client.write_all(b"ping").await?;
/// client.shutdown().await?; // half-closed: the answer still comes
/// let mut question = String::new();
/// server.read_to_string(&mut question).await?;
/// server.write_all(question.replace('i', "o").as_bytes()).await?;
/// drop(server);
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await?;
/// assert_eq!(answer, "pong");
/// assert_eq!(proxy.await.unwrap()?, (4, 4));
/// # io::Result::Ok(())
/// # }).unwrap();
/// ```
pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    copy_bidirectional_with_sizes(a, b, BUFFER, BUFFER).await
}

/// As [`copy_bidirectional`], with buffers of these sizes for the ways from `a` to `b` and back. Not cancel-safe: how far it got is not known then.
///
/// # Errors
/// As [`copy_bidirectional`].
///
/// # Panics
/// If a size is 0.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
///
/// let (mut client, mut inner) = io::duplex(16);
/// let (mut outer, mut server) = io::duplex(16);
/// client.write_all(b"ping").await?;
/// client.shutdown().await?;
/// drop(server.shutdown().await?);
/// // 64 bytes for what goes out, 1024 for what comes in.
/// let (sent, received) = io::copy_bidirectional_with_sizes(&mut inner, &mut outer, 64, 1024).await?;
/// assert_eq!((sent, received), (4, 0));
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub async fn copy_bidirectional_with_sizes<A, B>(
    a: &mut A,
    b: &mut B,
    a_to_b_buf_size: usize,
    b_to_a_buf_size: usize,
) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    assert!(
        a_to_b_buf_size > 0,
        "`a_to_b_buf_size` must be greater than 0"
    );
    assert!(
        b_to_a_buf_size > 0,
        "`b_to_a_buf_size` must be greater than 0"
    );
    let mut there = Direction::Copies(Copier::new(a_to_b_buf_size));
    let mut back = Direction::Copies(Copier::new(b_to_a_buf_size));
    poll_fn(|cx| {
        // Both, before either is waited for.
        let there = there.poll(cx, Pin::new(&mut *a), Pin::new(&mut *b))?;
        let back = back.poll(cx, Pin::new(&mut *b), Pin::new(&mut *a))?;
        Poll::Ready(Ok((ready!(there), ready!(back))))
    })
    .await
}

enum Direction {
    Copies(Copier),
    Closes(u64),
    Ended(u64),
}

impl Direction {
    fn poll<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        loop {
            *self = match self {
                Self::Copies(copier) => {
                    Self::Closes(ready!(copier.poll(cx, reader.as_mut(), writer.as_mut()))?)
                }
                Self::Closes(copied) => {
                    ready!(writer.as_mut().poll_shutdown(cx))?;
                    Self::Ended(*copied)
                }
                Self::Ended(copied) => return Poll::Ready(Ok(*copied)),
            };
        }
    }
}
