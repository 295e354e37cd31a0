"""One side's results: the original's, or ours.

Both sides compile the same files; ours has the lines of `[patch.crates-io]` that a user would write. Every test and every example runs
in a process of its own, so that whoever crashes or hangs takes nobody along, and gets a minute. What fails is run again, alone: a test
that passes then counts, and is named.

The original's results are kept beside the build, under a name made from all files and the compiler's version.
"""
import concurrent.futures
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS_PER_CASE = 60
AGAIN = 2

PASSES, IGNORED, FAILS, CRASHES, HANGS, BROKEN = "passes", "ignored", "fails", "crashes", "hangs", "does not compile"
REFUSED = "refused by the compiler: "


class Side:
    def __init__(self, options, suite, plan, name):
        self.options, self.suite, self.plan, self.name = options, suite, plan, name
        self.folder = options.out / options.suite / name
        self.results = {}
        self.unsteady = []  # cases that passed only when they were run again
        self.messages = {}
        self.programs = {}  # test target: its executable
        # Whoever calls may have flags of his own; both sides are compiled without.
        self.environment = dict(os.environ, RUSTFLAGS="", CARGO_TERM_COLOR="never", RUST_BACKTRACE="0", NO_COLOR="1",
                                CARGO_TARGET_DIR=str(options.out / "target"), CARGO_INCREMENTAL="0")
        self.environment.pop("CARGO_ENCODED_RUSTFLAGS", None)

    # -- files

    def write(self, path, text):
        """Files that stay as they are keep their time, so that cargo does not compile them again."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)

    def prepare(self):
        files = dict(self.plan.files)
        for program in self.plan.programs:
            files[f"tests/{program.name}.rs"] = program.text
        for sheet in self.plan.sheets:
            files[f"tests/{sheet.name}.rs"] = sheet.text()[0]
        manifest = self.plan.manifest
        if self.name == "ours":
            manifest += "\n[patch.crates-io]\n"
            manifest += "".join(f"{name} = {{ path = {json.dumps(str(ROOT / path))} }}\n" for name, path in self.suite.OURS.items())
        files["Cargo.toml"], files["src/lib.rs"] = manifest, ""
        for path, text in files.items():
            self.write(path, text)
        for old in (self.folder / "tests").glob("*.rs"):
            if f"tests/{old.name}" not in files:
                old.unlink()
        compiler = subprocess.run(["rustc", "-vV"], capture_output=True, text=True).stdout
        return hashlib.sha256(json.dumps([sorted(files.items()), compiler]).encode()).hexdigest()[:16]

    def check_the_patch(self):
        """Cargo ignores a patch whose version nobody asks for, with no more than a warning."""
        answer = self.cargo("metadata", "--format-version=1")
        if answer.returncode:
            give_up(f"cargo cannot find dependencies for {self.folder}", answer.stderr)
        sources = {}
        for package in json.loads(answer.stdout)["packages"]:
            sources.setdefault(package["name"], set()).add(package["source"])
        for name in self.suite.OURS:
            if sources[name] != {None}:
                give_up(f"the patch for {name} is not used by everybody", answer.stderr)

    # -- compiling

    def cargo(self, *arguments):
        return subprocess.run(["cargo", *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True)

    def build(self):
        """Compiles everything; takes cases that do not compile out of their sheets until the rest does."""
        targets = [file.name for file in self.plan.programs + self.plan.sheets]
        sheets = {sheet.name: sheet for sheet in self.plan.sheets}
        without = {name: set() for name in sheets}
        while targets:
            arguments = [word for name in targets for word in ("--test", name)]
            answer = self.cargo("build", "--keep-going", "--message-format=json", *arguments)
            errors = self.read_messages(answer, set(targets))
            again = []
            for name, messages in errors.items():
                if name not in sheets:
                    self.messages[name] = "\n".join(message["rendered"] for message in messages)
                    continue
                text, places = sheets[name].text(without[name])
                blamed, nobody = blame(messages, name, places)
                if sheets[name].refused:
                    self.note_refusals(sheets[name], blamed)
                    continue
                for case, found in blamed.items():
                    self.results[case] = BROKEN
                    self.messages[case] = "\n".join(message["rendered"] for message in found)
                without[name] |= set(blamed)
                if blamed:
                    self.write(f"tests/{name}.rs", sheets[name].text(without[name])[0])
                    again.append(name)
                elif nobody:
                    give_up(f"{name}.rs does not compile, and no case of it is to blame", nobody[0]["rendered"])
            targets = again
        for sheet in self.plan.sheets:
            for case in sheet.cases:
                if sheet.refused:
                    self.results.setdefault(case.name, "compiles, and should not")
                elif case.test is None:
                    self.results.setdefault(case.name, PASSES)

    def read_messages(self, answer, targets):
        """{target: its errors}; remembers where the programs are."""
        errors, elsewhere = {}, []
        for line in answer.stdout.splitlines():
            message = json.loads(line) if line.startswith("{") else {}
            target = message.get("target", {}).get("name")
            if message.get("reason") == "compiler-artifact" and message.get("executable"):
                self.programs[target] = message["executable"]
            elif message.get("reason") == "compiler-message" and message["message"]["level"].startswith("error"):
                if message["target"]["kind"] != ["test"]:
                    elsewhere.append(message["message"]["rendered"])
                elif message["message"]["spans"]:
                    errors.setdefault(target, []).append(message["message"])
        if elsewhere or (answer.returncode and not errors):
            give_up("what the cases depend on does not compile", "\n".join(elsewhere) or answer.stderr)
        return errors

    def note_refusals(self, sheet, blamed):
        for case, messages in blamed.items():
            codes = {(message.get("code") or {}).get("code") or message["message"] for message in messages}
            self.results[case] = REFUSED + ", ".join(sorted(codes))

    # -- running

    def jobs(self):
        """[(case, executable, test)] of all that is to be run."""
        found = []
        for program in self.plan.programs:
            executable = self.programs.get(program.name)
            if executable is None:
                self.results[f"{program.name}::"] = BROKEN
                continue
            ignored = self.tests_of(executable, "--ignored")
            for test in self.tests_of(executable):
                if test in ignored:
                    self.results[f"{program.name}::{test}"] = IGNORED
                else:
                    found.append((f"{program.name}::{test}", executable, test))
        for sheet in self.plan.sheets:
            for case in sheet.cases:
                if case.test and case.name not in self.results:
                    found.append((case.name, self.programs[sheet.name], case.test))
        return found

    def tests_of(self, executable, *which):
        listed = subprocess.run([executable, "--list", "--format=terse", *which], capture_output=True, text=True, cwd=self.folder)
        return [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]

    def run(self, job):
        case, executable, test = job
        # A file, not a pipe: a process that the test leaves behind would keep a pipe open.
        with tempfile.TemporaryFile() as output:
            command = [*WITHOUT_ROOTS_POWERS, executable, "--exact", test, "--test-threads=1"]
            started = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       env=dict(self.environment, CARGO_MANIFEST_DIR=str(self.folder)), start_new_session=True)
            try:
                code = started.wait(SECONDS_PER_CASE)
            except subprocess.TimeoutExpired:
                code = None
            try:
                os.killpg(started.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            started.wait()
            output.seek(0)
            said = output.read().decode(errors="replace")
        if code is None:
            outcome = HANGS
        elif code == 0 and "1 passed" in said:
            outcome = PASSES
        else:
            outcome = FAILS if "1 failed" in said else CRASHES
        return case, outcome, said

    def run_all(self, hopeless):
        jobs = self.jobs()
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as threads:
            for case, outcome, said in threads.map(self.run, jobs):
                self.results[case], self.messages[case] = outcome, said
        for job in jobs:
            for _ in range(AGAIN):
                if self.results[job[0]] == PASSES or job[0] in hopeless:
                    break
                case, outcome, said = self.run(job)
                if outcome == PASSES:
                    self.results[case] = outcome
                    self.unsteady.append(case)


def blame(messages, name, places):
    """Which case each error is in: {case: [errors]}, and the errors that are in none."""
    blamed, nobody = {}, []
    for message in messages:
        lines = {line for span in message["spans"] if span["is_primary"] for line in lines_of(span, name)}
        if not lines:
            lines = {line for span in message["spans"] for line in lines_of(span, name)}
        cases = [case for case, place in places.items() if lines & set(place)]
        for case in cases:
            blamed.setdefault(case, []).append(message)
        if not cases:
            nobody.append(message)
    return blamed, nobody


def lines_of(span, name):
    """Where in the file `name` an error is: itself, or the outermost macro call that leads to it."""
    found = []
    while span:
        if span["file_name"].endswith(f"tests/{name}.rs"):
            found = [span["line_start"]]
        span = (span.get("expansion") or {}).get("span")
    return found


def powers():
    """Some tests want a file to be forbidden, which nothing is for root: where it is root who calls, they run without these powers."""
    if hasattr(os, "getuid") and os.getuid() == 0 and shutil.which("setpriv"):
        return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    return []


WITHOUT_ROOTS_POWERS = powers()


def give_up(what, details):
    print(f"{what}:\n{details[-6000:]}", file=sys.stderr)
    sys.exit(2)


def measure(options, suite, plan, name, hopeless=()):
    """{"results": {case: outcome}, "unsteady": [cases], "messages": {case: output}}"""
    side = Side(options, suite, plan, name)
    begun = time.time()
    key = side.prepare()
    kept = options.out / options.suite / f"original-{key}.json"
    if name == "original" and kept.exists() and not options.afresh:
        print(f"original: results of an earlier run ({kept.name})", flush=True)
        return json.loads(kept.read_text())
    if name == "ours":
        side.check_the_patch()
    side.build()
    print(f"{name}: compiled ({time.time() - begun:.0f} s)", flush=True)
    if options.build:
        return None
    side.run_all(set(hopeless))
    print(f"{name}: {len(side.results)} cases ({time.time() - begun:.0f} s)", flush=True)
    answer = {"results": side.results, "unsteady": side.unsteady, "messages": side.messages}
    (options.out / options.suite / f"{name}.json").write_text(json.dumps(answer, indent=1))
    if name == "original":
        kept.write_text(json.dumps(answer))
    return answer
