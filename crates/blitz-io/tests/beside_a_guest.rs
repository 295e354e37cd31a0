//! The default runtime shares its threads with computations of the whole process, whose threads come as guests: a worker without its seat that blocks in a task.
//!
//! The only test in this program: there is one global pool.

mod common;

use blitz_io::{Runtime, block_in_place};
use common::within_a_minute;
use std::iter;
use std::sync::{Mutex, mpsc};
use std::thread;

#[test]
fn a_computation_runs_although_the_worker_blocks_in_a_task_that_it_took_while_a_guest_had_its_seat()
{
    let builder = blitz_core::ThreadPoolBuilder::new().num_threads(1);
    builder.build_global().unwrap();
    within_a_minute(|| {
        for _ in 0..20 {
            let runtime = Runtime::new().unwrap();
            let (tell, begun) = mpsc::channel();
            let (go, wait) = mpsc::channel();
            let task = async move {
                tell.send(()).unwrap();
                block_in_place(|| wait.recv().unwrap());
            };
            let ours = Mutex::new((Some(task), begun));
            let me = thread::current().id();
            let as_guest = || {
                let mut ours = ours.lock().unwrap();
                let task = ours.0.take_if(|_| thread::current().id() == me)?;
                let task = runtime.spawn(task);
                ours.1.recv().unwrap();
                Some(task)
            };
            // If the worker has its seat at this moment, this thread is no guest, and tries again.
            let task = iter::repeat_with(|| blitz_core::scope(|_| as_guest()));
            let task = task.flatten().next().unwrap();
            let go = move || go.send(()).unwrap();
            runtime.handle().spawn_cpu_detached(go);
            runtime.block_on(task).unwrap();
        }
    });
}
