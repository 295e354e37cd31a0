//! Adapters of streams: what comes when, in which order, and that nothing is lost.

mod common;

use blitz_io::io::{self, AsyncBufReadExt, AsyncWriteExt, BufReader};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::stream::{self, Stream, StreamExt, StreamMap};
use blitz_io::sync::{broadcast, mpmc, mpsc, watch};
use blitz_io::time::{Instant, interval, sleep};
use blitz_io::{Builder, join, select, spawn};
use common::chaos::Random;
use common::elsewhere::block_on;
use common::{poll_once, run, soon};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Runs with a clock that jumps.
fn paused<T>(test: impl Future<Output = T>) -> T {
    let mut builder = Builder::new_current_thread();
    builder.start_paused(true).build().unwrap().block_on(test)
}

/// Yields what it was given; now and then it has to be asked twice. Says when it is asked after its end.
struct Items<T> {
    items: VecDeque<T>,
    random: Random,
    ended: bool,
}

fn items<T>(items: impl IntoIterator<Item = T>, seed: u64) -> Items<T> {
    Items {
        items: items.into_iter().collect(),
        random: Random::new(seed),
        ended: false,
    }
}

impl<T: Unpin> Stream for Items<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        assert!(!self.ended, "asked after its end");
        if self.random.below(3) == 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let item = self.items.pop_front();
        self.ended = item.is_none();
        Poll::Ready(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.items.len(), Some(self.items.len()))
    }
}

/// Items at given seconds.
fn at<T>(times: impl IntoIterator<Item = (u64, T)>) -> At<T> {
    At {
        items: times.into_iter().collect(),
        start: Instant::now(),
        sleep: None,
    }
}

struct At<T> {
    items: VecDeque<(u64, T)>,
    start: Instant,
    sleep: Option<Pin<Box<blitz_io::time::Sleep>>>,
}

impl<T: Unpin> Stream for At<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(&(second, _)) = self.items.front() else {
            return Poll::Ready(None);
        };
        let start = self.start;
        let sleep = self.sleep.get_or_insert_with(|| {
            Box::pin(blitz_io::time::sleep_until(
                start + Duration::from_secs(second),
            ))
        });
        std::task::ready!(sleep.as_mut().poll(cx));
        self.sleep = None;
        Poll::Ready(self.items.pop_front().map(|(_, item)| item))
    }
}

async fn collect<S: Stream + Unpin>(mut stream: S) -> Vec<S::Item> {
    let mut all = Vec::new();
    while let Some(item) = stream::next(&mut stream).await {
        all.push(item);
    }
    all
}

#[test]
fn a_merge_has_all_items_of_both_in_their_order() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let counts = [random.below(40), random.below(40)];
        let merged = items((0..counts[0]).map(|n| (0, n)), seed)
            .merge(items((0..counts[1]).map(|n| (1, n)), !seed));
        assert_eq!(
            merged.size_hint(),
            (counts.iter().sum(), Some(counts.iter().sum()))
        );
        let all = block_on(collect(merged));
        assert_eq!(all.len(), counts.iter().sum());
        for (side, &count) in counts.iter().enumerate() {
            let of_side = all.iter().filter(|item| item.0 == side);
            assert!(of_side.map(|item| item.1).eq(0..count));
        }
    }
}

#[test]
fn a_merge_is_fair_to_a_stream_beside_one_that_is_always_ready() {
    let all = block_on(collect(Always("a", 10).merge(Always("b", 10))));
    let first = all[..10].iter().filter(|&&name| name == "a").count();
    assert_eq!((first, all.len()), (5, 20), "in turns");
}

/// Always ready: a name, so many times.
struct Always(&'static str, usize);

impl Stream for Always {
    type Item = &'static str;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<&'static str>> {
        if self.1 == 0 {
            return Poll::Ready(None);
        }
        self.1 -= 1;
        Poll::Ready(Some(self.0))
    }
}

#[test]
fn a_map_yields_all_items_with_their_keys_and_forgets_streams_that_end() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let sizes: Vec<_> = (0..random.below(9)).map(|_| random.below(20)).collect();
        let mut map: StreamMap<_, _> = sizes
            .iter()
            .enumerate()
            .map(|(key, &size)| (key, items(0..size, seed ^ key as u64)))
            .collect();
        let total: usize = sizes.iter().sum();
        assert_eq!(
            (map.len(), map.size_hint()),
            (sizes.len(), (total, Some(total)))
        );
        let mut seen = vec![0; sizes.len()];
        block_on(async {
            while let Some((key, item)) = stream::next(&mut map).await {
                assert_eq!(item, seen[key], "each in its order");
                seen[key] += 1;
            }
        });
        assert_eq!(seen, sizes);
        assert!(map.is_empty());
    }
}

