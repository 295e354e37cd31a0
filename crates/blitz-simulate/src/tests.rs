//! Programs of known shape on machines of known cost.

use super::*;

/// A recording with these steps.
fn program(steps: &str) -> Program {
    let text = format!("blitz recording 1\nthreads 1\nplace here\nplace there\nsteps\n{steps}");
    Program::read(&text).unwrap()
}

/// A tree of forks with leaves of so many nanoseconds.
fn tree(levels: u32, leaf: u64) -> String {
    if levels == 0 {
        return format!("r {leaf} {leaf} 0 0\n");
    }
    let half = tree(levels - 1, leaf);
    format!("r 300 300 0 1\nf 1 {{\n{half}|\n{half}}}\n")
}

/// Trees that lean: a short half and a long one.
fn comb(levels: u32, leaf: u64) -> String {
    if levels == 0 {
        return format!("r {leaf} {leaf} 0 0\n");
    }
    format!(
        "f 1 {{\nr {leaf} {leaf} 0 0\n|\n{}}}\n",
        comb(levels - 1, leaf)
    )
}

fn scope(tasks: u64, ns: impl Fn(u64) -> u64) -> String {
    let spawns: String = (0..tasks).map(|task| format!("s {task} 0\n")).collect();
    let awaited: String = (0..tasks).map(|task| format!("{task} ")).collect();
    let ended: Vec<String> = (0..tasks)
        .map(|task| format!("{task}\nr {0} {0} 0 0\n", ns(task)))
        .collect();
    format!("{spawns}m {tasks} {awaited}1 {{\n{}}}\n", ended.join("|\n"))
}

/// The most forks on one path.
fn forks_deep(program: &Program, path: usize) -> u64 {
    let steps = &program.paths[path].steps;
    let deep = steps.iter().map(|step| match step {
        Step::Fork { left, right, .. } => {
            1 + forks_deep(program, *left).max(forks_deep(program, *right))
        }
        _ => 0,
    });
    deep.max().unwrap_or(0)
}

fn programs() -> Vec<(&'static str, Program)> {
    vec![
        ("plain code", program("r 1000000 1000000 0 0\n")),
        ("a loop", program("l 20000000 100000 0\n")),
        ("a short loop", program("l 40000 100 0\n")),
        ("a loop of few items", program("l 9000000 9 0\n")),
        ("a tree", program(&tree(10, 20_000))),
        ("a fine tree", program(&tree(13, 700))),
        ("a comb", program(&comb(60, 50_000))),
        ("tasks", program(&scope(500, |task| task * 300))),
        (
            "nested loops",
            program(
                "c 0 {\nl 3000000 50 0\nl 3000000 50 0\n|\nl 3000000 7 0\nf 1 {\nl 1000000 10 0\n|\nl 2000000 30 0\n}\n}\n",
            ),
        ),
        (
            "half",
            program("r 10000000 10000000 0 0\nl 10000000 1000 1\n"),
        ),
    ]
}

#[test]
fn the_same_program_gives_the_same_outcome() {
    for (name, program) in programs() {
        let machine = Machine::with_cores(16);
        assert_eq!(
            simulate(&program, &machine),
            simulate(&program, &machine),
            "{name}"
        );
    }
}

#[test]
fn every_step_is_run_once_on_any_machine() {
    for (name, program) in programs() {
        for cores in [1, 2, 3, 16, 64, 256, 1024] {
            for waiting in [Waiting::Descendants, Waiting::Anything] {
                let machine = Machine {
                    waiting,
                    ..Machine::with_cores(cores)
                };
                let outcome = simulate(&program, &machine);
                assert_eq!(
                    outcome.work_ns,
                    program.work_ns(),
                    "{name} on {cores} cores"
                );
            }
        }
    }
}

