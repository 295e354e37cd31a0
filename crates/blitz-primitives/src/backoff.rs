//! How long an idle thread looks for work before it goes to sleep.
//!
//! [`Backoff`] counts fruitless looks and answers each with a little more patience: first one spin
//! hint per look, then several, then yielding the processor. After that it is *exhausted*, and the
//! caller parks until somebody wakes it. There is no stage of timed naps: a nap that ends without
//! work costs a wake-up for nothing (some 15 microseconds of processor time), so a pool of napping
//! threads is never quiet, and a nap that work arrives in delays it by up to its length. A parked
//! thread costs nothing and is woken when there is a reason.
//!
//! How patient is a matter of taste, hence three presets, [`BackoffMode`], and limits of one's own. The presets differ only in
//! their limits:
//!
//! | mode | one pause | four pauses | yields | looks until parked |
//! |---|---|---|---|---|
//! | `LowLatency` | 64 | 64 | 384 | 512 |
//! | `Balanced` (default) | 32 | 32 | 64 | 128 |
//! | `PowerSaving` | 8 | 8 | 16 | 32 |

use crate::sync::{spin_loop, yield_now};
use std::time::Duration;

/// Pauses per look in the second stage.
const MULTI_SPIN_PAUSES: u32 = 4;

/// How long idle threads stay awake: reaction time against power.
///
/// ```
/// use blitz_primitives::{Backoff, BackoffMode};
///
/// let mut backoff = Backoff::new(BackoffMode::PowerSaving);
/// let mut looks = 0;
/// while !backoff.is_exhausted() {
///     looks += 1;
///     backoff.pause();
/// }
/// assert_eq!(looks, 32);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BackoffMode {
    /// Stay awake long: work is picked up without a wake-up, at the price of processor time between
    /// bursts of work.
    LowLatency,
    /// Bridge the short gaps of a running computation, sleep in longer ones.
    #[default]
    Balanced,
    /// Sleep almost at once.
    PowerSaving,
    /// Limits of one's own.
    Custom(BackoffLimits),
}

/// What the presets of [`BackoffMode`] differ in, for [`BackoffMode::Custom`].
///
/// [`Backoff`] goes by the numbers of looks, which count from the first; the threads of a pool go by the patience.
///
/// ```
/// use blitz_primitives::{Backoff, BackoffLimits, BackoffMode};
///
/// let balanced = BackoffMode::Balanced.limits();
/// let patient = BackoffLimits { yields: 500, ..balanced };
/// let mut backoff = Backoff::new(BackoffMode::Custom(patient));
/// (0..499).for_each(|_| backoff.pause());
/// assert!(!backoff.is_exhausted());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BackoffLimits {
    /// So many looks are followed by a single spin hint.
    pub spin: u32,
    /// After so many looks, spinning ends and yielding begins.
    pub multi_spin: u32,
    /// After so many looks, it is time to park.
    pub yields: u32,
    /// How long a thread of a pool looks for work before it sleeps; a minute at most.
    pub patience: Duration,
}

impl BackoffLimits {
    /// Do the stages follow each other?
    ///
    /// ```
    /// use blitz_primitives::{BackoffLimits, BackoffMode};
    ///
    /// let balanced = BackoffMode::Balanced.limits();
    /// assert!(balanced.are_in_order());
    /// // More looks before spinning ends than before it is time to park.
    /// assert!(!BackoffLimits { yields: 10, ..balanced }.are_in_order());
    /// ```
    #[inline]
    pub const fn are_in_order(&self) -> bool {
        self.spin <= self.multi_spin && self.multi_spin <= self.yields
    }
}

impl BackoffMode {
    /// All of its limits.
    ///
    /// ```
    /// use blitz_primitives::BackoffMode;
    ///
    /// let limits = BackoffMode::PowerSaving.limits();
    /// assert_eq!((limits.spin, limits.multi_spin, limits.yields), (8, 16, 32));
    /// ```
    #[inline]
    pub const fn limits(self) -> BackoffLimits {
        BackoffLimits {
            spin: self.spin_limit(),
            multi_spin: self.multi_spin_limit(),
            yields: self.yield_limit(),
            patience: self.patience(),
        }
    }

