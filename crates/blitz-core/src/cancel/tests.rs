//! Tokens and their lists.

use super::*;

/// How many flags it looks at beside its own.
fn depth(token: &CancelToken) -> usize {
    links(&token.state.above).count()
}

#[test]
fn generations_that_nobody_holds_are_left_out() {
    let oldest = CancelToken::new();
    let hour = Duration::from_secs(3600);
    let child = |token: CancelToken, _| token.child_with_timeout(hour);
    let youngest = (0..1000).fold(oldest.clone(), child);
    assert!(depth(&youngest) <= 2, "{}", depth(&youngest));
    assert!(youngest.state.deadline.is_some() && !youngest.is_cancelled());
    oldest.cancel();
    assert!(youngest.is_cancelled());
}

#[test]
fn a_token_that_is_held_stays_between_others_that_are_not() {
    let oldest = CancelToken::new();
    let mut held = Vec::new();
    let mut token = oldest.clone();
    for generation in 0..1000 {
        token = token.child();
        if generation % 100 == 0 {
            held.push(token.clone());
        }
    }
    assert!(depth(&token) <= 12, "{}", depth(&token));
    assert!(token.hangs_on(&held[0]) && token.hangs_on(&held[9]));
    held[3].cancel();
    assert!(token.is_cancelled() && !oldest.is_cancelled() && !held[2].is_cancelled());
}

#[test]
fn what_was_cancelled_before_it_was_dropped_is_remembered() {
    let parent = CancelToken::new();
    let child = parent.child();
    parent.cancel();
    drop(parent);
    // Two generations later, and nobody has asked meanwhile.
    let youngest = (0..10).fold(child, |token, _| token.child());
    assert!(youngest.is_cancelled());
}

#[test]
fn tasks_that_spawn_their_successors_each_under_a_token_of_its_own_make_no_chain() {
    fn generation(number: usize, most: usize, tell: std::sync::mpsc::Sender<usize>) {
        let most = most.max(inherited::current_token().map_or(0, depth));
        if number == 0 {
            return tell.send(most).unwrap();
        }
        let spawn = || crate::spawn(move || generation(number - 1, most, tell));
        CancelToken::new().run(spawn).unwrap();
    }
    let (tell, told) = std::sync::mpsc::channel();
    let pool = crate::ThreadPoolBuilder::new().num_threads(2);
    let pool = pool.build().unwrap();
    pool.install(|| generation(2000, 0, tell));
    // Each of the threads may still hold those of the last task that it ran.
    let most = told.recv().unwrap();
    assert!(most < 20, "{most} tokens, one beside the other");
}
