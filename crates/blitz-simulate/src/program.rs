//! A recorded computation, read from the text that `blitz::profile::record` makes.
//!
//! The text is a tree; here all paths lie in one vector and know each other by index.

use std::collections::HashMap;

/// A recorded computation.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// How many threads the pool had that ran it.
    pub threads: usize,
    /// How long it took then, in nanoseconds, recording included.
    pub elapsed_ns: u64,
    /// How many forks and tasks changed threads then.
    pub steals: u64,
    /// What the profiler said; the shape at hand is a little coarser.
    pub measured_work_ns: u64,
    /// As above.
    pub measured_span_ns: u64,
    /// Lines of the program.
    pub places: Vec<String>,
    /// All paths. The last one is the whole.
    pub paths: Vec<Path>,
    /// The paths of tasks.
    pub tasks: Vec<usize>,
}

/// What happens one after the other.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// In order.
    pub steps: Vec<Step>,
    /// Of all steps, what is inside of them included; without tasks.
    pub work_ns: u64,
}

/// Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Plain code, with so many forks inside that were too small to be told.
    Run {
        /// How long.
        ns: u64,
        /// Of it, what no number of cores shortens.
        span_ns: u64,
        /// Forks inside.
        forks: u64,
        /// In so many strands it was timed: a fork makes three, plain code is one, and loops inside that were not cut are some more.
        strands: u64,
        /// Index into the places.
        place: usize,
    },
    /// A loop that was not cut.
    Loop {
        /// How long.
        ns: u64,
        /// Of so many items.
        items: u64,
        /// In so many strands it was timed.
        strands: u64,
        /// Index into the places.
        place: usize,
    },
    /// Two paths beside each other.
    Fork {
        /// Index into the paths.
        left: usize,
        /// Index into the paths.
        right: usize,
        /// Both are parts of one loop.
        of_loop: bool,
        /// Index into the places.
        place: usize,
    },
    /// A task begins; index into the tasks.
    Spawn(usize),
    /// Tasks are waited for.
    Meet(Vec<usize>),
}

