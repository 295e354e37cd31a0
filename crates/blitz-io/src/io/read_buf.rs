//! Where a reader puts what it reads.
//!
//! A buffer in three parts: bytes that have been read, bytes that are initialised (with anything), and memory that is not. The parts lie in this order, and
//! `filled <= initialized <= buffer.len()` always; so memory need not be zeroed only to be read into, and nobody sees what nobody has written.

use bytes::BufMut;
use bytes::buf::UninitSlice;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::task::{Poll, ready};

/// A buffer that is read into, a part of which may not be initialised yet.
///
/// ```
/// use blitz_io::io::ReadBuf;
/// use std::mem::MaybeUninit;
///
/// let mut memory = [MaybeUninit::uninit(); 8];
/// let mut buffer = ReadBuf::uninit(&mut memory);
/// buffer.put_slice(b"abc");
/// assert_eq!(buffer.filled(), b"abc");
/// assert_eq!((buffer.remaining(), buffer.initialized().len()), (5, 3));
/// ```
pub struct ReadBuf<'a> {
    buffer: &'a mut [MaybeUninit<u8>],
    filled: usize,
    initialized: usize,
}

/// Initialised bytes as bytes.
///
/// # Safety
/// They have to be initialised.
unsafe fn assume_bytes(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: the layout is the same, and the caller promises the rest.
    unsafe { &mut *(&raw mut *memory as *mut [u8]) }
}

impl<'a> ReadBuf<'a> {
    /// Of bytes that are initialised.
    ///
    /// ```
    /// let mut memory = [0; 8];
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// buffer.put_slice(b"abc");
    /// assert_eq!((buffer.filled(), buffer.initialized().len()), (&b"abc"[..], 8));
    /// ```
    #[inline]
    pub fn new(buf: &'a mut [u8]) -> ReadBuf<'a> {
        let initialized = buf.len();
        // SAFETY: the layout is the same. Nothing here makes an initialised byte uninitialised, and the methods that lend the memory out are unsafe.
        let buffer = unsafe { &mut *(&raw mut *buf as *mut [MaybeUninit<u8>]) };
        ReadBuf {
            buffer,
            filled: 0,
            initialized,
        }
    }

    /// Of memory that is not initialised.
    #[inline]
    pub fn uninit(buf: &'a mut [MaybeUninit<u8>]) -> ReadBuf<'a> {
        ReadBuf {
            buffer: buf,
            filled: 0,
            initialized: 0,
        }
    }

    /// How much it holds when it is full.
    ///
    /// ```
    /// let mut memory = [0; 8];
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// buffer.put_slice(b"abc");
    /// assert_eq!((buffer.capacity(), buffer.remaining()), (8, 5));
    /// ```
    #[inline]
    pub fn capacity(&self) -> usize {
        self.buffer.len()
    }

    /// What has been read.
    #[inline]
    pub fn filled(&self) -> &[u8] {
        let memory: &[MaybeUninit<u8>] = &self.buffer[..self.filled];
        // SAFETY: the layout is the same, and what is filled is initialised.
        unsafe { &*(memory as *const [MaybeUninit<u8>] as *const [u8]) }
    }

    /// What has been read.
    ///
    /// ```
    /// let mut memory = [0; 8];
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// buffer.put_slice(b"abc");
    /// buffer.filled_mut().make_ascii_uppercase();
    /// assert_eq!(buffer.filled(), b"ABC");
    /// ```
    #[inline]
    pub fn filled_mut(&mut self) -> &mut [u8] {
        // SAFETY: what is filled is initialised.
        unsafe { assume_bytes(&mut self.buffer[..self.filled]) }
    }

    /// A buffer of the first `n` bytes that are not filled, or of all of them if there are fewer. This one is not told of what is done with
    /// it: see [`assume_init`](Self::assume_init) and [`advance`](Self::advance).
    ///
    /// ```
    /// let mut memory = [0; 8];
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// // Somebody may fill four bytes and no more.
    /// let mut part = buffer.take(4);
    /// part.put_slice(b"abc");
    /// let filled = part.filled().len();
    /// buffer.advance(filled);
    /// assert_eq!(buffer.filled(), b"abc");
    /// ```
    #[inline]
    pub fn take(&mut self, n: usize) -> ReadBuf<'_> {
        let end = self.filled + self.remaining().min(n);
        let initialized = self.initialized.min(end) - self.filled;
        ReadBuf {
            buffer: &mut self.buffer[self.filled..end],
            filled: 0,
            initialized,
        }
    }

    /// What is initialised: what has been read and possibly more.
    #[inline]
    pub fn initialized(&self) -> &[u8] {
        let memory: &[MaybeUninit<u8>] = &self.buffer[..self.initialized];
        // SAFETY: the layout is the same, and the range is the initialised one.
        unsafe { &*(memory as *const [MaybeUninit<u8>] as *const [u8]) }
    }

    /// What is initialised: what has been read and possibly more.
    ///
    /// ```
    /// let mut memory = [7; 4];
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// buffer.initialized_mut().fill(0);
    /// buffer.set_filled(4);
    /// assert_eq!(buffer.filled(), [0; 4]);
    /// ```
    #[inline]
    pub fn initialized_mut(&mut self) -> &mut [u8] {
        // SAFETY: the range is the initialised one.
        unsafe { assume_bytes(&mut self.buffer[..self.initialized]) }
    }

    /// All of the memory.
    ///
    /// # Safety
    /// Initialised bytes have to stay so.
    ///
    /// ```
    /// use blitz_io::io::ReadBuf;
    /// use std::mem::MaybeUninit;
    ///
    /// let mut memory = [MaybeUninit::uninit(); 4];
    /// let mut buffer = ReadBuf::uninit(&mut memory);
    /// // SAFETY: bytes are written, and none made uninitialised.
    /// unsafe { buffer.inner_mut().fill(MaybeUninit::new(7)) };
    /// // SAFETY: all four have just been written.
    /// unsafe { buffer.assume_init(4) };
    /// assert_eq!(buffer.initialized(), [7; 4]);
    /// ```
    #[inline]
    pub unsafe fn inner_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        self.buffer
    }

