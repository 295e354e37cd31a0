//! Loom models of the channel.