impl Program {
    /// Reads a recording.
    ///
    /// ```
    /// let text = "blitz recording 1\nthreads 2\nelapsed 10\nwork 9\nspan 5\nsteals 1\n\
    ///     place the beginning\nsteps\nr 1 1 0 0\nf 0 {\nr 4 4 0 0\n|\nr 4 4 0 0\n}\n";
    /// let program = blitz_simulate::Program::read(text).unwrap();
    /// assert_eq!((program.work_ns(), program.span_ns()), (9, 5));
    /// ```
    ///
    /// # Errors
    /// A text that is no recording, or one that no computation can have made; or one with more than 20,000 levels of forks inside of forks.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut program = Program::default();
        // Line ends of other systems, which a file may have got on its way.
        let unix;
        let text = if text.contains("\r\n") {
            unix = text.replace("\r\n", "\n");
            &unix
        } else {
            text
        };
        let mut lines = None;
        let (head, steps) = text
            .split_once("\nsteps\n")
            .ok_or("this is no recording: there are no steps in it")?;
        for (index, line) in head.lines().enumerate() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let number = || {
                let number = rest.parse::<u64>();
                number.map_err(|_| format!("line {}: '{rest}' is no number", index + 1))
            };
            match word {
                "blitz" if rest == "recording 1" => {}
                "blitz" => return Err(format!("a recording of another version: {rest}")),
                "threads" => program.threads = number()? as usize,
                "elapsed" => program.elapsed_ns = number()?,
                "work" => program.measured_work_ns = number()?,
                "span" => program.measured_span_ns = number()?,
                "steals" => program.steals = number()?,
                "lines" => lines = Some(number()?),
                "place" => program.places.push(unescaped(rest)),
                _ => return Err(format!("line {}: what is '{word}'?", index + 1)),
            }
        }
        // A cut can fall between two steps, or into the last number.
        if let Some(lines) = lines {
            let there = steps.lines().count() as u64;
            if there < lines || !steps.is_empty() && !steps.ends_with('\n') {
                return Err(format!(
                    "the recording ends too early: {there} of its {lines} steps' lines are there"
                ));
            }
            if there > lines {
                return Err(format!(
                    "there is more than the recording: {there} lines of steps instead of {lines}"
                ));
            }
        }
        let mut reader = Reader {
            words: steps.split_ascii_whitespace(),
            next: None,
            program: &mut program,
            tasks: HashMap::new(),
        };
        let whole = reader.whole()?;
        program.paths.push(whole);
        program.check()?;
        // Tasks that were not waited for are nobody's.
        let known: Vec<bool> = program
            .tasks
            .iter()
            .map(|&path| path != usize::MAX)
            .collect();
        for path in &mut program.paths {
            path.steps.retain_mut(|step| match step {
                Step::Spawn(task) => known[*task],
                Step::Meet(tasks) => {
                    tasks.retain(|&task| known[task]);
                    true
                }
                _ => true,
            });
        }
        Ok(program)
    }

    /// Every task is spawned once, ends once, and is waited for by nobody who would get there before it if one thread did everything in order: so nobody waits for what waits for
    /// him. No span is longer than its work; and there is something to do, and not more than can be counted.
    fn check(&self) -> Result<(), String> {
        /// What a walk has still to do.
        enum Next {
            Path(usize),
            Step(usize, usize),
            TaskEnds(usize),
        }
        let mut inside = vec![false; self.tasks.len()];
        let mut ended = vec![false; self.tasks.len()];
        let mut spawned = vec![false; self.tasks.len()];
        let (mut work, mut in_all) = (0_u64, 0_u64);
        let mut too_early = false;
        let mut todo = vec![Next::Path(self.root())];
        while let Some(next) = todo.pop() {
            let (path, at) = match next {
                Next::Path(path) => (path, 0),
                Next::Step(path, at) => (path, at),
                Next::TaskEnds(task) => {
                    inside[task] = false;
                    ended[task] = true;
                    continue;
                }
            };
            let Some(step) = self.paths[path].steps.get(at) else {
                continue;
            };
            todo.push(Next::Step(path, at + 1));
            match step {
                Step::Run {
                    ns, span_ns, forks, ..
                } => {
                    if span_ns > ns {
                        return Err(format!("a span of {span_ns} ns in {ns} ns of work"));
                    }
                    let forks = forks.saturating_mul(MOST_OF_A_COST);
                    work = work.saturating_add(*ns);
                    in_all = in_all.saturating_add(*ns).saturating_add(forks);
                }
                Step::Loop { ns, .. } => {
                    work = work.saturating_add(*ns);
                    in_all = in_all.saturating_add(*ns);
                }
                Step::Fork { left, right, .. } => {
                    todo.extend([Next::Path(*right), Next::Path(*left)]);
                }
                Step::Spawn(task) => {
                    if std::mem::replace(&mut spawned[*task], true) {
                        return Err("a task is spawned twice".into());
                    }
                    if self.tasks[*task] != usize::MAX {
                        inside[*task] = true;
                        todo.extend([Next::TaskEnds(*task), Next::Path(self.tasks[*task])]);
                    }
                }
                Step::Meet(tasks) => {
                    if tasks.iter().any(|&task| inside[task]) {
                        return Err("a task waits for itself".into());
                    }
                    let known = |task: usize| self.tasks[task] != usize::MAX;
                    too_early |= tasks.iter().any(|&task| known(task) && !ended[task]);
                }
            }
            if in_all > MOST_IN_ALL {
                return Err("more work than can be counted".into());
            }
        }
        if (self.tasks.iter().zip(&spawned)).any(|(&path, spawned)| path != usize::MAX && !spawned)
        {
            return Err("a task ends that nobody has spawned".into());
        }
        if too_early {
            return Err("a task is waited for before it is spawned".into());
        }
        if work == 0 {
            return Err("nothing was done in this recording".into());
        }
        Ok(())
    }

    /// By task: the task that spawns it, if one does.
    pub(crate) fn spawners(&self) -> Vec<Option<usize>> {
        let mut spawners = vec![None; self.tasks.len()];
        let mut todo = vec![(self.root(), None)];
        while let Some((path, inside)) = todo.pop() {
            for step in &self.paths[path].steps {
                match step {
                    Step::Fork { left, right, .. } => {
                        todo.extend([(*left, inside), (*right, inside)]);
                    }
                    Step::Spawn(task) => {
                        spawners[*task] = inside;
                        todo.push((self.tasks[*task], Some(*task)));
                    }
                    _ => {}
                }
            }
        }
        spawners
    }

    /// The index of the path that is the whole.
    pub fn root(&self) -> usize {
        self.paths.len() - 1
    }

    /// What one core has to do.
    pub fn work_ns(&self) -> u64 {
        let tasks = self
            .tasks
            .iter()
            .filter_map(|&path| self.paths.get(path))
            .map(|path| path.work_ns);
        self.paths[self.root()].work_ns + tasks.sum::<u64>()
    }

    /// How many strands were timed, about.
    pub fn strands(&self) -> u64 {
        let steps = self.paths.iter().flat_map(|path| &path.steps);
        steps.map(Step::strands).fold(0, u64::saturating_add)
    }

    /// How many forks there are, told or not.
    pub fn forks(&self) -> u64 {
        let steps = self.paths.iter().flat_map(|path| &path.steps);
        let forks = steps.map(|step| match step {
            Step::Run { forks, .. } => *forks,
            Step::Fork { .. } => 1,
            _ => 0,
        });
        forks.sum()
    }

    /// The same program with strands that take so much less each, but not less than nothing. What the profiler adds to a strand is not known to the nanosecond, and strands of
    /// nanoseconds are wrong by that; see [`Calibrated`](crate::Calibrated).
    #[must_use]
    pub fn shortened(&self, ns_per_strand: f64) -> Self {
        let mut program = self.clone();
        for index in 0..program.paths.len() {
            let mut work_ns = 0;
            let mut steps = std::mem::take(&mut program.paths[index].steps);
            for step in &mut steps {
                let less = step.strands() as f64 * ns_per_strand;
                let shorter = |ns: u64| (ns as f64 - less).max(0.0) as u64;
                work_ns += match step {
                    Step::Run { ns, span_ns, .. } => {
                        let before = *ns;
                        *ns = shorter(*ns);
                        if before > 0 {
                            *span_ns = (*span_ns as f64 * *ns as f64 / before as f64) as u64;
                        }
                        *ns
                    }
                    Step::Loop { ns, .. } => {
                        *ns = shorter(*ns);
                        *ns
                    }
                    // Halves come before what forks them.
                    Step::Fork { left, right, .. } => {
                        program.paths[*left].work_ns + program.paths[*right].work_ns
                    }
                    Step::Spawn(_) | Step::Meet(_) => 0,
                };
            }
            program.paths[index].steps = steps;
            program.paths[index].work_ns = work_ns;
        }
        program
    }

    /// What no number of cores gets below: loops cut into items, everything else as it is.
    pub fn span_ns(&self) -> u64 {
        self.shape().span_ns
    }

    /// The longest path, and what lies on it.
    pub fn shape(&self) -> Shape {
        let times = self.times();
        let on_span = self.on_span(&times);
        let span_ns = times.lengths[self.root()];
        let mut work = vec![0; self.places.len()];
        for step in self.paths.iter().flat_map(|path| &path.steps) {
            if let Step::Run { ns, place, .. } | Step::Loop { ns, place, .. } = step {
                work[*place] += ns;
            }
        }
        Shape {
            span_ns,
            on_span,
            work,
        }
    }

    /// When everything begins and ends if there are cores for all of it. Tasks may be spawned by tasks however deep, so this must not recurse.
    pub(crate) fn times(&self) -> Times {
        enum Role {
            Whole,
            Left { right: usize },
            Right { left_end: u64 },
            Task(usize),
        }
        struct Frame {
            path: usize,
            at: usize,
            begin: u64,
            now: u64,
            role: Role,
        }
        let frame = |path, begin, role| Frame {
            path,
            at: 0,
            begin,
            now: begin,
            role,
        };
        let mut times = Times {
            lengths: vec![0; self.paths.len()],
            tasks: vec![None; self.tasks.len()],
        };
        let mut frames = vec![frame(self.root(), 0, Role::Whole)];
        while let Some(top) = frames.last_mut() {
            let now = top.now;
            let Some(step) = self.paths[top.path].steps.get(top.at) else {
                let ended = frames.pop().expect("it is the top");
                times.lengths[ended.path] = now - ended.begin;
                let below = frames.last_mut();
                match (ended.role, below) {
                    (Role::Left { right }, _) => {
                        frames.push(frame(right, ended.begin, Role::Right { left_end: now }));
                    }
                    (Role::Right { left_end }, Some(below)) => below.now = left_end.max(now),
                    (Role::Task(task), _) => times.tasks[task] = Some((ended.begin, now)),
                    (Role::Whole | Role::Right { .. }, _) => {}
                }
                continue;
            };
            top.at += 1;
            match step {
                Step::Run { span_ns, .. } => top.now += span_ns,
                Step::Loop { ns, items, .. } => top.now += ns / items.max(&1),
                Step::Fork { left, right, .. } => {
                    frames.push(frame(*left, now, Role::Left { right: *right }));
                }
                Step::Spawn(task) => {
                    frames.push(frame(self.tasks[*task], now, Role::Task(*task)));
                }
                Step::Meet(tasks) => {
                    let ends = tasks.iter().filter_map(|&task| times.tasks[task]);
                    top.now = ends.map(|(_, end)| end).fold(now, u64::max);
                }
            }
        }
        times
    }

    /// Adds up, by place, what lies on the longest path.
    fn on_span(&self, times: &Times) -> Vec<u64> {
        let mut on_span = vec![0; self.places.len()];
        // Several may have waited for a task, but it lies on the longest path once.
        let mut marked = vec![false; self.tasks.len()];
        let mut todo = vec![(self.root(), 0)];
        while let Some((path, begin)) = todo.pop() {
            let mut now = begin;
            // What this path did since a task was spawned is not on the longest path if the task is.
            let mut marks: Vec<(u64, usize, u64)> = Vec::new();
            for step in &self.paths[path].steps {
                match step {
                    Step::Run { span_ns, place, .. } => {
                        marks.push((now, *place, *span_ns));
                        now += span_ns;
                    }
                    Step::Loop {
                        ns, items, place, ..
                    } => {
                        let ns = ns / items.max(&1);
                        marks.push((now, *place, ns));
                        now += ns;
                    }
                    Step::Fork { left, right, .. } => {
                        for (_, place, ns) in marks.drain(..) {
                            on_span[place] += ns;
                        }
                        let [left_ns, right_ns] = [left, right].map(|half| times.lengths[*half]);
                        todo.push((if left_ns >= right_ns { *left } else { *right }, now));
                        now += left_ns.max(right_ns);
                    }
                    Step::Spawn(_) => {}
                    Step::Meet(tasks) => {
                        let ends = tasks
                            .iter()
                            .filter_map(|&task| Some((task, times.tasks[task]?)));
                        let latest = ends.max_by_key(|&(_, (_, end))| end);
                        if let Some((task, (task_begin, end))) = latest
                            && end > now
                        {
                            marks.retain(|&(at, _, _)| at < task_begin);
                            if !std::mem::replace(&mut marked[task], true) {
                                todo.push((self.tasks[task], task_begin));
                            }
                            now = end;
                        }
                    }
                }
            }
            for (_, place, ns) in marks {
                on_span[place] += ns;
            }
        }
        on_span
    }
}

