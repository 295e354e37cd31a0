//! A perfect binary tree in pre-order memory: node, left subtree, right subtree.
//!
//! The order of addresses matters fourfold. Walking left first reads this layout front to back; walking right first
//! jumps. chili and forte run the second closure of a join first, rayon and Blitz the first, so on one and the same
//! program they walk in opposite directions. The arms therefore swap closures where needed, so that everyone walks
//! left first, and separate rows show both kinds as written.

use std::mem::MaybeUninit;

/// One node: three words, linked by reference as a boxed tree would be.
pub struct Node<'tree> {
    /// What is summed.
    pub value: u64,
    /// The subtree that follows this node in memory.
    pub left: Option<&'tree Node<'tree>>,
    /// The subtree that follows the left one.
    pub right: Option<&'tree Node<'tree>>,
}

/// Memory for one tree.
pub struct Arena<'tree>(Vec<MaybeUninit<Node<'tree>>>);

impl<'tree> Arena<'tree> {
    /// Room for a perfect tree of this many levels.
    pub fn for_levels(levels: u32) -> Self {
        let count = node_count(levels);
        let mut slots = Vec::with_capacity(count);
        slots.resize_with(count, MaybeUninit::uninit);
        Self(slots)
    }

    /// Fills the arena and returns the root. The arena stays borrowed for as long as the tree lives.
    pub fn fill(&'tree mut self) -> &'tree Node<'tree> {
        let mut next_value = 0;
        build(&mut self.0, &mut next_value)
    }
}

/// Nodes of a perfect tree with this many levels.
pub fn node_count(levels: u32) -> usize {
    (1 << levels) - 1
}

/// Sum of the values of a perfect tree with this many levels.
pub fn expected_sum(levels: u32) -> u64 {
    let count = node_count(levels) as u64;
    count * (count - 1) / 2
}

fn build<'tree>(
    slots: &'tree mut [MaybeUninit<Node<'tree>>],
    next_value: &mut u64,
) -> &'tree Node<'tree> {
    let (slot, below) = slots
        .split_first_mut()
        .expect("a perfect tree has an odd number of nodes at every level");
    let value = *next_value;
    *next_value += 1;
    let node = if below.is_empty() {
        Node {
            value,
            left: None,
            right: None,
        }
    } else {
        let (left, right) = below.split_at_mut(below.len() / 2);
        Node {
            value,
            left: Some(build(left, next_value)),
            right: Some(build(right, next_value)),
        }
    };
    slot.write(node)
}

/// Plain recursion, left subtree first.
pub fn sum(node: &Node<'_>) -> u64 {
    let left = node.left.map_or(0, sum);
    let right = node.right.map_or(0, sum);
    node.value + left + right
}

/// Plain recursion, right subtree first: what chili and forte do with `join(left, right)`.
pub fn sum_right_first(node: &Node<'_>) -> u64 {
    let right = node.right.map_or(0, sum_right_first);
    let left = node.left.map_or(0, sum_right_first);
    node.value + left + right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_give_the_sum_of_all_values() {
        for levels in 1..=12 {
            let mut arena = Arena::for_levels(levels);
            let root = arena.fill();
            assert_eq!(sum(root), expected_sum(levels));
            assert_eq!(sum_right_first(root), expected_sum(levels));
        }
    }

    #[test]
    fn a_left_first_walk_reads_memory_front_to_back() {
        fn addresses(node: &Node<'_>, seen: &mut Vec<usize>) {
            seen.push(node as *const Node<'_> as usize);
            for child in [node.left, node.right].into_iter().flatten() {
                addresses(child, seen);
            }
        }
        let mut arena = Arena::for_levels(6);
        let mut seen = Vec::new();
        addresses(arena.fill(), &mut seen);
        assert_eq!(seen.len(), node_count(6));
        assert!(seen.is_sorted());
        assert_eq!(seen[1] - seen[0], size_of::<Node<'_>>());
    }
}
