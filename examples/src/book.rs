//! The README and the book, as doc tests: every block of Rust code in them is compiled and run. They are here, and not in the crates they
//! are about, because those are published without the book.

macro_rules! chapters {
    ($($name:ident: $path:literal,)*) => {
        $(#[doc = include_str!(concat!("../../", $path))] struct $name;)*
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
    Async: "docs/guide/async.md",
    AsyncToolkit: "docs/guide/async-toolkit.md",
    FilesProcessesSignals: "docs/guide/files-processes-signals.md",
    Console: "docs/guide/console.md",
    ComingFromRayon: "docs/coming-from-rayon.md",
    ComingFromTokio: "docs/coming-from-tokio.md",
    ComingFromBlitzAndLoom: "docs/coming-from-blitz-and-loom.md",
    Cookbook: "docs/cookbook.md",
}

// The chapter about profiles needs hooks in the engine.
#[cfg(feature = "tools")]
chapters! {
    Seeing: "docs/guide/seeing.md",
}
