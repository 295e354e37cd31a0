//! What a Windows that is not quite one (Wine) lacks, found out without Blitz: for each lack the tests that cannot pass there, and why.
//!
//! Prints one line for each: `TEST reason`. On Windows itself, and on a better Wine, it prints nothing.

#[cfg(not(windows))]
fn main() {}

#[cfg(windows)]
fn main() {
    if std::env::args().nth(1).as_deref() == Some("stack") {
        return windows::ask_for_an_impossible_stack();
    }
    for (test, reason, is_lacking) in windows::LACKS {
        if is_lacking() {
            println!("{test} {reason}");
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::ffi::c_void;
    use std::fs::{self, OpenOptions};
    use std::io::{IoSlice, Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::windows::io::AsRawSocket;
    use std::path::PathBuf;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;
    use std::{ptr, thread};

    /// A test, why it cannot pass, and whether that is so here.
    type Lack = (&'static str, &'static str, fn() -> bool);

    pub const LACKS: &[Lack] = &[
        (
            "a_stack_that_no_thread_can_have_is_an_error",
            "std::thread::Builder with such a stack ends the process",
            stack,
        ),
        (
            "functions_on_paths_do_what_their_names_say",
            "std::fs::copy says that it has copied nothing",
            copy,
        ),
        (
            "lines_that_several_files_append_stay_whole",
            "handles that append to one file overwrite each other",
            append,
        ),
        (
            "a_datagram_that_nobody_wants_is_an_error_and_not_the_end",
            "nobody hears that there is nobody at a port",
            refusal,
        ),
        (
            "a_reset_is_an_error_for_that_connection_only",
            "who waits for a connection (WSAPoll) that is reset hears nothing of that when it reads",
            reset,
        ),
        (
            "more_buffers_than_the_system_takes_at_once_are_no_reason_to_wait",
            "writing many buffers at once fails instead of writing some",
            buffers,
        ),
        (
            "the_first_instance_of_a_pipe_is_the_first",
            "FILE_FLAG_FIRST_PIPE_INSTANCE is ignored",
            first_instance,
        ),
        (
            "sockets_timers_and_tasks_get_on_while_the_size_changes",
            "mio loses an event if the thread that had asked for it ends meanwhile",
            ending_threads,
        ),
        (
            "where_a_listener_has_been_closed_connections_are_refused",
            "with mio, one that has been closed takes connections for a while, now and then",
            closed_listener,
        ),
    ];

    #[repr(C)]
    struct Poll {
        socket: usize,
        events: i16,
        happened: i16,
    }

    #[link(name = "ws2_32")]
    unsafe extern "system" {
        fn WSAPoll(polls: *mut Poll, number: u32, millis: i32) -> i32;
        fn setsockopt(socket: usize, level: i32, name: i32, value: *const u8, length: i32) -> i32;
    }

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn CreateNamedPipeA(
            name: *const i8,
            open_mode: u32,
            pipe_mode: u32,
            instances: u32,
            out_buffer: u32,
            in_buffer: u32,
            time_out: u32,
            attributes: *const c_void,
        ) -> isize;
    }

    /// How the child ends does not say it: Wine takes a crash for an end like any other.
    const SURVIVED: &str = "survived";

    fn stack() -> bool {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.arg("stack").stderr(Stdio::null()).output().unwrap();
        !String::from_utf8_lossy(&output.stdout).contains(SURVIVED)
    }

    pub fn ask_for_an_impossible_stack() {
        for bytes in [usize::MAX, usize::MAX / 16 * 15] {
            let builder = thread::Builder::new().stack_size(bytes);
            if let Ok(thread) = builder.spawn(|| ()) {
                thread.join().unwrap();
            }
        }
        println!("{SURVIVED}");
    }

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("blitz-platforms-{}-{name}", std::process::id()))
    }

    fn copy() -> bool {
        let (from, to) = (path("from"), path("to"));
        fs::write(&from, "text").unwrap();
        let copied = fs::copy(&from, &to).unwrap();
        fs::remove_file(from).unwrap();
        fs::remove_file(to).unwrap();
        copied != 4
    }

    fn append() -> bool {
        // It takes two at the same moment.
        (0..50).any(|_| appended_less_than_was_written())
    }

    fn appended_less_than_was_written() -> bool {
        let path = path("append");
        let writes = |path: PathBuf| {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let mut file = file.unwrap();
            (0..200).for_each(|_| file.write_all(b"line\n").unwrap());
        };
        thread::scope(|threads| {
            (0..4).for_each(|_| drop(threads.spawn(|| writes(path.clone()))));
        });
        let length = fs::metadata(&path).unwrap().len();
        fs::remove_file(path).unwrap();
        length != 4 * 200 * 5
    }

    fn refusal() -> bool {
        let here = UdpSocket::bind("127.0.0.1:0").unwrap();
        let nobody = UdpSocket::bind("127.0.0.1:0").unwrap();
        here.connect(nobody.local_addr().unwrap()).unwrap();
        drop(nobody);
        here.send(b"x").unwrap();
        let patience = Some(Duration::from_secs(2));
        here.set_read_timeout(patience).unwrap();
        let error = here.recv(&mut [0]).unwrap_err();
        error.kind() != std::io::ErrorKind::ConnectionReset
    }

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (here, listener.accept().unwrap().0)
    }

    fn reset() -> bool {
        let (mut here, there) = pair();
        // On, for no time.
        let linger: [u8; 4] = [1, 0, 0, 0];
        // SAFETY: the socket is open, and the value has the length that is said.
        unsafe {
            setsockopt(
                there.as_raw_socket() as usize,
                0xffff,
                0x80,
                linger.as_ptr(),
                4,
            )
        };
        drop(there);
        const READABLE: i16 = 0x100;
        let mut poll = Poll {
            socket: here.as_raw_socket() as usize,
            events: READABLE,
            happened: 0,
        };
        // SAFETY: one entry, of an open socket.
        unsafe { WSAPoll(&mut poll, 1, 5000) };
        here.read(&mut [0; 8]).is_ok()
    }

    fn buffers() -> bool {
        let (mut here, _there) = pair();
        let bytes = [0_u8; 5000];
        let slices: Vec<_> = bytes.chunks(1).map(IoSlice::new).collect();
        here.write_vectored(&slices).is_err()
    }

    fn first_instance() -> bool {
        let create = || {
            const DUPLEX: u32 = 3;
            const FIRST: u32 = 0x0008_0000;
            let name = c"\\\\.\\pipe\\blitz-platforms";
            // SAFETY: the name ends with a zero, and there are no attributes.
            unsafe {
                CreateNamedPipeA(
                    name.as_ptr(),
                    DUPLEX | FIRST,
                    0,
                    255,
                    4096,
                    4096,
                    0,
                    ptr::null(),
                )
            }
        };
        create() != -1 && create() != -1
    }

    /// What a thread that has ended was waiting for, nobody else hears of. On Windows itself, what was asked for on behalf of a completion port outlives who asked. (If the
    /// first thread stays, nothing is lost under Wine 8, either, in 1200 rounds.)
    fn ending_threads() -> bool {
        // It takes the right moment.
        (0..400).any(|round| is_lost(Duration::from_micros(round % 20 * 100)))
    }

    fn is_lost(after: Duration) -> bool {
        const TOKEN: mio::Token = mio::Token(1);
        let (mut here, there) = pair();
        there.set_nonblocking(true).unwrap();
        let mut there = mio::net::TcpStream::from_std(there);
        let mut poll = mio::Poll::new().unwrap();
        let interest = mio::Interest::READABLE;
        let registry = poll.registry();
        registry.register(&mut there, TOKEN, interest).unwrap();
        let wait = |poll: &mut mio::Poll, limit| {
            let mut events = mio::Events::with_capacity(8);
            poll.poll(&mut events, Some(limit)).unwrap();
            events.iter().any(|event| event.is_readable())
        };
        let (mut poll, heard) = thread::scope(|threads| {
            // Asks, waits for a moment, and ends.
            let first = threads.spawn(move || {
                let heard = wait(&mut poll, Duration::from_millis(1));
                (poll, heard)
            });
            thread::sleep(after);
            here.write_all(b"x").unwrap();
            first.join().unwrap()
        });
        !heard && !wait(&mut poll, Duration::from_secs(2))
    }

    /// Somebody waits for events meanwhile, which may be what keeps it open.
    fn closed_listener() -> bool {
        (0..3000).any(|_| connects_to_what_has_been_closed())
    }

    fn connects_to_what_has_been_closed() -> bool {
        const LISTENER: mio::Token = mio::Token(1);
        const CONNECTION: mio::Token = mio::Token(2);
        let mut poll = mio::Poll::new().unwrap();
        let registry = poll.registry().try_clone().unwrap();
        let both = mio::Interest::READABLE | mio::Interest::WRITABLE;
        let (happened, events) = mpsc::channel();
        let (stop, stopped) = mpsc::channel::<()>();
        let waits = thread::spawn(move || {
            let mut events = mio::Events::with_capacity(8);
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                let limit = Some(Duration::from_millis(1));
                poll.poll(&mut events, limit).unwrap();
                for event in &events {
                    happened.send(event.token()).unwrap();
                }
            }
        });
        let await_event = |token| while events.recv().unwrap() != token {};
        let address = "127.0.0.1:0".parse().unwrap();
        let mut listener = mio::net::TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        registry.register(&mut listener, LISTENER, both).unwrap();
        let mut first = mio::net::TcpStream::connect(address).unwrap();
        registry.register(&mut first, mio::Token(3), both).unwrap();
        let mut accepted = loop {
            await_event(LISTENER);
            if let Ok((accepted, _)) = listener.accept() {
                break accepted;
            }
        };
        registry
            .register(&mut accepted, mio::Token(4), both)
            .unwrap();
        registry.deregister(&mut listener).unwrap();
        drop(listener);
        let mut late = mio::net::TcpStream::connect(address).unwrap();
        registry.register(&mut late, CONNECTION, both).unwrap();
        await_event(CONNECTION);
        let error = late.take_error().unwrap();
        drop(stop);
        waits.join().unwrap();
        error.is_none_or(|error| error.kind() != std::io::ErrorKind::ConnectionRefused)
    }
}
