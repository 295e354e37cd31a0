//! A random parallel program that follows from a seed, run in parallel and worked out sequentially.
//!
//! A program is a tree. Inner nodes are joins, scopes of several kinds with nested spawns, detached spawns, calls into
//! another pool; leaves are a value, a yield, or (in some programs) a panic. Both sides read the same plan from the
//! node's seed, so the parallel result can be compared exactly: the value, which depends on which child was left and
//! which right, the sum of all leaves executed, and if the program panics, whose panic came out.

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::tracked::{Ledger, Token};
use crate::arms::blitz;
use crate::spin::spin;

/// What a node of the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Leaf,
    Yield,
    Panic,
    Join,
    JoinContext,
    /// Joins nested this deep on one thread.
    Chain(u32),
    Scope(Flavour, u32),
    /// A spawn nobody waits for, then the left child.
    Detached,
    /// The left child on another pool.
    Elsewhere,
    Broadcast,
}

/// No chain is longer. Code that is not optimised takes more than a kilobyte of stack for each join of a chain, and threads have two
/// megabytes, several chains deep.
const LONGEST_CHAIN: u32 = if cfg!(debug_assertions) { 400 } else { 2000 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    Lifo,
    Fifo,
    InPlace,
    InPlaceFifo,
}

/// What a program panics with: the seed of the node that did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StressPanic(pub u64);

/// A node: its seed and how many levels may follow.
#[derive(Clone, Copy, Debug)]
struct Node {
    seed: u64,
    levels: u32,
    panics: bool,
}

/// Shuffles bits; the source of every decision.
pub fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

impl Node {
    fn root(seed: u64) -> Self {
        let choice = mix(seed ^ 0x5EED);
        Self {
            seed: mix(seed),
            levels: 3 + (choice % 8) as u32,
            panics: choice >> 60 < 5,
        }
    }

    fn child(self, index: u64) -> Self {
        Self {
            seed: mix(self.seed ^ (index + 1).wrapping_mul(0xA24B_AED4_963E_E407)),
            levels: self.levels - 1,
            panics: self.panics,
        }
    }

    fn kind(self) -> Kind {
        let choice = mix(self.seed ^ 0x00C4_01CE);
        if self.panics && choice.is_multiple_of(47) {
            return Kind::Panic;
        }
        if self.levels == 0 {
            return if choice & 31 == 0 {
                Kind::Yield
            } else {
                Kind::Leaf
            };
        }
        let detail = (choice >> 32) as u32;
        match (choice >> 8) % 64 {
            0..=33 => Kind::Join,
            34..=38 => Kind::JoinContext,
            39..=43 => Kind::Scope(Flavour::Lifo, 1 + detail % 6),
            44..=46 => Kind::Scope(Flavour::Fifo, 1 + detail % 6),
            47..=49 => Kind::Scope(Flavour::InPlace, 1 + detail % 6),
            50..=51 => Kind::Scope(Flavour::InPlaceFifo, 1 + detail % 6),
            52..=54 => Kind::Detached,
            55 if self.levels >= 3 => Kind::Elsewhere,
            56 if self.levels >= 5 => Kind::Chain(200 + detail % (LONGEST_CHAIN - 200)),
            57 if self.levels >= 6 => Kind::Broadcast,
            58..=59 => Kind::Yield,
            _ => Kind::Leaf,
        }
    }

    fn own_value(self) -> u64 {
        spin(self.seed % 64, self.seed)
    }
}

/// Puts two results together so that swapping them shows.
pub(super) fn combine(left: u64, right: u64) -> u64 {
    left.wrapping_mul(3)
        .wrapping_add(right.wrapping_mul(5))
        .rotate_left(7)
}

/// What the sequential reading of a program says must happen.
#[derive(Debug)]
pub struct Expected {
    /// The value, or whose panics may come out.
    pub value: Result<u64, Vec<u64>>,
    /// Sum over all leaves: each must be executed exactly once if nothing panics.
    pub leaves: u64,
    /// Detached spawns made if nothing panics.
    pub detached: usize,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this value.
    Value(u64),
    /// With the panic of this node.
    Panicked(u64),
}

/// Works a program out without any pool.
pub fn expect(seed: u64) -> Expected {
    let mut expected = Expected {
        value: Ok(0),
        leaves: 0,
        detached: 0,
    };
    expected.value = expect_node(
        Node::root(seed),
        &mut expected.leaves,
        &mut expected.detached,
    );
    expected
}