    /// The memory that is not filled: what a reader reads into.
    ///
    /// # Safety
    /// Initialised bytes have to stay so.
    ///
    /// ```
    /// use blitz_io::io::ReadBuf;
    /// use std::mem::MaybeUninit;
    ///
    /// let mut memory = [MaybeUninit::uninit(); 4];
    /// let mut buffer = ReadBuf::uninit(&mut memory);
    /// // SAFETY: a byte is written, and none made uninitialised.
    /// unsafe { buffer.unfilled_mut()[0].write(b'x') };
    /// // SAFETY: it has just been written.
    /// unsafe { buffer.assume_init(1) };
    /// buffer.advance(1);
    /// assert_eq!(buffer.filled(), b"x");
    /// ```
    #[inline]
    pub unsafe fn unfilled_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        &mut self.buffer[self.filled..]
    }

    /// What is not filled, as bytes: those that are not initialised are zeroed, which takes time once.
    ///
    /// ```
    /// use blitz_io::io::ReadBuf;
    /// use std::io::Read;
    /// use std::mem::MaybeUninit;
    ///
    /// let mut memory = [MaybeUninit::uninit(); 8];
    /// let mut buffer = ReadBuf::uninit(&mut memory);
    /// let length = (&b"abc"[..]).read(buffer.initialize_unfilled())?; // a reader that wants bytes
    /// buffer.advance(length);
    /// assert_eq!(buffer.filled(), b"abc");
    /// # std::io::Result::Ok(())
    /// ```
    #[inline]
    pub fn initialize_unfilled(&mut self) -> &mut [u8] {
        self.initialize_unfilled_to(self.remaining())
    }

    /// As [`initialize_unfilled`](Self::initialize_unfilled), of the first `n`.
    ///
    /// # Panics
    /// If there are not as many.
    ///
    /// ```
    /// let mut memory = [0; 8];
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// buffer.initialize_unfilled_to(2).copy_from_slice(b"ab");
    /// buffer.advance(2);
    /// assert_eq!(buffer.filled(), b"ab");
    /// ```
    #[inline]
    #[track_caller]
    pub fn initialize_unfilled_to(&mut self, n: usize) -> &mut [u8] {
        assert!(
            n <= self.remaining(),
            "ReadBuf: {n} bytes are more than the {} that remain",
            self.remaining()
        );
        let end = self.filled + n;
        if self.initialized < end {
            self.buffer[self.initialized..end].fill(MaybeUninit::new(0));
            self.initialized = end;
        }
        // SAFETY: everything up to `end` is initialised.
        unsafe { assume_bytes(&mut self.buffer[self.filled..end]) }
    }

    /// How much can still be read into it.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.capacity() - self.filled
    }

    /// Nothing has been read. What is initialised stays so.
    ///
    /// ```
    /// let mut memory = [0; 8];
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// buffer.put_slice(b"abc");
    /// buffer.clear();
    /// assert_eq!((buffer.filled().len(), buffer.remaining()), (0, 8));
    /// ```
    #[inline]
    pub fn clear(&mut self) {
        self.filled = 0;
    }

    /// `n` more bytes have been read.
    ///
    /// # Panics
    /// If they are not initialised.
    ///
    /// ```
    /// let mut memory = *b"abcd";
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// buffer.advance(2);
    /// assert_eq!(buffer.filled(), b"ab");
    /// ```
    #[inline]
    #[track_caller]
    pub fn advance(&mut self, n: usize) {
        let filled = self.filled.checked_add(n);
        self.set_filled(filled.expect("ReadBuf: no buffer is that large"));
    }

    /// `n` bytes have been read, in all: more than before or fewer.
    ///
    /// # Panics
    /// If they are not initialised.
    ///
    /// ```
    /// let mut memory = *b"abcd";
    /// let mut buffer = blitz_io::io::ReadBuf::new(&mut memory);
    /// buffer.set_filled(3);
    /// buffer.set_filled(1);
    /// assert_eq!(buffer.filled(), b"a");
    /// ```
    #[inline]
    #[track_caller]
    pub fn set_filled(&mut self, n: usize) {
        assert!(
            n <= self.initialized,
            "ReadBuf: of {n} bytes only {} are initialised",
            self.initialized
        );
        self.filled = n;
    }

    /// The first `n` bytes that are not filled are initialised. They do not count as read before [`advance`](Self::advance) says so.
    ///
    /// # Safety
    /// They have to be.
    #[inline]
    pub unsafe fn assume_init(&mut self, n: usize) {
        self.initialized = self.initialized.max(self.filled + n);
    }

    /// Appends bytes to what has been read.
    ///
    /// # Panics
    /// If there is no room for them.
    #[inline]
    #[track_caller]
    pub fn put_slice(&mut self, buf: &[u8]) {
        assert!(
            buf.len() <= self.remaining(),
            "ReadBuf: {} bytes are more than the {} that remain",
            buf.len(),
            self.remaining()
        );
        let end = self.filled + buf.len();
        let room = self.buffer[self.filled..end].as_mut_ptr();
        // SAFETY: there is room for as many bytes, and it is borrowed mutably, so the two do not overlap.
        unsafe {
            room.cast::<u8>()
                .copy_from_nonoverlapping(buf.as_ptr(), buf.len())
        };
        self.initialized = self.initialized.max(end);
        self.filled = end;
    }

    /// Lets `read` have the memory that is not filled; it says how many bytes it has put at the beginning of it, and something else.
    ///
    /// # Safety
    /// It must have done so, and must not make initialised bytes uninitialised.
    #[inline]
    pub(crate) unsafe fn poll_with<T>(
        &mut self,
        read: impl FnOnce(&mut [MaybeUninit<u8>]) -> Poll<io::Result<(usize, T)>>,
    ) -> Poll<io::Result<T>> {
        let (length, result) = ready!(read(&mut self.buffer[self.filled..]))?;
        let filled = self.filled + length;
        debug_assert!(filled <= self.buffer.len());
        self.initialized = self.initialized.max(filled);
        self.filled = filled;
        Poll::Ready(Ok(result))
    }
}

// SAFETY: the chunk is the memory that is not filled, it stays where it is, and `advance_mut` counts what the caller promises to have
// initialised.
unsafe impl BufMut for ReadBuf<'_> {
    fn remaining_mut(&self) -> usize {
        self.remaining()
    }

    unsafe fn advance_mut(&mut self, count: usize) {
        // SAFETY: the caller promises it.
        unsafe { self.assume_init(count) };
        self.advance(count);
    }

    fn chunk_mut(&mut self) -> &mut UninitSlice {
        UninitSlice::uninit(&mut self.buffer[self.filled..])
    }
}

impl fmt::Debug for ReadBuf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadBuf")
            .field("filled", &self.filled)
            .field("initialized", &self.initialized)
            .field("capacity", &self.capacity())
            .finish()
    }
}
