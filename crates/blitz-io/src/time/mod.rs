//! Time.
