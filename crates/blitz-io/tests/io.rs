//! Readers and writers: whatever the pieces and the pauses, the result is that of the whole; nothing is lost when a future is dropped, and
//! nobody waits for ever.

mod common;

use blitz_io::io::{
    self, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite,
    AsyncWriteExt, BufReader, BufStream, BufWriter, DuplexStream, ReadBuf, SeekFrom,
};
use blitz_io::task::yield_now;
use blitz_io::{join, select, spawn};
use common::chaos::{Chaos, Random};
use common::elsewhere::block_on;
use common::{poll_once, run, soon};
use proptest::prelude::*;
use std::io::ErrorKind;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Bytes with few different values, so that delimiters are frequent.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(b"ab\r\n".to_vec()), 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn lines_and_segments_are_those_of_the_standard_library(text in text(), seed: u64, capacity in 1_usize..50) {
        let expected: Vec<_> = std::io::BufRead::lines(&text[..]).map(Result::unwrap).collect();
        let segments: Vec<_> = std::io::BufRead::split(&text[..], b'a').map(Result::unwrap).collect();
        let reader = || BufReader::with_capacity(capacity, Chaos::new(&text[..], seed, 9));
        let (lines, pieces, by_hand) = block_on(async {
            let mut lines = Vec::new();
            let mut source = reader().lines();
            while let Some(line) = source.next_line().await.unwrap() {
                lines.push(line);
            }
            let mut pieces = Vec::new();
            let mut source = reader().split(b'a');
            while let Some(piece) = source.next_segment().await.unwrap() {
                pieces.push(piece);
            }
            let (mut source, mut by_hand) = (reader(), String::new());
            while source.read_line(&mut by_hand).await.unwrap() > 0 {}
            (lines, pieces, by_hand)
        });
        prop_assert_eq!(lines, expected);
        prop_assert_eq!(pieces, segments);
        prop_assert_eq!(by_hand.as_bytes(), &text[..]);
    }

    #[test]
    fn buffered_reads_of_any_size_give_the_same_bytes(length in 0_usize..3000, seed: u64, capacity in 1_usize..200) {
        let mut random = Random::new(seed);
        let bytes = random.bytes(length, 26);
        let read = block_on(async {
            let mut reader = BufReader::with_capacity(capacity, Chaos::new(&bytes[..], seed, 300));
            let mut read = Vec::new();
            loop {
                let mut buffer = vec![0; 1 + random.below(250)];
                let length = match random.below(3) {
                    0 => {
                        let length = {
                            let chunk = reader.fill_buf().await.unwrap();
                            let length = chunk.len().min(buffer.len());
                            buffer[..length].copy_from_slice(&chunk[..length]);
                            length
                        };
                        reader.consume(length);
                        length
                    }
                    1 => {
                        let mut memory = vec![std::mem::MaybeUninit::uninit(); buffer.len()];
                        let mut part = ReadBuf::uninit(&mut memory);
                        let length = reader.read_buf(&mut part).await.unwrap();
                        buffer[..length].copy_from_slice(part.filled());
                        length
                    }
                    _ => reader.read(&mut buffer).await.unwrap(),
                };
                if length == 0 {
                    break read;
                }
                read.extend_from_slice(&buffer[..length]);
            }
        });
        prop_assert_eq!(read, bytes);
    }

    #[test]
    fn buffered_writes_of_any_size_arrive_whole_and_in_order(sizes in prop::collection::vec(0_usize..120, 0..40), seed: u64, capacity in 0_usize..100) {
        let mut random = Random::new(seed);
        let mut expected = Vec::new();
        let written = block_on(async {
            let mut writer = BufWriter::with_capacity(capacity, Chaos::new(Vec::new(), seed, 70));
            for size in sizes {
                let bytes = random.bytes(size, 26);
                match random.below(4) {
                    0 => writer.flush().await.unwrap(),
                    1 => {
                        let slices = [std::io::IoSlice::new(&bytes); 2];
                        let written = writer.write_vectored(&slices).await.unwrap();
                        expected.extend_from_slice(&bytes.repeat(2)[..written]);
                    }
                    _ => {
                        writer.write_all(&bytes).await.unwrap();
                        expected.extend_from_slice(&bytes);
                    }
                }
                assert!(writer.buffer().len() <= capacity);
            }
            writer.shutdown().await.unwrap();
            writer.into_inner().inner
        });
        prop_assert_eq!(written, expected);
    }

    #[test]
    fn copies_are_copies(length in 0_usize..40_000, seed: u64, piece in 1_usize..9000) {
        let bytes = Random::new(seed).bytes(length, 26);
        block_on(async {
            let mut reader = Chaos::new(&bytes[..], seed, piece);
            let mut writer = BufWriter::new(Chaos::new(Vec::new(), !seed, piece));
            assert_eq!(io::copy(&mut reader, &mut writer).await.unwrap(), length as u64);
            assert!(writer.get_ref().inner == bytes, "flushed, and the same");
            let mut reader = BufReader::new(Chaos::new(&bytes[..], seed, piece));
            let mut writer = BufWriter::new(Chaos::new(Vec::new(), !seed, piece));
            assert_eq!(io::copy_buf(&mut reader, &mut writer).await.unwrap(), length as u64);
            assert!(writer.get_ref().inner == bytes, "flushed, and the same");
        });
    }

    #[test]
    fn both_ways_through_a_proxy_arrive_whole(there in 0_usize..3000, back in 0_usize..3000, seed: u64, capacity in 1_usize..200) {
        let mut random = Random::new(seed);
        let (there, back) = (random.bytes(there, 26), random.bytes(back, 26));
        let counts = block_on(async {
            let ((client, inner), (outer, server)) = (io::duplex(capacity), io::duplex(capacity));
            let mut inner = Chaos::new(inner, seed, 90);
            let mut outer = BufStream::new(Chaos::new(outer, !seed, 90));
            // Both peers write everything before they read the first byte of the other... or as much as they can.
            let talk = async |stream: DuplexStream, say: &[u8], hear: &[u8]| {
                let (mut reader, mut writer) = io::split(stream);
                let mut heard = Vec::new();
                let writing = async {
                    writer.write_all(say).await.unwrap();
                    writer.shutdown().await.unwrap();
                };
                let ((), length) = join!(writing, reader.read_to_end(&mut heard));
                assert_eq!(length.unwrap(), hear.len());
                assert!(heard == hear);
                drop(reader.unsplit(writer));
            };
            let (counts, (), ()) = join!(
                io::copy_bidirectional_with_sizes(&mut inner, &mut outer, 100, 33),
                talk(client, &there, &back),
                talk(server, &back, &there),
            );
            counts.unwrap()
        });
        prop_assert_eq!(counts, (there.len() as u64, back.len() as u64));
    }

    #[test]
    fn take_and_chain_cut_where_they_should(length in 0_usize..500, limit in 0_u64..600, seed: u64) {
        let bytes = Random::new(seed).bytes(length, 26);
        let cut = bytes.len().min(limit as usize);
        block_on(async {
            let mut reader = Chaos::new(&bytes[..], seed, 40);
            let mut head = Vec::new();
            let mut taken = (&mut reader).take(limit);
            taken.read_to_end(&mut head).await.unwrap();
            assert_eq!(taken.limit(), limit - cut as u64);
            assert_eq!(head, &bytes[..cut]);
            let mut whole = Vec::new();
            (&head[..]).chain(reader).read_to_end(&mut whole).await.unwrap();
            assert_eq!(whole, bytes);
            let (mut buffered, mut whole) = ((&bytes[..cut]).chain(&bytes[cut..]).take(limit), Vec::new());
            io::copy_buf(&mut buffered, &mut whole).await.unwrap();
            assert_eq!(whole, &bytes[..cut]);
        });
    }

    #[test]
    fn numbers_come_back_as_they_were(a: u16, b: i32, c: u64, d: i128, e: f64, f: u8, g: i8, h: f32) {
        block_on(async {
            let mut bytes = Vec::new();
            bytes.write_u16(a).await.unwrap();
            bytes.write_i32_le(b).await.unwrap();
            bytes.write_u64(c).await.unwrap();
            bytes.write_i128_le(d).await.unwrap();
            bytes.write_f64(e).await.unwrap();
            bytes.write_u8(f).await.unwrap();
            bytes.write_i8(g).await.unwrap();
            bytes.write_f32_le(h).await.unwrap();
            assert_eq!(bytes[..2], a.to_be_bytes());
            assert_eq!(bytes[2..6], b.to_le_bytes());
            let mut reader = Chaos::new(&bytes[..], c, 3);
            assert_eq!(reader.read_u16().await.unwrap(), a);
            assert_eq!(reader.read_i32_le().await.unwrap(), b);
            assert_eq!(reader.read_u64().await.unwrap(), c);
            assert_eq!(reader.read_i128_le().await.unwrap(), d);
            assert_eq!(reader.read_f64().await.unwrap().to_bits(), e.to_bits());
            assert_eq!(reader.read_u8().await.unwrap(), f);
            assert_eq!(reader.read_i8().await.unwrap(), g);
            assert_eq!(reader.read_f32_le().await.unwrap().to_bits(), h.to_bits());
            let error = reader.read_u8().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        });
    }
}

