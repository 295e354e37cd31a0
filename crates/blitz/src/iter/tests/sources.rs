//! Sources: trees, bridges, repeats and nothing.

use super::{LENGTHS, under_all_schedules};
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