impl Step {
    /// See [`Program::strands`].
    fn strands(&self) -> u64 {
        match self {
            Step::Run { strands, .. } | Step::Loop { strands, .. } => *strands,
            Step::Fork { .. } | Step::Spawn(_) | Step::Meet(_) => 0,
        }
    }
}

/// When things begin and end if there are cores for all of them.
pub(crate) struct Times {
    /// By path: how long it takes.
    pub(crate) lengths: Vec<u64>,
    /// By task: when it begins and when it ends.
    pub(crate) tasks: Vec<Option<(u64, u64)>>,
}

/// The longest path of a program, and what its places have of work and span.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its length.
    pub span_ns: u64,
    /// By place: what of it lies there.
    pub on_span: Vec<u64>,
    /// By place: the work.
    pub work: Vec<u64>,
}

/// The most that anything may take, in nanoseconds: eleven days.
const LONGEST: u64 = 1_000_000_000_000_000;

/// The most that everything may take together, with forks at their dearest: as much again fits seven times into a number.
const MOST_IN_ALL: u64 = u64::MAX / 8;

/// The most that anything may cost on a machine, in nanoseconds: a second.
pub(crate) const MOST_OF_A_COST: u64 = 1_000_000_000;

/// The most levels of forks inside of forks.
const DEEPEST: usize = 20_000;

