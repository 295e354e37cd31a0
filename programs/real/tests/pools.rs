//! Pools of connections to real servers: deadpool to a redis-server, bb8 to a PostgreSQL. The tests start servers of their own, in a folder of their own.
//!
//! Where a server is not installed, its tests print so and check nothing.

#[path = "each/mod.rs"]
mod each;

use bb8_postgres::PostgresConnectionManager;
use deadpool_redis::redis::{self, AsyncCommands};
use deadpool_redis::{Config, PoolConfig, Runtime, Timeouts};
use each::on_each_runtime;
use futures_util::{StreamExt, TryStreamExt, future};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio_postgres::NoTls;

on_each_runtime!(
    many_tasks_count_in_redis_over_few_connections,
    redis_publishes_to_those_who_listen,
    whoever_waits_too_long_for_redis_is_told,
    a_pool_of_connections_to_postgres,
);

/// A folder that goes with this value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("real-pools-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server's process, and the folder with its data and its socket. A test that fails kills it.
struct Server {
    process: Child,
    folder: Folder,
}

impl Server {
    /// Asks it to end, so that it can clean up, and waits.
    async fn end(mut self) {
        let process = self.process.id().expect("it has not ended");
        // SAFETY: a signal to our own child, which has not been waited for.
        assert_eq!(unsafe { libc::kill(process as i32, libc::SIGINT) }, 0);
        assert!(self.process.wait().await.unwrap().success());
    }
}

/// To the standard error itself: what a test prints is only shown if it fails.
fn skipped(why: &str) {
    let words = format!("skipped: {why}\n");
    std::io::stderr().write_all(words.as_bytes()).unwrap();
}

fn is_installed(program: &Path) -> bool {
    let run = std::process::Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

async fn start_redis() -> Option<Server> {
    if !is_installed(Path::new("redis-server")) {
        skipped("redis-server is not installed");
        return None;
    }
    let folder = Folder::new();
    let process = Command::new("redis-server")
        .args(["--port", "0", "--unixsocket", "socket", "--save", ""])
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    Some(Server { process, folder })
}

/// A pool, once the server answers.
async fn redis_pool(
    server: &Server,
    connections: usize,
    patience: Duration,
) -> deadpool_redis::Pool {
    let socket = server.folder.0.join("socket");
    let mut config = Config::from_url(format!("redis+unix://{}", socket.display()));
    config.pool = Some(PoolConfig {
        max_size: connections,
        timeouts: Timeouts {
            wait: Some(patience),
            ..Timeouts::default()
        },
        ..PoolConfig::default()
    });
    let pool = config.create_pool(Some(Runtime::Tokio1)).unwrap();
    while pool.get().await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    pool
}

const PATIENT: Duration = Duration::from_secs(60);

async fn many_tasks_count_in_redis_over_few_connections() {
    let Some(server) = start_redis().await else {
        return;
    };
    let pool = redis_pool(&server, 4, PATIENT).await;
    let tasks = (0..20).map(|task| {
        let pool = pool.clone();
        tokio::spawn(async move {
            for round in 0..25 {
                let mut connection = pool.get().await.unwrap();
                let key = format!("{task}:{round}");
                let (_, back): ((), String) = redis::pipe()
                    .set(&key, "there")
                    .get(&key)
                    .query_async(&mut connection)
                    .await
                    .unwrap();
                assert_eq!(back, "there");
                let _: u32 = connection.incr("count", 1).await.unwrap();
            }
        })
    });
    future::try_join_all(tasks).await.unwrap();
    assert!(pool.status().size <= 4);
    let count: u32 = pool.get().await.unwrap().get("count").await.unwrap();
    assert_eq!(count, 500);
    server.end().await;
}

async fn redis_publishes_to_those_who_listen() {
    let Some(server) = start_redis().await else {
        return;
    };
    let pool = redis_pool(&server, 2, PATIENT).await;
    let socket = server.folder.0.join("socket");
    let client = redis::Client::open(format!("redis+unix://{}", socket.display())).unwrap();
    let mut listener = client.get_async_pubsub().await.unwrap();
    listener.subscribe("news").await.unwrap();
    let publisher = tokio::spawn(async move {
        let mut connection = pool.get().await.unwrap();
        for number in 0..100 {
            let listeners: u32 = connection.publish("news", number).await.unwrap();
            assert_eq!(listeners, 1);
        }
    });
    let heard = listener.on_message().take(100);
    let heard: Vec<u32> = heard
        .map(|message| message.get_payload::<u32>().unwrap())
        .collect()
        .await;
    assert!(heard.into_iter().eq(0..100));
    publisher.await.unwrap();
    server.end().await;
}

async fn whoever_waits_too_long_for_redis_is_told() {
    let Some(server) = start_redis().await else {
        return;
    };
    let pool = redis_pool(&server, 1, Duration::from_millis(50)).await;
    let held = pool.get().await.unwrap();
    let told = pool.get().await;
    assert!(matches!(told, Err(deadpool_redis::PoolError::Timeout(_))));
    drop(held);
    let mut connection = pool.get().await.unwrap();
    let nothing: Option<u32> = connection.get("nothing").await.unwrap();
    assert_eq!(nothing, None);
    server.end().await;
}

/// The folder with PostgreSQL's programs: Debian has it outside of the path.
fn postgres_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<PathBuf> = versions
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect();
    folders.sort();
    folders.retain(|folder| {
        is_installed(&folder.join("postgres")) && is_installed(&folder.join("initdb"))
    });
    folders.pop()
}

