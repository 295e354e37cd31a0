"""What of rayon's and rayon-core's packages becomes a case.

Both are measured under their own names, through the lines of `[patch.crates-io]`. Tests that rayon keeps inside of its crates see
private items; here they stand outside, so their paths are written anew, and those that cannot do without a private item are left out,
each with its reason.
"""
import re

import packages
import sources
import surface
from plan import Case, Plan, Program, Sheet

NAME = "rayon"
PACKAGES = {"rayon": '"=1.12.0"', "rayon-core": '"=1.13.0"'}
OURS = {"rayon": "compat/rayon", "rayon-core": "compat/rayon-core"}

MANIFEST = """[package]
name = "cases"
version = "0.0.0"
edition = "2021"
publish = false
[lib]
test = false
doctest = false
[workspace]
[profile.dev]
debug = "line-tables-only"
[dependencies]
rayon = "=1.12.0"
rayon-core = "=1.13.0"
crossbeam-utils = "0.8"
either = "1"
libc = "0.2"
rand = "0.9"
rand_xorshift = "0.4"
scoped-tls = "1"
"""

# What `use super::*` stands for in each file of tests: the names that are public.
SUPER = {
    "rayon/src/iter/test.rs": "use rayon::iter::plumbing::*;\nuse rayon::iter::*;\nuse std::collections::LinkedList;",
    "rayon/src/iter/fold_chunks.rs": "use rayon::iter::*;\nuse rayon::prelude::*;",
    "rayon/src/iter/fold_chunks_with.rs": "use rayon::iter::*;\nuse rayon::prelude::*;",
    "rayon-core/src/join/test.rs": "use rayon_core::{join, join_context};",
}

# Tests that are made of private items, and what those are.
LEFT_OUT = {
    "rayon/src/range.rs": {
        "check_range_split_at_overflow": "the private producer of ranges",
        "test_i128_len_doesnt_overflow": "the private producer of ranges, and its length",
    },
    "rayon-core/src/test.rs": {"configuration": "`Configuration`, deprecated since 1.0"},
    "rayon-core/src/thread_pool/test.rs": {
        "workers_stop": "the private registry",
        "sleeper_stop": "the private registry",
        "check_thread_pool_new": "`Configuration`, deprecated since 1.0",
    },
    # Whole files.
    "rayon/src/iter/find_first_last/test.rs": {"all four": "private consumers of searches"},
    "rayon/src/slice/sort.rs": {"both": "private functions of the sorts"},
}

HALT_UNWINDING = """
fn halt_unwinding<R>(code: impl FnOnce() -> R) -> std::thread::Result<R> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(code))
}
"""


def plan(found, fetch):
    """The whole plan. Files are called as in rayon's repository: rayon-core is a folder beside rayon's own."""
    plan = Plan(MANIFEST)
    read = lambda path: (found[path.split("/")[0]] / path.split("/", 1)[1]).read_text()
    for file in sorted((found["rayon"] / "tests").glob("*.rs")):
        plan.programs.append(Program(file.stem, "tests/*.rs", file.read_text()))
    for file in sorted((found["rayon-core"] / "tests").glob("*.rs")):
        plan.programs.append(Program(f"core_{file.stem}", "rayon-core: tests/*.rs", file.read_text()))
    add_unit_tests(plan, read)
    add_examples(plan, found)
    add_must_use(plan, read("rayon/src/compile_fail/must_use.rs"))
    for name in PACKAGES:
        api = packages.public_api(name, fetch)
        if api is None:
            plan.notes.append(f"no nightly toolchain, or one with another format: {name}'s names, signatures and implementations are not compared")
        else:
            # What rayon-core has deprecated since 1.0 is not there; docs/coming-from-rayon.md says so.
            plan.sheets += surface.sheets(api, name.replace("-", "_"), deprecated=name == "rayon")
    return plan


def add_unit_tests(plan, read):
    def program(name, path, text, group):
        text = sources.without_tests(text, [test for test in LEFT_OUT.get(path, ()) if f"fn {test}(" in text])
        crate = path.split("/")[0].replace("-", "_")
        text = re.sub(r"^use super::(\*|\{.*\});", lambda _: SUPER[path], text, count=1, flags=re.M)
        text = text.replace("use crate::unwind;\n", "").replace("crate::unwind::", "").replace("unwind::halt", "halt")
        # A closure on a thread of the pool, by a private function; a scope's body is one, too.
        text = text.replace("crate::registry::in_worker(move |_, _|", "rayon_core::scope(move |_|")
        text = text.replace("crate::", f"{crate}::")
        if "halt_unwinding" in text:
            text += HALT_UNWINDING
        plan.programs.append(Program(name, group, sources.as_a_program(text)))

    unit, core = "unit tests", "rayon-core: unit tests"
    program("unit_iter", "rayon/src/iter/test.rs", read("rayon/src/iter/test.rs"), unit)
    program("unit_slice", "rayon/src/slice/test.rs", read("rayon/src/slice/test.rs"), unit)
    program("unit_delegate", "rayon/src/delegate.rs", read("rayon/src/delegate.rs"), unit)
    for name in ("fold_chunks", "fold_chunks_with"):
        path = f"rayon/src/iter/{name}.rs"
        program(f"unit_{name}", path, sources.inline_module(read(path), "test"), unit)
    for name in ("range", "range_inclusive"):
        path = f"rayon/src/{name}.rs"
        imports = "use rayon::iter::*;\nuse rayon::iter::plumbing::*;\nuse std::ops::{Range, RangeInclusive};\n"
        program(f"unit_{name}", path, imports + sources.tests_at_the_left_edge(read(path)), unit)
    program("unit_collect", "rayon/src/iter/collect/test.rs", misbehaving(read("rayon/src/iter/collect/test.rs")), "unit tests: misuse of collect")
    program("core_unit", "rayon-core/src/test.rs", read("rayon-core/src/test.rs"), core)
    for name in ("join", "scope", "spawn", "thread_pool", "broadcast"):
        path = f"rayon-core/src/{name}/test.rs"
        text = read(path).replace("use super::{spawn, spawn_fifo};", "use rayon_core::{spawn, spawn_fifo};")
        program(f"core_unit_{name}", path, text, core)


