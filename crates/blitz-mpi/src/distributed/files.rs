//! Files that all ranks see: each reads and writes its range.
//!
//! A line belongs to the rank in whose range its first byte is. So a rank skips what is left of a line that began before its range, and reads on behind the
//! range until its last line ends: no line is cut, none is read twice, and a line longer than several ranges is one rank's.

use super::Distributed;
use crate::agree::Kind;
use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::parts::{Parts, block};
use crate::portable::{Op, Plain};
use crate::steps::Steps;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

fn failed(path: &Path, error: std::io::Error) -> Error {
    Error::File(format!("{}: {error}", path.display()))
}

/// Runs what blocks where it keeps no worker, and tells all ranks if it failed on one: nobody goes on as if all were well.
async fn on_all<R: Send + 'static>(
    cluster: &Cluster,
    work: impl FnOnce() -> Result<R> + Send + 'static,
) -> Result<R> {
    let result = match cluster.shared.runtime.spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Error::File(error.to_string())),
    };
    // The first rank that failed, if any.
    let own = if result.is_err() {
        cluster.rank()
    } else {
        cluster.size()
    };
    let first = cluster.all_reduce_one(own, Op::Min).await?;
    match result {
        Ok(_) if first < cluster.size() => {
            Err(Error::File(format!("rank {first} could not use its files")))
        }
        result => result,
    }
}

/// How long files are. Rank 0's word counts: files may grow between two looks. A rank that finds less than that later must not go on as if it were the end.
async fn lengths(cluster: &Cluster, paths: Vec<PathBuf>) -> Result<Vec<u64>> {
    let (rank, count) = (cluster.rank(), paths.len());
    let looked = on_all(cluster, move || {
        if rank != 0 {
            return Ok(Vec::new());
        }
        let length = |path: &PathBuf| {
            let data = std::fs::metadata(path).map_err(|error| failed(path, error))?;
            if !data.is_file() {
                let error =
                    std::io::Error::other("no regular file, so that nobody knows its length");
                return Err(failed(path, error));
            }
            if data.len() == 0 && File::open(path).is_ok_and(|mut file| has_more(&mut file)) {
                let error = std::io::Error::other("it does not say how long it is");
                return Err(failed(path, error));
            }
            Ok(data.len())
        };
        paths.iter().map(length).collect()
    })
    .await?;
    let parts = (rank == 0).then(|| Parts::from(vec![looked; cluster.size()]));
    let lengths: Vec<u64> = cluster.scatter(0, parts).await?;
    let counted = lengths.len();
    on_all(cluster, move || {
        if count == counted {
            Ok(lengths)
        } else {
            Err(Error::File(format!(
                "rank 0 has {counted} files, rank {rank} has {count}"
            )))
        }
    })
    .await
}

/// What the kernel makes up on demand has no length (`/proc`), and is not empty.
fn has_more(file: &mut File) -> bool {
    matches!(file.read(&mut [0]), Ok(1))
}

fn too_short() -> std::io::Error {
    std::io::Error::other("shorter than rank 0 has seen it")
}

impl Distributed<String> {
    /// The lines of a file, without their ends (`\n` or `\r\n`), in order. Each rank reads its part of the bytes.
    ///
    /// Bytes that are not UTF-8 become replacement characters. Regular files only: a pipe, or what the kernel makes up (`/proc`), cannot be read by ranges.
    ///
    /// # Errors
    /// [`Error::File`], on all ranks if it is one on any: also if a rank's file is shorter than rank 0's, as on network file systems that are behind.
    pub async fn read_lines(cluster: &Cluster, path: impl AsRef<Path>) -> Result<Self> {
        Self::read_lines_of(cluster, &[path]).await
    }

    /// The lines of several files, one after the other: as [`read_lines`](Self::read_lines) for all bytes of all of them.
    ///
    /// # Errors
    /// As [`read_lines`](Self::read_lines).
    pub async fn read_lines_of(cluster: &Cluster, paths: &[impl AsRef<Path>]) -> Result<Self> {
        let paths: Vec<PathBuf> = paths
            .iter()
            .map(|path| path.as_ref().to_path_buf())
            .collect();
        let (rank, size) = (cluster.rank(), cluster.size());
        let steps = Steps::new(cluster, Kind::READ);
        let lengths = lengths(&steps, paths.clone()).await?;
        let lines = on_all(steps.last(), move || {
            let mine = block(lengths.iter().sum::<u64>() as usize, size, rank);
            let mut lines = Vec::new();
            let mut start = 0;
            for (path, &length) in paths.iter().zip(&lengths) {
                let end = start + length as usize;
                let part = mine.start.clamp(start, end) - start..mine.end.clamp(start, end) - start;
                if !part.is_empty() {
                    lines_of(path, part, &mut lines).map_err(|error| failed(path, error))?;
                }
                start = end;
            }
            Ok(lines)
        })
        .await?;
        Ok(Distributed::from_local(cluster, lines))
    }