/// It does not run as root; the package has made a user for it.
fn as_postgres(program: PathBuf) -> Command {
    // SAFETY: asks who we are.
    if unsafe { libc::geteuid() } != 0 {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
        .arg(program);
    command
}

async fn start_postgres() -> Option<Server> {
    let Some(programs) = postgres_programs() else {
        skipped("PostgreSQL's server is not installed");
        return None;
    };
    let folder = Folder::new();
    // Whoever runs the server has to be able to write there.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(&folder.0, mode).unwrap();
    let data = folder.0.join("data");
    let made = as_postgres(programs.join("initdb"))
        .args(["--no-sync", "--auth=trust", "--username=tester", "--pgdata"])
        .arg(&data)
        .current_dir(&folder.0)
        .output()
        .await
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let process = as_postgres(programs.join("postgres"))
        .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
        .arg(&folder.0)
        .arg("-D")
        .arg(&data)
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    Some(Server { process, folder })
}

type Postgres = bb8::Pool<PostgresConnectionManager<NoTls>>;

fn postgres_config(server: &Server) -> tokio_postgres::Config {
    let mut config = tokio_postgres::Config::new();
    config
        .host_path(&server.folder.0)
        .user("tester")
        .dbname("postgres");
    config
}

async fn postgres_pool(server: &Server, connections: u32) -> Postgres {
    let config = postgres_config(server);
    while config.connect(NoTls).await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let pool = bb8::Pool::builder()
        .max_size(connections)
        .connection_timeout(PATIENT)
        .build(PostgresConnectionManager::new(config, NoTls))
        .await
        .unwrap();
    pool.get()
        .await
        .unwrap()
        .batch_execute("create table counter (name text primary key, value int not null); insert into counter values ('all', 0)")
        .await
        .unwrap();
    pool
}

async fn value_in(pool: &Postgres) -> i32 {
    let connection = pool.get().await.unwrap();
    let row = connection.query_one("select value from counter where name = 'all'", &[]);
    row.await.unwrap().get(0)
}

const INCREMENT: &str = "update counter set value = value + 1 where name = 'all'";

/// One server for all three: it takes a second or two to set up.
async fn a_pool_of_connections_to_postgres() {
    let Some(server) = start_postgres().await else {
        return;
    };
    let pool = postgres_pool(&server, 4).await;
    many_tasks_count_in_postgres(&pool).await;
    a_transaction_that_is_dropped_leaves_nothing_in_postgres(&pool).await;
    postgres_notifies_those_who_listen(&server, &pool).await;
    server.end().await;
}

async fn many_tasks_count_in_postgres(pool: &Postgres) {
    let tasks = (0..20).map(|task: i32| {
        let pool = pool.clone();
        tokio::spawn(async move {
            for _ in 0..10 {
                let connection = pool.get().await.unwrap();
                connection.execute(INCREMENT, &[]).await.unwrap();
                let numbers = connection
                    .query_raw("select generate_series(1, $1::int)", [task])
                    .await
                    .unwrap();
                let numbers: Vec<i32> = numbers
                    .map_ok(|row| row.get::<_, i32>(0))
                    .try_collect()
                    .await
                    .unwrap();
                assert!(numbers.into_iter().eq(1..=task));
            }
        })
    });
    future::try_join_all(tasks).await.unwrap();
    assert!(pool.state().connections <= 4);
    assert_eq!(value_in(pool).await, 200);
}

async fn a_transaction_that_is_dropped_leaves_nothing_in_postgres(pool: &Postgres) {
    let before = value_in(pool).await;
    {
        let mut connection = pool.get().await.unwrap();
        let dropped = connection.transaction().await.unwrap();
        dropped.execute(INCREMENT, &[]).await.unwrap();
    }
    assert_eq!(value_in(pool).await, before);
    let mut connection = pool.get().await.unwrap();
    let kept = connection.transaction().await.unwrap();
    kept.execute(INCREMENT, &[]).await.unwrap();
    kept.commit().await.unwrap();
    assert_eq!(value_in(pool).await, before + 1);
}

async fn postgres_notifies_those_who_listen(server: &Server, pool: &Postgres) {
    let (client, mut connection) = postgres_config(server).connect(NoTls).await.unwrap();
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let driving = tokio::spawn(async move {
        let mut messages = futures_util::stream::poll_fn(move |cx| connection.poll_message(cx));
        while let Some(message) = messages.next().await {
            if let tokio_postgres::AsyncMessage::Notification(news) = message.unwrap() {
                sender.send(news.payload().to_string()).unwrap();
            }
        }
    });
    client.batch_execute("listen news").await.unwrap();
    let publisher = pool.get().await.unwrap();
    for number in 0..20 {
        let notify = format!("notify news, '{number}'");
        publisher.batch_execute(&notify).await.unwrap();
        assert_eq!(heard.recv().await.unwrap(), number.to_string());
    }
    drop(client);
    driving.await.unwrap();
    assert_eq!(heard.recv().await, None);
}
