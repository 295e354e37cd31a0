//! Files and directories: what is read is what was written, also if operations are cancelled, fail, or outlive their file.

mod common;

use blitz_io::fs::{self, File};
use blitz_io::io::{self, AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use blitz_io::{Builder, spawn, spawn_blocking};
use common::{run, run_on, runtime, soon};
use futures_core::Stream;
use std::future::{Future, poll_fn};
use std::io::{ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

/// A directory for one test, removed with everything in it at the end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("blitz-io-fs-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Polls a future once, and drops it.
fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A file that is read by way of a thread, always: it shares its position with the second one.
async fn read_by_a_thread(path: &Path) -> (File, File) {
    let mut options = File::options();
    let file = options.read(true).write(true).open(path).await.unwrap();
    let clone = file.try_clone().await.unwrap();
    (file, clone)
}

#[test]
fn what_is_written_can_be_read() {
    run_on(
        || Builder::new_current_thread().build().unwrap(),
        write_and_read,
    );
    run(write_and_read);
}

async fn write_and_read() {
    let directory = Directory::new();
    let path = directory.path("file");
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut file = File::create_new(&path).await.unwrap();
    file.write_all(&bytes).await.unwrap();
    file.flush().await.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(file.stream_position().await.unwrap(), 3_000_000);
    file.rewind().await.unwrap();
    let mut read = Vec::new();
    assert_eq!(file.read_to_end(&mut read).await.unwrap(), bytes.len());
    assert_eq!(read, bytes);
    assert_eq!(file.read(&mut [0; 8]).await.unwrap(), 0, "the end stays");
    let again = File::create_new(&path).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
}

#[test]
fn many_small_writes_arrive_in_order_whatever_the_buffer() {
    for limit in [1, 7, 4096, 1 << 20] {
        run(move || async move {
            let directory = Directory::new();
            let path = directory.path("file");
            let mut file = File::create(&path).await.unwrap();
            file.set_max_buf_size(limit);
            assert_eq!(file.max_buf_size(), limit);
            let mut expected = Vec::new();
            let lines = if limit < 100 { 200 } else { 5000 };
            for line in 0..lines {
                let text = format!("line {line}\n");
                expected.extend_from_slice(text.as_bytes());
                soon(file.write_all(text.as_bytes())).await.unwrap();
            }
            soon(file.flush()).await.unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), expected);
        });
    }
}

#[test]
fn lines_that_several_files_append_stay_whole() {
    run(|| async {
        let directory = Directory::new();
        let path = directory.path("log");
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let path = path.clone();
                spawn(async move {
                    let mut options = File::options();
                    options.create(true).append(true);
                    let mut file = options.open(path).await.unwrap();
                    // Smaller than what is waiting to be written now and then.
                    file.set_max_buf_size(100);
                    for line in 0..200 {
                        let text = format!("{writer} {line:>30}\n");
                        file.write_all(text.as_bytes()).await.unwrap();
                    }
                    file.flush().await.unwrap();
                })
            })
            .collect();
        for writer in writers {
            soon(writer).await.unwrap();
        }
        let text = fs::read_to_string(&path).await.unwrap();
        let mut next = [0; 4];
        for line in text.lines() {
            let (writer, number) = line.split_once(' ').unwrap();
            let next = &mut next[writer.parse::<usize>().unwrap()];
            assert_eq!(number.trim().parse::<usize>().unwrap(), *next, "{line}");
            *next += 1;
        }
        assert_eq!(next, [200; 4]);
    });
}

