//! Without the feature `hooks` there is nothing to see but the process.

use crate::frame::Frame;

pub(crate) struct Seen;

impl Seen {
    pub(crate) fn new() -> Self {
        Seen
    }

    pub(crate) fn open(&mut self) {}

    pub(crate) fn close(&mut self) {}

    pub(crate) fn sample(&mut self, _at: f64, _passed: f64) {}

    pub(crate) fn fill(&mut self, _frame: &mut Frame) {}

    pub(crate) fn frame_ends(&mut self) {}
}
