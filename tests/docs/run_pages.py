#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what README.md and docs/*.md show, and compares what it prints with what they show.

    run_pages.py PWLC SOURCE [PAGE...]            TAP; fails where a page shows anything else
    run_pages.py PWLC SOURCE --write [PAGE...]    puts the outputs into the pages instead

A page is one shell session in an empty directory, pwlc and its checker of proofs in PATH; the environment says where
the libraries are. Each fenced block is one of these, by the word behind its first three backquotes:

    console        lines that begin with "$ " are commands (a line that ends in a backslash goes on in the next), what
                   follows is all that they print; a command that fails is an error, in a pipe too, so that head, which
                   stops reading, is no end for one
    sh             commands to paste; they print what they like, and none may fail
    text           drawings, shown only
    anything else  source or data: a comment must say what is done with it

Comments before a block, which readers of the page do not see:

    <!-- docs: file NAME -->                 the block is the file NAME, for later commands
    <!-- docs: compile NAME -->              the same, and it compiles with the public headers, without a warning
    <!-- docs: not compared: WHY -->         its commands run, and may print something else
    <!-- docs: not run: WHY -->              shown only
    <!-- docs: needs: COMMAND -->            skipped where COMMAND fails; so is what exits with 77

and anywhere:

    <!-- docs: in the repository -->         the page's directory has what the repository's has
