//! The recursive workloads, written once and compiled for every library.
//!
//! Libraries differ in what a fork looks like: `join(a, b)` for Blitz and rayon, a scope or worker that is passed along
//! for chili and forte. A trait over them would hand every library an extra pointer it does not need, which at a
//! nanosecond per join is a measurable handicap. So the bodies are a macro, and each library gets exactly the code its
//! user would write. Every workload has a plain sequential twin in its own file: the reference and the baseline.

pub mod fib;
pub mod iterators;
#[cfg(feature = "full")]
pub mod ops;
pub mod queens;
pub mod sorts;
#[cfg(feature = "full")]
pub mod sources;
pub mod tree;
pub mod uts;

/// Defines `tree`, `fib`, `queens`, `uts` and `leaves` for one library, or just one of them: `(@tree …)`.
///
/// * `$fork` names a macro: `$fork!((context) first; second)` evaluates both, perhaps in parallel, and gives
///   `(first, second)`; the calling thread starts with `first`.
/// * The parentheses hold the extra parameter a library passes through the recursion, or nothing.
macro_rules! fork_join_workloads {
    ($fork:ident, $context:tt) => {
        $crate::workloads::fork_join_workloads!(@tree $fork, $context);
        $crate::workloads::fork_join_workloads!(@fib $fork, $context);
        $crate::workloads::fork_join_workloads!(@queens $fork, $context);
        $crate::workloads::fork_join_workloads!(@uts $fork, $context);
        $crate::workloads::fork_join_workloads!(@leaves $fork, $context);
    };
    (@tree $fork:ident, ($($context:ident : $context_type:ty)?)) => {
        /// Sum of all values below and at a node: one fork per node, also at the leaves.
        pub fn tree(node: &$crate::workloads::tree::Node<'_> $(, $context: $context_type)?) -> u64 {
            let (left, right) = $fork!(($($context)?)
                match node.left {
                    Some(child) => tree(child $(, $context)?),
                    None => 0,
                };
                match node.right {
                    Some(child) => tree(child $(, $context)?),
                    None => 0,
                }
            );
            node.value + left + right
        }
    };
    (@fib $fork:ident, ($($context:ident : $context_type:ty)?)) => {
        /// The n-th Fibonacci number by the doubly recursive definition: one fork per addition.
        pub fn fib(n: u32 $(, $context: $context_type)?) -> u64 {
            if n < 2 {
                return u64::from(n);
            }
            let (one, two) = $fork!(($($context)?)
                fib(n - 1 $(, $context)?);
                fib(n - 2 $(, $context)?)
            );
            one + two
        }
    };
    (@queens $fork:ident, ($($context:ident : $context_type:ty)?)) => {
        /// Number of ways to complete a board: one fork between a column and the columns after it.
        pub fn queens(board: $crate::workloads::queens::Board $(, $context: $context_type)?) -> u64 {
            if board.is_complete() {
                return 1;
            }
            columns(board, board.free_columns() $(, $context)?)
        }

        fn columns(
            board: $crate::workloads::queens::Board,
            free: u32
            $(, $context: $context_type)?
        ) -> u64 {
            if free == 0 {
                return 0;
            }
            let column = free & free.wrapping_neg();
            let others = free ^ column;
            if others == 0 {
                return queens(board.place(column) $(, $context)?);
            }
            let (here, there) = $fork!(($($context)?)
                queens(board.place(column) $(, $context)?);
                columns(board, others $(, $context)?)
            );
            here + there
        }
    };
    (@uts $fork:ident, ($($context:ident : $context_type:ty)?)) => {
        /// Number of nodes of an unbalanced tree: children are halved until one is left.
        pub fn uts(
            shape: &$crate::workloads::uts::Shape,
            node: $crate::workloads::uts::Node
            $(, $context: $context_type)?
        ) -> u64 {
            let expanded = shape.expand(node);
            1 + match expanded.children {
                0 => 0,
                children => uts_children(shape, expanded, 0, children $(, $context)?),
            }
        }

        fn uts_children(
            shape: &$crate::workloads::uts::Shape,
            parent: $crate::workloads::uts::Expanded,
            from: u32,
            to: u32
            $(, $context: $context_type)?
        ) -> u64 {
            if to - from == 1 {
                return uts(shape, parent.child(from) $(, $context)?);
            }
            let middle = from + (to - from) / 2;
            let (low, high) = $fork!(($($context)?)
                uts_children(shape, parent, from, middle $(, $context)?);
                uts_children(shape, parent, middle, to $(, $context)?)
            );
            low + high
        }
    };
    (@leaves $fork:ident, ($($context:ident : $context_type:ty)?)) => {
        /// A parallel region of equal tasks: halved down to single leaves of [`spin`]($crate::spin::spin) work.
        pub fn leaves(from: u64, to: u64, steps: u64 $(, $context: $context_type)?) -> u64 {
            if to - from == 1 {
                return $crate::spin::spin(steps, from);
            }
            let middle = from + (to - from) / 2;
            let (low, high): (u64, u64) = $fork!(($($context)?)
                leaves(from, middle, steps $(, $context)?);
                leaves(middle, to, steps $(, $context)?)
            );
            low.wrapping_add(high)
        }
    };
}
pub(crate) use fork_join_workloads;
