//! Loom models of the latch.