# An iterator that says how long it is and does with its consumer what a test tells it to.
MISBEHAVING = """
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
trait Drives<T> {
    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result;
}
struct Misbehaving<T, D>(usize, D, std::marker::PhantomData<T>);
impl<T: Send, D: Drives<T> + Send> ParallelIterator for Misbehaving<T, D> {
    type Item = T;
    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        self.drive(consumer)
    }
}
impl<T: Send, D: Drives<T> + Send> IndexedParallelIterator for Misbehaving<T, D> {
    fn len(&self) -> usize {
        self.0
    }
    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
        self.1.drive(consumer)
    }
    fn with_producer<CB: ProducerCallback<T>>(self, _: CB) -> CB::Output {
        unimplemented!("an exact number of items is collected by way of `drive`")
    }
}
"""


def misbehaving(text):
    """These tests hand a closure to a private function of `collect`, which calls it with its consumer. From outside, a consumer comes to
    `drive` of an iterator that is collected, whatever its type; so each closure becomes a `drive`. Reducers come from `split_at`, as
    `to_reducer` is not there for consumers of indexed iterators."""
    text = text.replace("use super::collect_with_consumer;\n", MISBEHAVING)
    text = re.sub(r"let reducer = consumer\.to_reducer\(\);\s*let \(left_consumer, right_consumer, _\)",
                  "let (left_consumer, right_consumer, reducer)", text)

    def call(found):
        length, body = found[2], found[3]
        item, counter = ("Element<'a>", "&counter") if "counter" in body else ("i32", "&DropCounter::default()")
        return f"""struct Here<'a>(&'a DropCounter);
impl<'a> Drives<{item}> for Here<'a> {{
    fn drive<C: Consumer<{item}>>(self, consumer: C) -> C::Result {{
        let counter = self.0;
{body}
    }}
}}
Misbehaving({length}, Here({counter}), std::marker::PhantomData).collect_into_vec(&mut v);"""

    return re.sub(r"^( *)collect_with_consumer\(&mut v, (\d+), \|consumer\| \{\n(.*?)^\1\}\);", call, text, flags=re.S | re.M)


def add_examples(plan, found):
    for crate, group in (("rayon", "examples"), ("rayon-core", "rayon-core: examples")):
        sheet = Sheet(f"examples_{crate.replace('-', '_')}", group, [], sources.EXAMPLES_HEAD)
        for file in sorted((found[crate] / "src").rglob("*.rs")):
            path = f"{crate}/{file.relative_to(found[crate])}"
            if file.name == "must_use.rs":
                continue
            for line, tags, code in sources.examples(sources.comments(file.read_text())):
                module = sources.module_name(path, line)
                case = sources.example(f"{path}:{line}", module, tags, code)
                if "compile_fail" in tags:
                    case.test = None
                    plan.sheets.append(Sheet(f"refused_{module}", "what must not compile", [case], sources.EXAMPLES_HEAD, refused=True))
                elif "compile_fail" in path:
                    # The same without the mistake, to show that nothing else is wrong with it.
                    plan.sheets.append(Sheet(f"accepted_{module}", "what must not compile", [case], sources.EXAMPLES_HEAD))
                elif "ignore" not in tags:
                    sheet.parts.append(case)
        plan.sheets.append(sheet)
    readme = Sheet("examples_readme", "README", [], sources.EXAMPLES_HEAD)
    for line, tags, code in sources.examples(sources.whole_page((found["rayon"] / "README.md").read_text())):
        readme.parts.append(sources.example(f"rayon/README.md:{line}", f"readme_{line}", tags, code))
    plan.sheets.append(readme)


def add_must_use(plan, text):
    """Each adaptor twice: used, which compiles, and dropped, which the lint must see."""
    head = "#![allow(warnings)]\n#![deny(unused_must_use)]\nuse rayon::prelude::*;\n"
    used = Sheet("must_use_used", "must_use", [], head)
    dropped = Sheet("must_use_dropped", "must_use", [], head, refused=True)
    for name, expression in re.findall(r"^ +(\w+)\s+/\*\* (.*?) \*/", text, re.M):
        before = f"fn {name}() {{ let v: Vec<Option<i32>> = (0..100).map(Some).collect(); "
        used.parts.append(Case(f"{name}, used", f"{before}let _ = {expression} }}"))
        dropped.parts.append(Case(f"{name}, dropped", f"{before}{expression} }}"))
    plan.sheets += [used, dropped]
