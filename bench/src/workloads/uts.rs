//! Unbalanced tree search: a tree nobody knows until it is walked.
//!
//! Every node's state is a hash of its parent's and its own position; the state decides whether it has children. In
//! the binomial shape used here a node below the root has `width` children with probability just under `1 / width`:
//! most subtrees end at once, a few are enormous and deep, and nothing about a node says which. The whole tree follows
//! from one seed, so every library searches the same one. More hash rounds per node make nodes dearer.

/// State of a node: 64 bits that decide everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u64);

/// A node whose hash has been worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expanded {
    hash: u64,
    /// How many children it has.
    pub children: u32,
}

/// Which tree, and how much work per node.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Decides the tree.
    pub seed: u64,
    /// Children of the root.
    pub root_children: u32,
    /// Children of an inner node.
    pub width: u32,
    /// A node below the root is an inner node if the top 32 bits of its hash are below this.
    pub threshold: u32,
    /// Hash rounds per node.
    pub rounds: u32,
}

/// One round: invertible, so distinct states stay distinct.
#[inline(always)]
fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    state ^ (state >> 29)
}

impl Shape {
    /// Well over a million nodes, over a thousand levels deep, most of them in one subtree of the root (with the two
    /// numbers of rounds below; another number gives another tree).
    pub fn standard(rounds: u32) -> Self {
        Self {
            seed: 14,
            root_children: 2000,
            width: 8,
            threshold: (0.1247 * 4_294_967_296.0) as u32,
            rounds,
        }
    }

    /// Rounds for a node of about 6 ns.
    pub const CHEAP: u32 = 2;
    /// Rounds for a node of about 38 ns.
    pub const DEAR: u32 = 27;

    /// The root.
    pub fn root(&self) -> Node {
        // A state of zero marks the root: no hash of a child is zero in a tree that anyone has seen, and if one were,
        // every library would see the same tree all the same.
        Node(0)
    }

    /// Works out a node's hash and with it the number of its children.
    #[inline(always)]
    pub fn expand(&self, node: Node) -> Expanded {
        let mut hash = node.0 ^ self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for _ in 0..self.rounds {
            hash = mix(hash);
        }
        let children = if node.0 == 0 {
            self.root_children
        } else if ((hash >> 32) as u32) < self.threshold {
            self.width
        } else {
            0
        };
        Expanded { hash, children }
    }
}

impl Expanded {
    /// The state of a child.
    #[inline(always)]
    pub fn child(self, index: u32) -> Node {
        Node(mix(self.hash.wrapping_add(
            u64::from(index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        )))
    }
}

/// Plain recursion with a loop over the children: the number of nodes.
pub fn count(shape: &Shape, node: Node) -> u64 {
    let expanded = shape.expand(node);
    let mut nodes = 1;
    for index in 0..expanded.children {
        nodes += count(shape, expanded.child(index));
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(shape: &Shape, node: Node) -> u32 {
        let expanded = shape.expand(node);
        (0..expanded.children)
            .map(|index| 1 + depth(shape, expanded.child(index)))
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn the_same_shape_is_always_the_same_tree() {
        let shape = Shape::standard(1);
        assert_eq!(count(&shape, shape.root()), count(&shape, shape.root()));
        let other = Shape { seed: 20, ..shape };
        assert_ne!(count(&shape, shape.root()), count(&other, other.root()));
    }

    #[test]
    fn an_expanded_node_depends_on_its_state_only() {
        let shape = Shape::standard(3);
        let child = shape.expand(shape.root()).child(5);
        assert_eq!(shape.expand(child), shape.expand(child));
        assert_ne!(
            shape.expand(shape.root()).child(5),
            shape.expand(shape.root()).child(6)
        );
    }

    #[test]
    fn the_standard_trees_are_large_deep_and_lopsided() {
        for rounds in [Shape::CHEAP, Shape::DEAR] {
            let shape = Shape::standard(rounds);
            let root = shape.expand(shape.root());
            let sizes: Vec<u64> = (0..root.children)
                .map(|index| count(&shape, root.child(index)))
                .collect();
            let total: u64 = sizes.iter().sum::<u64>() + 1;
            let largest = *sizes.iter().max().unwrap();
            let levels = depth(&shape, shape.root());
            assert!((1_000_000..2_000_000).contains(&total), "{total} nodes");
            assert!((1000..1300).contains(&levels), "{levels} levels");
            assert!(largest > total / 2, "largest {largest} of {total}");
        }
    }
}