    /// How long a thread of a pool looks for work before it sleeps.
    ///
    /// ```
    /// use blitz_primitives::BackoffMode;
    ///
    /// assert!(BackoffMode::PowerSaving.patience() < BackoffMode::LowLatency.patience());
    /// ```
    #[inline]
    pub const fn patience(self) -> Duration {
        match self {
            BackoffMode::LowLatency => Duration::from_micros(200),
            BackoffMode::Balanced => Duration::from_micros(50),
            BackoffMode::PowerSaving => Duration::from_micros(5),
            BackoffMode::Custom(limits) => limits.patience,
        }
    }

    /// Looks that are followed by a single spin hint.
    ///
    /// ```
    /// assert_eq!(blitz_primitives::BackoffMode::Balanced.spin_limit(), 32);
    /// ```
    #[inline]
    pub const fn spin_limit(self) -> u32 {
        if cfg!(loom) {
            return 0;
        }
        match self {
            BackoffMode::LowLatency => 64,
            BackoffMode::Balanced => 32,
            BackoffMode::PowerSaving => 8,
            BackoffMode::Custom(limits) => limits.spin,
        }
    }

    /// Looks, counted from the first, after which spinning ends and yielding begins.
    ///
    /// ```
    /// assert_eq!(blitz_primitives::BackoffMode::Balanced.multi_spin_limit(), 64);
    /// ```
    #[inline]
    pub const fn multi_spin_limit(self) -> u32 {
        if cfg!(loom) {
            return 0;
        }
        match self {
            BackoffMode::LowLatency => 128,
            BackoffMode::Balanced => 64,
            BackoffMode::PowerSaving => 16,
            BackoffMode::Custom(limits) => limits.multi_spin,
        }
    }

    /// Looks, counted from the first, after which a thread should park.
    ///
    /// ```
    /// assert_eq!(blitz_primitives::BackoffMode::Balanced.yield_limit(), 128);
    /// ```
    #[inline]
    pub const fn yield_limit(self) -> u32 {
        if cfg!(loom) {
            return 1;
        }
        match self {
            BackoffMode::LowLatency => 512,
            BackoffMode::Balanced => 128,
            BackoffMode::PowerSaving => 32,
            BackoffMode::Custom(limits) => limits.yields,
        }
    }
}

/// The patience of one idle thread.
///
/// ```
/// use blitz_primitives::Backoff;
///
/// fn next_job(mut look: impl FnMut() -> Option<u32>, mut park: impl FnMut()) -> u32 {
///     let mut backoff = Backoff::default();
///     loop {
///         if let Some(job) = look() {
///             return job;
///         }
///         if backoff.is_exhausted() {
///             park(); // until somebody has work for us
///             backoff.reset();
///         } else {
///             backoff.pause();
///         }
///     }
/// }
///
/// let mut parked = 0;
/// let mut looks = 0;
/// let job = next_job(
///     || {
///         looks += 1;
///         (looks == 200).then_some(42)
///     },
///     || parked += 1,
/// );
/// assert_eq!((job, parked), (42, 1));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Backoff {
    mode: BackoffMode,
    looks: u32,
}

impl Backoff {
    /// Full of energy, in the given mode.
    ///
    /// ```
    /// use blitz_primitives::{Backoff, BackoffMode};
    ///
    /// let backoff = Backoff::new(BackoffMode::LowLatency);
    /// assert!(!backoff.is_exhausted());
    /// ```
    #[inline]
    pub const fn new(mode: BackoffMode) -> Self {
        Self { mode, looks: 0 }
    }

    /// The preset in use.
    ///
    /// ```
    /// use blitz_primitives::{Backoff, BackoffMode};
    ///
    /// assert_eq!(Backoff::default().mode(), BackoffMode::Balanced);
    /// ```
    #[inline]
    pub const fn mode(&self) -> BackoffMode {
        self.mode
    }

