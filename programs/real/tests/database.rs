//! sqlx with SQLite: a pool of connections to one file, transactions, and rows as a stream.

#[path = "each/mod.rs"]
mod each;

use each::on_each_runtime;
use futures_util::{TryStreamExt, future};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

on_each_runtime!(
    rows_come_back_as_they_went_in,
    transactions_are_all_or_nothing,
    money_is_moved_by_many_and_none_is_lost,
    whoever_waits_too_long_for_a_connection_is_told,
    a_connection_comes_back_from_a_query_that_was_dropped,
    errors_are_the_databases,
);

/// A file of its own for each test, and a pool for it.
struct Database {
    pool: SqlitePool,
    file: PathBuf,
}

impl Database {
    async fn open(connections: u32) -> Self {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let name = format!("real-database-{}-{number}.sqlite", std::process::id());
        let file = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&file);
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(Duration::from_secs(60));
        let pool = SqlitePoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(60))
            .connect_with(options)
            .await
            .unwrap();
        sqlx::query("create table account (name text primary key, cents integer not null check (cents >= 0))")
            .execute(&pool)
            .await
            .unwrap();
        Database { pool, file }
    }

    async fn put(&self, name: &str, cents: i64) -> Result<(), sqlx::Error> {
        let query = sqlx::query("insert into account values (?, ?)");
        query.bind(name).bind(cents).execute(&self.pool).await?;
        Ok(())
    }

    async fn total(&self) -> (i64, i64) {
        let query = sqlx::query_as("select count(*), coalesce(sum(cents), 0) from account");
        query.fetch_one(&self.pool).await.unwrap()
    }

    async fn close(self) {
        self.pool.close().await;
        for suffix in ["", "-wal", "-shm"] {
            let mut file = self.file.clone().into_os_string();
            file.push(suffix);
            let _ = std::fs::remove_file(file);
        }
    }
}

async fn rows_come_back_as_they_went_in() {
    let database = Database::open(4).await;
    for number in 0..100 {
        database
            .put(&format!("n{number:03}"), number)
            .await
            .unwrap();
    }
    let mut rows =
        sqlx::query("select name, cents from account order by name").fetch(&database.pool);
    let mut number = 0;
    while let Some(row) = rows.try_next().await.unwrap() {
        assert_eq!(row.get::<String, _>("name"), format!("n{number:03}"));
        assert_eq!(row.get::<i64, _>(1), number);
        number += 1;
    }
    assert_eq!(number, 100);
    drop(rows);
    database.close().await;
}

async fn transactions_are_all_or_nothing() {
    let database = Database::open(4).await;
    let insert = "insert into account values (?, 1)";
    let mut kept = database.pool.begin().await.unwrap();
    sqlx::query(insert)
        .bind("kept")
        .execute(&mut *kept)
        .await
        .unwrap();
    // Nobody else sees it before the end.
    assert_eq!(database.total().await, (0, 0));
    kept.commit().await.unwrap();
    let mut taken_back = database.pool.begin().await.unwrap();
    sqlx::query(insert)
        .bind("taken back")
        .execute(&mut *taken_back)
        .await
        .unwrap();
    taken_back.rollback().await.unwrap();
    let mut dropped = database.pool.begin().await.unwrap();
    sqlx::query(insert)
        .bind("dropped")
        .execute(&mut *dropped)
        .await
        .unwrap();
    drop(dropped);
    let mut outer = database.pool.begin().await.unwrap();
    let mut inner = sqlx::Acquire::begin(&mut *outer).await.unwrap();
    sqlx::query(insert)
        .bind("inner")
        .execute(&mut *inner)
        .await
        .unwrap();
    inner.rollback().await.unwrap();
    sqlx::query(insert)
        .bind("outer")
        .execute(&mut *outer)
        .await
        .unwrap();
    outer.commit().await.unwrap();
    let names: Vec<String> = sqlx::query_scalar("select name from account order by name")
        .fetch_all(&database.pool)
        .await
        .unwrap();
    assert_eq!(names, ["kept", "outer"]);
    database.close().await;
}

async fn money_is_moved_by_many_and_none_is_lost() {
    let database = Database::open(4).await;
    for account in 0..4 {
        database.put(&account.to_string(), 1000).await.unwrap();
    }
    let movers = (0..8_i64).map(|mover| {
        let pool = database.pool.clone();
        tokio::spawn(async move {
            for round in 0..10 {
                let (from, to) = ((mover + round) % 4, (mover + round * 3 + 1) % 4);
                // "immediate": who only reads at first and writes then would be told to try again.
                let mut moved = pool.begin_with("begin immediate").await.unwrap();
                for (account, cents) in [(from, -7), (to, 7)] {
                    sqlx::query("update account set cents = cents + ? where name = ?")
                        .bind(cents)
                        .bind(account.to_string())
                        .execute(&mut *moved)
                        .await
                        .unwrap();
                    tokio::task::yield_now().await;
                }
                moved.commit().await.unwrap();
            }
        })
    });
    future::try_join_all(movers).await.unwrap();
    assert_eq!(database.total().await, (4, 4000));
    database.close().await;
}

async fn whoever_waits_too_long_for_a_connection_is_told() {
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_millis(50))
        .connect_lazy("sqlite::memory:")
        .unwrap();
    // It comes back by way of a task; on a busy machine that may take longer than the pool waits.
    let acquire = async || loop {
        if let Ok(connection) = pool.acquire().await {
            return connection;
        }
    };
    let held = acquire().await;
    assert!(matches!(
        pool.acquire().await,
        Err(sqlx::Error::PoolTimedOut)
    ));
    drop(held);
    let mut again = acquire().await;
    let one = sqlx::query_scalar::<_, i64>("select 1").fetch_one(&mut *again);
    assert_eq!(one.await.unwrap(), 1);
    drop(again);
    pool.close().await;
    assert!(matches!(pool.acquire().await, Err(sqlx::Error::PoolClosed)));
}

async fn a_connection_comes_back_from_a_query_that_was_dropped() {
    let database = Database::open(1).await;
    let endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n";
    for _ in 0..5 {
        let mut rows = sqlx::query_scalar::<_, i64>(endless).fetch(&database.pool);
        for expected in 1..=100 {
            assert_eq!(rows.try_next().await.unwrap(), Some(expected));
        }
        drop(rows);
        assert_eq!(database.total().await, (0, 0));
    }
    database.close().await;
}

async fn errors_are_the_databases() {
    let database = Database::open(2).await;
    database.put("once", 1).await.unwrap();
    let twice = database.put("once", 1).await.unwrap_err();
    assert!(twice.as_database_error().unwrap().is_unique_violation());
    let negative = database.put("poor", -1).await.unwrap_err();
    assert!(negative.as_database_error().unwrap().is_check_violation());
    let nonsense = sqlx::query("selekt").execute(&database.pool).await;
    assert!(matches!(nonsense, Err(sqlx::Error::Database(_))));
    assert_eq!(database.total().await, (1, 1));
    database.close().await;
}
