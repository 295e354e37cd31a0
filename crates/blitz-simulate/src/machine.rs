//! The machine that a program is simulated on: how many cores, what things cost there, and which rules hold.

/// A machine with a pool on it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Threads of the pool.
    pub workers: usize,
    /// CPUs for them.
    pub cpus: usize,
    /// What things cost.
    pub costs: Costs,
    /// What a waiting thread may run.
    pub waiting: Waiting,
    /// Words that all threads write cost no more than one's own.
    pub free_words: bool,
    /// Whom a thread wakes that was woken and has found work.
    pub cascade: Cascade,
    /// Whom thieves try first: another seed, another run of luck.
    pub seed: u64,
}

/// Whom a thread wakes that was woken and has found work, if there is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cascade {
    /// One other, if nobody searches: the engine's rule. One thread is on its way at a time.
    Chain,
    /// Two others, whoever searches.
    Tree,
    /// As many others as there are pieces in the open that nobody searches for, but not more than so many; and at least whom the engine would wake.
    Seen(usize),
    /// Up to two others, until so many search.
    Until(usize),
    /// The same, once the computation has taken longer than what is worth a wake.
    Later(usize),
}

/// What a waiting thread may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Descendants of what it waits for, and smaller parts of the same loop: the engine's rule.
    Descendants,
    /// Whatever there is, as rayon does.
    Anything,
}

impl Machine {
    /// A CPU for each of `workers` threads, and the engine's rules.
    pub fn with_cores(workers: usize) -> Self {
        Machine {
            workers,
            cpus: workers,
            costs: Costs::default(),
            waiting: Waiting::Descendants,
            free_words: false,
            cascade: Cascade::Chain,
            seed: 1,
        }
    }
}

macro_rules! costs {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal;)*) => {
        /// What things cost, in nanoseconds.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Costs {
            $($(#[doc = $doc])+ pub $name: u64,)*
        }

        impl Default for Costs {
            /// Measured on two cores of a server (`blitz simulate --measure`), and for what two cores cannot tell, a guess.
            fn default() -> Self {
                Costs { $($name: $value,)* }
            }
        }

        impl Costs {
            /// All of them, with their names.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }

            /// Sets one by its name; `false` if there is none. Nothing costs more than a second.
            pub fn set(&mut self, name: &str, ns: u64) -> bool {
                let ns = ns.min(crate::program::MOST_OF_A_COST);
                match name {
                    $(stringify!($name) => self.$name = ns,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

costs! {
    /// A fork that nobody sees, and taking it back.
    fork = 2;
    /// A fork that becomes public.
    expose = 25;
    /// Taking a public fork back.
    retake = 25;
    /// A theft, beside the transfers of cache lines.
    steal = 150;
    /// Asking for private forks by force: a barrier on every CPU that the program runs on.
    force = 2500;
    /// A task, from its spawn to its end.
    spawn = 40;
    /// A look at everybody's work, and the pause until the next; see [`Costs::a_look`].
    look = 120;
    /// The same, for each thread of the pool.
    look_each = 2;
    /// Waking a thread, for whoever does it.
    wake = 5000;
    /// From there until it looks for work.
    wake_latency = 12000;
    /// Falling asleep.
    sleep = 2000;
    /// A read-modify-write of a word in one's own cache.
    rmw = 6;
    /// A cache line from another core of the same socket.
    transfer = 70;
    /// From another socket.
    transfer_far = 200;
    /// Threads of a socket.
    socket = 64;
    /// How long a thread keeps its CPU if others want it.
    quantum = 3000000;
    /// Changing the thread of a CPU.
    switch = 1500;
}

impl Costs {
    /// The most that anything may cost, in nanoseconds: a second.
    pub const MOST: u64 = crate::program::MOST_OF_A_COST;

    /// A look takes at least so long, and a nanosecond for each thread of the pool.
    pub const LEAST_LOOK: u64 = 20;

    /// What a look takes in a pool of so many threads: whatever it costs, it takes some time. Looks that cost nothing would be so many that no simulation of them came to an end.
    pub fn a_look(&self, workers: usize) -> u64 {
        let workers = workers as u64;
        (self.look + self.look_each * workers).max(Self::LEAST_LOOK + workers)
    }

    /// How long a thread keeps its CPU: at least a microsecond longer than it takes to get it, else threads that take turns would get nowhere.
    pub(crate) fn a_turn(&self) -> u64 {
        self.quantum.max(self.switch + 1000)
    }

    /// A cache line from one worker's core to another's.
    pub(crate) fn line(&self, from: usize, to: usize) -> u64 {
        let socket = self.socket.max(1) as usize;
        if from == to {
            0
        } else if from / socket == to / socket {
            self.transfer
        } else {
            self.transfer_far
        }
    }
}
