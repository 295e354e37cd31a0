//! Reading to the end.
//!
//! Bytes are read straight into the vector's spare room, which is not zeroed for it. A reader that needs initialised memory initialises what it uses. How much is
//! initialised is remembered from one read to the next. So a reader that is asked many times for little does not initialise a large vector many
//! times.

use super::{Step, uninterrupted};
use crate::io::{AsyncRead, ReadBuf};
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Room for less than this is hardly worth a read. A vector that came with a capacity of as much may hold everything, though: before it grows, this much is
/// read beside it.
const LEAST_ROOM: usize = 32;

/// How far it has come.
#[derive(Debug)]
struct Progress {
    /// How much has been read.
    read: usize,
    /// As much of the vector's memory is initialised, at least.
    initialized: usize,
    /// What the caller's vector had room for.
    capacity: usize,
}

impl Progress {
    fn new(bytes: &Vec<u8>) -> Self {
        Self {
            read: 0,
            initialized: bytes.len(),
            capacity: bytes.capacity(),
        }
    }

    fn poll<R: AsyncRead + ?Sized>(
        &mut self,
        mut reader: Pin<&mut R>,
        cx: &mut Context<'_>,
        bytes: &mut Vec<u8>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let read = uninterrupted(|| self.poll_once(reader.as_mut(), cx, bytes));
            match ready!(read)? {
                0 => return Poll::Ready(Ok(self.read)),
                length => self.read += length,
            }
        }
    }

    fn poll_once<R: AsyncRead + ?Sized>(
        &mut self,
        reader: Pin<&mut R>,
        cx: &mut Context<'_>,
        bytes: &mut Vec<u8>,
    ) -> Poll<io::Result<usize>> {
        if bytes.capacity() - bytes.len() < LEAST_ROOM {
            if bytes.capacity() == self.capacity && self.capacity >= LEAST_ROOM {
                let mut probe = [MaybeUninit::uninit(); LEAST_ROOM];
                let mut probe = ReadBuf::uninit(&mut probe);
                ready!(reader.poll_read(cx, &mut probe))?;
                let read = probe.filled();
                if read.len() > bytes.capacity() - bytes.len() {
                    bytes.reserve(LEAST_ROOM);
                }
                bytes.extend_from_slice(read);
                self.initialized = bytes.len();
                return Poll::Ready(Ok(read.len()));
            }
            bytes.reserve(LEAST_ROOM);
            self.initialized = bytes.len();
        }
        let before = bytes.len();
        let known = self.initialized.saturating_sub(before);
        let room = bytes.spare_capacity_mut();
        let place = room.as_ptr();
        let mut buffer = ReadBuf::uninit(room);
        // SAFETY: that much has been initialised by an earlier read, and the vector has not grown since.
        unsafe { buffer.assume_init(known) };
        ready!(reader.poll_read(cx, &mut buffer))?;
        let length = buffer.filled().len();
        assert!(
            std::ptr::eq(place.cast(), buffer.filled().as_ptr()),
            "a reader has put another buffer in the place of the one that it was given"
        );
        self.initialized = before + buffer.initialized().len();
        // SAFETY: as many bytes behind the vector's have been filled.
        unsafe { bytes.set_len(before + length) };
        Poll::Ready(Ok(length))
    }
}

/// Appends everything up to the end.
#[derive(Debug)]
pub struct ReadToEnd<'a> {
    bytes: &'a mut Vec<u8>,
    progress: Progress,
}

impl<'a> ReadToEnd<'a> {
    pub(in crate::io) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self {
            progress: Progress::new(bytes),
            bytes,
        }
    }
}

impl<R: AsyncRead + ?Sized> Step<R> for ReadToEnd<'_> {
    type Output = io::Result<usize>;

    fn poll(&mut self, reader: Pin<&mut R>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.progress.poll(reader, cx, self.bytes)
    }
}

/// As [`ReadToEnd`], for text.
#[derive(Debug)]
pub struct ReadToString<'a> {
    text: &'a mut String,
    bytes: Vec<u8>,
    progress: Progress,
}

impl<'a> ReadToString<'a> {
    pub(in crate::io) fn new(text: &'a mut String) -> Self {
        let bytes = room_of(text);
        Self {
            text,
            progress: Progress::new(&bytes),
            bytes,
        }
    }
}

impl<R: AsyncRead + ?Sized> Step<R> for ReadToString<'_> {
    type Output = io::Result<usize>;

    fn poll(&mut self, reader: Pin<&mut R>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let read = ready!(self.progress.poll(reader, cx, &mut self.bytes));
        if read.is_err() {
            self.bytes.clear();
        }
        let appended = append(self.text, &mut self.bytes);
        Poll::Ready(read.and_then(|read| appended.map(|()| read)))
    }
}

/// A vector for what is to be appended to a text; a text that is empty lends its memory.
pub(super) fn room_of(text: &mut String) -> Vec<u8> {
    if text.is_empty() {
        std::mem::take(text).into_bytes()
    } else {
        Vec::new()
    }
}

/// Appends bytes to a text, all or nothing.
pub(super) fn append(text: &mut String, bytes: &mut Vec<u8>) -> io::Result<()> {
    let (appended, result) = match String::from_utf8(std::mem::take(bytes)) {
        Ok(appended) => (appended, Ok(())),
        Err(error) => {
            let mut bytes = error.into_bytes();
            let result = Err(not_text(text, &bytes));
            bytes.clear();
            (String::from_utf8(bytes).unwrap_or_default(), result)
        }
    };
    if text.is_empty() {
        // With its memory, if it was lent.
        *text = appended;
    } else {
        text.push_str(&appended);
    }
    result
}

/// What is wrong with the bytes behind a text; it counts from the beginning of the text.
fn not_text(text: &str, bytes: &[u8]) -> io::Error {
    let whole = [text.as_bytes(), bytes].concat();
    match std::str::from_utf8(&whole) {
        Err(error) => io::Error::new(io::ErrorKind::InvalidData, error),
        Ok(_) => io::ErrorKind::InvalidData.into(),
    }
}
