//! Scenario `arenas`: tasks of all sizes live long and short, on threads that did not make them, while the memory around them is taken and given back. What a task has brought along is what it
//! finds, and all of it is gone at the end.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use blitz::Scope;

use super::Stress;
use super::dice::Dice;
use super::program::mix;

/// The most tasks that the body of the scope spawns.
const TASKS: usize = 4_000;

struct Count<'a> {
    made: &'a AtomicUsize,
    gone: &'a AtomicUsize,
    /// Tasks that found something else.
    broken: &'a AtomicU64,
}

/// A task's own memory: `N` words that follow from a number.
struct Load<'a, const N: usize> {
    words: [u64; N],
    number: u64,
    count: &'a Count<'a>,
}

impl<'a, const N: usize> Load<'a, N> {
    fn new(number: u64, count: &'a Count<'a>) -> Self {
        count.made.fetch_add(1, Ordering::SeqCst);
        Load {
            words: std::array::from_fn(|index| mix(number ^ index as u64)),
            number,
            count,
        }
    }

    /// Whatever has happened to the memory of others meanwhile.
    fn is_whole(&self) -> bool {
        let mut words = self.words.iter().enumerate();
        words.all(|(index, &word)| word == mix(self.number ^ index as u64))
    }
}

impl<const N: usize> Drop for Load<'_, N> {
    fn drop(&mut self) {
        self.count.gone.fetch_add(1, Ordering::SeqCst);
    }
}

pub fn run(stress: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let pool = &stress.pools[dice.below(stress.pools.len())];
    let (made, gone, broken) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
    let count = Count {
        made: &made,
        gone: &gone,
        broken: &broken,
    };
    let tasks = dice.between(1, TASKS);
    let throws = dice.roll();
    pool.scope(|scope| {
        let mut dice = Dice::new(throws);
        // So that blocks of the arenas do not lie side by side, and freed ones are taken by others.
        let mut pressure = Vec::new();
        for number in 0..tasks as u64 {
            spawn_any(scope, &mut dice, number, &count);
            if dice.once_in(8) {
                pressure.push(vec![number as u8; dice.between(1, 64 * 1024)]);
            }
            if dice.once_in(64) {
                pressure.clear();
            }
        }
    });
    let (made, gone) = (made.into_inner(), gone.into_inner());
    if made != gone || made < tasks {
        return Err(format!(
            "{made} loads of {tasks} tasks were made, {gone} dropped"
        ));
    }
    let broken = broken.into_inner();
    if broken > 0 {
        return Err(format!(
            "{broken} tasks found something else than they brought along"
        ));
    }
    Ok(())
}

fn spawn_any<'scope>(
    scope: &Scope<'scope>,
    dice: &mut Dice,
    number: u64,
    count: &'scope Count<'scope>,
) {
    // Around the largest block of an arena, too: beyond it, tasks are boxed.
    match dice.below(5) {
        0 => spawn::<1>(scope, dice, number, count),
        1 => spawn::<7>(scope, dice, number, count),
        2 => spawn::<64>(scope, dice, number, count),
        3 => spawn::<250>(scope, dice, number, count),
        _ => spawn::<300>(scope, dice, number, count),
    }
}

fn spawn<'scope, const N: usize>(
    scope: &Scope<'scope>,
    dice: &mut Dice,
    number: u64,
    count: &'scope Count<'scope>,
) {
    let load = Load::<N>::new(number, count);
    let more = dice.once_in(4);
    scope.spawn(move |scope| {
        if more {
            // From another thread's arena, perhaps, and longer alive than this one.
            let load = Load::<N>::new(!number, count);
            scope.spawn(move |_| check(&load));
        }
        check(&load);
    });
}

fn check<const N: usize>(load: &Load<'_, N>) {
    if !load.is_whole() {
        load.count.broken.fetch_add(1, Ordering::SeqCst);
    }
}
