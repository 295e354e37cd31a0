//! The recorded shape of a computation: what ran after what, what beside what, how long each piece took, and which line of the program it belongs to.
//!
//! A [`Path`] is what one strand of control did, step by step. A fork has two paths inside, tasks have one each. So the whole is a tree of values, made as the computation goes on
//! and handed back by each part to the one that waits for it; there is nothing shared.
//!
//! Recording everything would take more memory than the computation. Whatever takes less than the *grain* in all becomes one step ([`Step::Small`]), which
//! still knows its work, its span and how many forks it had: a computation of one second has some hundred thousand steps, whatever the size of its strands.

use super::strand::Origin;
use std::fmt::Write;

/// The steps of one strand of control, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Path(pub(super) Vec<Step>);

/// Times are in ticks.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Something with forks inside that is too short to be told in full; with none, plain code.
    Small { size: Size, origin: Origin },
    /// A loop over `items`, any of which may run beside any other, that was not cut. It was timed in so many pieces: loops inside of it are.
    Loop {
        work: u64,
        items: u64,
        strands: u64,
        origin: Origin,
    },
    /// Two paths beside each other; `of_loop`: two parts of one loop.
    Fork {
        left: Path,
        right: Path,
        of_loop: bool,
        origin: Origin,
    },
    /// A task begins.
    Spawn { task: u64, origin: Origin },
    /// Tasks have been waited for. Those that ended with this have their paths here.
    Meet {
        awaited: Vec<u64>,
        ended: Vec<(u64, Path)>,
        origin: Origin,
    },
}

impl Path {
    /// Adds a strand of plain code.
    pub(super) fn ran(&mut self, work: u64, origin: Origin, grain: u64) {
        if work > 0 {
            let size = Size {
                work,
                span: work,
                forks: 0,
                strands: 1,
            };
            self.small(size, origin, grain);
        } else if let Some(Step::Small { size, .. }) = self.0.last_mut() {
            size.strands += 1;
        }
    }

    /// Adds something short, to the last step if both together are short.
    pub(super) fn small(&mut self, more: Size, origin: Origin, grain: u64) {
        if let Some(Step::Small { size, origin: main }) = self.0.last_mut() {
            if size.work + more.work <= grain
                || (*main == origin && more.forks == 0 && size.forks == 0)
            {
                if more.work > size.work {
                    *main = origin;
                }
                size.work += more.work;
                size.span += more.span;
                size.forks += more.forks;
                size.strands += more.strands;
                return;
            }
        }
        self.0.push(Step::Small { size: more, origin });
    }

    /// Adds a fork whose halves had so much work, span and so many forks inside.
    pub(super) fn fork(
        &mut self,
        left: (Path, Size),
        right: (Path, Size),
        of_loop: bool,
        origin: Origin,
        grain: u64,
    ) {
        let ((left, left_size), (right, right_size)) = (left, right);
        if left_size.work + right_size.work <= grain && left.is_closed() && right.is_closed() {
            return self.small(left_size.beside(right_size), origin, grain);
        }
        if left_size.work.min(right_size.work) <= grain / 4 {
            // One half hardly counts: as if it had been called.
            self.append(left, grain);
            let fork = Size {
                forks: 1,
                ..Size::default()
            };
            self.small(fork, origin, grain);
            return self.append(right, grain);
        }
        self.0.push(Step::Fork {
            left,
            right,
            of_loop,
            origin,
        });
    }

    /// Does it end all tasks that it spawns, and wait for no others? Else it cannot be told in short: somebody else tells of those.
    fn is_closed(&self) -> bool {
        fn add(path: &Path, spawned: &mut Vec<u64>, ended_here: &mut Vec<u64>) -> bool {
            path.0.iter().all(|step| match step {
                Step::Small { .. } | Step::Loop { .. } => true,
                Step::Fork { left, right, .. } => {
                    add(left, spawned, ended_here) && add(right, spawned, ended_here)
                }
                Step::Spawn { task, .. } => {
                    spawned.push(*task);
                    true
                }
                Step::Meet { awaited, ended, .. } => {
                    ended_here.extend(ended.iter().map(|(task, _)| *task));
                    awaited.len() <= ended.len()
                        && ended.iter().all(|(_, path)| add(path, spawned, ended_here))
                }
            })
        }
        let (mut spawned, mut ended) = (Vec::new(), Vec::new());
        let waits_for_its_own = add(self, &mut spawned, &mut ended);
        spawned.sort_unstable();
        ended.sort_unstable();
        waits_for_its_own && spawned == ended
    }

    /// Adds another path behind this one.
    pub(super) fn append(&mut self, other: Path, grain: u64) {
        let mut steps = other.0.into_iter();
        match steps.next() {
            Some(Step::Small { size, origin }) => self.small(size, origin, grain),
            first => self.0.extend(first),
        }
        self.0.extend(steps);
    }

