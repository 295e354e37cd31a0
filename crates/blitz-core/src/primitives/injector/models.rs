//! Loom models of the injector.