#[test]
fn every_stream_of_a_map_is_waited_for_also_when_others_end() {
    // Streams that end while they are asked must not hide one that has not been asked: its wake-up would never come.
    run(|| async {
        for round in 0..50 {
            let mut map = StreamMap::new();
            let (mut writer, reader) = io::duplex(64);
            map.insert("waits", BufReader::new(reader).lines());
            for name in ["a", "b", "c", "d"] {
                let (_, ended) = io::duplex(1);
                map.insert(name, BufReader::new(ended).lines());
            }
            let sender = spawn(async move {
                if round % 2 == 0 {
                    blitz_io::task::yield_now().await;
                }
                writer.write_all(b"hello\n").await.unwrap();
            });
            let (key, line) = soon(stream::next(&mut map)).await.unwrap();
            assert_eq!((key, line.unwrap().as_str()), ("waits", "hello"));
            assert!(soon(stream::next(&mut map)).await.is_none());
            sender.await.unwrap();
        }
    });
}

#[test]
fn streams_come_and_go_in_a_map() {
    block_on(async {
        let mut map = StreamMap::new();
        assert!(stream::next(&mut map).await.is_none(), "empty");
        assert!(map.insert("a".to_owned(), items([1, 2], 1)).is_none());
        assert!(map.insert("b".to_owned(), items([3], 2)).is_none());
        assert_eq!(
            map.insert("a".to_owned(), items([4], 3)).unwrap().items,
            [1, 2]
        );
        assert!(map.contains_key("a") && !map.contains_key("c"));
        assert_eq!(map.remove("b").unwrap().items, [3]);
        assert!(map.keys().eq(["a"]));
        assert_eq!(collect(map).await, [("a".to_owned(), 4)]);
    });
}

#[test]
fn a_silence_is_reported_once_and_the_stream_goes_on() {
    paused(async {
        let slow = at([(1, 'a'), (2, 'b'), (100, 'c')]).timeout(10 * SECOND);
        let all = collect(slow).await;
        let texts: Vec<_> = all
            .iter()
            .map(|item| item.as_ref().copied().map_err(ToString::to_string))
            .collect();
        assert_eq!(
            texts,
            [
                Ok('a'),
                Ok('b'),
                Err("deadline has elapsed".to_owned()),
                Ok('c')
            ]
        );
    });
}

#[test]
fn a_throttle_leaves_pauses_and_loses_nothing() {
    paused(async {
        let start = Instant::now();
        let mut throttled = items(0..4, 7).throttle(SECOND);
        let mut times = Vec::new();
        while let Some(item) = stream::next(&mut throttled).await {
            times.push((item, start.elapsed().as_secs()));
        }
        assert_eq!(times, [(0, 0), (1, 1), (2, 2), (3, 3)]);
        // Items that are slower than that are not held up.
        let start = Instant::now();
        collect(at([(5, ()), (10, ())]).throttle(SECOND)).await;
        assert_eq!(
            start.elapsed().as_secs(),
            11,
            "the end waits for the pause too"
        );
        assert_eq!(
            collect(items(0..4, 7).throttle(Duration::ZERO)).await,
            [0, 1, 2, 3]
        );
    });
}

#[test]
fn chunks_come_when_they_are_full_or_when_their_time_is_over() {
    paused(async {
        let source = at([(0, 0), (1, 1), (2, 2), (3, 3), (20, 4), (21, 5), (40, 6)]);
        let start = Instant::now();
        let mut chunks = source.chunks_timeout(3, 5 * SECOND);
        let mut seen = Vec::new();
        while let Some(chunk) = stream::next(&mut chunks).await {
            seen.push((chunk, start.elapsed().as_secs()));
        }
        assert_eq!(
            seen,
            [
                (vec![0, 1, 2], 2),
                (vec![3], 8),
                (vec![4, 5], 25),
                (vec![6], 40),
            ],
            "full; late; late; the end"
        );
        assert!(stream::next(&mut chunks).await.is_none());
    });
}