/// A name as it was before it was made to fit a line: with `\u{a}` for a line break.
fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\\u{") {
        text.push_str(before);
        let letter = after.split_once('}').and_then(|(digits, after)| {
            let letter = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            Some((letter, after))
        });
        let (letter, after) = letter.unwrap_or_else(|| {
            text.push_str("\\u");
            ('{', after)
        });
        text.push(letter);
        rest = after;
    }
    text + rest
}

struct Reader<'a, 'p> {
    words: std::str::SplitAsciiWhitespace<'a>,
    next: Option<&'a str>,
    program: &'p mut Program,
    /// Numbers in the recording to indices.
    tasks: HashMap<u64, usize>,
}

/// What has been begun around a path.
enum Open {
    /// The left half of a fork.
    Left { of_loop: bool, place: usize },
    /// The right half.
    Right {
        left: usize,
        of_loop: bool,
        place: usize,
    },
    /// A task that has ended where these were waited for.
    Ended { task: usize, awaited: Vec<usize> },
}

impl<'a> Reader<'a, '_> {
    fn word(&mut self) -> Option<&'a str> {
        self.next.take().or_else(|| self.words.next())
    }

    fn number(&mut self) -> Result<u64, String> {
        let word = self.word().ok_or("the recording ends too early")?;
        word.parse().map_err(|_| format!("'{word}' is no number"))
    }

    fn time(&mut self) -> Result<u64, String> {
        match self.number()? {
            ns if ns <= LONGEST => Ok(ns),
            ns => Err(format!("{ns} ns is longer than anything takes")),
        }
    }

    fn place(&mut self) -> Result<usize, String> {
        let place = self.number()? as usize;
        if place < self.program.places.len() {
            Ok(place)
        } else {
            Err(format!("there is no place {place}"))
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        let next = self.word().ok_or_else(|| ends_before(word))?;
        expected(word, next)
    }

    fn task(&mut self) -> Result<usize, String> {
        let number = self.number()?;
        let tasks = &mut self.program.tasks;
        Ok(*self.tasks.entry(number).or_insert_with(|| {
            tasks.push(usize::MAX);
            tasks.len() - 1
        }))
    }

    fn stored(&mut self, path: Path) -> usize {
        self.program.paths.push(path);
        self.program.paths.len() - 1
    }

    fn add(&self, path: &mut Path, step: Step) {
        let more = match &step {
            Step::Run { ns, .. } | Step::Loop { ns, .. } => *ns,
            Step::Fork { left, right, .. } => {
                let halves = [left, right].map(|&half| self.program.paths[half].work_ns);
                halves[0].saturating_add(halves[1])
            }
            Step::Spawn(_) | Step::Meet(_) => 0,
        };
        path.work_ns = path.work_ns.saturating_add(more);
        path.steps.push(step);
    }

    /// All of it. What is open lies in a vector, so that no stack overflows, however deep the text nests.
    fn whole(&mut self) -> Result<Path, String> {
        let mut path = Path::default();
        let mut open: Vec<(Path, Open)> = Vec::new();
        loop {
            let Some(word) = self.word() else {
                return match open.last() {
                    None => Ok(path),
                    Some((_, Open::Left { .. })) => Err(ends_before("|")),
                    Some(_) => Err(ends_before("}")),
                };
            };
            let inner = match word {
                "|" | "}" => {
                    let (outer, around) = open.pop().ok_or_else(|| format!("what is '{word}'?"))?;
                    let inner = self.stored(std::mem::replace(&mut path, outer));
                    match around {
                        Open::Left { of_loop, place } => {
                            expected("|", word)?;
                            Some(Open::Right {
                                left: inner,
                                of_loop,
                                place,
                            })
                        }
                        Open::Right {
                            left,
                            of_loop,
                            place,
                        } => {
                            expected("}", word)?;
                            let step = Step::Fork {
                                left,
                                right: inner,
                                of_loop,
                                place,
                            };
                            self.add(&mut path, step);
                            None
                        }
                        Open::Ended { task, awaited } => {
                            let path_of = &mut self.program.tasks[task];
                            if std::mem::replace(path_of, inner) != usize::MAX {
                                return Err("a task ends twice".into());
                            }
                            self.next = Some(word);
                            self.ended(awaited, &mut path)?
                        }
                    }
                }
                "r" => {
                    let (ns, span_ns) = (self.time()?, self.time()?);
                    let forks: u64 = self.number()?;
                    let step = Step::Run {
                        ns,
                        span_ns,
                        forks,
                        strands: forks.saturating_mul(3).saturating_add(1),
                        place: self.place()?,
                    };
                    self.add(&mut path, step);
                    None
                }
                "l" => {
                    let step = Step::Loop {
                        ns: self.time()?,
                        items: self.number()?,
                        strands: 1,
                        place: self.place()?,
                    };
                    self.add(&mut path, step);
                    None
                }
                "x" => {
                    let more = self.number()?;
                    match path.steps.last_mut() {
                        Some(Step::Run { strands, .. } | Step::Loop { strands, .. }) => {
                            *strands = more;
                        }
                        _ => return Err("strands of what?".into()),
                    }
                    None
                }
                "f" | "c" => {
                    let place = self.place()?;
                    self.expect("{")?;
                    let of_loop = word == "c";
                    Some(Open::Left { of_loop, place })
                }
                "s" => {
                    let task = self.task()?;
                    self.place()?;
                    self.add(&mut path, Step::Spawn(task));
                    None
                }
                "m" => {
                    let count = self.number()?;
                    let awaited = (0..count).map(|_| self.task()).collect::<Result<_, _>>()?;
                    self.place()?;
                    self.expect("{")?;
                    self.ended(awaited, &mut path)?
                }
                other => return Err(format!("what is '{other}'?")),
            };
            if let Some(around) = inner {
                open.push((std::mem::take(&mut path), around));
                if open.len() > DEEPEST {
                    return Err(format!("forks inside of forks, more than {DEEPEST} deep"));
                }
            }
        }
    }

    /// The next task that has ended where these were waited for. If there is none, the wait is over.
    fn ended(&mut self, awaited: Vec<usize>, path: &mut Path) -> Result<Option<Open>, String> {
        loop {
            match self.word() {
                Some("}") => {
                    self.add(path, Step::Meet(awaited));
                    return Ok(None);
                }
                Some("|") => {}
                Some(word) => {
                    self.next = Some(word);
                    let task = self.task()?;
                    return Ok(Some(Open::Ended { task, awaited }));
                }
                None => return Err("the recording ends too early".into()),
            }
        }
    }
}

fn expected(expected: &str, word: &str) -> Result<(), String> {
    if word == expected {
        Ok(())
    } else {
        Err(format!("'{expected}' is missing before '{word}'"))
    }
}

fn ends_before(expected: &str) -> String {
    format!("the recording ends where '{expected}' is missing")
}
