//! The page in a real browser: Chromium without a window, told what to do over its own protocol. Where there is none, these tests say so and pass.
//!
//! `BLITZ_CONSOLE_PICTURES=DIR cargo test -p blitz-console --features hooks --test browser` also takes pictures; the book's are made so.

mod common;

use blitz_console::json::Value;
use blitz_io::task::Builder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A browser that ends with the test.
struct Browser {
    process: Child,
    port: u16,
    _folder: Folder,
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Browser {
    /// `None`, and a word about it, where there is none.
    fn start() -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = format!("blitz-console-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        for name in names {
            let started = Command::new(name)
                .args([
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--remote-debugging-port=0",
                    "--hide-scrollbars",
                ])
                .arg(format!("--user-data-dir={}", folder.display()))
                .arg("about:blank")
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn();
            let Ok(mut process) = started else { continue };
            let errors = BufReader::new(process.stderr.take().unwrap());
            let mut lines = errors.lines().map_while(Result::ok);
            let found = lines.find_map(|line| {
                let rest = line.strip_prefix("DevTools listening on ws://127.0.0.1:")?;
                rest.split('/').next()?.parse().ok()
            });
            // Somebody has to read what it says.
            std::thread::spawn(move || lines.for_each(drop));
            let browser = |port| Browser {
                process,
                port,
                _folder: Folder(folder.clone()),
            };
            match found {
                Some(port) => return Some(browser(port)),
                None => {
                    println!("skipped: {name} is installed, but does not start");
                    return None;
                }
            }
        }
        println!(
            "skipped: there is no browser here ({}); `apt-get install chromium` brings one",
            names.join(", ")
        );
        None
    }

    /// A page at an address.
    fn open(&self, address: &str) -> Page {
        let local = SocketAddr::from(([127, 0, 0, 1], self.port));
        let mut stream = TcpStream::connect(local).unwrap();
        stream.set_read_timeout(Some(common::LONG)).unwrap();
        write!(
            stream,
            "PUT /json/new?{address} HTTP/1.1\r\nHost: {local}\r\n\r\n"
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                if name.eq_ignore_ascii_case("content-length") {
                    length = value.trim().parse().unwrap();
                }
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = Value::read(std::str::from_utf8(&body).unwrap()).unwrap();
        let socket = answer.at("webSocketDebuggerUrl").text();
        let path = &socket[socket.find("/devtools").expect(socket)..];
        Page::connect(local, path)
    }
}

/// One page, by way of a web socket.
struct Page {
    stream: BufReader<TcpStream>,
    last: u64,
}

impl Page {
    fn connect(local: SocketAddr, path: &str) -> Self {
        let mut stream = TcpStream::connect(local).unwrap();
        stream.set_read_timeout(Some(common::LONG)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {local}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: YmxpdHotY29uc29sZS10ZQ==\r\n\r\n"
        )
        .unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        assert!(line.contains("101"), "{line}");
        while !line.trim().is_empty() {
            line.clear();
            stream.read_line(&mut line).unwrap();
        }
        Page { stream, last: 0 }
    }

    /// A message of text, masked with zeros as a client must.
    fn send(&mut self, text: &str) {
        let mut frame = vec![0x81];
        match text.len() {
            len @ 0..126 => frame.push(0x80 | len as u8),
            len => {
                frame.push(0x80 | 126);
                frame.extend(u16::try_from(len).unwrap().to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.get_mut().write_all(&frame).unwrap();
    }

    fn receive(&mut self) -> Vec<u8> {
        let mut message = Vec::new();
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head).unwrap();
            let length = match head[1] & 0x7F {
                126 => {
                    let mut long = [0; 2];
                    self.stream.read_exact(&mut long).unwrap();
                    u64::from(u16::from_be_bytes(long))
                }
                127 => {
                    let mut long = [0; 8];
                    self.stream.read_exact(&mut long).unwrap();
                    u64::from_be_bytes(long)
                }
                short => u64::from(short),
            };
            let mut part = vec![0; length as usize];
            self.stream.read_exact(&mut part).unwrap();
            message.extend(part);
            if head[0] & 0x80 != 0 {
                return message;
            }
        }
    }

    /// Calls a method of the protocol; `parameters` are JSON.
    fn call(&mut self, method: &str, parameters: &str) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&format!(
            "{{\"id\":{id},\"method\":\"{method}\",\"params\":{parameters}}}"
        ));
        loop {
            let message = self.receive();
            let Some(value) = std::str::from_utf8(&message).ok().and_then(Value::read) else {
                continue;
            };
            if value.at("id").number() == id as f64 {
                assert_eq!(value.at("error"), &Value::Null, "{method}");
                return value.at("result").clone();
            }
        }
    }

