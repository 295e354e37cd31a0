//! The halves of a Unix stream.

use super::{SocketAddr, UnixStream};
use crate::io::{Interest, Ready};
use std::fmt;
use std::io;
use std::sync::Arc;

halves!(
    UnixStream,
    SocketAddr,
    "# let (mut stream, mut peer) = blitz_io::net::UnixStream::pair()?;"
);