#[test]
fn a_line_survives_any_number_of_dropped_futures() {
    block_on(async {
        let text = b"the first line\nthe second line\n";
        let mut lines = BufReader::with_capacity(4, Chaos::new(&text[..], 7, 2)).lines();
        let mut found = Vec::new();
        let mut dropped = 0;
        while found.len() < 2 {
            // The other branch wins nearly every time.
            select! {
                biased;
                line = lines.next_line() => found.push(line.unwrap().unwrap()),
                () = std::future::ready(()) => dropped += 1,
            }
        }
        assert_eq!(found, ["the first line", "the second line"]);
        assert!(dropped > 5, "{dropped}");
    });
}

#[test]
fn a_line_that_is_too_long_is_refused_before_it_is_stored() {
    block_on(async {
        let mut lines = BufReader::new(io::repeat(b'x')).lines().max_length(10_000);
        for _ in 0..2 {
            let error = lines.next_line().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            assert_eq!(
                error.to_string(),
                "more than 10000 bytes without a delimiter"
            );
        }
        let exact = [b'x'; 10];
        let mut lines = (&exact[..]).lines().max_length(10);
        assert_eq!(lines.next_line().await.unwrap().unwrap().len(), 10);
        assert!(
            (&exact[..])
                .lines()
                .max_length(9)
                .next_line()
                .await
                .is_err()
        );
    });
}

