//! A runtime on one thread, under our name and under tokio's: tasks, channels, locks, timers.
fn main() {}
