//! The attributes.

use blitz_io::time::{Instant, sleep};
use std::time::Duration;

#[blitz_io::test]
async fn a_test_runs_on_its_own_thread() {
    let here = std::thread::current().id();
    let there = blitz_io::spawn(async { std::thread::current().id() });
    assert_eq!(there.await.unwrap(), here);
}

#[blitz_io::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_may_have_workers() {
    let here = std::thread::current().id();
    let there = blitz_io::spawn(async { std::thread::current().id() });
    assert_ne!(there.await.unwrap(), here);
}

#[blitz_io::test(flavor = "current_thread", start_paused = true)]
async fn a_paused_clock_jumps_to_the_next_timer() {
    let (began, start) = (std::time::Instant::now(), Instant::now());
    sleep(Duration::from_secs(3600)).await;
    assert!(start.elapsed() >= Duration::from_secs(3600));
    assert!(began.elapsed() < Duration::from_secs(600));
}

#[blitz_io::test]
#[should_panic(expected = "as it should")]
async fn attributes_below_are_kept() {
    panic!("as it should");
}

mod program {
    #[blitz_io::main(flavor = "multi_thread")]
    pub(super) async fn main() -> Result<u32, String> {
        let answer = blitz_io::spawn(async { 42 }).await;
        answer.map_err(|error| error.to_string())
    }
}

#[test]
fn a_main_function_returns_what_its_body_does() {
    assert_eq!(program::main(), Ok(42));
}
