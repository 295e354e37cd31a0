//! What a rank has sent: counts for tests and for the model of costs.

use std::ops::Sub;
use std::time::Duration;

/// What this rank has handed to MPI for other ranks since the start.
///
/// Operations on top of point-to-point messages (`send`, `scatter`, `gather`, `all_gather`, `all_to_all`, and everything in
/// [`Distributed`](crate::Distributed)) are counted message by message. What MPI sends for `broadcast` and for reductions of more than
/// 48 bytes is its own affair: they are counted as calls, with the bytes that this rank gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Messages with data.
    pub messages: u64,
    /// The bytes of data in them.
    pub bytes: u64,
    /// The small messages by which ranks agree about a collective call, and in which short reductions travel: at most
    /// log2(ranks) rounded up for each call, and one more if the number of ranks is no power of two.
    pub frames: u64,
    /// Collective calls of any kind.
    pub collectives: u64,
    /// Calls of collectives of MPI itself: `broadcast`, `all_reduce` of more than 48 bytes.
    pub tree_calls: u64,
    /// The bytes that went into them.
    pub tree_bytes: u64,
}

impl Stats {
    /// What this much communication costs by the alpha-beta model: `alpha` for each message and `beta` seconds for each byte that this rank
    /// sends. A tree call counts as `2 log2(ranks)` messages, and its bytes twice.
    ///
    /// ```
    /// use blitz_mpi::Stats;
    /// let mut stats = Stats::default();
    /// stats.messages = 3;
    /// stats.bytes = 3_000_000;
    /// // 2 us for a message, 10 GB/s.
    /// let cost = stats.model(4, 2e-6, 1e-10);
    /// assert_eq!(cost.as_micros(), 306);
    /// ```
    pub fn model(&self, ranks: usize, alpha: f64, beta: f64) -> Duration {
        let rounds = (ranks.max(1) as f64).log2().ceil();
        let messages = (self.messages + self.frames) as f64 + self.tree_calls as f64 * 2.0 * rounds;
        let bytes = self.bytes as f64 + self.frames as f64 * 96.0 + self.tree_bytes as f64 * 2.0;
        Duration::from_secs_f64(messages * alpha + bytes * beta)
    }
}

impl Sub for Stats {
    type Output = Stats;

    /// What came between two looks.
    fn sub(self, earlier: Stats) -> Stats {
        Stats {
            messages: self.messages - earlier.messages,
            bytes: self.bytes - earlier.bytes,
            frames: self.frames - earlier.frames,
            collectives: self.collectives - earlier.collectives,
            tree_calls: self.tree_calls - earlier.tree_calls,
            tree_bytes: self.tree_bytes - earlier.tree_bytes,
        }
    }
}