"""
import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w*)$")
COMMENT = re.compile(r"^<!-- docs: (.*) -->$")
KINDS = ("file", "compile", "not compared:", "not run:", "needs:")
IN_REPOSITORY = "<!-- docs: in the repository -->"
INCLUDED = ("runtime/include", "kernels/include", "luts")
SKIPPED = 77


class Block:
    """A fenced block: the lines from first to last, fences left out, and what the comments before it say."""

    def __init__(self, language, line, notes):
        self.language, self.line, self.notes, self.lines = language, line, notes, []

    def note(self, kind):
        """What follows the first words of a comment, or None."""
        return next((note[len(kind):].strip() for note in self.notes if note.startswith(kind)), None)


def split_page(text):
    """A list of strings (lines between blocks) and Blocks, and the comments that stand before no block."""
    parts, notes, stray, block = [], [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        comment, fence = COMMENT.match(line), FENCE.match(line)
        if block and line == "```":
            parts += [block, line]
            block = None
        elif block:
            block.lines.append(line)
        elif fence:
            parts.append(line)
            block, notes = Block(fence[1], number, notes), []
        else:
            parts.append(line)
            if comment and line != IN_REPOSITORY:
                notes.append(comment[1])
            elif line.strip():
                stray, notes = stray + notes, []
    if block:
        raise SystemExit(f"line {block.line}: the block has no end")
    return parts, stray + notes


def commands_of(lines):
    """(lines of a command, lines that it is shown to print) of a console block."""
    commands, going_on = [], False
    for line in lines:
        if going_on:
            commands[-1][0].append(line)
        elif line.startswith("$ "):
            commands.append(([line], []))
        elif commands:
            commands[-1][1].append(line)
        else:
            raise ValueError('a console block begins with "$ "')
        going_on = (going_on or line.startswith("$ ")) and line.endswith("\\")
    return commands


class Session:
    """A bash that runs one command after the other."""

    MARK = "\1"

    def __init__(self, directory, environment):
        self.bash = subprocess.Popen(["bash", "--norc"], cwd=directory, env=environment, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.run("set -o pipefail")

    def run(self, command, stop_at_failure=False):
        """(exit status, output). Any command of several that fails counts where stop_at_failure is set."""
        count = "trap 'failed=$?' ERR" if stop_at_failure else ":"
        # In the shell itself: what it sets stays set.
        self.bash.stdin.write(f"failed=0; {count}; eval {shlex.quote(command)} </dev/null; last=$?; trap - ERR; "
                              f"[ $failed = 0 ] && failed=$last; printf '\\001%d\\n' $failed\n")
        self.bash.stdin.flush()
        output = ""
        for line in self.bash.stdout:
            before, mark, status = line.partition(self.MARK)
            output += before
            if mark:
                return int(status), output
        return 1, output + "the shell ended\n"

    def close(self):
        self.bash.stdin.close()
        self.bash.wait()


class Report:
    """TAP on standard output."""

    def __init__(self):
        self.count, self.failures = 0, 0

    def add(self, good, name, skip=""):
        self.count += 1
        self.failures += not good
        name = name.replace("#", "No. ")
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{' # SKIP ' + skip if skip else ''}", flush=True)

    def explain(self, text):
        for line in text.splitlines():
            print(f"# {line}", flush=True)


class Page:
    def __init__(self, path, name, report, environment, source, write):
        self.name, self.report, self.environment, self.source, self.write = name, report, environment, source, write
        text = path.read_text()
        self.in_repository = IN_REPOSITORY in text.splitlines()
        self.parts, self.stray = split_page(text)

    def run(self):
        """Runs all blocks; their lines are what they should be afterwards."""
        for note in self.stray:
            self.report.add(False, f"{self.name}: the comment \"docs: {note}\" stands before no block")
        with tempfile.TemporaryDirectory() as directory:
            self.directory = pathlib.Path(directory)
            if self.in_repository:
                for entry in self.source.iterdir():
                    if not entry.name.startswith((".", "build")):
                        (self.directory / entry.name).symlink_to(entry)
            session = Session(directory, self.environment)
            for block in self.parts:
                if isinstance(block, Block):
                    self.run_block(block, session, f"{self.name}:{block.line}")
            session.close()

    def run_block(self, block, session, where):
        report = self.report
        unknown = [note for note in block.notes if not note.startswith(KINDS)]
        if unknown:
            report.add(False, f"{where}: \"docs: {unknown[0]}\" is no comment that this program knows")
        elif block.note("needs:") and session.run(block.note("needs:"))[0]:
            report.add(True, where, f"{block.note('needs:')} fails here")
        elif block.note("file") or block.note("compile"):
            self.write_file(block, session, where)
        elif block.note("not run:") or block.language == "text":
            pass
        elif block.language == "sh":
            status, output = session.run("\n".join(block.lines), stop_at_failure=True)
            self.judge(status, output, f"{where}: {block.lines[0]}")
        elif block.language == "console":
            self.run_commands(block, session, where)
        else:
            report.add(False, f"{where}: a comment must say what is done with this block of {block.language or 'text'}")

    def write_file(self, block, session, where):
        name = block.note("file") or block.note("compile")
        (self.directory / name).write_text("\n".join(block.lines) + "\n")
        if block.note("compile"):
            words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", self.directory / name, "-o",
                     self.directory / f".{name}.o"]
            words += [f"-I{self.source / folder}" for folder in INCLUDED]
            self.judge(*session.run(shlex.join(map(str, words))), f"{where}: {name} compiles")

    def judge(self, status, output, name, differs=""):
        """Reports a command. What differs from the page is an error, unless the pages are being written."""
        if status == SKIPPED:
            self.report.add(True, name, "exit status 77")
            return
        self.report.add(status == 0 and not differs, name)
        if status:
            self.report.explain(f"exit status {status}\n{output}")
        elif differs:
            self.report.explain(differs)

    def run_commands(self, block, session, where):
        try:
            commands = commands_of(block.lines)
        except ValueError as error:
            self.report.add(False, f"{where}: {error}")
            return
        block.lines = []
        for lines, shown in commands:
            status, output = session.run("\n".join(lines)[2:])
            printed, differs = output.splitlines(), ""
            if status or block.note("not compared:"):
                printed = shown or printed
            elif not self.write:
                differs = "\n".join(difflib.unified_diff(shown, printed, "shown", "printed", lineterm=""))
            self.judge(status, output, f"{where}: {lines[0][2:]}", differs)
            block.lines += lines + printed

    def text(self):
        lines = []
        for part in self.parts:
            lines += part.lines if isinstance(part, Block) else [part]
        return "\n".join(lines) + "\n"


def environment_for(pwlc, directory):
    for program in (pwlc, pwlc.parent / "pwlc-check-proof"):
        (directory / program.name).symlink_to(program)
    environment = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
                   "XDG_CACHE_HOME": str(directory / "cache"),
                   "PYTHONDONTWRITEBYTECODE": "1",
                   # of what meson sets up: it is built to see that it builds
                   "CFLAGS": "-O0 -g0"}
    environment.pop("BASH_ENV", None)
    return environment


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    write = "--write" in sys.argv
    if len(arguments) < 2:
        sys.exit(__doc__)
    pwlc, source = (pathlib.Path(argument).resolve() for argument in arguments[:2])
    if not shutil.which(str(pwlc)):
        sys.exit(f"run_pages.py: {pwlc} is not a program")
    pages = [pathlib.Path(page).resolve() for page in arguments[2:]]
    pages = pages or [source / "README.md", *sorted((source / "docs").glob("*.md"))]
    report = Report()
    with tempfile.TemporaryDirectory() as directory:
        environment = environment_for(pwlc, pathlib.Path(directory))
        for path in pages:
            name = str(path.relative_to(source)) if path.is_relative_to(source) else path.name
            page = Page(path, name, report, environment, source, write)
            page.run()
            if write:
                path.write_text(page.text())
    print(f"1..{report.count}")
    if report.failures and not write:
        print("# ./dev luts writes what the commands print into the pages; look at it, and commit it", flush=True)
    sys.exit(report.failures != 0)


main()
