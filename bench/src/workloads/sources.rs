//! Loops over everything that is not a plain slice: maps, sets, lists, heaps, and text in pieces.
//!
//! The loops are one text; only the names of the methods that begin them differ between plain code (`iter`, `lines`) and
//! the libraries (`par_iter`, `par_lines`). Each ends in a sum that depends on every item, so that all of them can be compared.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};

use crate::spin::spin;

/// The same values in every collection there is.
pub struct Sources {
    pub(crate) hash_map: HashMap<u64, u64>,
    pub(crate) hash_set: HashSet<u64>,
    pub(crate) btree_map: BTreeMap<u64, u64>,
    pub(crate) btree_set: BTreeSet<u64>,
    pub(crate) linked_list: LinkedList<u64>,
    pub(crate) vec_deque: VecDeque<u64>,
    pub(crate) binary_heap: BinaryHeap<u64>,
    pub(crate) slice: Vec<u64>,
    /// Lines of five words.
    pub(crate) text: String,
}

impl Sources {
    /// Collections of `count` items; the text has as many lines as a sixteenth of that, so that characters are about as
    /// many as items.
    pub fn new(count: usize) -> Self {
        let value = |key: u64| key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let keys = 0..count as u64;
        let values = || keys.clone().map(value);
        let mut vec_deque: VecDeque<u64> = values().collect();
        // The ring's contents wrap around its end, as they do in a queue that is in use.
        vec_deque.rotate_left(count / 3);
        let lines = keys.clone().take(count.div_ceil(16));
        Sources {
            hash_map: keys.clone().map(|key| (key, value(key))).collect(),
            hash_set: values().collect(),
            btree_map: keys.clone().map(|key| (key, value(key))).collect(),
            btree_set: values().collect(),
            linked_list: values().collect(),
            vec_deque,
            binary_heap: values().collect(),
            slice: values().collect(),
            text: lines
                .map(|line| format!("ab cde é {line:02} {}\n", value(line) % 1000))
                .collect(),
        }
    }
}

/// One loop and its name.
pub type Loop = (&'static str, fn(&Sources) -> u64);

/// About 50 ns of work that depends on the item.
#[inline(always)]
pub fn dear(value: u64) -> u64 {
    spin(50, value) & 0xffff
}

/// Defines `loops()` with these methods in place of `iter`, `lines`, `split_whitespace`, `chars` and `windows`.
macro_rules! source_loops {
    ($iter:ident $lines:ident $words:ident $chars:ident $windows:ident) => {
        /// Every loop, in the same order for every library.
        pub fn loops() -> Vec<$crate::workloads::sources::Loop> {
            use $crate::workloads::sources::dear;
            vec![
                ("hash_map/cheap", |all| {
                    all.hash_map.$iter().map(|(k, v)| k ^ v).sum()
                }),
                ("hash_map/dear", |all| {
                    all.hash_map.$iter().map(|(_, &v)| dear(v)).sum()
                }),
                ("hash_set/cheap", |all| all.hash_set.$iter().sum()),
                ("btree_map/cheap", |all| {
                    all.btree_map.$iter().map(|(k, v)| k ^ v).sum()
                }),
                ("btree_map/dear", |all| {
                    all.btree_map.$iter().map(|(_, &v)| dear(v)).sum()
                }),
                ("btree_set/cheap", |all| all.btree_set.$iter().sum()),
                ("linked_list/cheap", |all| all.linked_list.$iter().sum()),
                ("linked_list/dear", |all| {
                    all.linked_list.$iter().map(|&v| dear(v)).sum()
                }),
                ("vec_deque/cheap", |all| all.vec_deque.$iter().sum()),
                ("binary_heap/cheap", |all| all.binary_heap.$iter().sum()),
                ("windows_2/cheap", |all| {
                    all.slice.$windows(2).map(|w| w[0] ^ w[1]).sum()
                }),
                ("lines/cheap", |all| {
                    all.text.$lines().map(|line| line.len() as u64).sum()
                }),
                ("words/cheap", |all| {
                    all.text.$words().map(|word| word.len() as u64).sum()
                }),
                ("chars/cheap", |all| all.text.$chars().map(u64::from).sum()),
            ]
        }
    };
}
pub(crate) use source_loops;

/// The loops as plain code.
pub mod seq {
    source_loops!(iter lines split_whitespace chars windows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{blitz, rayon};

    #[test]
    fn the_loops_of_every_library_agree_with_plain_code() {
        for count in [0, 1, 10, 3000] {
            let all = Sources::new(count);
            let libraries = [blitz::sources::loops(), rayon::sources::loops()];
            for (index, (name, seq)) in seq::loops().into_iter().enumerate() {
                let expected = seq(&all);
                // A loop that sees nothing proves nothing.
                assert!(expected > 0 || count < 10, "{name}");
                for loops in &libraries {
                    assert_eq!((loops[index].0, loops[index].1(&all)), (name, expected));
                }
            }
        }
    }
}