#[test]
fn chunks_of_any_size_put_together_are_the_whole() {
    paused(async {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let (count, size) = (random.below(100), 1 + random.below(10));
            let chunks = collect(items(0..count, seed).chunks_timeout(size, SECOND)).await;
            assert!(chunks.iter().all(|chunk| (1..=size).contains(&chunk.len())));
            assert_eq!(chunks.concat(), (0..count).collect::<Vec<_>>());
        }
    });
}

#[test]
#[should_panic(expected = "chunks_timeout: a chunk has at least one item")]
fn chunks_of_nothing_are_refused() {
    paused(async { drop(items([1], 0).chunks_timeout(0, SECOND)) });
}

#[test]
fn a_dropped_wait_loses_no_item() {
    block_on(async {
        let mut stream = items(0..100, 3).merge(items(100..200, 4));
        let mut all = Vec::new();
        while all.len() < 200 {
            select! {
                biased;
                Some(item) = stream::next(&mut stream) => all.push(item),
                () = std::future::ready(()) => {}
            }
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..200));
    });
}

#[test]
fn receivers_as_streams_lose_nothing_when_waits_are_dropped() {
    run(|| async {
        const COUNT: u32 = 500;
        let (sender, receiver) = broadcast::channel(COUNT as usize);
        let (setting, latest) = watch::channel(0);
        let sending = spawn(async move {
            for number in 1..=COUNT {
                sender.send(number).unwrap();
                setting.send(number).unwrap();
                if number % 7 == 0 {
                    blitz_io::task::yield_now().await;
                }
            }
        });
        let (mut messages, mut values) = (stream::broadcast(receiver), stream::watch(latest));
        let (mut heard, mut seen) = (0, None);
        let (mut messages_end, mut values_end) = (false, false);
        while !(messages_end && values_end) {
            // Each wait is given up many times, in favour of the other or of nothing at all.
            select! {
                message = stream::next(&mut messages), if !messages_end => match message {
                    Some(message) => {
                        heard += 1;
                        assert_eq!(message, Ok(heard), "once, and in order");
                    }
                    None => messages_end = true,
                },
                value = stream::next(&mut values), if !values_end => match value {
                    Some(value) => assert!(seen.replace(value) < Some(value), "each later than the one before"),
                    None => values_end = true,
                },
                () = blitz_io::task::yield_now() => {}
            }
        }
        assert_eq!((heard, seen), (COUNT, Some(COUNT)));
        sending.await.unwrap();
        assert!(
            soon(stream::next(&mut messages)).await.is_none(),
            "it stays at its end"
        );
    });
}

#[test]
fn receivers_that_are_streams_merge_with_others() {
    run(|| async {
        let (bounded, first) = mpsc::channel(2);
        let (shared, second) = mpmc::bounded(2);
        let sending = spawn(async move {
            for number in 0..100 {
                bounded.send(number).await.unwrap();
                shared.send(100 + number).await.unwrap();
            }
        });
        let mut all = soon(collect(Box::pin(first.merge(second)))).await;
        all.sort_unstable();
        assert!(all.into_iter().eq(0..200));
        sending.await.unwrap();
    });
}

#[test]
fn intervals_and_listeners_are_streams() {
    paused(async {
        let mut beat = interval(SECOND);
        let first = stream::next(&mut beat).await.unwrap();
        assert_eq!(stream::next(&mut beat).await, Some(first + SECOND));
    });
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let clients = spawn(async move {
            for _ in 0..3 {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"hi\n").await.unwrap();
            }
        });
        let mut incoming = listener.incoming();
        for _ in 0..3 {
            let stream = soon(stream::next(&mut incoming)).await.unwrap().unwrap();
            let mut lines = BufReader::new(stream).lines();
            assert_eq!(lines.next_line().await.unwrap().unwrap(), "hi");
        }
        clients.await.unwrap();
        assert!(poll_once(pin!(stream::next(&mut incoming))).is_pending());
        let ((), ()) = join!(sleep(Duration::from_millis(1)), async {});
    });
}