    /// Call after a fruitless look: spins a little, spins more, or yields, depending on how many
    /// looks came before. Never sleeps; after exhaustion it goes on yielding.
    ///
    /// ```
    /// use blitz_primitives::{Backoff, BackoffMode};
    ///
    /// let mut backoff = Backoff::new(BackoffMode::PowerSaving);
    /// for _look in 0..32 {
    ///     backoff.pause();
    /// }
    /// assert!(backoff.is_exhausted());
    /// ```
    #[inline]
    pub fn pause(&mut self) {
        if self.looks < self.mode.spin_limit() {
            spin_loop();
        } else if self.looks < self.mode.multi_spin_limit() {
            for _ in 0..MULTI_SPIN_PAUSES {
                spin_loop();
            }
        } else {
            yield_now();
        }
        self.looks = self.looks.saturating_add(1);
    }

    /// Whether it is time to park.
    ///
    /// ```
    /// let mut backoff = blitz_primitives::Backoff::default();
    /// let looks = std::iter::repeat_with(|| backoff.pause()).take(1_000);
    /// assert_eq!(looks.count(), 1_000);
    /// assert!(backoff.is_exhausted()); // long ago: after 128
    /// ```
    #[inline]
    pub const fn is_exhausted(&self) -> bool {
        self.looks >= self.mode.yield_limit()
    }

    /// Call after finding work, or after waking up.
    ///
    /// ```
    /// let mut backoff = blitz_primitives::Backoff::default();
    /// (0..128).for_each(|_| backoff.pause());
    /// assert!(backoff.is_exhausted());
    /// backoff.reset();
    /// assert!(!backoff.is_exhausted());
    /// ```
    #[inline]
    pub const fn reset(&mut self) {
        self.looks = 0;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MODES: [BackoffMode; 3] = [
        BackoffMode::LowLatency,
        BackoffMode::Balanced,
        BackoffMode::PowerSaving,
    ];

    #[test]
    fn each_mode_is_exhausted_after_exactly_its_limit() {
        for (mode, limit) in MODES.into_iter().zip([512, 128, 32]) {
            let mut backoff = Backoff::new(mode);
            for look in 0..limit {
                assert!(!backoff.is_exhausted(), "{mode:?} after {look}");
                backoff.pause();
            }
            assert!(backoff.is_exhausted(), "{mode:?}");
        }
    }

    #[test]
    fn limits_of_ones_own_are_kept() {
        let limits = BackoffLimits {
            spin: 1,
            multi_spin: 2,
            yields: 3,
            patience: Duration::from_micros(7),
        };
        let mode = BackoffMode::Custom(limits);
        assert_eq!(mode.limits(), limits);
        let mut backoff = Backoff::new(mode);
        let looks = (0..).find(|_| {
            backoff.pause();
            backoff.is_exhausted()
        });
        assert_eq!(looks, Some(2));
        assert!(limits.are_in_order());
        assert!(!BackoffLimits { spin: 3, ..limits }.are_in_order());
        assert!(
            !BackoffLimits {
                yields: 0,
                ..limits
            }
            .are_in_order()
        );
    }

    #[test]
    fn stages_follow_each_other_in_every_mode() {
        for mode in MODES {
            assert!(0 < mode.spin_limit());
            assert!(mode.spin_limit() < mode.multi_spin_limit());
            assert!(mode.multi_spin_limit() < mode.yield_limit());
        }
    }

    #[test]
    fn pausing_after_exhaustion_is_allowed_and_a_reset_revives() {
        let mut backoff = Backoff::new(BackoffMode::PowerSaving);
        (0..1000).for_each(|_| backoff.pause());
        assert!(backoff.is_exhausted());
        backoff.looks = u32::MAX;
        backoff.pause();
        assert!(backoff.is_exhausted());
        backoff.reset();
        assert!(!backoff.is_exhausted());
        assert_eq!(Backoff::default().mode(), BackoffMode::Balanced);
    }
}
