//! Whether it pays to look once more before a sleep.
//!
//! If a look finds something, it costs less than a sleep and a wake. A thread that has looked in vain a few times in a row goes to sleep at once, and tries
//! again now and then.

/// After so many vain looks in a row, a thread looks once in `RETRY` times.
const MAX_VAIN: u32 = 3;
const RETRY: u32 = 32;

/// See the module's documentation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Looks {
    /// It has had something to do since it last looked.
    due: bool,
    vain: u32,
    jobs: u32,
}

impl Looks {
    /// It has something to do.
    pub(crate) fn job_comes(&mut self) {
        self.due = true;
        self.jobs = self.jobs.wrapping_add(1);
    }

    /// It is through with that: is it to look?
    pub(crate) fn pays(&self) -> bool {
        self.due && (self.vain < MAX_VAIN || self.jobs % RETRY == 0)
    }

    /// It has looked.
    pub(crate) fn have(&mut self, found: bool) {
        self.due = false;
        self.vain = if found {
            0
        } else {
            self.vain.saturating_add(1)
        };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_looks_in_vain_looks_now_and_then_and_who_finds_something_again() {
        let mut looks = Looks::default();
        assert!(!looks.pays(), "it has had nothing to do");
        let mut looked = |times: u32, found: bool| {
            let look = |_: &u32| {
                looks.job_comes();
                let pays = looks.pays();
                if pays {
                    looks.have(found);
                    assert!(!looks.pays(), "once for each time");
                }
                pays
            };
            (0..times).filter(look).count()
        };
        assert_eq!(looked(100, true), 100);
        assert_eq!(looked(960, false), 33);
        assert!(looked(32, true) > 0);
        assert_eq!(looked(100, true), 100);
    }
}
