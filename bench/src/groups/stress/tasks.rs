//! A random async program that follows from a seed: tasks, timers, locks and computations, with aborts and time-outs at random moments.
//!
//! A program is a tree, as in `program`; its nodes are what an async runtime offers. A node whose child may be cut off (aborted, timed
//! out) has a value of its own and checks the child's if it arrives; all others combine their children's values, so the root's value
//! is known beforehand. Every node carries a token: a future that is leaked, dropped twice, or polled after its end shows in the ledger.
//! A section under a shield that has begun must have ended when its task has, however that ended.

use std::fmt::Debug;
use std::future::{Future, pending};
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blitz_io::task::{JoinSet, LocalSet, shield, spawn_local, yield_now};
use blitz_io::{Builder, Handle, Runtime, sync, sync::oneshot};

use super::program::{StressPanic, combine, mix};
use super::tracked::Ledger;
use crate::arms::blitz;

const LEVELS: u32 = 4;

blitz_io::task_local! {
    static WHO: u64;
}

/// What the tasks of one program share.
struct World {
    ledger: Arc<Ledger>,
    lock: sync::Mutex<u64>,
    locked: AtomicU64,
    permits: sync::Semaphore,
    inside: AtomicUsize,
    shields: [AtomicUsize; 2],
    wrong: Mutex<Option<String>>,
    /// The runtime ends in the middle: tasks find their children cancelled, and may fail because of that.
    ends: AtomicBool,
}

const PERMITS: usize = 3;

impl World {
    fn new(ledger: &Arc<Ledger>) -> Arc<Self> {
        Arc::new(World {
            ledger: Arc::clone(ledger),
            lock: sync::Mutex::new(0),
            locked: AtomicU64::new(0),
            permits: sync::Semaphore::new(PERMITS),
            inside: AtomicUsize::new(0),
            shields: Default::default(),
            wrong: Mutex::new(None),
            ends: AtomicBool::new(false),
        })
    }

    /// Remembers what was wrong: the task that noticed may be one that nobody awaits.
    fn expect(&self, right: bool, what: impl FnOnce() -> String) {
        if !right && !self.ends.load(Ordering::SeqCst) {
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            wrong.get_or_insert_with(what);
        }
    }

    fn expect_value(&self, value: u64, node: Node, what: &str) {
        self.expect(value == node.value(), || {
            format!("{what} of {:x} returned {value:x}", node.seed)
        });
    }

    /// What a child that nobody cuts off has returned. If the runtime has ended there may be nothing: then the caller ends as well, by a
    /// panic that is not printed.
    fn arrived<T, E: Debug>(&self, result: Result<T, E>) -> T {
        result.unwrap_or_else(|error| {
            if self.ends.load(Ordering::SeqCst) {
                panic_any(StressPanic(0));
            }
            panic!("a child that nobody cut off has not arrived: {error:?}")
        })
    }

    /// Drops a runtime in which tasks of this program may run.
    fn end(&self, runtime: Runtime) {
        self.ends.store(true, Ordering::SeqCst);
        drop(runtime);
        // A shielded section that runs at the end ends with everything else.
        let begun = self.shields[0].load(Ordering::SeqCst);
        self.shields[1].store(begun, Ordering::SeqCst);
    }

    /// What is wrong once everything is over, if anything.
    fn settle(&self) -> Result<(), String> {
        let wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wrong) = &*wrong {
            return Err(wrong.clone());
        }
        let [begun, ended] = [0, 1].map(|index| self.shields[index].load(Ordering::SeqCst));
        if begun != ended {
            return Err(format!("{begun} shielded sections began, {ended} ended"));
        }
        let count = self.lock.try_lock().map(|count| *count);
        let locked = self.locked.load(Ordering::SeqCst);
        if count.as_ref().ok() != Some(&locked) {
            return Err(format!("the lock counted {count:?} of {locked}"));
        }
        match self.permits.available_permits() {
            PERMITS => Ok(()),
            left => Err(format!("{left} of {PERMITS} permits are left")),
        }
    }
}

/// A node: its seed and how many levels may follow.
#[derive(Clone, Copy, Debug)]
struct Node {
    seed: u64,
    levels: u32,
}

impl Node {
    fn root(seed: u64) -> Self {
        Node {
            seed: mix(seed),
            levels: LEVELS,
        }
    }

    fn child(self, which: u64) -> Self {
        Node {
            seed: mix(self.seed ^ (which + 1).wrapping_mul(0x51ED)),
            levels: self.levels - 1,
        }
    }

    fn kind(self) -> u64 {
        self.seed % if self.levels == 0 { 4 } else { 20 }
    }

    /// The children whose values the node's consists of.
    fn parts(self) -> u64 {
        match self.kind() {
            4 | 5 => 2,
            6 => 2 + self.seed / 32 % 5,
            7..=11 => 1,
            _ => 0,
        }
    }

    fn own_value(self) -> u64 {
        mix(self.seed ^ 0xA57)
    }