#[test]
fn a_cancelled_read_loses_no_bytes() {
    run(|| async {
        let directory = Directory::new();
        let path = directory.path("file");
        std::fs::write(&path, "abcdefgh").unwrap();
        let (mut file, _clone) = read_by_a_thread(&path).await;
        let (mut read, mut cancelled) = (Vec::new(), 0);
        loop {
            // Reads that a thread has to do are given up at once; what they find is handed out later, in smaller pieces.
            let mut buffer = [0; 3];
            let length = match poll_once(file.read(&mut buffer)) {
                Poll::Ready(length) => length.unwrap(),
                Poll::Pending => {
                    cancelled += 1;
                    soon(file.read(&mut buffer[..2])).await.unwrap()
                }
            };
            if length == 0 {
                break;
            }
            read.extend_from_slice(&buffer[..length]);
        }
        assert!(cancelled > 2);
        assert_eq!(read, b"abcdefgh");
    });
}

#[test]
fn a_write_after_a_cancelled_read_goes_where_the_reader_is() {
    run(|| async {
        let directory = Directory::new();
        let path = directory.path("file");
        std::fs::write(&path, "abcdefgh").unwrap();
        let (mut file, _clone) = read_by_a_thread(&path).await;
        file.read_exact(&mut [0; 2]).await.unwrap();
        assert!(poll_once(file.read(&mut [0; 3])).is_pending());
        soon(file.write_all(b"XY")).await.unwrap();
        soon(file.flush()).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abXYefgh");
        assert!(poll_once(file.read(&mut [0; 3])).is_pending());
        let position = soon(file.seek(SeekFrom::Current(1))).await.unwrap();
        assert_eq!(position, 5, "relative to the reader's position");
        assert!(poll_once(file.read(&mut [0; 2])).is_pending());
        soon(file.set_len(7)).await.unwrap();
        let mut rest = String::new();
        soon(file.read_to_string(&mut rest)).await.unwrap();
        assert_eq!(rest, "fg", "what was cut off is not read from a buffer");
    });
}

#[test]
fn a_seek_that_fails_after_a_cancelled_read_loses_no_bytes() {
    run(|| async {
        let directory = Directory::new();
        let path = directory.path("file");
        std::fs::write(&path, "abcdefgh").unwrap();
        for impossible in [
            SeekFrom::Current(-3),
            SeekFrom::Current(i64::MIN),
            SeekFrom::End(-9),
        ] {
            let (mut file, _clone) = read_by_a_thread(&path).await;
            file.read_exact(&mut [0; 2]).await.unwrap();
            assert!(poll_once(file.read(&mut [0; 3])).is_pending());
            soon(file.seek(impossible)).await.unwrap_err();
            let mut rest = String::new();
            soon(file.read_to_string(&mut rest)).await.unwrap();
            assert_eq!(rest, "cdefgh", "after {impossible:?}");
        }
    });
}

