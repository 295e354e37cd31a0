//! Builds an inverted index (which documents contain a word?) and answers queries with it.
//!
//! Building is a `fold` into maps and a `reduce` that merges them, smaller into larger. Because results meet in the order of the
//! documents, the lists of documents come out sorted without being sorted. Queries are independent of each other.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};
use std::collections::HashMap;

type Index<'text> = HashMap<&'text str, Vec<u32>>;

fn add_document<'text>(
    mut index: Index<'text>,
    (number, text): (usize, &'text String),
) -> Index<'text> {
    for word in text.split(' ') {
        let documents = index.entry(word).or_default();
        if documents.last() != Some(&(number as u32)) {
            documents.push(number as u32);
        }
    }
    index
}

/// Appends the lists of the later documents to those of the earlier ones.
fn merge<'text>(mut earlier: Index<'text>, later: Index<'text>) -> Index<'text> {
    for (word, documents) in later {
        earlier.entry(word).or_default().extend(documents);
    }
    earlier
}

/// Documents that contain both words: two sorted lists, walked in step.
fn both(index: &Index<'_>, query: &(String, String)) -> usize {
    let list = |word: &String| index.get(word.as_str()).map_or(&[][..], Vec::as_slice);
    let (mut a, mut b) = (list(&query.0), list(&query.1));
    let mut found = 0;
    while let ([first, rest_a @ ..], [second, rest_b @ ..]) = (a, b) {
        found += usize::from(first == second);
        if first <= second {
            a = rest_a;
        }
        if second <= first {
            b = rest_b;
        }
    }
    found
}

fn main() {
    let recipe = Recipe::start("search index: build it, then answer queries with it");
    let mut random = Random::new(8);
    let mut word = move || format!("w{}", (random.unit().powi(3) * 5_000.0) as u32);
    let documents: Vec<String> = (0..recipe.size(20_000, 500))
        .map(|_| (0..60).map(|_| word()).collect::<Vec<_>>().join(" "))
        .collect();
    let queries: Vec<(String, String)> = (0..recipe.size(20_000, 500))
        .map(|_| (word(), word()))
        .collect();

    println!(" building:");
    let index = recipe.compare(
        || {
            documents
                .iter()
                .enumerate()
                .fold(Index::new(), add_document)
        },
        || {
            documents
                .par_iter()
                .enumerate()
                .fold(Index::new, add_document)
                .reduce(Index::new, merge)
        },
    );
    assert!(index.values().all(|documents| documents.is_sorted()));

    println!(" querying:");
    let hits = recipe.compare(
        || {
            queries
                .iter()
                .map(|query| both(&index, query))
                .sum::<usize>()
        },
        || {
            queries
                .par_iter()
                .map(|query| both(&index, query))
                .sum::<usize>()
        },
    );
    println!(
        "  {} words, {} queries, {hits} hits",
        index.len(),
        queries.len()
    );
}
