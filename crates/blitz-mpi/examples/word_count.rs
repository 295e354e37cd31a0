//! Counts the words of files that all ranks can read: `mpirun -n 4 word_count FILE...`. Without files it makes one and checks its counts.

use blitz_mpi::{Cluster, Distributed, Result};
use std::collections::BTreeMap;

fn words(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

async fn count(cluster: &Cluster, files: &[String]) -> Result<Distributed<(String, u64)>> {
    // Each rank reads its part of the bytes; whole lines.
    let lines = Distributed::read_lines_of(cluster, files).await?;
    let words = lines.par_flat_map(|line| words(&line).map(|word| (word, 1)).collect::<Vec<_>>());
    // Every rank adds up its own words before it sends a word at most once.
    words.reduce_by_key(|a, b| a + b).await
}

fn main() {
    let mut files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--quick")
        .collect();
    let made = files.is_empty();
    Cluster::run(async |cluster| {
        if made {
            let path = std::env::temp_dir().join("blitz-mpi-word-count.txt");
            files.push(path.display().to_string());
            if cluster.rank() == 0 {
                let text: String = (0..20_000)
                    .map(|n| format!("the {} and a {}, word {}\n", n % 7, n % 1000, n * n % 501))
                    .collect();
                std::fs::write(&path, text).expect("a file in the folder for temporary ones");
            }
            cluster.barrier().await.expect("all ranks see the file");
        }
        let counts = count(cluster, &files)
            .await
            .expect("files that can be read");
        let different = counts.len().await.expect("a length");
        let most = counts
            .clone()
            .sort_by(|a, b| b.1.cmp(&a.1))
            .await
            .expect("sorted");
        if let Some(all) = most.collect(0).await.expect("collected") {
            println!(
                "{different} different words on {} ranks; the most frequent:",
                cluster.size()
            );
            all.iter()
                .take(5)
                .for_each(|(word, count)| println!("{count:>9} {word}"));
        }
        if made {
            let text = std::fs::read_to_string(&files[0]).expect("the file");
            let mut expected = BTreeMap::<String, u64>::new();
            text.lines()
                .flat_map(words)
                .for_each(|word| *expected.entry(word).or_default() += 1);
            let found = counts.collect_on_all().await.expect("collected");
            assert!(
                found.into_iter().eq(expected),
                "not the counts of the sequential program"
            );
            cluster.barrier().await.expect("all have read it");
            if cluster.rank() == 0 {
                let _ = std::fs::remove_file(&files[0]);
                println!("the same as one thread's");
            }
        }
    })
    .expect("a cluster");
}
