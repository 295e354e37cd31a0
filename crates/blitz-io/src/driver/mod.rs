//! The I/O driver.

/// What sockets and timers hold of the driver.
#[derive(Debug)]
pub struct Handle {}