    /// What the node returns.
    fn value(self) -> u64 {
        let parts = (0..self.parts()).map(|which| self.child(which).value());
        let folded = parts.fold(0, |sum: u64, value| sum.wrapping_add(combine(value, 1)));
        self.own_value().wrapping_add(folded)
    }

    fn micros(self) -> Duration {
        Duration::from_micros(mix(self.seed ^ 0x71) % 400)
    }

    fn turns(self) -> u64 {
        mix(self.seed ^ 0x70) % 4
    }
}

async fn yields(node: Node) {
    for _ in 0..node.turns() {
        yield_now().await;
    }
}

type Boxed = Pin<Box<dyn Future<Output = u64> + Send>>;

fn run(world: &Arc<World>, node: Node) -> Boxed {
    let token = world.ledger.shared_token();
    let world = Arc::clone(world);
    Box::pin(async move {
        token.touch();
        let parts = parts(&world, node).await;
        token.touch();
        let fold = |sum: u64, value: u64| sum.wrapping_add(combine(value, 1));
        node.own_value()
            .wrapping_add(parts.into_iter().fold(0, fold))
    })
}

/// Runs the node's children; returns the values of those that count.
async fn parts(world: &Arc<World>, node: Node) -> Vec<u64> {
    let child = |which| run(world, node.child(which));
    match node.kind() {
        1 => yields(node).await,
        2 => blitz_io::time::sleep(node.micros()).await,
        3 => lock_and_permit(world, node).await,
        4 => {
            let (left, right) = (blitz_io::spawn(child(0)), blitz_io::spawn(child(1)));
            return vec![world.arrived(left.await), world.arrived(right.await)];
        }
        5 => {
            let (here, there) = (child(0).await, blitz_io::spawn(child(1)).await);
            return vec![here, world.arrived(there)];
        }
        6 => {
            let mut set = JoinSet::new();
            (0..node.parts()).for_each(|which| drop(set.spawn(child(which))));
            let mut values = Vec::new();
            while let Some(value) = set.join_next().await {
                values.push(world.arrived(value));
            }
            return values;
        }
        7 => {
            let (task, handle) = (child(0), Handle::current());
            let job = blitz_io::spawn_cpu(move || {
                let (value, sum) = blitz::join(|| handle.block_on(task), || tree(4));
                assert_eq!(sum, 16);
                value
            });
            return vec![world.arrived(job.await)];
        }
        8 => {
            let (sender, receiver) = oneshot::channel();
            let task = child(0);
            drop(blitz_io::spawn(async move {
                let _ = sender.send(task.await);
            }));
            return vec![world.arrived(receiver.await)];
        }
        9 => {
            let task = child(0);
            let who = node.seed;
            return vec![
                WHO.scope(who, async move {
                    let value = task.await;
                    assert_eq!(WHO.get(), who);
                    value
                })
                .await,
            ];
        }
        10 => {
            let (task, handle) = (child(0), Handle::current());
            let blocking = blitz_io::spawn_blocking(move || handle.block_on(task));
            return vec![world.arrived(blocking.await)];
        }
        11 => return vec![world.arrived(scoped(child(0)).await)],
        12 => aborted(world, node, blitz_io::spawn(child(0))).await,
        13 => {
            if let Ok(value) = blitz_io::time::timeout(node.micros(), child(0)).await {
                world.expect_value(value, node.child(0), "a child with a time-out");
            }
        }
        14 => shielded(world, node).await,
        15 => {
            let failing = blitz_io::spawn(async move {
                yields(node).await;
                panic_any(StressPanic(node.seed));
            });
            let error = failing.await.map(|()| 0).unwrap_err();
            world.expect(error.is_panic(), || format!("a panic became {error}"));
        }
        16 => {
            // Nobody awaits it. It may outlive the program, but not the runtime.
            drop(blitz_io::spawn(child(0)));
        }
        17 => {
            let mut set = JoinSet::new();
            (0..4).for_each(|which| drop(set.spawn(child(which))));
            yields(node).await;
            set.shutdown().await;
        }
        18 => assert_eq!(blitz_io::block_in_place(|| tree(3)), 8),
        19 => drop(blitz_io::time::timeout(node.micros(), lock_and_permit(world, node)).await),
        _ => {}
    }
    Vec::new()
}

/// Counts under the lock, and passes through a door for three. Both may be cut off anywhere.
async fn lock_and_permit(world: &World, node: Node) {
    {
        let mut count = world.lock.lock().await;
        let before = *count;
        yields(node).await;
        *count = before + 1;
        world.locked.fetch_add(1, Ordering::SeqCst);
    }
    let permit = world.permits.acquire().await.expect("never closed");
    let inside = Counted::new(&world.inside);
    world.expect(inside.1 <= PERMITS, || {
        format!("{} hold one of {PERMITS} permits", inside.1)
    });
    yields(node).await;
    drop(inside);
    drop(permit);
}