    /// What an expression is, as text.
    fn read(&mut self, expression: &str) -> String {
        let escaped = expression
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', " ");
        // The page may not be there yet.
        let tried = format!(
            "(() => {{ try {{ return String({escaped}) }} catch (e) {{ return String(e) }} }})()"
        );
        let parameters = format!("{{\"expression\":\"{tried}\",\"returnByValue\":true}}");
        let result = self.call("Runtime.evaluate", &parameters);
        result.at("result").at("value").text().to_string()
    }

    /// Waits until an expression is true.
    fn until(&mut self, expression: &str) {
        let end = Instant::now() + common::LONG;
        while self.read(expression) != "true" {
            if Instant::now() > end {
                panic!(
                    "never: {expression}\n{}",
                    self.read("document.body.innerText")
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn size(&mut self, width: u32, height: u32, dark: bool) {
        let scale = if width < 500 { 2 } else { 1 };
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &format!("{{\"width\":{width},\"height\":{height},\"deviceScaleFactor\":{scale},\"mobile\":false}}"),
        );
        let scheme = if dark { "dark" } else { "light" };
        self.call(
            "Emulation.setEmulatedMedia",
            &format!(
                "{{\"features\":[{{\"name\":\"prefers-color-scheme\",\"value\":\"{scheme}\"}}]}}"
            ),
        );
    }

    /// A picture, if somebody asked for them.
    fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("BLITZ_CONSOLE_PICTURES") else {
            return;
        };
        // The next frame draws everything in the new size.
        std::thread::sleep(Duration::from_millis(600));
        let result = self.call("Page.captureScreenshot", "{\"format\":\"png\"}");
        let folder = PathBuf::from(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{name}.png"));
        std::fs::write(&file, from_base64(result.at("data").text())).unwrap();
        println!("written: {}", file.display());
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes() {
        let Some(value) = LETTERS.iter().position(|&known| known == letter) else {
            continue;
        };
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// Seven tasks that sleep, one that wakes up all the time, one that holds its worker, and a pool of which one thread computes.
struct Program {
    going: Arc<AtomicBool>,
    runtime: blitz_io::Runtime,
    page: SocketAddr,
}

impl Program {
    fn start() -> Self {
        let page = blitz_console::serve("127.0.0.1:0").unwrap().local_addr();
        let runtime = blitz_io::Builder::new_multi_thread()
            .worker_threads(2)
            .name("known")
            .build()
            .unwrap();
        for _ in 0..7 {
            drop(
                Builder::new()
                    .name("sleeper <b>")
                    .spawn_on(std::future::pending::<()>(), runtime.handle()),
            );
        }
        let ticker = async {
            loop {
                blitz_io::time::sleep(Duration::from_millis(5)).await;
            }
        };
        drop(
            Builder::new()
                .name("ticker")
                .spawn_on(ticker, runtime.handle()),
        );
        let going = Arc::new(AtomicBool::new(true));
        let held = Arc::clone(&going);
        let rude = async move {
            while held.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        drop(Builder::new().name("rude").spawn_on(rude, runtime.handle()));
        Program {
            going,
            runtime,
            page,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.going.store(false, Ordering::Relaxed);
        let _ = &self.runtime;
    }
}

#[test]
fn a_person_sees_the_numbers_clicks_filters_and_pauses() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let program = Program::start();
    let mut page = browser.open(&format!("http://{}/", program.page));
    page.size(1280, 1400, false);
    page.until("document.getElementById('status').textContent === 'live'");

    // Numbers.
    let cell = |name: &str, column: u32| {
        format!(
            "[...document.querySelectorAll('#spawns tbody tr')].filter(r => r.cells[0].textContent.includes('{name}')).map(r => r.cells[{column}].textContent)[0]"
        )
    };
    page.until(&format!("{} === '7'", cell("sleeper <b>", 1)));
    assert_eq!(page.read(&cell("sleeper <b>", 4)), "7");
    assert_eq!(
        page.read("document.querySelectorAll('#spawns b').length"),
        "0",
        "names are not code"
    );
    page.until(&format!("parseFloat({}) > 50", cell("ticker", 7)));
    page.until("document.querySelectorAll('#tasks tbody tr').length === 9");
    page.until("document.querySelectorAll('.worker canvas').length >= 2");
    page.until(
        "[...document.querySelectorAll('.worker .use')].some(e => parseInt(e.textContent) > 80)",
    );
    page.until("document.querySelector('#polls tbody').textContent.includes('rude')");
    page.until("document.querySelector('#warnings [data-kind=poll]').textContent.includes('“rude” has been in one poll')");

    // A click on a line shows its history, which grows.
    page.read("[...document.querySelectorAll('#spawns tbody tr')].find(r => r.textContent.includes('ticker')).click()");
    assert_eq!(page.read("document.getElementById('detail').open"), "true");
    assert_eq!(
        page.read("document.getElementById('detail-title').textContent"),
        "ticker"
    );
    page.until(
        "document.querySelectorAll('#detail svg path')[1].getAttribute('d').split('L').length > 3",
    );
    assert!(
        page.read("document.getElementById('detail-list').textContent")
            .contains("wakes")
    );
    page.picture("console-detail");
    page.read("document.getElementById('detail').close()");

    // A filter leaves what it names.
    let filter = |text: &str| {
        format!(
            "(() => {{ const f = document.getElementById('filter'); f.value = '{text}'; f.dispatchEvent(new Event('input')); }})()"
        )
    };
    page.read(&filter("TICK"));
    assert_eq!(
        page.read("document.querySelectorAll('#tasks tbody tr').length"),
        "1"
    );
    page.read(&filter("nobody"));
    assert_eq!(
        page.read("document.getElementById('tasks-none').textContent"),
        "None matches the filter."
    );
    page.read(&filter(""));
    assert_eq!(
        page.read("document.querySelectorAll('#tasks tbody tr').length"),
        "9"
    );

    // Pause stops the page, and then it goes on.
    page.read("document.getElementById('pause').click()");
    assert_eq!(
        page.read("document.getElementById('status').textContent"),
        "paused"
    );
    let polls = page.read(&cell("ticker", 6));
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(page.read(&cell("ticker", 6)), polls);
    page.read("document.getElementById('pause').click()");
    page.until(&format!("{} !== '{polls}'", cell("ticker", 6)));

    // Narrow, dark: nothing is wider than the screen.
    page.size(390, 844, true);
    page.until("matchMedia('(prefers-color-scheme: dark)').matches && innerWidth === 390");
    assert_eq!(
        page.read("document.documentElement.scrollWidth <= 390"),
        "true"
    );
    assert_ne!(
        page.read("getComputedStyle(document.body).backgroundColor"),
        "rgb(246, 247, 249)"
    );

    // The program ends what it did: the page follows.
    program.going.store(false, Ordering::Relaxed);
    page.until(&format!("{} === '0'", cell("rude", 1)));
}

/// For the book: the demo of `blitz console demo`, after some seconds.
#[test]
fn pictures_of_the_demo_are_taken_if_somebody_asks() {
    if std::env::var_os("BLITZ_CONSOLE_PICTURES").is_none() {
        println!("skipped: BLITZ_CONSOLE_PICTURES is not set");
        return;
    }
    let Some(browser) = Browser::start() else {
        return;
    };
    let mut demo = Command::new(env!("CARGO"))
        .args(["run", "--features", "hooks", "--example", "demo", "--"])
        .args(["127.0.0.1:0", "--seconds", "120"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut said = BufReader::new(demo.stdout.take().unwrap());
    said.read_line(&mut first).unwrap();
    let address = first
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let mut page = browser.open(&format!("{address}/"));
    page.size(1280, 1500, false);
    std::thread::sleep(Duration::from_secs(25));
    for (name, width, height, dark) in [
        ("console-wide", 1280, 1500, false),
        ("console-wide-dark", 1280, 1500, true),
        ("console-narrow", 390, 1800, false),
        ("console-narrow-dark", 390, 1800, true),
    ] {
        page.size(width, height, dark);
        page.picture(name);
    }
    let _ = demo.kill();
    let _ = demo.wait();
}