fn expect_node(node: Node, leaves: &mut u64, detached: &mut usize) -> Result<u64, Vec<u64>> {
    let mut leaf = |value: u64| {
        *leaves = leaves.wrapping_add(value);
        value
    };
    match node.kind() {
        Kind::Leaf | Kind::Yield | Kind::Broadcast => Ok(leaf(node.own_value())),
        Kind::Panic => Err(vec![node.seed]),
        Kind::Join | Kind::JoinContext => {
            let left = expect_node(node.child(0), leaves, detached);
            let right = expect_node(node.child(1), leaves, detached);
            // The left panic wins, whatever the right side did.
            Ok(combine(left?, right?))
        }
        Kind::Chain(length) => Ok((0..length).fold(leaf(node.own_value()), |value, link| {
            combine(value, leaf(chain_value(node, link)))
        })),
        Kind::Scope(_, tasks) => {
            let mut value = 0;
            let mut panics = Vec::new();
            // Task 0 is the scope's own body. Which of several panics comes out is a matter of timing.
            for task in 0..=u64::from(tasks) {
                match expect_node(node.child(task), leaves, detached) {
                    Ok(result) => value = combine(value, result),
                    Err(seeds) => panics.extend(seeds),
                }
            }
            if panics.is_empty() {
                Ok(value)
            } else {
                Err(panics)
            }
        }
        Kind::Detached => {
            *detached += 1;
            expect_node(node.child(0), leaves, detached)
        }
        Kind::Elsewhere => expect_node(node.child(0), leaves, detached),
    }
}

fn chain_value(node: Node, link: u32) -> u64 {
    mix(node.seed.wrapping_add(u64::from(link)))
}

/// Counters of one run.
#[derive(Debug, Default)]
pub struct Counters {
    leaves: AtomicU64,
    detached_started: AtomicUsize,
    detached_done: Arc<AtomicUsize>,
}

impl Counters {
    /// Sum over the leaves executed so far.
    pub fn leaves(&self) -> u64 {
        self.leaves.load(Ordering::SeqCst)
    }

    /// Detached spawns made and finished so far.
    pub fn detached(&self) -> (usize, usize) {
        let done = self.detached_done.load(Ordering::SeqCst);
        (self.detached_started.load(Ordering::SeqCst), done)
    }
}

/// What a run needs to know at every node.
#[derive(Clone, Copy)]
struct Run<'run> {
    ledger: &'run Ledger,
    counters: &'run Counters,
    elsewhere: &'run blitz::ThreadPool,
}

/// A result with a token, so that lost and doubled results show.
struct Tracked<'run>(u64, Token<&'run Ledger>);

/// Runs a program on whatever pool the calling thread belongs to; panics if the program does.
pub fn execute(
    seed: u64,
    ledger: &Ledger,
    counters: &Counters,
    elsewhere: &blitz::ThreadPool,
) -> u64 {
    let run = Run {
        ledger,
        counters,
        elsewhere,
    };
    run.node(Node::root(seed)).0
}

