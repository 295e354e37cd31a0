//! Descriptors that are neither sockets nor pipes: whatever the kernel can wait for.

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;

/// Something with a descriptor, for [`Registered`](super::Registered).
#[derive(Debug)]
pub(crate) struct Descriptor<F: AsRawFd>(pub(crate) F);

impl<F: AsRawFd> Deref for Descriptor<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.0
    }
}

impl<F: AsRawFd> mio::event::Source for Descriptor<F> {
    fn register(
        &mut self,
        registry: &Registry,
        token: Token,
        interest: Interest,
    ) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).register(registry, token, interest)
    }

    fn reregister(
        &mut self,
        registry: &Registry,
        token: Token,
        interest: Interest,
    ) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).reregister(registry, token, interest)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).deregister(registry)
    }
}
