//! Publish and subscribe inside of a program: topics, subscribers of several topics, one that is too slow, and a setting that all follow.
//!
//! A topic is a broadcast channel: every subscriber gets every event from the moment on at which it subscribed. `StreamMap` makes one stream of
//! several subscriptions. Who falls behind is told by how much. For a *setting*, of which only the latest value counts, a watch channel is
//! the right kind.

use blitz_examples::{Random, Recipe};
use blitz_io::stream::{self, Stream, StreamMap};
use blitz_io::sync::{broadcast, watch};
use blitz_io::task::{JoinSet, yield_now};
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

/// What is published: its number within the topic.
type Event = usize;

/// The events of a topic; an error says how many were missed.
type Subscription = Pin<Box<dyn Stream<Item = Result<Event, u64>> + Send>>;

/// Topics by name; one begins to exist when somebody asks for it, and ends when the hub does.
struct Hub {
    // Never locked across an await.
    topics: Mutex<HashMap<&'static str, broadcast::Sender<Event>>>,
    memory: usize,
}

impl Hub {
    fn new(memory: usize) -> Arc<Self> {
        Arc::new(Hub {
            topics: Mutex::default(),
            memory,
        })
    }

    fn with_topic<R>(
        &self,
        name: &'static str,
        act: impl FnOnce(&broadcast::Sender<Event>) -> R,
    ) -> R {
        let mut topics = self.topics.lock().unwrap();
        act(topics
            .entry(name)
            .or_insert_with(|| broadcast::channel(self.memory).0))
    }

    fn publish(&self, name: &'static str, event: Event) {
        // Nobody may be listening: that is no error.
        let _ = self.with_topic(name, |topic| topic.send(event));
    }

    fn subscribe(&self, name: &'static str) -> Subscription {
        stream::broadcast(self.with_topic(name, broadcast::Sender::subscribe))
    }
}

const TOPICS: [&str; 4] = ["news", "sports", "weather", "chess"];

/// Follows some topics to their ends, and returns how many events there were.
async fn follow(mut topics: StreamMap<&'static str, Subscription>) -> usize {
    let mut next = HashMap::new();
    while let Some((topic, event)) = stream::next(&mut topics).await {
        let expected = next.entry(topic).or_insert(0);
        assert_eq!(event, Ok(*expected), "{topic}: once, and in order");
        *expected += 1;
    }
    next.values().sum()
}

/// Publishes to one topic in batches, whose size is a setting that may change at any time.
async fn publish(
    hub: Arc<Hub>,
    topic: &'static str,
    count: usize,
    mut batch: watch::Receiver<usize>,
) {
    let mut left = 0;
    for event in 0..count {
        if left == 0 {
            yield_now().await;
            left = *batch.borrow_and_update();
        }
        left -= 1;
        hub.publish(topic, event);
    }
}

#[blitz_io::main]
async fn main() -> io::Result<()> {
    let recipe = Recipe::start("Publish and subscribe: topics, a slow reader, a setting");
    let (subscribers, count) = (recipe.size(200, 20), recipe.size(1000, 200));
    let hub = Hub::new(count);
    let mut random = Random::new(5);
    let mut following = JoinSet::new();
    let mut expected = 0;
    for _ in 0..subscribers {
        let wanted = &TOPICS[random.below(TOPICS.len())..];
        expected += wanted.len() * count;
        let topics = wanted.iter().map(|&name| (name, hub.subscribe(name)));
        following.spawn(follow(topics.collect()));
    }

    let (setting, batch) = watch::channel(1);
    let mut publishing = JoinSet::new();
    for topic in TOPICS {
        publishing.spawn(publish(Arc::clone(&hub), topic, count, batch.clone()));
    }
    for size in 2..20 {
        yield_now().await;
        setting.send_replace(size);
    }
    while let Some(result) = publishing.join_next().await {
        result?;
    }
    // The last sender of each topic goes with the hub; what has been sent is still read.
    drop(hub);
    let mut events = 0;
    while let Some(result) = following.join_next().await {
        events += result?;
    }
    assert_eq!(events, expected, "everybody got everything");

    // A reader that is too slow hears of it, and goes on with what is left.
    let small = Hub::new(16);
    let mut slow = small.subscribe("news");
    (0..100).for_each(|event| small.publish("news", event));
    assert_eq!(stream::next(&mut slow).await, Some(Err(84)));
    assert_eq!(stream::next(&mut slow).await, Some(Ok(84)));
    println!(
        "  {events} events for {subscribers} subscribers of up to {} topics; a slow one missed 84 of 100, and knows it",
        TOPICS.len()
    );
    Ok(())
}
