//! Which threads sleep: one bit for each, so that a waker finds one without asking them in turn.
//!
//! A set bit says that the thread sleeps and that nobody has undertaken to wake it. Clearing it *is* undertaking it: among any
//! number of wakers, and the sleeper itself if it changes its mind, exactly one gets `true` from [`Asleep::claim`].
//!
//! As many words as it takes, 64 threads each. Finding a sleeper among n threads costs a load for every 64 of them and a
//! count of trailing zeros, instead of a load from a cache line of each. No summary of the words is kept: pools of some hundred
//! threads have a handful of them, in one cache line.

use crate::rows::Rows;
use crate::sync::{AtomicU64, Ordering};

/// Models have two or three threads, and are to see several words as well.
const BITS: usize = if cfg!(loom) { 1 } else { 64 };

#[derive(Debug)]
pub(super) struct Asleep {
    words: Rows<AtomicU64>,
}

impl Asleep {
    /// Nobody sleeps.
    pub(super) fn new(threads: usize) -> Self {
        let words = (0..threads.div_ceil(BITS)).map(|_| AtomicU64::new(0));
        Asleep {
            words: words.collect(),
        }
    }

    /// For so many threads. For one caller at a time.
    pub(super) fn grow_to(&self, threads: usize) {
        let words = threads.div_ceil(BITS);
        self.words.grow_to(words, |_| AtomicU64::new(0));
    }

    fn place(&self, thread: usize) -> (&AtomicU64, u64) {
        (&self.words[thread / BITS], 1 << (thread % BITS))
    }

    /// The calling thread, `thread`, sleeps from now on. What it did before is seen by whoever claims it.
    pub(super) fn add(&self, thread: usize) {
        let (word, bit) = self.place(thread);
        let before = word.fetch_or(bit, Ordering::SeqCst);
        debug_assert!(before & bit == 0, "asleep twice");
    }

    /// Ends its sleep. `true`: it slept, and the caller is the one who has to see to the rest.
    pub(super) fn claim(&self, thread: usize) -> bool {
        let (word, bit) = self.place(thread);
        // Mostly it does not sleep, and a load leaves the line to the others.
        word.load(Ordering::SeqCst) & bit != 0 && word.fetch_and(!bit, Ordering::SeqCst) & bit != 0
    }

    /// Those who sleep, `first` and those after it before those before it; each word as it is when its turn comes.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = usize> {
        let words = self.words.len();
        let (first_word, split) = (first / BITS, first % BITS);
        // The first word comes twice: what lies above `first`, and at the end what lies below.
        (0..=words).flat_map(move |offset| {
            let index = (first_word + offset) % words;
            let above = u64::MAX << split;
            let wanted = match offset {
                0 => above,
                _ if offset == words => !above,
                _ => u64::MAX,
            };
            members(self.words[index].load(Ordering::SeqCst) & wanted)
                .map(move |bit| index * BITS + bit)
        })
    }
}

/// The places of the bits that are set, from the lowest.
fn members(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros() as usize);
        // Without its lowest bit; zero stays zero.
        word &= word.wrapping_sub(1);
        lowest
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn asleep(threads: usize, who: impl IntoIterator<Item = usize>) -> Asleep {
        let asleep = Asleep::new(threads);
        who.into_iter().for_each(|thread| asleep.add(thread));
        asleep
    }

    fn list(asleep: &Asleep, first: usize) -> Vec<usize> {
        asleep.from(first).collect()
    }

    #[test]
    fn every_sleeper_is_found_once_wherever_the_search_begins() {
        for threads in [1, 2, 3, 63, 64, 65, 127, 128, 129, 200, 256] {
            let all = asleep(threads, 0..threads);
            let odd = asleep(threads, (0..threads).filter(|thread| thread % 2 == 1));
            for first in 0..threads {
                let in_turn = |offset| (first + offset) % threads;
                let expected: Vec<usize> = (0..threads).map(in_turn).collect();
                assert_eq!(list(&all, first), expected);
                let expected = expected.into_iter().filter(|thread| thread % 2 == 1);
                assert_eq!(list(&odd, first), expected.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_lone_sleeper_on_either_side_of_a_words_edge_is_found() {
        for lone in [0, 63, 64, 65, 127, 128, 199] {
            let asleep = asleep(200, [lone]);
            for first in [0, 1, 62, 63, 64, 65, 126, 127, 128, 129, 198, 199] {
                assert_eq!(list(&asleep, first), [lone]);
            }
        }
    }

    #[test]
    fn a_sleeper_is_claimed_once() {
        let asleep = asleep(130, [64, 129]);
        assert!(!asleep.claim(0) && !asleep.claim(63) && !asleep.claim(128));
        assert!(asleep.claim(129) && !asleep.claim(129));
        assert_eq!(list(&asleep, 100), [64]);
        assert!(asleep.claim(64) && !asleep.claim(64));
        assert_eq!(list(&asleep, 0), []);
    }

    #[test]
    fn each_sleeper_is_claimed_by_one_of_many_wakers() {
        const THREADS: usize = 150;
        let asleep = asleep(THREADS, 0..THREADS);
        let claimed: Vec<Vec<usize>> = std::thread::scope(|scope| {
            let waker = |waker: usize| {
                let asleep = &asleep;
                let claims = move || {
                    let first = waker * 50;
                    asleep.from(first).filter(|&t| asleep.claim(t)).collect()
                };
                scope.spawn(claims)
            };
            let wakers: Vec<_> = (0..3).map(waker).collect();
            wakers.into_iter().map(|w| w.join().unwrap()).collect()
        });
        let mut all = claimed.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..THREADS));
    }
}