#[test]
fn no_machine_beats_work_and_span_and_none_stays_far_behind_a_greedy_one() {
    for (name, program) in programs() {
        let (work, span) = (program.work_ns(), program.span_ns());
        for cores in [1, 2, 4, 16, 64, 256, 1024] {
            let outcome = simulate(&program, &Machine::with_cores(cores));
            let cores = cores as u64;
            let least = span.max(work / cores);
            assert!(
                outcome.elapsed_ns >= least,
                "{name} on {cores}: {outcome:?}"
            );
            // Brent, with the burden: a path of forks that are all stolen, each with a wake (a loop has some of its own); and getting everybody
            // going, where one wakes the next.
            let wakes = forks_deep(&program, program.root()) + 12 + cores.min(outcome.wakes);
            let ramp = 20_000 * wakes + 60_000;
            let most = (work + outcome.overhead_ns) / cores + span;
            assert!(
                outcome.elapsed_ns <= most + most / 5 + ramp,
                "{name} on {cores}: {} after {most} and {ramp}, {outcome:?}",
                outcome.elapsed_ns
            );
        }
    }
}

#[test]
fn one_core_takes_the_work_and_nothing_is_stolen() {
    for (name, program) in programs() {
        let outcome = simulate(&program, &Machine::with_cores(1));
        assert_eq!((outcome.steals, outcome.wakes), (0, 0), "{name}");
        let work = program.work_ns();
        assert!(outcome.elapsed_ns >= work, "{name}");
        assert!(
            outcome.elapsed_ns <= work + work / 10,
            "{name}: {outcome:?}"
        );
    }
}

#[test]
fn more_threads_than_cores_do_not_beat_the_cores() {
    for (name, program) in programs() {
        let work = program.work_ns();
        for workers in [8, 64] {
            let machine = Machine {
                cpus: 2,
                ..Machine::with_cores(workers)
            };
            let outcome = simulate(&program, &machine);
            assert_eq!(outcome.work_ns, work, "{name}");
            assert!(
                outcome.elapsed_ns >= work / 2,
                "{name} with {workers}: {outcome:?}"
            );
        }
    }
}

#[test]
fn more_threads_than_cores_are_not_woken_for_want_of_cores() {
    // As measured: five or six wakes, with eight threads and with sixty-four. If a woken thread got its CPU from one that works, all would be woken.
    for (name, program) in programs() {
        for workers in [8, 64] {
            let machine = Machine {
                cpus: 2,
                ..Machine::with_cores(workers)
            };
            let wakes = simulate(&program, &machine).wakes;
            assert!(wakes <= 12, "{name} with {workers}: {wakes}");
        }
    }
}

#[test]
fn a_waiting_thread_that_may_run_anything_is_kept_busy_where_one_that_may_not_is_not() {
    // Two combs beside each other: whoever waits in one could help in the other.
    let program = program(&format!(
        "f 0 {{\n{}|\n{}}}\n",
        comb(40, 100_000),
        comb(40, 30_000)
    ));
    let machine = Machine::with_cores(3);
    let ours = simulate(&program, &machine);
    let anything = Machine {
        waiting: Waiting::Anything,
        ..machine
    };
    let theirs = simulate(&program, &anything);
    assert_ne!(ours, theirs);
}

/// Why the engine does not wake in several chains from the beginning on.
#[test]
fn several_chains_of_wakes_help_long_loops_and_harm_short_ones() {
    let speedup = |ns: u64, cores, cascade| {
        let machine = Machine {
            cascade,
            ..Machine::with_cores(cores)
        };
        mean_speedup(&program(&format!("l {ns} 1000 0\n")), &machine, 4)
    };
    let gain =
        |ns, cores| speedup(ns, cores, Cascade::Until(4)) / speedup(ns, cores, Cascade::Chain);
    assert!(gain(20_000_000, 64) > 1.1);
    assert!(gain(40_000, 8) < 0.9);
    assert_eq!(gain(40_000, 2), 1.0);
}

