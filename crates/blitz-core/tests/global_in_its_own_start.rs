//! What starts the global pool may not use it: that would wait for itself.

use std::panic::catch_unwind;
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn what_starts_the_global_pool_is_told_that_it_cannot_use_it() {
    let (sender, receiver) = mpsc::channel();
    // Not on the test's own thread: it would hang, and say nothing.
    std::thread::spawn(move || {
        let mut told = Vec::new();
        let started = blitz_core::ThreadPoolBuilder::new()
            .num_threads(2)
            .spawn_handler(|thread| {
                let used = catch_unwind(|| blitz_core::join(|| 1, || 2));
                told.push(*used.unwrap_err().downcast::<&str>().unwrap());
                let built = catch_unwind(|| blitz_core::ThreadPoolBuilder::new().build_global());
                told.push(*built.unwrap_err().downcast::<&str>().unwrap());
                std::thread::spawn(|| thread.run());
                Ok(())
            })
            .build_global();
        assert!(started.is_ok());
        assert_eq!(blitz_core::join(|| 1, || 2), (1, 2));
        sender.send(told).unwrap();
    });
    let told = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(told.len(), 4);
    for message in told {
        assert!(message.contains("spawn_handler"), "{message}");
    }
}
