//! Sources: trees, bridges, repeats and nothing.

use super::{LENGTHS, under_all_schedules};
use crate::iter::plumbing::pretend;
use crate::prelude::*;

#[test]
fn walks_visit_every_node_in_their_order() {
    fn children(&(from, to): &(u32, u32)) -> Vec<(u32, u32)> {
        let third = (to - from) / 3;
        if third == 0 {
            return vec![];
        }
        vec![
            (from, from + third),
            (from + third, to - third),
            (to - third, to),
        ]
    }
    fn prefix(node: (u32, u32), out: &mut Vec<(u32, u32)>) {
        out.push(node);
        children(&node)
            .into_iter()
            .for_each(|child| prefix(child, out));
    }
    fn postfix(node: (u32, u32), out: &mut Vec<(u32, u32)>) {
        children(&node)
            .into_iter()
            .for_each(|child| postfix(child, out));
        out.push(node);
    }
    let (mut before, mut after) = (vec![], vec![]);
    prefix((0, 200), &mut before);
    postfix((0, 200), &mut after);
    under_all_schedules(&|| {
        assert_eq!(
            crate::iter::walk_tree_prefix((0, 200), children).collect::<Vec<_>>(),
            before
        );
        assert_eq!(
            crate::iter::walk_tree_postfix((0, 200), children).collect::<Vec<_>>(),
            after
        );
        let mut any: Vec<_> = crate::iter::walk_tree((0, 200), children).collect();
        any.sort();
        let mut all = before.clone();
        all.sort();
        assert_eq!(any, all);
    });
}

/// Runs `test` in a pool of two threads, where right halves count as taken with a chance of `chance` in 256.
fn under_two_threads(chance: u8, test: impl FnOnce() + Send) {
    let pool = crate::ThreadPoolBuilder::new().num_threads(2).build();
    pool.unwrap().install(|| pretend::with(chance, 7, test));
}

#[test]
fn a_walk_in_postfix_order_takes_time_for_the_nodes_not_for_the_square_of_the_depth() {
    // With the square of it, this takes minutes.
    const DEPTH: u32 = 200_000;
    let only_child = |&n: &u32| (n < DEPTH).then_some(n + 1);
    let leaf_and_spine = |&n: &u32| {
        let last = if n < DEPTH { 2 } else { 0 };
        [u32::MAX, n.wrapping_add(1)].into_iter().take(last)
    };
    under_two_threads(0, || {
        let chain = crate::iter::walk_tree_postfix(0, only_child);
        assert!(chain.collect::<Vec<_>>().into_iter().eq((0..=DEPTH).rev()));
        let comb = crate::iter::walk_tree_postfix(0, leaf_and_spine);
        assert_eq!(comb.count(), 2 * DEPTH as usize + 1);
    });
}

#[test]
fn a_tree_that_leans_to_its_later_side_does_not_nest_a_fork_per_level() {
    // Pages with three dear items each; the next page comes last. One fork per page would overflow the stack.
    const PAGES: u32 = 4000;
    let on_page = |&n: &u32| {
        let found = if n < PAGES { 4 } else { 0 };
        [u32::MAX, u32::MAX, u32::MAX, n.wrapping_add(1)]
            .into_iter()
            .take(found)
    };
    let dear = |_| {
        let begin = std::time::Instant::now();
        while begin.elapsed().as_micros() < 10 {}
    };
    under_two_threads(255, || {
        assert_eq!(
            crate::iter::walk_tree_prefix(0, on_page).map(dear).count(),
            4 * PAGES as usize + 1
        );
        assert_eq!(
            crate::iter::walk_tree_postfix(0, on_page).map(dear).count(),
            4 * PAGES as usize + 1
        );
    });
}

#[test]
fn a_bridge_passes_every_item_on_once() {
    under_all_schedules(&|| {
        for len in LENGTHS {
            let mut got: Vec<usize> = (0..len).par_bridge().map(|n| n * 2).collect();
            got.sort();
            assert!(got.into_iter().eq((0..len).map(|n| n * 2)));
        }
    });
}

#[test]
fn sources_of_repeats_and_nothing() {
    under_all_schedules(&|| {
        for len in LENGTHS {
            assert_eq!(
                crate::iter::repeat_n("x", len).collect::<String>(),
                "x".repeat(len)
            );
            assert_eq!(crate::iter::repeat(3).take_any(len).sum::<usize>(), 3 * len);
            assert_eq!(
                crate::iter::repeat_n(1, len).rev().skip(1).count(),
                len.saturating_sub(1)
            );
            assert_eq!((0..len).into_par_iter().take_any(5).count(), len.min(5));
            assert_eq!(
                (0..len).into_par_iter().skip_any(5).count(),
                len.saturating_sub(5)
            );
        }
        assert_eq!(
            crate::iter::empty::<u8>()
                .chain(crate::iter::once(7))
                .collect::<Vec<_>>(),
            [7]
        );
    });
}