#[test]
fn recordings_that_are_none_are_refused_with_a_reason() {
    for (text, reason) in [
        ("", "no recording"),
        ("blitz recording 2\nsteps\n", "version"),
        ("blitz recording 1\nsteps\nr 1\n", "too early"),
        (
            "blitz recording 1\nplace a\nsteps\nr 1 1 0 7\n",
            "no place 7",
        ),
        ("blitz recording 1\nplace a\nsteps\ny\n", "what is 'y'"),
        (
            "blitz recording 1\nplace a\nsteps\nx 2\n",
            "strands of what",
        ),
        ("blitz recording 1\nplace a\nsteps\nf 0 {\n|\n", "missing"),
        ("blitz recording 1\nplace a\nsteps\n", "nothing was done"),
        (
            "blitz recording 1\nplace a\nsteps\nr 18446744073709551615 1 0 0\n",
            "longer than anything",
        ),
        (
            "blitz recording 1\nplace a\nsteps\nr 9 9 18446744073709551615 0\n",
            "more work",
        ),
        (
            "blitz recording 1\nplace a\nsteps\ns 1 0\ns 1 0\nm 1 1 0 {\n1\nr 5 5 0 0\n}\n",
            "spawned twice",
        ),
        (
            "blitz recording 1\nplace a\nsteps\ns 1 0\nm 1 1 0 {\n1\ns 1 0\n}\n",
            "spawned twice",
        ),
        (
            "blitz recording 1\nplace a\nsteps\nm 1 1 0 {\n1\nr 5 5 0 0\n}\n",
            "nobody has spawned",
        ),
        (
            "blitz recording 1\nplace a\nsteps\ns 1 0\nm 1 1 0 {\n1\nm 1 1 0 {\n}\n}\n",
            "waits for itself",
        ),
    ] {
        let error = Program::read(text).unwrap_err();
        assert!(error.contains(reason), "{text:?}: {error}");
    }
}

#[test]
fn recordings_that_were_cut_are_refused_wherever_the_cut_is() {
    let text = "blitz recording 1\nwork 3000\nlines 7\nplace a\nsteps\n\
        r 1000 1000 0 0\nf 0 {\nr 1000 1000 0 0\n|\nr 900 900 0 0\n}\nr 100 100 0 0\n";
    assert_eq!(Program::read(text).unwrap().work_ns(), 3000);
    for end in 0..text.len() {
        let error = Program::read(&text[..end]).unwrap_err();
        assert!(
            error.contains("too early") || error.contains("no recording"),
            "{error} after {}",
            &text[..end]
        );
    }
    let error = Program::read(&format!("{text}r 1 1 0 0\n")).unwrap_err();
    assert!(error.contains("more than the recording"), "{error}");
}

#[test]
fn recordings_with_other_line_ends_are_the_same() {
    let text = "blitz recording 1\nlines 2\nplace a\nplace b\nsteps\nr 9 9 0 1\nl 90 9 0\n";
    let read = |text: &str| format!("{:?}", Program::read(text).unwrap());
    assert_eq!(read(text), read(&text.replace('\n', "\r\n")));
}

