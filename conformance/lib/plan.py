"""What is to be measured: files of Rust code, and which case is where in them.

There are two kinds of files. A *program* is a file of tests as it was published; its cases are its tests, and if it does not compile,
none of them passes. A *sheet* is put together from many small cases that have nothing to do with each other (examples from
documentation, assertions, signatures), one below the other; a case that does not compile is taken out, and the others count.
"""
import re
from dataclasses import dataclass, field


@dataclass
class Program:
    name: str  # of the file, and of cargo's test target
    group: str  # the row of the table
    text: str


@dataclass
class Case:
    name: str
    text: str
    test: str | None = None  # the test to run; None: to compile is all that is asked


@dataclass
class Sheet:
    name: str
    group: str
    parts: list  # cases; a plain text between them belongs to none, and stays
    head: str = ""
    refused: bool = False  # the compiler must refuse each case, with the same error as with the original

    @property
    def cases(self):
        return [part for part in self.parts if isinstance(part, Case)]

    def text(self, without=()):
        """The file, and the lines of each case in it: {case: range}. Cases that are left out leave blank lines."""
        lines, places = self.head.splitlines(), {}
        for part in self.parts:
            if not isinstance(part, Case):
                lines += part.splitlines()
                continue
            body = part.text.splitlines()
            places[part.name] = range(len(lines) + 1, len(lines) + len(body) + 1)
            lines += [""] * len(body) if part.name in without else body
        return "\n".join(lines) + "\n", places


@dataclass
class Plan:
    manifest: str  # of the package with all cases, up to its dependencies on what is measured
    programs: list = field(default_factory=list)
    sheets: list = field(default_factory=list)
    files: dict = field(default_factory=dict)  # others that the programs need: {path: text}
    notes: list = field(default_factory=list)

    def keep_only(self, pattern):
        self.programs = [program for program in self.programs if re.search(pattern, program.name)]
        self.sheets = [sheet for sheet in self.sheets if re.search(pattern, sheet.name)]

    def groups(self):
        """The rows of the table: by case for sheets, by file for programs, whose cases are called `file::test`."""
        of = {program.name: program.group for program in self.programs}
        of.update({case.name: sheet.group for sheet in self.sheets for case in sheet.cases})
        return of