#[test]
fn what_is_not_text_is_an_error_and_changes_nothing() {
    block_on(async {
        let bytes = b"good\n\xff\xfe\nrest";
        let mut reader = &bytes[..];
        let mut text = String::from("> ");
        assert_eq!(reader.read_line(&mut text).await.unwrap(), 5);
        let error = reader.read_line(&mut text).await.unwrap_err();
        assert_eq!(
            (error.kind(), text.as_str()),
            (ErrorKind::InvalidData, "> good\n")
        );
        let mut reader = &bytes[..];
        let error = reader.read_to_string(&mut text).await.unwrap_err();
        assert_eq!(
            (error.kind(), text.as_str()),
            (ErrorKind::InvalidData, "> good\n")
        );
    });
}

#[test]
fn a_buffer_that_is_full_makes_the_writer_wait_and_a_reader_lets_it_go_on() {
    let (mut here, mut there) = io::duplex(4);
    let mut writing = Box::pin(async move {
        here.write_all(b"0123456789").await.unwrap();
        here
    });
    assert!(poll_once(writing.as_mut()).is_pending());
    let reading = async {
        let mut bytes = [0; 10];
        there.read_exact(&mut bytes).await.unwrap();
        bytes
    };
    let (_here, bytes) = block_on(async { join!(writing, reading) });
    assert_eq!(&bytes, b"0123456789");
}