/// One more, until it is dropped; and how many there were then.
struct Counted<'a>(&'a AtomicUsize, usize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        Counted(count, count.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn aborted(world: &World, node: Node, task: blitz_io::JoinHandle<u64>) {
    yields(node).await;
    task.abort();
    match task.await {
        Ok(value) => world.expect_value(value, node.child(0), "an aborted child"),
        Err(error) => world.expect(error.is_cancelled(), || format!("an abort became {error}")),
    }
}

async fn shielded(world: &Arc<World>, node: Node) {
    let theirs = Arc::clone(world);
    let task = run(world, node.child(0));
    let section = blitz_io::spawn(async move {
        yields(node).await;
        let value = shield(async {
            theirs.shields[0].fetch_add(1, Ordering::SeqCst);
            let value = task.await;
            theirs.shields[1].fetch_add(1, Ordering::SeqCst);
            value
        })
        .await;
        yield_now().await;
        value
    });
    aborted(world, node, section).await;
}

/// A task that borrows from the frame that waits for it.
async fn scoped(task: Boxed) -> Result<u64, &'static str> {
    let mut task = Some(task);
    blitz_io::block_in_place(move || {
        let mut value = None;
        let (task, slot) = (task.take().expect("runs once"), &mut value);
        blitz_io::scope(|scope| {
            scope.spawn(async move { *slot = Some(task.await) });
        });
        value.ok_or("a scope waits for its tasks")
    })
}

fn tree(depth: u32) -> u64 {
    if depth == 0 {
        return std::hint::black_box(1);
    }
    let (left, right) = blitz::join(|| tree(depth - 1), || tree(depth - 1));
    left + right
}

/// The runtimes that programs share, and those that are made for one and dropped in the middle of it.
pub struct Runtimes(Vec<Runtime>);

/// A runtime with workers of its own.
pub(super) fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let built = builder.worker_threads(workers).build();
    built.expect("the runtime starts")
}

impl Runtimes {
    pub fn new() -> Self {
        Runtimes([1, 2, 3, 8].map(runtime).into())
    }

    /// Runs the program of `seed` where the seed says, and checks everything about it.
    pub fn program(&self, seed: u64, ledger: &Arc<Ledger>) -> Result<(), String> {
        let world = World::new(ledger);
        let root = Node::root(seed);
        let choice = mix(seed ^ 0xA51);
        let shared = &self.0[(choice >> 8) as usize % self.0.len()];
        let value = match choice % 8 {
            0..=3 => shared.block_on(shared.spawn(run(&world, root))),
            4 => Ok(shared.block_on(local(run(&world, root)))),
            5 => {
                // Dropped while tasks run: nothing is left of it, whatever was going on.
                let own = runtime(1 + (choice >> 16) as usize % 3);
                let task = own.spawn(run(&world, root));
                drop(own.spawn(pending::<()>()));
                std::thread::sleep(Duration::from_micros((choice >> 24) % 500));
                world.end(own);
                Ok(shared.block_on(task).unwrap_or_default())
            }
            _ => {
                let own = runtime(1 + (choice >> 16) as usize % 3);
                let value = own.block_on(async { blitz_io::spawn(run(&world, root)).await });
                // Tasks that nobody awaited may still run.
                world.end(own);
                value
            }
        };
        let value = value.map_err(|error| format!("the root failed: {error}"))?;
        if !world.ends.load(Ordering::SeqCst) || choice % 8 > 5 {
            let right = value == root.value();
            let message = || format!("the root of {:x} returned {value:x}", root.seed);
            right.then_some(()).ok_or_else(message)?;
        }
        drop_when_alone(world)
    }
}

/// Runs the task beside one that is not `Send`, on the calling thread.
async fn local(task: Boxed) -> u64 {
    LocalSet::new()
        .run_until(async {
            let here = std::rc::Rc::new(std::cell::Cell::new(0));
            let theirs = std::rc::Rc::clone(&here);
            let beside = spawn_local(async move {
                for _ in 0..3 {
                    yield_now().await;
                    theirs.set(theirs.get() + 1);
                }
            });
            let value = spawn_local(task).await.expect("not aborted");
            beside.await.expect("not aborted");
            assert_eq!(here.get(), 3);
            value
        })
        .await
}

/// Waits for the tasks that nobody awaited, and settles.
fn drop_when_alone(world: Arc<World>) -> Result<(), String> {
    super::wait_until(|| Arc::strong_count(&world) == 1).map_err(|()| {
        let left = Arc::strong_count(&world) - 1;
        format!("{left} futures of a program are still there")
    })?;
    world.settle()
}

/// Scenario `tasks`.
pub fn run_scenario(stress: &super::Stress, seed: u64) -> Result<(), String> {
    let ledger = Arc::default();
    stress.runtimes.program(seed, &ledger)?;
    ledger.settle()?;
    let made = ledger.made() as u64;
    stress.totals.closures.fetch_add(made, Ordering::Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_every_kind_occur() {
        let mut seen = [0; 20];
        for seed in 0..2000 {
            seen[Node::root(seed).kind() as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    }

    #[test]
    fn a_few_programs_are_right() {
        let runtimes = Runtimes::new();
        for seed in 0..40 {
            let ledger = Arc::default();
            runtimes.program(seed, &ledger).unwrap();
            ledger.settle().unwrap();
        }
    }
}