#[test]
fn a_cancelled_write_is_done_or_not_and_never_twice() {
    run(|| async {
        let directory = Directory::new();
        let path = directory.path("file");
        let mut file = File::create(&path).await.unwrap();
        file.set_max_buf_size(4);
        let mut expected = Vec::new();
        for round in 0..200 {
            let text = format!("{:04}", round);
            // Not accepted: then nothing of it has been taken.
            while poll_once(file.write(text.as_bytes())).is_pending() {
                blitz_io::task::yield_now().await;
            }
            expected.extend_from_slice(text.as_bytes());
        }
        soon(file.flush()).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), expected);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn the_error_of_a_write_is_reported_once_by_the_next_write_or_flush_or_sync() {
    run(|| async {
        let full = || async { File::options().write(true).open("/dev/full").await };
        let mut file = full().await.unwrap();
        assert_eq!(file.write(b"no room").await.unwrap(), 7, "accepted");
        let error = soon(file.flush()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        soon(file.flush()).await.unwrap();

        file.write_all(b"no room").await.unwrap();
        let error = soon(file.sync_all()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);

        file.write_all(b"no room").await.unwrap();
        let error = loop {
            if let Err(error) = soon(file.write(b"more")).await {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        let _ = soon(file.shutdown()).await;

        let mut file = File::open("/dev/null").await.unwrap();
        file.write_all(b"not open for writing").await.unwrap();
        assert!(soon(file.flush()).await.is_err());
        let mut file = full().await.unwrap();
        file.write_all(b"nobody is told").await.unwrap();
        drop(file.into_std().await);
    });
}

#[test]
fn what_was_accepted_is_written_after_file_and_runtime_are_gone() {
    let directory = Directory::new();
    let path = directory.path("file");
    // The only thread is busy, so the write is queued when the runtime ends.
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).max_blocking_threads(1).build();
    let runtime = runtime.unwrap();
    let expected: Vec<u8> = (0..100_000_u32).map(|n| n as u8).collect();
    let (release, released) = std::sync::mpsc::channel::<()>();
    runtime.block_on(async {
        let mut file = File::create(&path).await.unwrap();
        drop(spawn_blocking(move || released.recv()));
        for part in expected.chunks(1000) {
            file.write_all(part).await.unwrap();
        }
    });
    let releasing = std::thread::spawn(move || {
        // A little later than the end of the runtime begins; if not, the test is weaker but not wrong.
        std::thread::sleep(std::time::Duration::from_millis(20));
        drop(release);
    });
    drop(runtime);
    releasing.join().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected);
}

#[cfg(unix)]
#[test]
fn bug_35_a_file_that_blocks_does_not_block_the_tasks() {
    // Opening a pipe waits for its other end, and reading it for bytes. The only worker goes on.
    run_on(
        || runtime(1),
        || async {
            let directory = Directory::new();
            let path = directory.path("pipe");
            make_pipe(&path);
            let reader = spawn({
                let path = path.clone();
                async move {
                    let mut file = File::open(path).await.unwrap();
                    let mut text = String::new();
                    file.read_to_string(&mut text).await.unwrap();
                    text
                }
            });
            for _ in 0..100 {
                spawn(async {}).await.unwrap();
            }
            assert!(!reader.is_finished());
            let mut writer = File::options().write(true).open(&path).await.unwrap();
            writer.write_all(b"through ").await.unwrap();
            writer.flush().await.unwrap();
            for _ in 0..100 {
                spawn(async {}).await.unwrap();
            }
            assert!(!reader.is_finished());
            writer.write_all(b"a pipe").await.unwrap();
            drop(writer);
            assert_eq!(soon(reader).await.unwrap(), "through a pipe");
        },
    );
}

#[cfg(unix)]
fn make_pipe(path: &Path) {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

#[test]
fn bug_35_file_operations_that_a_runtime_leaves_behind_are_errors_and_nobody_hangs() {
    let directory = Directory::new();
    let path = directory.path("file");
    std::fs::write(&path, "abc").unwrap();
    let mut builder = Builder::new_multi_thread();
    let dying = builder.worker_threads(1).max_blocking_threads(1).build();
    let dying = dying.unwrap();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (mut file, opened) = dying.block_on(async {
        let (file, _clone) = read_by_a_thread(&path).await;
        drop(spawn_blocking(move || released.recv()));
        (file, Box::pin(fs::read(path.clone())))
    });
    // Both are queued behind the one that blocks, and belong to the runtime that ends.
    let mut opened: Pin<Box<dyn Future<Output = _>>> = opened;
    {
        let _entered = dying.enter();
        assert!(poll_once(opened.as_mut()).is_pending());
        assert!(poll_once(file.read(&mut [0; 3])).is_pending());
    }
    dying.shutdown_background();
    let other = runtime(1);
    other.block_on(async {
        assert!(soon(opened).await.is_err());
        let mut buffer = [0; 3];
        assert!(soon(file.read(&mut buffer)).await.is_err());
        // The file itself is fine.
        assert_eq!(soon(file.read(&mut buffer)).await.unwrap(), 3);
        assert_eq!(&buffer, b"abc");
    });
    drop(release);
}

#[test]
fn bug_35_the_async_file_compiles_and_has_the_traits() {
    fn has_the_traits<F>(file: F) -> F
    where
        F: io::AsyncRead + io::AsyncWrite + io::AsyncSeek,
        F: Send + Sync + Unpin + std::fmt::Debug,
    {
        file
    }
    run(|| async {
        let directory = Directory::new();
        let file = File::create_new(directory.path("file")).await.unwrap();
        let mut file = has_the_traits(file);
        let written = poll_fn(|cx| {
            let slices = [std::io::IoSlice::new(b"tra"), std::io::IoSlice::new(b"its")];
            io::AsyncWrite::poll_write_vectored(Pin::new(&mut file), cx, &slices)
        });
        assert_eq!(written.await.unwrap(), 6);
        io::AsyncSeek::start_seek(Pin::new(&mut file), SeekFrom::End(-3)).unwrap();
        let sought = poll_fn(|cx| io::AsyncSeek::poll_complete(Pin::new(&mut file), cx));
        assert_eq!(soon(sought).await.unwrap(), 3);
        let mut buffer = [0; 8];
        assert_eq!(soon(file.read(&mut buffer)).await.unwrap(), 3);
        assert_eq!(&buffer[..3], b"its");
    });
}

#[cfg(feature = "tokio-io")]
#[test]
fn files_implement_the_traits_of_tokio() {
    use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
    run(|| async {
        let directory = Directory::new();
        let file = File::create_new(directory.path("file")).await.unwrap();
        let mut file = pin!(file);
        let written = poll_fn(|cx| AsyncWrite::poll_write(file.as_mut(), cx, b"tokio"));
        assert_eq!(written.await.unwrap(), 5);
        AsyncSeek::start_seek(file.as_mut(), SeekFrom::Start(2)).unwrap();
        let sought = soon(poll_fn(|cx| AsyncSeek::poll_complete(file.as_mut(), cx)));
        assert_eq!(sought.await.unwrap(), 2);
        let mut memory = [std::mem::MaybeUninit::uninit(); 8];
        let mut buffer = ReadBuf::uninit(&mut memory);
        let read = soon(poll_fn(|cx| {
            AsyncRead::poll_read(file.as_mut(), cx, &mut buffer)
        }));
        read.await.unwrap();
        assert_eq!(buffer.filled(), b"kio");
    });
}

#[test]
fn a_file_goes_to_the_standard_library_and_back() {
    run(|| async {
        let directory = Directory::new();
        let path = directory.path("file");
        let mut file = File::create(&path).await.unwrap();
        file.write_all(b"one ").await.unwrap();
        let mut standard = file.into_std().await;
        std::io::Write::write_all(&mut standard, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one two");
        let file = File::from_std(standard).try_into_std().unwrap();
        assert_eq!(file.metadata().unwrap().len(), 7);

        // A read that was cancelled has not moved the position that the standard library goes on from.
        let (mut file, _clone) = read_by_a_thread(&path).await;
        assert!(poll_once(file.read(&mut [0; 4])).is_pending());
        let mut third = soon(file.try_clone()).await.unwrap();
        assert_eq!(soon(third.stream_position()).await.unwrap(), 0);
        assert!(poll_once(file.read(&mut [0; 4])).is_pending());
        let file = file.try_into_std().unwrap_err();
        let mut standard = soon(file.into_std()).await;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut standard, &mut text).unwrap();
        assert_eq!(text, "one two");
    });
}

#[test]
fn metadata_and_lengths_count_what_was_written() {
    run(|| async {
        let directory = Directory::new();
        let path = directory.path("file");
        let mut file = File::create(&path).await.unwrap();
        for _ in 0..100 {
            file.write_all(&[7; 1000]).await.unwrap();
        }
        assert_eq!(soon(file.metadata()).await.unwrap().len(), 100_000);
        soon(file.set_len(10)).await.unwrap();
        assert_eq!(fs::metadata(&path).await.unwrap().len(), 10);
        soon(file.sync_data()).await.unwrap();
        let mut permissions = file.metadata().await.unwrap().permissions();
        permissions.set_readonly(true);
        file.set_permissions(permissions.clone()).await.unwrap();
        let metadata = fs::metadata(&path).await.unwrap();
        assert!(metadata.permissions().readonly());
        permissions = metadata.permissions();
        #[allow(clippy::permissions_set_readonly_false, reason = "so that it can go")]
        permissions.set_readonly(false);
        fs::set_permissions(&path, permissions).await.unwrap();
    });
}

#[test]
fn a_directory_of_many_files_is_listed_completely() {
    run(|| async {
        let directory = Directory::new();
        let count = 200;
        for number in 0..count {
            std::fs::write(directory.path(&number.to_string()), "x").unwrap();
        }
        std::fs::create_dir(directory.path("inside")).unwrap();
        let mut seen = vec![false; count];
        let mut entries = fs::read_dir(&directory.0).await.unwrap();
        let mut directories = 0;
        loop {
            // A cancelled call loses no entry.
            if let Poll::Ready(entry) = poll_once(entries.next_entry()) {
                let Some(entry) = entry.unwrap() else { break };
                if entry.file_type().await.unwrap().is_dir() {
                    directories += 1;
                    assert_eq!(entry.path(), directory.path("inside"));
                    continue;
                }
                assert_eq!(entry.metadata().await.unwrap().len(), 1);
                let name = entry.file_name().into_string().unwrap();
                let seen = &mut seen[name.parse::<usize>().unwrap()];
                assert!(!std::mem::replace(seen, true), "{name} twice");
            }
            blitz_io::task::yield_now().await;
        }
        assert!(seen.iter().all(|&seen| seen));
        assert_eq!(directories, 1);
        let mut stream = pin!(fs::read_dir(&directory.0).await.unwrap());
        let mut number = 0;
        while let Some(entry) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            entry.unwrap();
            number += 1;
        }
        assert_eq!(number, count + 1);
        let missing = fs::read_dir(directory.path("missing")).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn functions_on_paths_do_what_their_names_say() {
    run(|| async {
        let directory = Directory::new();
        let (a, b) = (directory.path("a"), directory.path("b"));
        fs::write(&a, "text").await.unwrap();
        assert_eq!(fs::read(&a).await.unwrap(), b"text");
        assert_eq!(fs::copy(&a, &b).await.unwrap(), 4);
        fs::remove_file(&a).await.unwrap();
        assert!(!fs::try_exists(&a).await.unwrap());
        fs::rename(&b, &a).await.unwrap();
        assert_eq!(fs::read_to_string(&a).await.unwrap(), "text");
        fs::hard_link(&a, &b).await.unwrap();
        fs::write(&b, "shared").await.unwrap();
        assert_eq!(fs::read_to_string(&a).await.unwrap(), "shared");
        let deep = directory.path("x/y/z");
        assert!(fs::create_dir(&deep).await.is_err());
        fs::create_dir_all(&deep).await.unwrap();
        assert!(fs::remove_dir(directory.path("x")).await.is_err());
        fs::remove_dir(&deep).await.unwrap();
        fs::remove_dir_all(directory.path("x")).await.unwrap();
        fs::DirBuilder::new().create(&deep).await.unwrap_err();
        fs::DirBuilder::new()
            .recursive(true)
            .create(&deep)
            .await
            .unwrap();
        assert!(fs::metadata(&deep).await.unwrap().is_dir());
        let there = fs::canonicalize(directory.path("x/../a")).await.unwrap();
        assert_eq!(there, std::fs::canonicalize(&a).unwrap());
        #[cfg(unix)]
        {
            let link = directory.path("link");
            fs::symlink(&a, &link).await.unwrap();
            assert_eq!(fs::read_link(&link).await.unwrap(), a);
            let metadata = fs::symlink_metadata(&link).await.unwrap();
            assert!(metadata.file_type().is_symlink());
            assert!(fs::metadata(&link).await.unwrap().is_file());
        }
        let missing = fs::read(directory.path("missing")).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    });
}

/// Random programs on a file, against the standard library's file that does the same one step after the other.
mod against_the_standard_library {
    use super::*;
    use proptest::prelude::*;
    use std::io::{Read, Seek, Write};

    #[derive(Debug, Clone)]
    enum Step {
        Read(usize),
        CancelledRead(usize),
        Write(Vec<u8>),
        Seek(SeekFrom),
        SetLen(u64),
        Flush,
        Length,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (1..40_usize).prop_map(Step::Read),
            3 => (1..40_usize).prop_map(Step::CancelledRead),
            4 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Step::Write),
            1 => (0..60_u64).prop_map(|to| Step::Seek(SeekFrom::Start(to))),
            1 => (-20..20_i64).prop_map(|by| Step::Seek(SeekFrom::Current(by))),
            1 => (-20..5_i64).prop_map(|by| Step::Seek(SeekFrom::End(by))),
            1 => (0..80_u64).prop_map(Step::SetLen),
            1 => Just(Step::Flush),
            1 => Just(Step::Length),
        ]
    }

    async fn compare(steps: Vec<Step>, limit: usize, shared: bool) {
        let directory = Directory::new();
        let (path, model) = (directory.path("file"), directory.path("model"));
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let mut model = options.open(model).unwrap();
        let mut file = File::from_std(options.open(&path).unwrap());
        file.set_max_buf_size(limit);
        let _clone = match shared {
            true => Some(file.try_clone().await.unwrap()),
            false => None,
        };
        for step in steps {
            match step {
                Step::Read(length) => {
                    let mut ours = vec![0; length];
                    let read = soon(file.read(&mut ours)).await.unwrap();
                    // It may read less at a time, but not nothing.
                    let mut theirs = vec![0; read.max(1)];
                    let expected = model.read(&mut theirs).unwrap();
                    assert_eq!(ours[..read], theirs[..expected]);
                }
                Step::CancelledRead(length) => {
                    let mut bytes = vec![0; length];
                    if let Poll::Ready(read) = poll_once(file.read(&mut bytes)) {
                        let read = read.unwrap();
                        let mut theirs = vec![0; read];
                        model.read_exact(&mut theirs).unwrap();
                        assert_eq!(bytes[..read], theirs);
                    }
                }
                Step::Write(bytes) => {
                    soon(file.write_all(&bytes)).await.unwrap();
                    model.write_all(&bytes).unwrap();
                }
                Step::Seek(to) => {
                    let (ours, theirs) = (soon(file.seek(to)).await, model.seek(to));
                    assert_eq!(ours.is_ok(), theirs.is_ok());
                    if let (Ok(ours), Ok(theirs)) = (&ours, &theirs) {
                        assert_eq!(ours, theirs);
                    } else {
                        // Whether a failed seek has put the position back is not promised.
                        soon(file.rewind()).await.unwrap();
                        model.rewind().unwrap();
                    }
                }
                Step::SetLen(length) => {
                    soon(file.set_len(length)).await.unwrap();
                    model.set_len(length).unwrap();
                }
                Step::Flush => soon(file.flush()).await.unwrap(),
                Step::Length => {
                    let length = soon(file.metadata()).await.unwrap().len();
                    assert_eq!(length, model.metadata().unwrap().len());
                }
            }
        }
        soon(file.flush()).await.unwrap();
        let position = soon(file.stream_position()).await.unwrap();
        assert_eq!(position, model.stream_position().unwrap());
        let mut bytes = Vec::new();
        model.rewind().unwrap();
        model.read_to_end(&mut bytes).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_program_has_the_same_outcome(
            steps in proptest::collection::vec(step(), 1..40),
            limit in prop_oneof![1..50_usize, Just(1 << 20)],
            shared in any::<bool>(),
        ) {
            runtime(1).block_on(compare(steps, limit, shared));
        }
    }
}
