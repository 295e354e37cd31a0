//! A rate limiter: ten requests a second on average, and up to five at once after a pause.
//!
//! A token bucket is a semaphore whose permits are spent and not given back; a task adds one per period, up to the size of the bucket.
//! The semaphore serves those who wait in the order in which they came, and one that gives up (a timeout, a lost `select!`) takes nothing
//! with it. The clock is paused, so that the seconds pass at once and the times are exact.

use blitz_examples::{Random, Recipe};
use blitz_io::shutdown::Shutdown;
use blitz_io::sync::Semaphore;
use blitz_io::task::JoinSet;
use blitz_io::time::{Duration, Instant, MissedTickBehavior, interval_at, sleep, timeout};
use std::sync::{Arc, Mutex};

struct RateLimiter {
    tokens: Arc<Semaphore>,
}

impl RateLimiter {
    /// `burst` at once, and then one per `period`. The task that adds tokens ends with `shutdown`.
    fn new(burst: usize, period: Duration, shutdown: &Shutdown) -> Self {
        let tokens = Arc::new(Semaphore::new(burst));
        let (bucket, shutdown) = (Arc::clone(&tokens), shutdown.clone());
        blitz_io::spawn(async move {
            let mut clock = interval_at(Instant::now() + period, period);
            // A late token is not made up for by two at once.
            clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                blitz_io::select! {
                    () = shutdown.wait() => break,
                    _ = clock.tick() => {
                        // Only this task adds tokens, so the bucket does not run over.
                        if bucket.available_permits() < burst {
                            bucket.add_permits(1);
                        }
                    }
                }
            }
        });
        RateLimiter { tokens }
    }

    /// Waits until a request may be made.
    async fn wait(&self) {
        let token = self.tokens.acquire().await;
        token.expect("the bucket is never closed").forget();
    }
}

const BURST: usize = 5;
const PERIOD: Duration = Duration::from_millis(100);

fn main() -> std::io::Result<()> {
    let recipe = Recipe::start("Rate limiter: ten a second, five at once");
    let requests = recipe.size(2000, 200);
    let runtime = blitz_io::Builder::new_current_thread()
        .start_paused(true)
        .build()?;
    runtime.block_on(async {
        let shutdown = Shutdown::new();
        let limiter = Arc::new(RateLimiter::new(BURST, PERIOD, &shutdown));
        let start = Instant::now();
        let times = Arc::new(Mutex::new(Vec::new()));
        let mut clients = JoinSet::new();
        let mut random = Random::new(1);
        for _ in 0..requests {
            let (limiter, times) = (Arc::clone(&limiter), Arc::clone(&times));
            let patience = Duration::from_millis(random.below(1000) as u64);
            clients.spawn(async move {
                // Some give up. Their turn goes to the next.
                while timeout(patience, limiter.wait()).await.is_err() {
                    sleep(Duration::from_millis(7)).await;
                }
                times.lock().unwrap().push(start.elapsed());
            });
        }
        while let Some(result) = clients.join_next().await {
            result.expect("no client fails");
        }
        shutdown.trigger();

        let times = times.lock().unwrap();
        assert_eq!(times.len(), requests, "everybody got a turn");
        let mut most = 0;
        for (index, &begin) in times.iter().enumerate() {
            let second = times[index..]
                .iter()
                .take_while(|&&time| time < begin + Duration::from_secs(1));
            most = most.max(second.count());
        }
        let expected = PERIOD * (requests - BURST) as u32;
        let total = start.elapsed();
        assert!(most <= BURST + 10, "{most} requests in one second");
        assert!(total >= expected, "too fast");
        println!(
            "  {requests} requests in {:.1} s (at least {:.1}), at most {most} in any second",
            total.as_secs_f64(),
            expected.as_secs_f64(),
        );
    });
    Ok(())
}
