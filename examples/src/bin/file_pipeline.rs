//! A pipeline of files: read, compute, write, with many files under way and not too many.
//!
//! Each file is a task. It reads its file (`blitz_io::fs`, on threads that may block), computes with the pool's threads (`spawn_cpu` with a parallel
//! sort), and writes the result. A `JoinSet` that is never longer than `UNDER_WAY` is all it takes to keep memory bounded.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};
use blitz_io::fs::{self, File};
use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::task::JoinSet;
use std::io;
use std::path::{Path, PathBuf};

/// How many files are in memory at once, at most.
const UNDER_WAY: usize = 16;

/// Lines of random words.
fn text(random: &mut Random, lines: usize) -> String {
    const WORDS: [&str; 8] = [
        "fork", "join", "steal", "sleep", "wake", "seat", "guest", "task",
    ];
    let mut text = String::new();
    for _ in 0..lines {
        for _ in 0..1 + random.below(6) {
            text.push_str(WORDS[random.below(WORDS.len())]);
            text.push(' ');
        }
        text.push_str(&random.below(100_000).to_string());
        text.push('\n');
    }
    text
}

/// A number that depends on every byte of a line.
fn checksum(line: &str) -> u64 {
    line.bytes().fold(0xCBF2_9CE4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// The lines in order, each with its checksum: sequential code, as a measure and as the truth.
fn transform_sequentially(text: &str) -> Vec<u8> {
    let mut lines: Vec<_> = text.lines().map(|line| (line, checksum(line))).collect();
    lines.sort_unstable();
    render(&lines)
}

/// The same on the pool's threads.
fn transform(text: &str) -> Vec<u8> {
    let lines: Vec<_> = text.lines().collect();
    let mut lines: Vec<_> = lines
        .into_par_iter()
        .map(|line| (line, checksum(line)))
        .collect();
    lines.par_sort_unstable();
    render(&lines)
}

fn render(lines: &[(&str, u64)]) -> Vec<u8> {
    let mut result = Vec::new();
    for (line, sum) in lines {
        result.extend_from_slice(line.as_bytes());
        result.extend_from_slice(format!("{sum:016x}\n").as_bytes());
    }
    result
}

fn result_of(input: &Path) -> PathBuf {
    input.with_extension("sorted")
}

/// One file's way through the pipeline; returns how many bytes came out.
async fn process(input: PathBuf) -> io::Result<usize> {
    let mut text = String::new();
    File::open(&input).await?.read_to_string(&mut text).await?;
    let result = blitz_io::spawn_cpu(move || transform(&text)).await?;
    let mut output = File::create(result_of(&input)).await?;
    // In pieces: the file accepts one while a thread writes the one before.
    for piece in result.chunks(16 * 1024) {
        output.write_all(piece).await?;
    }
    output.flush().await?;
    Ok(result.len())
}

async fn process_all(directory: &Path) -> io::Result<usize> {
    let mut entries = fs::read_dir(directory).await?;
    let mut under_way = JoinSet::new();
    let mut bytes = 0;
    while let Some(entry) = entries.next_entry().await? {
        if entry.path().extension().is_some_and(|name| name == "txt") {
            if under_way.len() == UNDER_WAY {
                bytes += under_way.join_next().await.expect("some are under way")??;
            }
            under_way.spawn(process(entry.path()));
        }
    }
    while let Some(result) = under_way.join_next().await {
        bytes += result??;
    }
    Ok(bytes)
}

fn main() -> io::Result<()> {
    let recipe = Recipe::start("File pipeline: read, sort, write, many files at a time");
    let files = recipe.size(200, 20);
    let lines = recipe.size(5_000, 500);
    let directory = std::env::temp_dir().join(format!("blitz-pipeline-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let mut random = Random::new(6);
    let mut inputs = Vec::new();
    for number in 0..files {
        let path = directory.join(format!("{number}.txt"));
        std::fs::write(&path, text(&mut random, lines))?;
        inputs.push(path);
    }

    let sequential = || -> io::Result<usize> {
        let mut bytes = 0;
        for input in &inputs {
            let result = transform_sequentially(&std::fs::read_to_string(input)?);
            std::fs::write(result_of(input), &result)?;
            bytes += result.len();
        }
        Ok(bytes)
    };
    let runtime = blitz_io::Runtime::new()?;
    let pipeline = || runtime.block_on(process_all(&directory));
    let bytes = recipe.compare(
        || sequential().expect("files can be read and written"),
        || pipeline().expect("files can be read and written"),
    );

    // The last one to write was the pipeline: every byte is as the sequential code says.
    for input in &inputs {
        let expected = transform_sequentially(&std::fs::read_to_string(input)?);
        assert!(
            std::fs::read(result_of(input))? == expected,
            "WRONG: {}",
            input.display()
        );
    }
    println!("  {files} files, {bytes} bytes written; each compared with sequential code");
    std::fs::remove_dir_all(&directory)
}
