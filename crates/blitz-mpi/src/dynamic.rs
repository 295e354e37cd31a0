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
//! # Several at a time
//! A question names the loop that it is about, and the tag of its answer, which belongs to the asking loop while that goes on. Any loop's task answers any question: for a loop that this
//! rank has left, with nothing. A rank that has no tag left for a loop does not ask for it, and has its own block only.
//!
//! # Cost
//! Two messages of 16 bytes for each question. A rank that gets something goes on with half of what the other had, so that the others are asked
//! O(log n) times with success, and each rank asks everybody in vain at least once: about 2 p messages for each rank if all is even from the start.

use crate::agree::Kind;
use crate::cluster::{Cluster, MAX_TAG};
use crate::error::{Error, Result};
use crate::parts::block;
use crate::portable::Op;
use crate::steps::Steps;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const QUESTION: u16 = MAX_TAG + 1;
/// The tags of answers: as many loops of one rank may ask at a time.
const ANSWER: u16 = MAX_TAG + 2;
const ANSWERS: u16 = 64;

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

/// The loops of a rank that are under way.
#[derive(Default)]
pub(crate) struct Loops {
    /// By the numbers of their calls.
    left: HashMap<u64, Arc<Left>>,
    /// Tags of answers that are in use, as bits.
    tags: u64,
}

/// One of them.
struct Loop<'a> {
    cluster: &'a Cluster,
    number: u64,
    left: Arc<Left>,
    tag: Option<u16>,
}

fn lock(cluster: &Cluster) -> MutexGuard<'_, Loops> {
    cluster
        .shared
        .loops
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Loop<'a> {
    fn open(cluster: &'a Cluster, number: u64, range: Range<usize>) -> Self {
        let left = Arc::new(Left {
            range: Mutex::new(range),
            answers: AtomicU64::new(0),
        });
        let mut loops = lock(cluster);
        loops.left.insert(number, Arc::clone(&left));
        let free = loops.tags.trailing_ones() as u16;
        let tag = (free < ANSWERS).then(|| {
            loops.tags |= 1 << free;
            ANSWER + free
        });
        Loop {
            cluster,
            number,
            left,
            tag,
        }
    }
}

impl Drop for Loop<'_> {
    fn drop(&mut self) {
        let mut loops = lock(self.cluster);
        loops.left.remove(&self.number);
        if let Some(tag) = self.tag {
            loops.tags &= !(1 << (tag - ANSWER));
        }
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
        let steps = Steps::new(self, Kind::DYNAMIC);
        let (least, most) = (count as u64, u64::MAX - count as u64);
        let agreement = steps.all_reduce(vec![least, most], Op::Min);
        // Before that: others may know of the agreement first, and ask.
        let (number, range) = (steps.number(), block(count, self.size(), self.rank()));
        let mut dynamic = Loop::open(self, number.unwrap_or(u64::MAX), range);
        // If this future is dropped, the task stays: others may ask, and find out at the barrier.
        let answering = blitz_io::spawn(answer(self.clone()));
        let result = async {
            let agreed = agreement.await?;
            if agreed != [least, most] {
                return Err(Error::Mismatch(format!(
                    "for_each_dynamic with counts from {} to {}",
                    agreed[0],
                    u64::MAX - agreed[1]
                )));
            }
            let balance = dynamic.take_and_ask(work).await?;
            steps.last().barrier().await?;
            Ok(balance)
        }
        .await;
        // No question about this loop is under way.
        answering.abort();
        let _ = answering.await;
        let mut balance = result?;
        balance.answers = dynamic.left.answers.load(Ordering::Relaxed);
        Ok(balance)
    }
}

impl Loop<'_> {
    async fn take_and_ask(&mut self, work: impl Fn(usize) + Sync + Send) -> Result<Balance> {
        let (rank, size) = (self.cluster.rank(), self.cluster.size());
        let mut balance = Balance {
            computed: 0,
            taken: 0,
            questions: 0,
            answers: 0,
        };
        loop {
            balance.computed += compute(&self.left, self.cluster.threads(), &work);
            let mut found = false;
            for step in 1..size {
                // Nobody else's while the answer is on its way, even if this future is dropped meanwhile.
                let Some(tag) = self.tag.take() else { break };
                let other = (rank + step) % size;
                balance.questions += 1;
                let question = [self.number, u64::from(tag)];
                let question = self
                    .cluster
                    .send_any_tag::<u64, _>(other, Ok(QUESTION), question);
                let (_, answer) = self
                    .cluster
                    .receive_any_tag::<u64>(Some(other), tag)
                    .await?;
                self.tag = Some(tag);
                question.await?;
                let range = answer[0] as usize..answer[1] as usize;
                if !range.is_empty() {
                    balance.taken += range.len();
                    self.left.with(|mine| *mine = range);
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

async fn answer(cluster: Cluster) {
    while let Ok((from, question)) = cluster.receive_any_tag::<u64>(None, QUESTION).await {
        let (number, tag) = (question[0], question[1] as u16);
        let left = lock(&cluster).left.get(&number).cloned();
        let half = left.map_or(0..0, |left| {
            left.answers.fetch_add(1, Ordering::Relaxed);
            left.half()
        });
        let answer = [half.start as u64, half.end as u64];
        if cluster
            .send_any_tag::<u64, _>(from, Ok(tag), answer)
            .await
            .is_err()
        {
            return;
        }
    }
}
