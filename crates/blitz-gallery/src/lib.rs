//! Computations to look at with `blitz profile` and `blitz trace`: each shows another shape.
//!
//! A package of its own, because the engine has to be compiled again for them, with its measuring hooks: little more should be. The
//! program `blitz` needs the names only, and leaves the feature `runs` out.

#[cfg(feature = "runs")]
mod runs;
pub mod words;

/// A computation with a name.
#[derive(Debug)]
pub struct Example {
    /// The word on the command line.
    pub name: &'static str,
    /// What it shows.
    pub what: &'static str,
    /// Runs it once and checks its result; `Err` says what was wrong.
    #[cfg(feature = "runs")]
    pub run: fn() -> Result<(), String>,
}

// There is one of each name.
impl PartialEq for Example {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Example {}

/// The list, with the functions in `runs` only where they are compiled.
macro_rules! examples {
    ($($name:literal, $what:literal, $run:ident;)*) => {
        /// All of them.
        pub const EXAMPLES: &[Example] = &[$(
            Example {
                name: $name,
                what: $what,
                #[cfg(feature = "runs")]
                run: runs::$run,
            },
        )*];
    };
}

examples! {
    "fib", "a fork at every call of fib(27): parallelism in the thousands, strands of nanoseconds", fib;
    "loop", "a parallel sum over two million dear elements", dear_loop;
    "sort", "one million random numbers, sorted in parallel", sort;
    "scope", "500 tasks of a scope, of very different length", scope;
    "queens", "n-queens on a board of ten: subtrees that differ by orders of magnitude", queens;
    "half", "a parallel half after a sequential one: no number of cores makes it more than twice as fast", half;
    "tree", "a search in a tree that leans to one side: joins whose halves differ by orders of magnitude", leaning_tree;
    "pair", "two closures of a millisecond each, once", pair;
    "rows", "a loop whose later items are dearer than its first ones", rows;
    "nested", "loops inside of a loop", nested;
    "stable", "two hundred thousand strings, sorted in parallel", stable;
    "scan", "running maxima of four million numbers", scan;
    "collect", "a hundred thousand numbers mapped and collected into a vector, in order", collect;
    "histogram", "two hundred thousand numbers counted by what they hash to", histogram;
    "matches", "the places in a text of four million letters where a word stands", matches;
    "merge", "two sorted lists of a hundred thousand numbers each made one, by joins", merge;
    "product", "two matrices of 192 x 192 multiplied, half of the rows beside the other half", product;
}

/// The example with this name, or a message that lists all.
pub fn named(name: &str) -> Result<&'static Example, String> {
    let found = EXAMPLES.iter().find(|example| example.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
        format!(
            "there is no example '{name}'; there are {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_example_gets_the_list() {
        let message = named("fibonacci").unwrap_err();
        assert!(
            EXAMPLES
                .iter()
                .all(|example| message.contains(example.name))
        );
    }

    #[cfg(feature = "runs")]
    #[test]
    fn quick_examples_are_right() {
        for name in [
            "fib",
            "scope",
            "queens",
            "collect",
            "histogram",
            "matches",
            "merge",
            "product",
        ] {
            assert_eq!((named(name).unwrap().run)(), Ok(()), "{name}");
        }
    }
}