#[test]
fn the_end_of_a_connection_is_seen_by_those_who_wait() {
    run(|| async {
        let (mut here, mut there) = io::duplex(4);
        let reader = spawn(async move {
            let mut bytes = Vec::new();
            there.read_to_end(&mut bytes).await.unwrap();
            // And the other direction is still open.
            there.write_all(b"ok").await.unwrap();
            bytes
        });
        here.write_all(b"all").await.unwrap();
        here.shutdown().await.unwrap();
        assert_eq!(
            here.write(b"x").await.unwrap_err().kind(),
            ErrorKind::BrokenPipe
        );
        let mut answer = String::new();
        soon(here.read_to_string(&mut answer)).await.unwrap();
        assert_eq!(answer, "ok");
        assert_eq!(soon(reader).await.unwrap(), b"all");

        let (mut here, there) = io::duplex(4);
        let writer = spawn(async move { here.write_all(b"more than four").await });
        yield_now().await;
        drop(there);
        let error = soon(writer).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn two_peers_that_only_send_cannot_block_each_other_through_a_proxy() {
    run(|| async {
        let ((mut a, mut inner), (mut outer, mut b)) = (io::duplex(8), io::duplex(8));
        spawn(async move { io::copy_bidirectional(&mut inner, &mut outer).await });
        // A sends far more than fits anywhere and reads nothing; B's way is not affected.
        let flood = spawn(async move {
            let _ = a.write_all(&[1; 100_000]).await;
            a
        });
        b.write_all(b"hello").await.unwrap();
        // As soon as B reads, A gets on with it, and then reads.
        let mut bytes = vec![0; 100_000];
        soon(b.read_exact(&mut bytes)).await.unwrap();
        let mut a = soon(flood).await.unwrap();
        let mut hello = [0; 5];
        soon(a.read_exact(&mut hello)).await.unwrap();
        assert_eq!(&hello, b"hello");
    });
}

/// Counts flushes, and keeps what comes until then.
#[derive(Default)]
struct Counts {
    waiting: Vec<u8>,
    sent: Vec<u8>,
}

impl AsyncWrite for Counts {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.waiting.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waiting = std::mem::take(&mut self.waiting);
        self.sent.extend(waiting);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[test]
fn a_copy_flushes_when_there_is_nothing_more_to_read_at_the_moment() {
    block_on(async {
        let (mut sender, mut receiver) = io::duplex(64);
        let mut target = Counts::default();
        sender.write_all(b"question").await.unwrap();
        assert!(poll_once(pin!(io::copy(&mut receiver, &mut target))).is_pending());
        assert_eq!(target.sent, b"question", "the peer waits for it");
        let mut receiver = BufReader::new(receiver);
        sender.write_all(b"?").await.unwrap();
        assert!(poll_once(pin!(io::copy_buf(&mut receiver, &mut target))).is_pending());
        assert_eq!(target.sent, b"question?");
    });
}

#[test]
fn an_endless_copy_lets_the_others_run() {
    run(|| async {
        let mut endless = io::repeat(1);
        let mut target = io::sink();
        let result = blitz_io::time::timeout(
            std::time::Duration::from_millis(5),
            io::copy(&mut endless, &mut target),
        );
        assert!(result.await.is_err());
    });
}

#[test]
fn a_writer_that_takes_nothing_ends_the_copy() {
    struct Full;
    impl AsyncWrite for Full {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(0))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
    block_on(async {
        let error = io::copy(&mut &b"bytes"[..], &mut Full).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
        let error = io::copy_buf(&mut &b"bytes"[..], &mut Full)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
        let mut writer = BufWriter::new(Full);
        writer.write_all(b"bytes").await.unwrap();
        assert_eq!(
            writer.flush().await.unwrap_err().kind(),
            ErrorKind::WriteZero
        );
        assert_eq!(writer.buffer(), b"bytes", "still there");
    });
}

/// A file in memory.
struct Memory(std::io::Cursor<Vec<u8>>);

impl AsyncRead for Memory {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = std::io::Read::read(&mut self.0, buf.initialize_unfilled())?;
        buf.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Memory {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(std::io::Write::write(&mut self.0, bytes))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncSeek for Memory {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        std::io::Seek::seek(&mut self.0, to).map(drop)
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.0.position()))
    }
}

#[test]
fn seeking_knows_of_the_buffers() {
    block_on(async {
        let memory = Memory(std::io::Cursor::new((0..100).collect()));
        let mut reader = BufReader::with_capacity(16, memory);
        assert_eq!(reader.read_u8().await.unwrap(), 0);
        assert_eq!(reader.stream_position().await.unwrap(), 1, "not 16");
        assert_eq!(reader.seek(SeekFrom::Current(9)).await.unwrap(), 10);
        assert_eq!(reader.read_u8().await.unwrap(), 10);
        assert_eq!(reader.seek(SeekFrom::Current(-6)).await.unwrap(), 5);
        assert_eq!(reader.read_u8().await.unwrap(), 5);
        let error = reader.seek(SeekFrom::Current(i64::MIN)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        reader.rewind().await.unwrap();
        assert_eq!(reader.read_u8().await.unwrap(), 0);

        let mut writer = BufWriter::new(Memory(std::io::Cursor::new(Vec::new())));
        writer.write_all(b"hello").await.unwrap();
        writer.seek(SeekFrom::Start(1)).await.unwrap();
        writer.write_all(b"a").await.unwrap();
        writer.flush().await.unwrap();
        assert_eq!(writer.into_inner().0.into_inner(), b"hallo");
    });
}

#[test]
fn generic_code_over_the_traits_can_be_spawned() {
    async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) -> String {
        let task = spawn(async move {
            let mut stream = BufStream::new(stream);
            stream.write_all(b"ping\n").await.unwrap();
            stream.write_u8(b'!').await.unwrap();
            stream.shutdown().await.unwrap();
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            stream.read_to_string(&mut line).await.unwrap();
            line
        });
        task.await.unwrap()
    }
    run(|| async {
        let (here, mut there) = io::duplex(3);
        spawn(async move {
            let mut all = String::new();
            there.read_to_string(&mut all).await.unwrap();
            there
                .write_all(all.to_uppercase().as_bytes())
                .await
                .unwrap();
        });
        assert_eq!(soon(exchange(here)).await, "PING\n!");
        // Through a trait object too.
        let mut object: Box<dyn AsyncRead + Unpin + Send> = Box::new(&b"object"[..]);
        let mut text = String::new();
        object.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "object");
    });
}

#[test]
fn halves_of_different_streams_do_not_fit() {
    let (a, b) = io::duplex(1);
    let ((read_a, write_a), (read_b, write_b)) = (io::split(a), io::split(b));
    assert!(read_a.is_pair_of(&write_a) && write_b.is_pair_of(&read_b));
    assert!(!read_a.is_pair_of(&write_b) && !write_a.is_pair_of(&read_b));
    drop(read_a.unsplit(write_a));
    drop(read_b.unsplit(write_b));
}

#[test]
#[should_panic(expected = "unsplit: the two halves are of different streams")]
fn halves_of_different_streams_are_not_put_together() {
    let (a, b) = io::duplex(1);
    drop(io::split(a).0.unsplit(io::split(b).1));
}

#[test]
#[should_panic(expected = "nothing would ever get through a stream without room")]
fn a_connection_without_room_is_refused() {
    drop(io::duplex(0));
}

#[test]
#[should_panic(expected = "capacity must be greater than zero")]
fn a_reader_without_a_buffer_is_refused() {
    drop(BufReader::with_capacity(0, io::empty()));
}

#[test]
fn a_stream_of_one_way_ends_when_it_is_shut_down() {
    run(|| async {
        let (mut reader, mut writer) = io::simplex(4);
        let writing = spawn(async move {
            writer.write_all(b"more than four").await.unwrap();
            writer.shutdown().await.unwrap();
            let error = writer.write_all(b"!").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        });
        let mut text = String::new();
        soon(reader.read_to_string(&mut text)).await.unwrap();
        assert_eq!(text, "more than four");
        soon(writing).await.unwrap();
    });
}

#[test]
fn a_buffered_stream_turned_inside_out_keeps_what_its_buffers_hold() {
    block_on(async {
        let (mut there, here) = io::duplex(64);
        there.write_all(b"ahead").await.unwrap();
        let mut inside_out = BufWriter::new(BufReader::new(here));
        assert_eq!(inside_out.read_u8().await.unwrap(), b'a');
        inside_out.write_all(b"behind").await.unwrap();
        let mut stream = BufStream::from(inside_out);
        let mut rest = [0; 4];
        stream.read_exact(&mut rest).await.unwrap();
        assert_eq!(&rest, b"head");
        stream.flush().await.unwrap();
        let mut behind = [0; 6];
        there.read_exact(&mut behind).await.unwrap();
        assert_eq!(&behind, b"behind");
    });
}

#[test]
fn a_vector_that_holds_everything_exactly_does_not_grow() {
    block_on(async {
        let mut bytes = Vec::with_capacity(64);
        let capacity = bytes.capacity();
        let text = vec![7; capacity];
        assert_eq!((&text[..]).read_to_end(&mut bytes).await.unwrap(), capacity);
        assert_eq!((bytes.capacity(), &bytes), (capacity, &text));
    });
}

#[test]
fn a_read_to_the_end_that_is_given_up_leaves_what_it_has_read() {
    run(|| async {
        let (mut here, mut there) = blitz_io::io::duplex(64);
        let mut bytes = b"before ".to_vec();
        for part in ["one ", "two "] {
            here.write_all(part.as_bytes()).await.unwrap();
            {
                let mut read = pin!(there.read_to_end(&mut bytes));
                assert!(poll_once(read.as_mut()).is_pending());
            }
            assert!(bytes.ends_with(part.as_bytes()), "{} bytes", bytes.len());
        }
        here.write_all(b"three").await.unwrap();
        drop(here);
        assert_eq!(soon(there.read_to_end(&mut bytes)).await.unwrap(), 5);
        assert_eq!(bytes, b"before one two three");
    });
}

#[test]
fn a_signal_in_between_is_no_reason_to_stop() {
    /// Every second answer is that there was a signal.
    struct Interrupted<S>(S, bool);

    impl<S> Interrupted<S> {
        fn check(&mut self) -> io::Result<()> {
            self.1 = !self.1;
            match self.1 {
                true => Err(ErrorKind::Interrupted.into()),
                false => Ok(()),
            }
        }
    }

    impl<S: AsyncRead + Unpin> AsyncRead for Interrupted<S> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            self.check()?;
            Pin::new(&mut self.0).poll_read(cx, buf)
        }
    }

    impl<S: AsyncWrite + Unpin> AsyncWrite for Interrupted<S> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.check()?;
            Pin::new(&mut self.0).poll_write(cx, buf)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    let reader = || Interrupted(&b"line\nrest"[..], false);
    block_on(async {
        let mut writer = Interrupted(Vec::new(), false);
        assert_eq!(io::copy(&mut reader(), &mut writer).await.unwrap(), 9);
        writer.write_all(b"!").await.unwrap();
        writer.write_u16(7).await.unwrap();
        assert_eq!(writer.0, b"line\nrest!\0\x07");
        let mut reader = BufReader::new(reader());
        let mut line = String::new();
        reader.read_line(&mut line).await.unwrap();
        reader.read_to_string(&mut line).await.unwrap();
        assert_eq!(line, "line\nrest");
    });
}
