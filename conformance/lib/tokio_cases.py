"""What of tokio's package becomes a case.

The files of `tests/` are used as they are. Those for other systems, and for what tokio calls unstable, have no tests left when they are
compiled here, and so count nothing.
"""
import re
import tomllib

import packages
import sources
import surface
from plan import Case, Plan, Program, Sheet

NAME = "tokio"
VERSION = "1.54.1"
PACKAGES = {"tokio": f'{{ version = "={VERSION}", features = ["full", "test-util"] }}'}
OURS = {"tokio": "compat/tokio"}

# tokio-stream, tokio-test and tokio-util are compiled on our side with our tokio: that they build is part of what is shown.
MANIFEST = """[package]
name = "cases"
version = "0.0.0"
edition = "2021"
publish = false
homepage = "{homepage}" # a test reads this file and looks for it
[lib]
test = false
doctest = false
[workspace]
[profile.dev]
debug = 0
[features]
{features}
[dependencies]
tokio = {{ version = "={version}", features = ["full", "test-util"] }}
async-stream = "0.3"
bytes = "1.2.1"
futures = {{ version = "0.3", features = ["async-await"] }}
futures-concurrency = "7.6.3"
futures-test = "0.3.31"
libc = "0.2.168"
mio = {{ version = "1.2", features = ["os-poll", "os-ext", "net"] }}
nix = {{ version = "0.31", default-features = false, features = ["aio", "fs", "socket"] }}
pin-project-lite = "0.2.11"
rand = "0.9"
socket2 = {{ version = "0.6", features = ["all"] }}
tempfile = "3.1"
tokio-stream = {{ version = "0.1", features = ["full"] }}
tokio-test = "0.4"
tokio-util = {{ version = "0.7", features = ["full"] }}
[lints.rust]
unexpected_cfgs = "allow"
"""

UNSTABLE = {"io-uring", "taskdump", "schedule-latency"}

# The parts of tokio, and how their files of tests begin.
AREAS = {
    "rt": "rt_|no_rt|unwindsafe|_require_full",
    "task": "task_|join_handle|coop",
    "sync": "sync_",
    "time": "time_|test_clock",
    "net": "net_|tcp_|udp|uds_|unix_shutdown|buffered",
    "io": "io_|duplex",
    "fs": "fs",
    "process": "process_",
    "signal": "signal_",
    "macros": "macros_",
}

# Sources whose documentation is not for users here: other systems, models, tokio's own tests, pages that only say what is where.
NOT_FOR_USERS = re.compile(r"src/(fuzz|loom|.*/tests?/|.*windows|.*uring|macros/cfg|runtime/(task/trace|dump)|doc/)")


def plan(found, fetch):
    source = found["tokio"]
    manifest = tomllib.loads((source / "Cargo.toml").read_text())
    stable = [name for name in manifest["features"] if name not in UNSTABLE | {"default"}]
    features = [f"default = {stable}".replace("'", '"')] + [f"{name} = []" for name in manifest["features"] if name != "default"]
    plan = Plan(MANIFEST.format(homepage=manifest["package"]["homepage"], features="\n".join(features), version=VERSION))
    for file in sorted((source / "tests").glob("*.rs")):
        if file.stem != "async_send_sync":
            area = next((area for area, names in AREAS.items() if re.match(names, file.stem)), "others")
            plan.programs.append(Program(file.stem, f"tests: {area}", file.read_text()))
    for file in (source / "tests/support").glob("*.rs"):
        plan.files[f"tests/support/{file.name}"] = file.read_text()
    plan.sheets.append(send_and_sync((source / "tests/async_send_sync.rs").read_text()))
    add_examples(plan, source)
    api = packages.public_api("tokio", fetch)
    if api is None:
        plan.notes.append("no nightly toolchain, or one with another format: names, signatures and implementations are not compared")
    else:
        plan.sheets += surface.sheets(api, "tokio")
    return plan


def send_and_sync(text):
    """tokio asserts in one file which of its types and futures are Send, Sync and Unpin, and which are not. Each assertion is a case; what
    is between them (modules, imports) belongs to none and stays."""
    lines = without_windows(text).splitlines()
    parts, names, number = [], set(), 0
    while number < len(lines):
        begins = re.match(r"\s*(async_assert_fn|assert_value)!\(|const _: fn\(\) = \|\| \{", lines[number])
        if not begins:
            parts.append(lines[number] or "//")
            number += 1
            continue
        end = number
        while not re.search(r"\);$" if begins[1] else r"^\};$", lines[end]):
            end += 1
        body = "\n".join(lines[number:end + 1])
        name = " ".join(re.sub(r"^\s*\w+!\(|\);$", "", body).split()) if begins[1] else "tokio::macros::support::poll_fn"
        while name in names:
            name += "'"
        names.add(name)
        parts.append(Case(name, body))
        number = end + 1
    return Sheet("async_send_sync", "tests: Send and Sync", parts)


def without_windows(text):
    return re.sub(r"^#\[cfg\(windows\)\]\nmod .*?^\}\n", "", text, flags=re.S | re.M)


def add_examples(plan, source):
    files = [file for file in sorted((source / "src").rglob("*.rs")) if not NOT_FOR_USERS.match(str(file.relative_to(source)))]
    sheets = {}
    for file in [*files, source / "README.md"]:
        path = str(file.relative_to(source)).removeprefix("src/")
        text = file.read_text()
        blocks = sources.whole_page(text) if path.endswith(".md") else sources.comments(text)
        part = path.split("/")[0].removesuffix(".rs")
        part = {"runtime": "rt", "future": "task"}.get(part, part if part in AREAS else "rt")
        for line, tags, code in sources.examples(blocks):
            if "ignore" in tags:
                continue
            module = sources.module_name(path, line)
            case = sources.example(f"{path}:{line}", module, tags, code)
            if "compile_fail" in tags:
                case.test = None
                plan.sheets.append(Sheet(f"refused_{module}", "examples that must not compile", [case], sources.EXAMPLES_HEAD, refused=True))
            else:
                sheets.setdefault(part, Sheet(f"examples_{part}", f"examples: {part}", [], sources.EXAMPLES_HEAD)).parts.append(case)
    plan.sheets += sheets.values()