#[test]
fn the_page_stands_alone_and_names_the_places() {
    let program = program(&tree(6, 50_000));
    let page = page::html(
        "a <tree>",
        &program,
        &Machine::with_cores(2),
        Some("a table"),
    );
    assert!(page.contains("a &lt;tree&gt;") && page.contains("there") && page.contains("a table"));
    assert!(!page.contains("http"), "nothing comes from elsewhere");
    assert!(!page.contains("NaN") && !page.contains("inf"));
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
fn forks_ten_thousand_deep_are_read_and_run_and_endless_ones_are_refused() {
    let deep = |levels: usize| {
        let forks = "f 0 {\n".repeat(levels);
        format!(
            "blitz recording 1\nplace a\nsteps\n{forks}r 9000 9000 0 0\n{}",
            "|\nr 100 100 0 0\n}\n".repeat(levels)
        )
    };
    let program = Program::read(&deep(10_000)).unwrap();
    assert_eq!(program.span_ns(), 9000);
    let outcome = simulate(&program, &Machine::with_cores(4));
    assert_eq!(outcome.work_ns, program.work_ns());
    assert!(page::picture(&program).contains("<svg"));
    assert!(Program::read(&deep(20_001)).unwrap_err().contains("deep"));
}

/// Each spawns the next one, or waits for the one before: recordings of these are flat.
#[test]
fn long_chains_of_tasks_overflow_no_stack() {
    const TASKS: u64 = 30_000;
    let awaited: String = (0..TASKS).map(|task| format!("{task} ")).collect();
    let chain = |step: &dyn Fn(u64) -> String| {
        let ended: Vec<String> = (0..TASKS)
            .map(|task| format!("{task}\nr 100 100 0 0\n{}", step(task)))
            .collect();
        format!("m {TASKS} {awaited}0 {{\n{}}}\n", ended.join("|\n"))
    };
    let spawning = chain(&|task| match task + 1 {
        TASKS => String::new(),
        next => format!("s {next} 0\n"),
    });
    let waiting = chain(&|task| match task {
        0 => String::new(),
        _ => format!("m 1 {} 0 {{\n}}\nr 100 100 0 1\n", task - 1),
    });
    let spawns: String = (0..TASKS).map(|task| format!("s {task} 0\n")).collect();
    for (steps, span) in [
        (format!("s 0 0\n{spawning}"), 100 * TASKS),
        (format!("{spawns}{waiting}"), 100 * TASKS),
    ] {
        let program = program(&steps);
        let shape = program.shape();
        assert_eq!(shape.span_ns, span);
        assert!(shape.on_span.iter().sum::<u64>() <= program.work_ns());
        let outcome = simulate(&program, &Machine::with_cores(1));
        assert!(!outcome.stuck);
        assert_eq!(outcome.work_ns, program.work_ns());
        assert!(page::picture(&program).contains("<svg"));
    }
}

#[test]
fn a_machine_where_nothing_costs_anything_and_one_where_everything_does_come_to_an_end() {
    for (name, program) in programs() {
        for ns in [0, u64::MAX] {
            let mut machine = Machine::with_cores(4);
            for (cost, _) in machine.costs.all() {
                assert!(machine.costs.set(cost, ns));
            }
            let outcome = simulate(&program, &machine);
            assert_eq!(outcome.work_ns, program.work_ns(), "{name}");
        }
    }
}

/// A look that takes a nanosecond is taken a hundred times where one was: by every thread that has nothing to do, and it looks at all the others.
#[test]
fn what_costs_nothing_does_not_happen_without_end() {
    let program = program(&tree(8, 100_000));
    let events = |cores, cpus, free: &[&str]| {
        let mut machine = Machine {
            cpus,
            ..Machine::with_cores(cores)
        };
        for cost in free {
            assert!(machine.costs.set(cost, 0));
        }
        let events = simulate(&program, &machine).events;
        println!("{cores} threads, {cpus} CPUs, free {free:?}: {events}");
        events
    };
    for cores in [2, 24, 64, 256] {
        let looks = events(cores, cores, &["look", "look_each"]);
        assert!(looks < 10 * events(cores, cores, &[]) + 10_000, "{looks}");
        let all = Costs::default().all();
        let all: Vec<&str> = all.into_iter().map(|(cost, _)| cost).collect();
        let all = events(cores, cores, &all);
        assert!(all < 200_000, "{all}");
        let turns = events(cores, 1, &["quantum"]);
        assert!(turns < 100_000, "{turns}");
    }
}

#[test]
fn strands_that_were_recorded_too_long_are_told_by_the_time_on_one_thread() {
    // A recursion of forks at every call, told in pieces of 2 us: each of its strands was measured so much too long or too short.
    let fine = |ns_per_piece: u64| {
        let leaf = format!("r {ns_per_piece} {} 100 0\n", ns_per_piece / 10);
        fn halves(levels: u32, leaf: &str) -> String {
            if levels == 0 {
                return leaf.to_string();
            }
            let half = halves(levels - 1, leaf);
            format!("f 1 {{\n{half}|\n{half}}}\n")
        }
        program(&halves(9, &leaf))
    };
    let machine = |workers| Machine::with_cores(workers);
    let truth = fine(2000);
    let alone = simulate(&truth, &machine(1)).elapsed_ns;
    // 301 strands each.
    for (recorded, wrong) in [(2000 + 602, 2.0), (2000 - 301, -1.0), (2000, 0.0)] {
        let recorded = fine(recorded);
        let calibrated = Calibrated::by(&recorded, &machine(1), alone);
        let found = calibrated.ns_per_strand;
        assert!((found - wrong).abs() < 0.05, "{found} instead of {wrong}");
        for workers in [1, 2, 8] {
            let [told, true_one] = [&calibrated.apply(&recorded), &truth]
                .map(|program| simulate(program, &machine(workers)).elapsed_ns as f64);
            assert!((told / true_one - 1.0).abs() < 0.02, "{told}, {true_one}");
        }
    }
    // Loops inside of what is too short to be told, and of a loop that is: the recording says how many strands these were.
    let loops = |ns: u64| program(&format!("r {ns} {ns} 0 0\nx 100\nl {ns} 8 0\nx 300\n"));
    let alone = simulate(&loops(5000), &machine(1)).elapsed_ns;
    let calibrated = Calibrated::by(&loops(7000), &machine(1), alone);
    let found = calibrated.ns_per_strand;
    assert!((found - 10.0).abs() < 0.1, "{found}");
    // 51,711 forks cannot cost 12 ns each in 200 us, whatever they cost elsewhere.
    let mut dear = machine(1);
    dear.costs.fork = 12;
    let calibrated = Calibrated::by(&fine(100), &dear, 200_000);
    assert_eq!(calibrated.fork_ns, 3);
    let told = simulate(&calibrated.apply(&fine(100)), &calibrated.machine(&dear)).elapsed_ns;
    assert!((190_000..210_000).contains(&told), "{told}");
    // Plain code that takes twice as long: that was not the profiler.
    let plain = program("r 1000000 1000000 0 0\n");
    let calibrated = Calibrated::by(&plain, &machine(1), 500_000);
    assert_eq!(calibrated.ns_per_strand, 0.0);
    assert_eq!(calibrated.apply(&plain).work_ns(), 1_000_000);
}

#[test]
fn recordings_that_no_computation_can_have_made_are_errors() {
    let head =
        "blitz recording 1\nthreads 2\nelapsed 10\nwork 9\nspan 5\nsteals 1\nplace a\nsteps\n";
    for steps in [
        // Waited for before it was spawned.
        "r 1 1 0 0\nm 1 1 0 {\n1 r 1 1 0 0\n}\ns 1 0\n",
        // The same, in the other half of a fork.
        "f 0 {\nm 1 1 0 {\n1 r 1 1 0 0\n}\nr 1 1 0 0\n|\ns 1 0\nr 1 1 0 0\n}\n",
        // A longer span than there is work.
        "r 1 1000000 0 0\n",
        // Two tasks that wait for each other; overflows the stack today.
        "s 1 0\ns 2 0\nr 1 1 0 0\nm 2 1 2 0 {\n1 m 1 2 0 {\n}\nr 1 1 0 0\n|\n2 m 1 1 0 {\n}\nr 1 1 0 0\n}\n",
    ] {
        if let Ok(program) = crate::Program::read(&format!("{head}{steps}")) {
            let outcome = crate::simulate(&program, &crate::Machine::with_cores(2));
            panic!(
                "read and simulated ({} ns, a span of {}): {steps}",
                outcome.elapsed_ns,
                program.span_ns()
            );
        }
    }
}

#[test]
fn numbers_that_would_wrap_around_are_errors() {
    let head = "blitz recording 1\nplace a\nsteps\n";
    let twice = |step: &str| Program::read(&format!("{head}{step}{step}{step}"));
    let error = twice("r 9 9 10000000000 0\n").unwrap_err();
    assert!(error.contains("more work"), "{error}");
    let many = "r 1000000000000000 1000000000000000 0 0\n".repeat(30_000);
    let error = Program::read(&format!("{head}{many}")).unwrap_err();
    assert!(error.contains("more work"), "{error}");
    let error = twice("s 1 0\nm 1 1 0 {\n1 r 5 5 0 0\n|\n1 r 5 5 0 0\n}\n").unwrap_err();
    assert!(error.contains("ends twice"), "{error}");
}

/// Tasks that wait for tasks that others have spawned: somebody may wait for what lies below him, or in front of somebody who waits for him.
#[test]
fn whoever_waits_for_a_task_of_somebody_else_gets_it_in_the_end() {
    use blitz_core::primitives::XorShift64Star;

    struct Maker {
        rng: XorShift64Star,
        tasks: Vec<(usize, String)>,
        ended: Vec<usize>,
        made: usize,
    }

    impl Maker {
        fn path(&mut self, levels: u32) -> String {
            let mut steps = String::new();
            for _ in 0..1 + self.rng.below(4) {
                steps += &match self.rng.below(5) {
                    0 if levels > 0 => {
                        // What one half spawns, the other one does not know.
                        let before = self.ended.len();
                        let left = self.path(levels - 1);
                        let of_left = self.ended.split_off(before);
                        let right = self.path(levels - 1);
                        self.ended.extend(of_left);
                        format!("f 0 {{\n{left}|\n{right}}}\n")
                    }
                    1 | 2 if levels > 0 => {
                        self.made += 1;
                        let task = self.made;
                        let path = self.path(levels - 1);
                        self.tasks.push((task, path));
                        self.ended.push(task);
                        format!("s {task} 0\n")
                    }
                    3 if !self.ended.is_empty() => {
                        let task = self.ended[self.rng.below(self.ended.len())];
                        format!("m 1 {task} 0 {{\n}}\n")
                    }
                    _ => {
                        let ns = 1 + self.rng.below(60_000);
                        format!("r {ns} {ns} 0 0\n")
                    }
                };
            }
            steps
        }
    }

    for seed in 1..400 {
        let mut maker = Maker {
            rng: XorShift64Star::new(seed),
            tasks: Vec::new(),
            ended: Vec::new(),
            made: 0,
        };
        let mut steps = maker.path(5) + "r 1 1 0 0\n";
        let tasks: Vec<String> = (maker.tasks.iter())
            .map(|(task, path)| format!("{task}\n{path}"))
            .collect();
        let awaited: String = (maker.tasks.iter())
            .map(|(task, _)| format!("{task} "))
            .collect();
        steps += &format!("m {} {awaited}0 {{\n{}}}\n", tasks.len(), tasks.join("|\n"));
        let program = program(&steps);
        assert!(program.span_ns() <= program.work_ns());
        for cores in [1, 2, 3, 16] {
            let machine = Machine::with_cores(cores);
            let outcome = simulate(&program, &machine);
            assert!(!outcome.stuck, "{cores} cores: {steps}");
            assert_eq!(outcome.work_ns, program.work_ns(), "{cores} cores");
            // These may get stuck, and say so.
            let anything = Machine {
                waiting: Waiting::Anything,
                ..machine
            };
            let outcome = simulate(&program, &anything);
            assert_eq!(outcome.stuck, outcome.speedup(&program) == 0.0);
        }
    }
}

/// A day would be five thousand million blocks of the engine's, and take gigabytes if those that are over were kept.
#[test]
fn loops_of_days_are_simulated_in_seconds() {
    const DAY: u64 = 86_400_000_000_000;
    let many = "l 1000000000 1000000000 0\n".repeat(1000);
    for (steps, cores) in [(&format!("l {DAY} 1000000000 0\n"), 64), (&many, 1)] {
        let program = program(steps);
        let outcome = simulate(&program, &Machine::with_cores(cores));
        assert_eq!(outcome.work_ns, program.work_ns());
        let speedup = outcome.speedup(&program) / cores as f64;
        assert!((0.99..=1.0).contains(&speedup), "{speedup}");
    }
}

#[test]
fn blocks_are_those_of_the_engine_in_programs_of_seconds() {
    let seconds = |seconds: u64, workers| crate::world::block_us(seconds * 1_000_000_000, workers);
    for workers in [1, 64] {
        assert_eq!([0, 1, 4].map(|time| seconds(time, workers)), [16.0; 3]);
    }
    assert_eq!(seconds(60, 1024), 16.0);
    assert!(seconds(600, 1024) > 100.0 && seconds(600, 64) > 1000.0);
}

#[test]
fn names_of_several_lines_are_read_as_they_were() {
    for (line, name) in [
        ("a [b\\u{a}steps\\u{d}]", "a [b\nsteps\r]"),
        ("src\\unit\\new.rs", "src\\unit\\new.rs"),
        ("\\u{5c}u{a}\\", "\\u{a}\\"),
        (
            "\\u{\\u{a}\\u{x}\\u{110000}\\u{a",
            "\\u{\n\\u{x}\\u{110000}\\u{a",
        ),
    ] {
        let text = format!("blitz recording 1\nplace {line}\nsteps\nr 1 1 0 0\n");
        assert_eq!(Program::read(&text).unwrap().places, [name]);
    }
}
