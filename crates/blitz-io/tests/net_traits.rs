//! The traits of other ecosystems: sockets are read and written through them as through their own methods.

#![cfg(any(feature = "futures-io", feature = "tokio-io", feature = "hyper"))]

mod common;

use blitz_io::spawn;
use common::{run, soon};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;

/// Both ends of a connection do the same: send, through a trait, and get what the other has sent.
const MESSAGE: &[u8] = b"through a trait";

#[cfg(feature = "tokio-io")]
mod tokio_io {
    use super::*;
    use blitz_io::net::UnixStream;
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    /// Appends what there is to a buffer that holds something already, and whose rest is not initialised.
    async fn read(stream: &mut (impl AsyncRead + Unpin), wanted: usize) -> io::Result<Vec<u8>> {
        let mut memory = [MaybeUninit::uninit(); 64];
        let mut buffer = ReadBuf::uninit(&mut memory);
        buffer.put_slice(b">");
        while buffer.filled().len() < 1 + wanted {
            let before = buffer.filled().len();
            poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, &mut buffer)).await?;
            if buffer.filled().len() == before {
                break;
            }
        }
        Ok(buffer.filled().to_vec())
    }

    async fn write(stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        assert!(stream.is_write_vectored());
        let (first, second) = MESSAGE.split_at(7);
        let written = poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, first)).await?;
        assert_eq!(written, 7);
        let slices = [IoSlice::new(second)];
        poll_fn(|cx| Pin::new(&mut *stream).poll_write_vectored(cx, &slices)).await?;
        poll_fn(|cx| Pin::new(&mut *stream).poll_flush(cx)).await?;
        poll_fn(|cx| Pin::new(&mut *stream).poll_shutdown(cx)).await
    }

    #[test]
    fn streams_and_their_halves_implement_the_traits_of_tokio() {
        run(|| async {
            let (mut left, right) = UnixStream::pair().unwrap();
            let (mut read_half, mut write_half) = right.into_split();
            let other = spawn(async move {
                write(&mut write_half).await.unwrap();
                read(&mut read_half, 100).await.unwrap()
            });
            write(&mut left).await.unwrap();
            let expected = [b">", MESSAGE].concat();
            assert_eq!(
                soon(read(&mut left, MESSAGE.len())).await.unwrap(),
                expected
            );
            assert_eq!(soon(other).await.unwrap(), expected, "up to the end");
        });
    }
}

#[cfg(feature = "hyper")]
mod hyper_rt {
    use super::*;
    use blitz_io::net::{TcpListener, TcpStream};
    use hyper::rt::{Read, ReadBuf, Write};

    async fn read(stream: &mut (impl Read + Unpin), wanted: usize) -> io::Result<Vec<u8>> {
        let mut memory = [MaybeUninit::uninit(); 64];
        let mut buffer = ReadBuf::uninit(&mut memory);
        while buffer.filled().len() < wanted {
            let before = buffer.filled().len();
            poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, buffer.unfilled())).await?;
            if buffer.filled().len() == before {
                break;
            }
        }
        Ok(buffer.filled().to_vec())
    }

    async fn write(stream: &mut (impl Write + Unpin)) -> io::Result<()> {
        assert!(stream.is_write_vectored());
        let slices = [IoSlice::new(&MESSAGE[..7]), IoSlice::new(&MESSAGE[7..])];
        let written = poll_fn(|cx| Pin::new(&mut *stream).poll_write_vectored(cx, &slices)).await?;
        assert_eq!(written, MESSAGE.len());
        poll_fn(|cx| Pin::new(&mut *stream).poll_flush(cx)).await?;
        poll_fn(|cx| Pin::new(&mut *stream).poll_shutdown(cx)).await
    }

    #[test]
    fn streams_implement_the_traits_of_hyper() {
        run(|| async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let other = spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                write(&mut stream).await.unwrap();
                read(&mut stream, 100).await.unwrap()
            });
            let (mut stream, _) = soon(listener.accept()).await.unwrap();
            write(&mut stream).await.unwrap();
            assert_eq!(soon(read(&mut stream, 100)).await.unwrap(), MESSAGE);
            assert_eq!(soon(other).await.unwrap(), MESSAGE);
        });
    }

    #[test]
    fn timers_of_hyper_follow_the_clock_of_the_runtime_and_are_reset_in_place() {
        use blitz_io::time::{Duration, Instant};
        use hyper::rt::Timer as _;
        let paused = || {
            let mut builder = blitz_io::Builder::new_current_thread();
            builder.start_paused(true).build().unwrap()
        };
        common::run_on(paused, || async {
            let timer = blitz_io::hyper::Timer;
            let begin = Instant::now();
            blitz_io::time::sleep(Duration::from_secs(100)).await;
            assert_eq!(timer.now(), (begin + Duration::from_secs(100)).into_std());
            let mut sleep = timer.sleep(Duration::from_secs(3600));
            let place: *const u8 = (&raw const *sleep).cast();
            timer.reset(&mut sleep, timer.now() + Duration::from_secs(2));
            assert_eq!((&raw const *sleep).cast(), place, "no other one");
            sleep.as_mut().await;
            assert_eq!(begin.elapsed(), Duration::from_secs(102));
            timer.reset(&mut sleep, timer.now() + Duration::from_secs(3));
            sleep.await;
            assert_eq!(begin.elapsed(), Duration::from_secs(105));
        });
    }
}

#[cfg(feature = "futures-io")]
mod futures_io_traits {
    use super::*;
    use blitz_io::io::{BufReader, duplex};
    use blitz_io::net::UnixStream;
    use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};

    async fn exchange(
        mut here: impl AsyncRead + AsyncWrite + Unpin,
        mut there: impl AsyncBufRead + AsyncWrite + Unpin,
    ) {
        let slices = [IoSlice::new(b""), IoSlice::new(MESSAGE)];
        let written = poll_fn(|cx| Pin::new(&mut here).poll_write_vectored(cx, &slices));
        assert_eq!(written.await.unwrap(), MESSAGE.len());
        poll_fn(|cx| Pin::new(&mut here).poll_close(cx))
            .await
            .unwrap();
        let got = poll_fn(|cx| {
            let bytes = std::task::ready!(Pin::new(&mut there).poll_fill_buf(cx)).unwrap();
            std::task::Poll::Ready(bytes.to_vec())
        });
        assert_eq!(soon(got).await, MESSAGE);
        Pin::new(&mut there).consume(MESSAGE.len());
        poll_fn(|cx| Pin::new(&mut there).poll_write(cx, b"answer"))
            .await
            .unwrap();
        let mut buffer = [0; 64];
        let read = soon(poll_fn(|cx| Pin::new(&mut here).poll_read(cx, &mut buffer)));
        let length = read.await.unwrap();
        assert_eq!(&buffer[..length], b"answer");
    }

    #[test]
    fn streams_of_all_kinds_implement_the_traits_of_futures_io() {
        run(|| async {
            let (here, there) = duplex(64);
            exchange(here, BufReader::new(there)).await;
            let (here, there) = UnixStream::pair().unwrap();
            exchange(here, BufReader::new(there)).await;
        });
    }
}
