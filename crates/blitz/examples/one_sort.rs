//! One sort of one type: what that takes to compile is what every program with a sort in it pays. `.ci/run` looks at the size of the result.

use blitz::prelude::*;

fn main() {
    let mut words: Vec<String> = std::env::args().collect();
    words.par_sort();
    std::hint::black_box(words);
}
