//! The trait of what has a position.

use std::io::{self, Seek, SeekFrom};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Something with a position to read or write at. Its methods for users are those of [`AsyncSeekExt`](super::AsyncSeekExt).
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::AsyncSeek;
/// use std::future::poll_fn;
/// use std::io::{Cursor, SeekFrom};
/// use std::pin::Pin;
///
/// let mut text = Cursor::new("hello");
/// Pin::new(&mut text).start_seek(SeekFrom::End(-2))?;
/// let position = poll_fn(|cx| Pin::new(&mut text).poll_complete(cx)).await?;
/// assert_eq!(position, 3);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub trait AsyncSeek {
    /// Begins to go to another place. To be followed by [`poll_complete`](Self::poll_complete).
    ///
    /// # Errors
    /// If there is no such place, or another operation is under way: wait for that with [`poll_complete`](Self::poll_complete) before.
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()>;

    /// Waits until it is there, and says where that is, from the start. If nothing has been begun, it waits for whatever else is under way.
    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>>;
}

macro_rules! seek_target {
    () => {
        fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
            Pin::new(&mut **self).start_seek(position)
        }

        fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
            Pin::new(&mut **self).poll_complete(cx)
        }
    };
}

impl<T: AsyncSeek + Unpin + ?Sized> AsyncSeek for Box<T> {
    seek_target!();
}

impl<T: AsyncSeek + Unpin + ?Sized> AsyncSeek for &mut T {
    seek_target!();
}

impl<P> AsyncSeek for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncSeek,
{
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.as_deref_mut().start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.as_deref_mut().poll_complete(cx)
    }
}

impl<T: AsRef<[u8]> + Unpin> AsyncSeek for io::Cursor<T> {
    #[inline]
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        Seek::seek(&mut *self, position).map(drop)
    }

    #[inline]
    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.position()))
    }
}
