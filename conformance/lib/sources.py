"""Reading Rust sources as text: examples in documentation, and tests among other code. The packages are formatted by rustfmt, so that
an item at the left edge ends with a brace at the left edge."""
import re
import textwrap

from plan import Case

FENCE = re.compile(r"\s*(`{3,})\s*(.*)$")
# Tags of a code block that still mean Rust; any other word means another language.
RUST = re.compile(r"rust|no_run|should_panic|compile_fail|ignore\S*|test_harness|standalone\S*|edition\d+|E\d{4}")


def comments(text):
    """The documentation of a file as blocks of (line number, text), one for each comment."""
    block, kind = [], None
    inside = False  # of a /** ... */ or /*! ... */
    for number, line in enumerate(text.splitlines(), 1):
        if inside:
            block.append((number, line.split("*/")[0]))
            inside = "*/" not in line
            if not inside:
                yield block
                block = []
            continue
        found = re.match(r"\s*(///|//!)(?!/) ?(.*)$", line)
        if block and (not found or found[1] != kind):
            yield block
            block = []
        opened = re.match(r"\s*/\*[*!](?!\*)(.*)$", line)
        if found:
            kind = found[1]
            block.append((number, found[2]))
        elif opened and "*/" not in line:
            inside = True
            block.append((number, opened[1]))
    if block:
        yield block


def examples(blocks):
    """(line, tags, code) of each piece of Rust in some documentation. A fence that is never closed ends with its comment."""
    for block in blocks:
        start = None
        for number, line in [*block, (None, "```")]:
            fence = FENCE.match(line)
            if start is None and fence and number:
                indent = len(line) - len(line.lstrip())
                start, closing, tags, code = number, fence[1], re.split(r"[,\s]+", fence[2].strip("{} ")), []
            elif start is not None and fence and fence[1].startswith(closing) and not fence[2]:
                tags = [tag for tag in tags if tag]
                if all(RUST.fullmatch(tag) for tag in tags) or "rust" in tags:
                    yield start, tags, code
                start = None
            elif start is not None:
                code.append(line[indent:] if not line[:indent].strip() else line)


def whole_page(text):
    """A page of Markdown, as `examples` wants it."""
    return [list(enumerate(text.splitlines(), 1))]


def shown_and_hidden(line):
    """rustdoc's `# ` hides a line from the reader, not from the compiler."""
    bare = line.lstrip()
    if bare == "#":
        return ""
    if bare.startswith("# "):
        return line.replace("# ", "", 1)
    return line.replace("##", "#", 1) if bare.startswith("##") else line


def has_main(code):
    """Is there a `fn main` outside of all braces?"""
    depth = 0
    for line in code:
        line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", line)
        if depth == 0 and re.search(r"\bfn\s+main\s*\(", line):
            return True
        depth += len(re.findall(r"[({\[]", line)) - len(re.findall(r"[)}\]]", line))
    return False


def example(name, module, tags, code):
    """An example as a module, by rustdoc's rules: what has no `main` gets one, and what ends with `Ok(())` gets one that returns it."""
    code = [shown_and_hidden(line) for line in code]
    attributes = []
    while code and (not code[0].strip() or code[0].lstrip().startswith("#![")):
        attributes.append(code.pop(0))
    # tokio wraps some in `#[cfg(..)] { fn main() .. }`, which rustdoc compiles and does not run.
    framed = "\n".join(code).strip()
    frame = re.fullmatch(r"#\[cfg\(not\(target_family = \"wasm\"\)\)\]\n\s*\{\n(.*)\n\s*\}", framed, re.S)
    if frame and has_main(frame[1].splitlines()):
        code = frame[1].splitlines()
    body = "\n".join(code).rstrip()
    if not has_main(code):
        if body.endswith("(())"):
            body = f"fn main() {{ fn inner() -> Result<(), impl core::fmt::Debug> {{\n{body}\n}} inner().unwrap() }}"
        else:
            body = f"fn main() {{\n{body}\n}}"
    lines = [f"mod {module} {{", *attributes, body]
    runs = "no_run" not in tags
    if runs:
        panics = "#[should_panic] " if "should_panic" in tags else ""
        lines.append(f"#[test] {panics}fn example() {{ crate::ended(main()) }}")
    return Case(name, "\n".join([*lines, "}"]), f"{module}::example" if runs else None)


# What the examples of a sheet have in common. A `main` may return an error, as that of any program.
EXAMPLES_HEAD = """#![allow(warnings)]
fn ended(with: impl std::process::Termination) {
    let code = format!("{:?}", with.report());
    assert_eq!(code, format!("{:?}", std::process::ExitCode::SUCCESS), "the example returned an error");
}
"""


def module_name(path, line):
    return re.sub(r"\W+", "_", f"{path}_{line}")


def tests_at_the_left_edge(text):
    """The tests of a file that also has other code, without that."""
    return "\n".join(re.findall(r"^#\[test\]\n.*?^\}\n", text, re.S | re.M))


def without_tests(text, names):
    for name in names:
        text, taken = re.subn(rf"^#\[test\]\n(?:(?!^\}})[^\n]*\n)*?fn {name}\(.*?^\}}\n", "", text, flags=re.S | re.M)
        assert taken == 1, name
    return text


def inline_module(text, name):
    """The body of `mod name { .. }`, as a file of its own."""
    return textwrap.dedent(re.search(rf"^mod {name} \{{\n(.*?)^\}}", text, re.S | re.M)[1])


def as_a_program(text):
    """Code of a module as a crate of its own: attributes and documentation of the module have no place there, and lints do not decide."""
    text = re.sub(r"^#!\[.*\]\n", "", text, flags=re.M)
    text = re.sub(r"^//!", "//", text, flags=re.M)
    return "#![allow(warnings)]\n" + text.replace("#[expect(", "#[allow(")
