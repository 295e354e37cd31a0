//! Work whose cost nobody knows beforehand, balanced while it runs.
//!
//! Every rank begins with an even block of the indices, as a range from which its threads take pieces at the front. A rank that has none left asks the others, one
//! after the other, beginning at its right neighbour. Who is asked gives the back half of what it has left; a task of the runtime answers, also while
//! all workers compute. Once everybody has been asked in vain, the rank stops asking: what is left is being computed, or is on its way to somebody who has asked for it.
//!
//! # Every index once, and everybody ends
//! Indices only ever move: out of a range under its lock, into a message, into the range of whoever asked. Nobody asks twice at a time. A rank enters the last
//! barrier with an empty range and no question open, and answers until the barrier has opened; then no question can be under way.
//!
//! # Cost
//! Two messages of 8 and 16 bytes for each question. A rank that gets something goes on with half of what the other had, so that the others are asked
//! O(log n) times with success, and each rank asks everybody in vain at least once: about 2 p messages for each rank if all is even from the start.

use crate::cluster::{Cluster, MAX_TAG};
use crate::error::{Error, Result};
use crate::parts::block;
use crate::portable::Op;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const QUESTION: u16 = MAX_TAG + 1;
const ANSWER: u16 = MAX_TAG + 2;

/// What became of the indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Balance {
    /// How many this rank has computed.
    pub computed: usize,
    /// How many of them came from other ranks.
    pub taken: usize,
    /// How often it has asked: two messages each, one from either side.
    pub questions: u64,
    /// How often it has answered.
    pub answers: u64,
}

/// The indices that a rank has left.
struct Left {
    range: Mutex<Range<usize>>,
    /// Questions that have been answered.
    answers: AtomicU64,
}

impl Left {
    fn with<R>(&self, look: impl FnOnce(&mut Range<usize>) -> R) -> R {
        look(&mut self.range.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A piece for one thread: the smaller, the less is left, so that the last ones end together.
    fn piece(&self, threads: usize) -> Range<usize> {
        self.with(|range| {
            let length = (range.len() / (4 * threads))
                .clamp(1, 1024)
                .min(range.len());
            let piece = range.start..range.start + length;
            range.start = piece.end;
            piece
        })
    }

    /// The back half, for another rank.
    fn half(&self) -> Range<usize> {
        self.with(|range| {
            let middle = range.end - range.len() / 2;
            let half = middle..range.end;
            range.end = middle;
            half
        })
    }
}

impl Cluster {
    /// Calls `work` for every index below `count`, each once, on some rank. All ranks call this, with the same count.
    ///
    /// Ranks that are done take indices from others. On each rank, all threads of the pool take part.
    ///
    /// ```no_run
    /// # use blitz_mpi::{Cluster, Op, Result};
    /// # use std::sync::atomic::{AtomicU64, Ordering};
    /// # async fn example(cluster: &Cluster) -> Result<()> {
    /// let sum = AtomicU64::new(0);
    /// cluster.for_each_dynamic(1000, |index| {
    ///     sum.fetch_add(index as u64, Ordering::Relaxed);
    /// }).await?;
    /// assert_eq!(cluster.all_reduce_one(sum.into_inner(), Op::Sum).await?, 499_500);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What MPI says, and [`Error::Mismatch`](crate::Error::Mismatch) if the counts differ.
    pub async fn for_each_dynamic(
        &self,
        count: usize,
        work: impl Fn(usize) + Sync + Send,
    ) -> Result<Balance> {
        // Everybody is here, with the same count, before anybody is asked.
        let (least, most) = (count as u64, u64::MAX - count as u64);
        let agreed = self.all_reduce(vec![least, most], Op::Min).await?;
        if agreed != [least, most] {
            return Err(Error::Mismatch(format!(
                "for_each_dynamic with counts from {} to {}",
                agreed[0],
                u64::MAX - agreed[1]
            )));
        }
        let (rank, size) = (self.rank(), self.size());
        let left = Arc::new(Left {
            range: Mutex::new(block(count, size, rank)),
            answers: AtomicU64::new(0),
        });
        let answering = blitz_io::spawn(answer(self.clone(), Arc::clone(&left)));
        let result = self.take_and_ask(&left, work).await;
        let barrier = self.barrier().await;
        // No question is under way: the task waits for one in vain.
        answering.abort();
        let _ = answering.await;
        let mut balance = result?;
        barrier?;
        balance.answers = left.answers.load(Ordering::Relaxed);
        Ok(balance)
    }

    async fn take_and_ask(
        &self,
        left: &Left,
        work: impl Fn(usize) + Sync + Send,
    ) -> Result<Balance> {
        let (rank, size, threads) = (self.rank(), self.size(), self.threads());
        let mut balance = Balance {
            computed: 0,
            taken: 0,
            questions: 0,
            answers: 0,
        };
        loop {
            balance.computed += compute(left, threads, &work);
            let mut found = false;
            for step in 1..size {
                let other = (rank + step) % size;
                balance.questions += 1;
                let question = self.send_any_tag::<u64, _>(other, Ok(QUESTION), [0u64]);
                let (_, answer) = self.receive_any_tag::<u64>(Some(other), ANSWER).await?;
                question.await?;
                let range = answer[0] as usize..answer[1] as usize;
                if !range.is_empty() {
                    balance.taken += range.len();
                    left.with(|mine| *mine = range);
                    found = true;
                    break;
                }
            }
            if !found {
                return Ok(balance);
            }
        }
    }
}

/// Computes until nothing is left, with all threads, and tells how many indices that was.
fn compute(left: &Left, threads: usize, work: &(impl Fn(usize) + Sync + Send)) -> usize {
    let run = || {
        let mut computed = 0;
        loop {
            let piece = left.piece(threads);
            if piece.is_empty() {
                return computed;
            }
            computed += piece.len();
            piece.for_each(work);
        }
    };
    if threads == 1 {
        return run();
    }
    let total = AtomicUsize::new(0);
    blitz::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|_| {
                total.fetch_add(run(), Ordering::Relaxed);
            });
        }
    });
    total.into_inner()
}

async fn answer(cluster: Cluster, left: Arc<Left>) {
    while let Ok((from, _)) = cluster.receive_any_tag::<u64>(None, QUESTION).await {
        let half = left.half();
        left.answers.fetch_add(1, Ordering::Relaxed);
        let answer = [half.start as u64, half.end as u64];
        if cluster
            .send_any_tag::<u64, _>(from, Ok(ANSWER), answer)
            .await
            .is_err()
        {
            return;
        }
    }
}