    /// Writes a file, every element a line. Each rank writes its own part, at its place.
    ///
    /// # Errors
    /// As [`read_lines`](Self::read_lines).
    pub async fn write_lines(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut bytes = Vec::new();
        for line in &self.local {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        write_bytes(&self.cluster, path.as_ref(), bytes).await
    }
}

impl<T: Plain> Distributed<T> {
    /// Reads a file of elements as [`write_plain`](Self::write_plain) writes it, in even blocks.
    ///
    /// # Errors
    /// [`Error::File`], on all ranks if it is one on any, also if the length is not that of a number of elements.
    pub async fn read_plain(cluster: &Cluster, path: impl AsRef<Path>) -> Result<Self> {
        const { assert!(size_of::<T>() > 0) };
        let path = path.as_ref().to_path_buf();
        let (rank, size) = (cluster.rank(), cluster.size());
        let steps = Steps::new(cluster, Kind::READ);
        let bytes = lengths(&steps, vec![path.clone()]).await?[0] as usize;
        let local = on_all(steps.last(), move || {
            let read = || -> std::io::Result<Vec<T>> {
                if !bytes.is_multiple_of(size_of::<T>()) {
                    return Err(std::io::Error::other(
                        "the length is not that of a number of elements",
                    ));
                }
                let mut file = File::open(&path)?;
                let mine = block(bytes / size_of::<T>(), size, rank);
                file.seek(SeekFrom::Start((mine.start * size_of::<T>()) as u64))?;
                let mut items = Vec::<T>::with_capacity(mine.len());
                // SAFETY: room for as many elements, zeroed first because a reader may look at it; plain data takes any bytes.
                unsafe {
                    items.as_mut_ptr().write_bytes(0, mine.len());
                    let room = std::slice::from_raw_parts_mut(
                        items.as_mut_ptr().cast::<u8>(),
                        mine.len() * size_of::<T>(),
                    );
                    file.read_exact(room).map_err(|error| match error.kind() {
                        std::io::ErrorKind::UnexpectedEof => too_short(),
                        _ => error,
                    })?;
                    items.set_len(mine.len());
                }
                Ok(items)
            };
            read().map_err(|error| failed(&path, error))
        })
        .await?;
        Ok(Distributed::from_local(cluster, local))
    }

    /// Writes a file of elements as they lie in memory (in this machine's byte order). Each rank writes its own part, at its place.
    ///
    /// Numbers only: other types may have bytes between their fields that belong to nobody.
    ///
    /// # Errors
    /// As [`read_plain`](Self::read_plain).
    pub async fn write_plain(&self, path: impl AsRef<Path>) -> Result<()>
    where
        T: crate::portable::Number,
    {
        let length = size_of_val(&self.local[..]);
        let mut bytes = Vec::<u8>::with_capacity(length);
        // SAFETY: numbers have no padding, so that all bytes are there, and there is room for them.
        unsafe {
            bytes
                .as_mut_ptr()
                .copy_from_nonoverlapping(self.local.as_ptr().cast(), length);
            bytes.set_len(length);
        }
        write_bytes(&self.cluster, path.as_ref(), bytes).await
    }
}

/// All ranks' bytes, one after the other, as a file.
async fn write_bytes(cluster: &Cluster, path: &Path, bytes: Vec<u8>) -> Result<()> {
    let steps = Steps::new(cluster, Kind::WRITE);
    let lengths = steps.all_gather(vec![bytes.len() as u64]).await?.into_vec();
    let (rank, total) = (cluster.rank(), lengths.iter().sum::<u64>());
    let offset: u64 = lengths[..rank].iter().sum();
    // The file is there, and as long as it will be, before anybody writes.
    let made = path.to_path_buf();
    on_all(&steps, move || {
        if rank == 0 {
            File::create(&made)
                .and_then(|file| file.set_len(total))
                .map_err(|error| failed(&made, error))?;
        }
        Ok(())
    })
    .await?;
    let path = path.to_path_buf();
    on_all(steps.last(), move || {
        let write = || {
            let mut file = File::options().write(true).open(&path)?;
            file.seek(SeekFrom::Start(offset))?;
            file.write_all(&bytes)
        };
        write().map_err(|error| failed(&path, error))
    })
    .await
}

/// The lines that begin in a range of bytes.
fn lines_of(path: &Path, range: Range<usize>, lines: &mut Vec<String>) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    // A line begins at the start if the byte before ends one.
    let mut place = range.start.saturating_sub(1);
    file.seek(SeekFrom::Start(place as u64))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    if range.start > 0 {
        place += reader.read_until(b'\n', &mut line)?;
    }
    while place < range.end {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if read == 0 {
            return Err(too_short());
        }
        place += read;
        if line.last() == Some(&b'\n') {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        lines.push(String::from_utf8_lossy(&line).into_owned());
    }
    Ok(())
}
