//! Loom models of the deque.
