//! The libraries under test: their pools, started and placed alike, and the workloads compiled for each.
//!
//! Pools are started before the main thread is pinned: a new thread inherits its creator's CPU set, and a library that
//! asks how many CPUs there are would otherwise be told one.

pub mod blitz;
pub mod chili;
#[cfg(feature = "forte")]
pub mod forte;
pub mod rayon;

use crate::pin;

/// The CPUs to place threads on; `None` leaves placement to the kernel.
#[derive(Clone, Debug)]
pub struct Cpus(Option<Vec<usize>>);

impl Cpus {
    /// The allowed CPUs of this process if threads are to be pinned.
    pub fn new(pinned: bool) -> Self {
        Self(
            pinned
                .then(pin::allowed_cpus)
                .filter(|cpus| !cpus.is_empty()),
        )
    }

    /// Whether threads are pinned at all.
    pub fn pinned(&self) -> bool {
        self.0.is_some()
    }

    /// The CPU for the thread with this index; libraries with more threads than CPUs start over.
    pub fn for_index(&self, index: usize) -> Option<usize> {
        self.0.as_ref().map(|cpus| cpus[index % cpus.len()])
    }

    /// Pins a thread this program did not start itself.
    fn pin_thread(&self, tid: pin::Tid, index: usize) {
        if let Some(cpu) = self.for_index(index)
            && !pin::pin_thread(tid, cpu)
        {
            warn_unpinned(cpu);
        }
    }

    /// Pins the calling thread.
    fn pin_current(&self, index: usize) {
        if let Some(cpu) = self.for_index(index)
            && !pin::pin_current_thread(cpu)
        {
            warn_unpinned(cpu);
        }
    }
}

fn warn_unpinned(cpu: usize) {
    eprintln!("blitz-bench: could not pin a thread to CPU {cpu}; figures are as unpinned");
}

/// Which libraries to start; a measurement of CPU time wants no other's threads around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lib {
    /// Plain code, no library at all.
    Seq,
    /// This project.
    Blitz,
    /// rayon.
    Rayon,
    /// chili.
    Chili,
    /// forte.
    #[cfg(feature = "forte")]
    Forte,
}

impl Lib {
    /// Every arm of this build, in the order of the tables.
    pub const ALL: &[Lib] = &[
        Lib::Seq,
        Lib::Blitz,
        Lib::Rayon,
        Lib::Chili,
        #[cfg(feature = "forte")]
        Lib::Forte,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Lib::Seq => "seq",
            Lib::Blitz => "blitz",
            Lib::Rayon => "rayon",
            Lib::Chili => "chili",
            #[cfg(feature = "forte")]
            Lib::Forte => "forte",
        }
    }

    /// The arm with this name.
    pub fn named(name: &str) -> Option<Lib> {
        Lib::ALL.iter().copied().find(|lib| lib.name() == name)
    }

    /// Starts the library's default pool, placed.
    fn start(self, cpus: &Cpus) {
        match self {
            Lib::Seq => {}
            Lib::Blitz => blitz::start(cpus),
            Lib::Rayon => rayon::start(cpus),
            Lib::Chili => chili::start(cpus),
            #[cfg(feature = "forte")]
            Lib::Forte => forte::start(cpus),
        }
    }
}

/// Starts the default pools of these libraries. Call once, from the main thread, before [`place_main`].
pub fn start(libs: &[Lib], cpus: &Cpus) {
    for lib in libs {
        lib.start(cpus);
    }
}

/// Pins the main thread to the first CPU. Call after every pool is started.
pub fn place_main(cpus: &Cpus) {
    cpus.pin_current(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{fib, queens, tree, uts};

    #[test]
    fn names_lead_back_to_the_arm() {
        for &lib in Lib::ALL {
            assert_eq!(Lib::named(lib.name()), Some(lib));
        }
        assert_eq!(Lib::named("cilk"), None);
    }

    #[test]
    fn unpinned_cpus_name_no_cpu() {
        assert_eq!(Cpus::new(false).for_index(0), None);
    }

    #[test]
    fn thread_indices_wrap_around_the_allowed_cpus() {
        let cpus = Cpus::new(true);
        let count = pin::cpus_at_start().len();
        assert_eq!(cpus.for_index(0), cpus.for_index(count));
    }

    /// A small unbalanced tree, so that the test is quick in a debug build.
    fn small_shape() -> uts::Shape {
        uts::Shape {
            root_children: 50,
            threshold: 1 << 28,
            ..uts::Shape::standard(uts::Shape::CHEAP)
        }
    }

    #[test]
    fn every_library_computes_what_the_sequential_code_computes() {
        let mut arena = tree::Arena::for_levels(10);
        let root = arena.fill();
        let sum = tree::sum(root);
        let board = queens::Board::empty(7);
        let solutions = queens::solutions(board);
        let shape = small_shape();
        let nodes = uts::count(&shape, shape.root());
        let fib_12 = fib::fib(12);
        let expected = (sum, fib_12, solutions, nodes);

        assert_eq!(
            expected,
            (
                blitz::tree(root),
                blitz::fib(12),
                blitz::queens(board),
                blitz::uts(&shape, shape.root())
            ),
            "blitz"
        );
        assert_eq!(
            expected,
            (
                rayon::tree(root),
                rayon::fib(12),
                rayon::queens(board),
                rayon::uts(&shape, shape.root())
            ),
            "rayon"
        );
        let mut scope = ::chili::Scope::global();
        assert_eq!(
            expected,
            (
                chili::tree(root, &mut scope),
                chili::fib(12, &mut scope),
                chili::queens(board, &mut scope),
                chili::uts(&shape, shape.root(), &mut scope)
            ),
            "chili"
        );
        assert_eq!(
            chili::every_join::tree(root, &mut scope),
            sum,
            "chili forking every join"
        );
        assert_eq!(
            chili::as_written::tree(root, &mut scope),
            sum,
            "chili as written"
        );
        #[cfg(feature = "forte")]
        assert_eq!(
            expected,
            forte::POOL.with_worker(|worker| (
                forte::tree(root, worker),
                forte::fib(12, worker),
                forte::queens(board, worker),
                forte::uts(&shape, shape.root(), worker)
            )),
            "forte"
        );
    }
}
