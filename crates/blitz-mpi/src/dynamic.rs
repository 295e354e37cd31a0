//! Work whose cost nobody knows beforehand, balanced while it runs.
//!
//! Every rank begins with an even block of the indices. Each of its threads has a range, from which it takes a few at the front: one, and more (16 at most) while these are done
//! within 10 us. One that has none left takes the back half of the longest range of another thread. A rank that has none left asks the others, one
//! after the other, beginning at its right neighbour. Who is asked gives the back half of its longest range; a task of the runtime answers, also while
//! all workers compute. So what has not begun is there for everybody, whatever the others cost. Once everybody has been asked in vain, the rank stops asking: what is left is being computed, or is on its way to somebody who has
//! asked for it.
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
use blitz::demand::{ticks, ticks_per_us};
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
    /// How many of them were in other ranks' blocks.
    pub taken: usize,
    /// How often it has asked: two messages each, one from either side.
    pub questions: u64,
    /// How often it has answered.
    pub answers: u64,
}

/// A thread takes at most so many at a time, and as many as it can do in so many microseconds.
const MOST: usize = 16;
const AT_A_TIME_US: u64 = 10;

/// The indices that a rank has left.
struct Left {
    /// One for each thread.
    ranges: Vec<Mutex<Range<usize>>>,
    /// Questions that have been answered.
    answers: AtomicU64,
}

impl Left {
    fn new(threads: usize, range: Range<usize>) -> Left {
        let left = Left {
            ranges: (0..threads).map(|_| Mutex::new(0..0)).collect(),
            answers: AtomicU64::new(0),
        };
        left.put(0, range);
        left
    }

    fn range(&self, thread: usize) -> MutexGuard<'_, Range<usize>> {
        self.ranges[thread]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// For a thread that has nothing left.
    fn put(&self, thread: usize, range: Range<usize>) {
        *self.range(thread) = range;
    }

    /// Some for one thread to begin with now: of its own range, never more than half of it.
    fn piece(&self, thread: usize, most: usize) -> Range<usize> {
        let mut range = self.range(thread);
        let length = range.len().div_ceil(2).min(most);
        let piece = range.start..range.start + length;
        range.start = piece.end;
        piece
    }

    /// The back half of the longest range, for another thread or another rank.
    fn half(&self) -> Range<usize> {
        loop {
            let lengths = (0..self.ranges.len()).map(|thread| (self.range(thread).len(), thread));
            let Some((1.., longest)) = lengths.max() else {
                return 0..0;
            };
            let mut range = self.range(longest);
            let middle = range.end - range.len().div_ceil(2);
            let half = middle..range.end;
            range.end = middle;
            // Its owner may have been faster.
            if !half.is_empty() {
                return half;
            }
        }
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
    /// Where it began.
    block: Range<usize>,
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
    fn open(cluster: &'a Cluster, number: u64, block: Range<usize>) -> Self {
        let left = Arc::new(Left::new(cluster.threads(), block.clone()));
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
            block,
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
        let answering = self.shared.runtime.spawn(answer(self.clone()));
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
            compute(&self.left, &self.block, &work, &mut balance);
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
                    self.left.put(0, range);
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

/// Computes until nothing is left, with all threads, and counts.
fn compute(
    left: &Left,
    block: &Range<usize>,
    work: &(impl Fn(usize) + Sync + Send),
    balance: &mut Balance,
) {
    let (computed, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = |thread: usize| {
        let mut most = 1;
        let enough = AT_A_TIME_US * ticks_per_us();
        loop {
            let piece = left.piece(thread, most);
            if piece.is_empty() {
                let half = left.half();
                if half.is_empty() {
                    return;
                }
                left.put(thread, half);
                continue;
            }
            computed.fetch_add(piece.len(), Ordering::Relaxed);
            // Blocks are cut, and never put together: it is of one.
            if !block.contains(&piece.start) {
                taken.fetch_add(piece.len(), Ordering::Relaxed);
            }
            let start = ticks();
            piece.for_each(work);
            most = if ticks().saturating_sub(start) > enough {
                1
            } else {
                (2 * most).min(MOST)
            };
        }
    };
    match left.ranges.len() {
        1 => run(0),
        threads => blitz::scope(|scope| {
            for thread in 0..threads {
                let run = &run;
                scope.spawn(move |_| run(thread));
            }
        }),
    }
    balance.computed += computed.into_inner();
    balance.taken += taken.into_inner();
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