impl<'run> Run<'run> {
    fn leaf(self, value: u64) -> Tracked<'run> {
        self.counters.leaves.fetch_add(value, Ordering::Relaxed);
        Tracked(value, self.ledger.token())
    }

    /// A closure that runs a child and owns a token.
    fn child(self, node: Node, index: u64) -> impl FnOnce() -> Tracked<'run> + Send {
        let token = self.ledger.token();
        move || {
            token.touch();
            self.node(node.child(index))
        }
    }

    fn node(self, node: Node) -> Tracked<'run> {
        match node.kind() {
            Kind::Leaf => self.leaf(node.own_value()),
            Kind::Yield => {
                blitz::yield_now();
                self.leaf(node.own_value())
            }
            Kind::Panic => panic_any(StressPanic(node.seed)),
            Kind::Join => {
                let (left, right) = blitz::join(self.child(node, 0), self.child(node, 1));
                self.both(&left, &right)
            }
            Kind::JoinContext => {
                let (first, second) = (self.child(node, 0), self.child(node, 1));
                let (left, right) = blitz::join_context(|_| first(), |_| second());
                self.both(&left, &right)
            }
            Kind::Chain(length) => self.chain(node, length),
            Kind::Scope(flavour, tasks) => self.scope(node, flavour, tasks),
            Kind::Detached => {
                self.counters
                    .detached_started
                    .fetch_add(1, Ordering::SeqCst);
                let done = Arc::clone(&self.counters.detached_done);
                blitz::spawn(move || {
                    done.fetch_add(1, Ordering::SeqCst);
                });
                self.node(node.child(0))
            }
            Kind::Elsewhere => self.elsewhere.install(self.child(node, 0)),
            Kind::Broadcast => {
                let answers = blitz::broadcast(|context| context.index());
                // Every thread of the pool answers once, in order.
                assert!(answers.iter().copied().eq(0..answers.len()));
                self.leaf(node.own_value())
            }
        }
    }

    fn both(self, left: &Tracked<'run>, right: &Tracked<'run>) -> Tracked<'run> {
        left.1.touch();
        right.1.touch();
        Tracked(combine(left.0, right.0), self.ledger.token())
    }

    /// `length` joins that are all open at once on the owner's stack of forks.
    fn chain(self, node: Node, length: u32) -> Tracked<'run> {
        if length == 0 {
            return self.leaf(node.own_value());
        }
        let token = self.ledger.token();
        let (inner, link) = blitz::join(
            move || self.chain(node, length - 1),
            move || {
                token.touch();
                self.leaf(chain_value(node, length - 1))
            },
        );
        self.both(&inner, &link)
    }

    fn scope(self, node: Node, flavour: Flavour, tasks: u32) -> Tracked<'run> {
        let mut results: Vec<Option<Tracked<'run>>> = (0..tasks).map(|_| None).collect();
        let slots = results.iter_mut().enumerate();
        let mut body = None;
        match flavour {
            Flavour::Lifo => blitz::scope(|scope| {
                for (index, slot) in slots {
                    let task = self.child(node, index as u64 + 1);
                    if index % 2 == 0 {
                        scope.spawn(move |_| *slot = Some(task()));
                    } else {
                        // One level of nesting: a task of the scope spawns the task proper.
                        scope.spawn(move |scope| scope.spawn(move |_| *slot = Some(task())));
                    }
                }
                body = Some(self.child(node, 0)());
            }),
            Flavour::Fifo => blitz::scope_fifo(|scope| {
                for (index, slot) in slots {
                    let task = self.child(node, index as u64 + 1);
                    scope.spawn_fifo(move |_| *slot = Some(task()));
                }
                body = Some(self.child(node, 0)());
            }),
            Flavour::InPlace => blitz::in_place_scope(|scope| {
                for (index, slot) in slots {
                    let task = self.child(node, index as u64 + 1);
                    scope.spawn(move |_| *slot = Some(task()));
                }
                body = Some(self.child(node, 0)());
            }),
            Flavour::InPlaceFifo => blitz::in_place_scope_fifo(|scope| {
                for (index, slot) in slots {
                    let task = self.child(node, index as u64 + 1);
                    scope.spawn_fifo(move |_| *slot = Some(task()));
                }
                body = Some(self.child(node, 0)());
            }),
        }
        let value = std::iter::once(body)
            .chain(results)
            .map(|result| result.expect("a scope ends after all its tasks").0)
            .fold(0, combine);
        Tracked(value, self.ledger.token())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_is_the_same_program() {
        for seed in 0..50 {
            let (first, second) = (expect(seed), expect(seed));
            assert_eq!(first.value, second.value);
            assert_eq!(
                (first.leaves, first.detached),
                (second.leaves, second.detached)
            );
        }
    }

    #[test]
    fn programs_of_every_kind_occur() {
        let seeds = 0..400;
        let outcomes: Vec<Expected> = seeds.map(expect).collect();
        let panicking = outcomes
            .iter()
            .filter(|expected| expected.value.is_err())
            .count();
        assert!((20..300).contains(&panicking), "{panicking} of 400 panic");
        assert!(outcomes.iter().any(|expected| expected.detached > 3));
        let several =
            |expected: &&Expected| expected.value.as_ref().is_err_and(|all| all.len() > 1);
        assert!(
            outcomes.iter().find(several).is_some(),
            "several panics in one scope"
        );
    }

    #[test]
    fn swapped_results_show_in_the_value() {
        assert_ne!(combine(1, 2), combine(2, 1));
    }
}
