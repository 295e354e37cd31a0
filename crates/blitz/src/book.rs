//! The README and the book, as doc tests: every block of Rust code in them is compiled and run.
//!
//! Two chapters need more than this crate: the one about async is tested by `blitz-io`, the one about profiles by `blitz-examples`.

macro_rules! chapters {
    ($($name:ident: $path:literal,)*) => {
        $(#[doc = include_str!(concat!("../../../", $path))] struct $name;)*
    };
}

chapters! {
    Readme: "README.md",
    Introduction: "docs/introduction.md",
    GettingStarted: "docs/guide/getting-started.md",
    Join: "docs/guide/join.md",
    Scope: "docs/guide/scope.md",
    Iterators: "docs/guide/iterators.md",
    Pipelines: "docs/guide/pipelines.md",
    Contexts: "docs/guide/contexts.md",
    Sorting: "docs/guide/sorting.md",
    Algorithms: "docs/guide/algorithms.md",
    Pools: "docs/guide/pools.md",
    Control: "docs/guide/control.md",
    Choosing: "docs/guide/choosing.md",
    Performance: "docs/guide/performance.md",
    ComingFromRayon: "docs/coming-from-rayon.md",
    ComingFromBlitzAndLoom: "docs/coming-from-blitz-and-loom.md",
    Cookbook: "docs/cookbook.md",
}