    /// Adds a loop over `items` that did `inner` in turn, `work` in all, in so many strands.
    pub(super) fn loop_of(
        &mut self,
        inner: Path,
        (work, strands): (u64, u64),
        items: u64,
        origin: Origin,
        grain: u64,
    ) {
        let is_plain = |step: &Step| matches!(step, Step::Small { .. });
        if inner.0.iter().all(is_plain) {
            if work <= grain {
                let size = Size {
                    work,
                    span: work / items.max(1),
                    forks: 0,
                    strands,
                };
                self.small(size, origin, grain);
            } else {
                self.0.push(Step::Loop {
                    work,
                    items,
                    strands,
                    origin,
                });
            }
            return;
        }
        let parts = usize::try_from(items)
            .unwrap_or(usize::MAX)
            .min(inner.0.len());
        self.append(halves(inner.0, parts, origin), grain);
    }
}

/// Cuts steps of different items into `parts` beside each other. Where one item ends and the next begins is not known: they are taken to
/// have as many steps each.
fn halves(mut steps: Vec<Step>, parts: usize, origin: Origin) -> Path {
    if parts < 2 {
        return Path(steps);
    }
    let (left, right) = (parts / 2, parts - parts / 2);
    let later = steps.split_off(steps.len() * left / parts);
    Path(vec![Step::Fork {
        left: halves(steps, left, origin),
        right: halves(later, right, origin),
        of_loop: true,
        origin,
    }])
}

/// How much a path is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) work: u64,
    pub(super) span: u64,
    pub(super) forks: u64,
    /// How often the clock was read for it, in pairs.
    pub(super) strands: u64,
}

impl Size {
    fn beside(self, other: Size) -> Size {
        Size {
            work: self.work + other.work,
            span: self.span.max(other.span),
            forks: self.forks + other.forks + 1,
            strands: self.strands + other.strands,
        }
    }
}

/// Writes a path as text, with times in nanoseconds.
///
/// One word for each kind of step, then its numbers: `r WORK SPAN FORKS PLACE`, `l WORK ITEMS PLACE`, `f PLACE { … | … }` and `c PLACE { … | … }` (a fork, a cut of a loop),
/// `s TASK PLACE`, `m AWAITED… PLACE { TASK … | TASK … }`. `PLACE` is an index into `places`. `x STRANDS` after an `r` or `l` says in how many strands it was timed, if that is not what
/// its forks make.
pub(super) struct Writer<'a> {
    pub(super) text: String,
    pub(super) places: &'a mut Vec<Origin>,
    pub(super) ns: &'a dyn Fn(u64) -> u64,
}

impl Writer<'_> {
    fn place(&mut self, origin: Origin) -> usize {
        // The strands of one place follow each other, and there are few places.
        match self.places.iter().rposition(|known| *known == origin) {
            Some(at) => at,
            None => {
                self.places.push(origin);
                self.places.len() - 1
            }
        }
    }

    pub(super) fn path(&mut self, path: &Path) {
        for step in &path.0 {
            self.step(step);
        }
    }

    fn put(&mut self, words: std::fmt::Arguments<'_>) {
        self.text
            .write_fmt(words)
            .expect("a string takes everything");
    }

    /// If there are more than a reader would think.
    fn strands(&mut self, strands: u64, usual: u64) {
        if strands > usual {
            self.put(format_args!("x {strands}\n"));
        }
    }

    fn step(&mut self, step: &Step) {
        let ns = self.ns;
        match step {
            Step::Small { size, origin } => {
                let place = self.place(*origin);
                let Size {
                    work, span, forks, ..
                } = *size;
                self.put(format_args!(
                    "r {} {} {forks} {place}\n",
                    ns(work),
                    ns(span)
                ));
                self.strands(size.strands, 3 * forks + 1);
            }
            Step::Loop {
                work,
                items,
                strands,
                origin,
            } => {
                let place = self.place(*origin);
                self.put(format_args!("l {} {items} {place}\n", ns(*work)));
                self.strands(*strands, 1);
            }
            Step::Fork {
                left,
                right,
                of_loop,
                origin,
            } => {
                let place = self.place(*origin);
                let kind = if *of_loop { 'c' } else { 'f' };
                self.put(format_args!("{kind} {place} {{\n"));
                self.path(left);
                self.put(format_args!("|\n"));
                self.path(right);
                self.put(format_args!("}}\n"));
            }
            Step::Spawn { task, origin } => {
                let place = self.place(*origin);
                self.put(format_args!("s {task} {place}\n"));
            }
            Step::Meet {
                awaited,
                ended,
                origin,
            } => {
                let place = self.place(*origin);
                self.put(format_args!("m {} ", awaited.len()));
                for task in awaited {
                    self.put(format_args!("{task} "));
                }
                self.put(format_args!("{place} {{\n"));
                for (index, (task, path)) in ended.iter().enumerate() {
                    if index > 0 {
                        self.put(format_args!("|\n"));
                    }
                    self.put(format_args!("{task}\n"));
                    self.path(path);
                }
                self.put(format_args!("}}\n"));
            }
        }
    }
}
