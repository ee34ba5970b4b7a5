#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What README.md and the pages beside it promise without running: TAP.

    check_pages.py PWLC SOURCE

README.md is short; each page of docs/ begins with a task and a command that run_pages.py runs; links and the paths of
the repository that are named exist; docs/ names every command of pwlc, docs/building.md has a row for each, and no page
names a flag that no command has.
"""
import pathlib
import re
import subprocess
import sys

README_MOST_LINES = 150
ROOMS = ("fitter", "runtime", "kernels", "luts", "examples", "tests", "docs")
LINK = re.compile(r"\[[^\]]*\]\(([^)]+)\)")
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(rf"(?:{'|'.join(ROOMS)})/[\w./*{{}},-]*$")
FLAG = re.compile(r"--[a-z][a-z0-9-]+")
# Of other programs.
OTHER_FLAGS = {"--prefix", "--cflags", "--libs", "--check", "--binary", "--top-module"}

problems = []


def prose_of(page):
    """The text outside of fenced blocks and of comments, line by line; an empty line for each of these."""
    inside, lines = False, []
    for line in page.read_text().splitlines():
        fence = line.startswith("```")
        lines.append("" if inside or fence or line.startswith("<!--") else line)
        inside ^= fence
    return lines


def anchors_of(page):
    """Names of a page's headings, as GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for line in prose_of(page) if line.startswith("#")}


def check_links(page, source):
    for number, line in enumerate(prose_of(page), 1):
        for target in LINK.findall(line):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            whole = page.parent / path if path else page
            if not whole.exists():
                problems.append(f"{page.relative_to(source)}:{number}: no {target}")
            elif anchor and anchor not in anchors_of(whole):
                problems.append(f"{page.relative_to(source)}:{number}: no heading for {target}")


def check_paths(page, source):
    """Paths of the repository in code: `runtime/*.c`, `kernels/gemm/`."""
    for number, line in enumerate(prose_of(page), 1):
        for code in CODE.findall(line):
            if PATH.match(code) and not any(source.glob(code.rstrip("/"))):
                problems.append(f"{page.relative_to(source)}:{number}: no {code}")


def check_flags(page, source, known):
    for number, line in enumerate(prose_of(page), 1):
        for code in CODE.findall(line):
            if code.startswith("-D") or code.startswith("./dev"):
                continue
            for flag in FLAG.findall(code):
                if flag not in known:
                    problems.append(f"{page.relative_to(source)}:{number}: no command of pwlc has {flag}")


def check_beginning(page, source):
    text = page.read_text()
    name = page.relative_to(source)
    if not re.match(r"# .+\n\nTask: ", text):
        problems.append(f"{name}: must begin with a heading, then with \"Task: \"")
    before, fence, _ = text.partition("\n```")
    if not fence or not re.match(r"(sh|console)\n", text[len(before) + len(fence):]):
        problems.append(f"{name}: its first block must be one of commands")
    elif "<!-- docs: not run" in before:
        problems.append(f"{name}: its first block must be run")


def help_of(pwlc, *arguments):
    return subprocess.run([pwlc, *arguments, "--help"], capture_output=True, text=True, check=True).stdout


def report(name):
    """One line of TAP for all problems since the last."""
    report.count += 1
    print(f"{'not ok' if problems else 'ok'} {report.count} - {name}")
    for problem in problems:
        print(f"# {problem}")
    report.failed |= bool(problems)
    problems.clear()


report.count, report.failed = 0, False


def main():
    pwlc, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    docs = sorted((source / "docs").glob("*.md"))
    pages = [source / "README.md", source / "CHANGELOG.md", source / "CONTRIBUTING.md", source / "luts/README.md", *docs]

    count = len(pages[0].read_text().splitlines())
    if count > README_MOST_LINES:
        problems.append(f"README.md has {count} lines, more than {README_MOST_LINES}")
    report("README.md is short")

    for page in docs:
        check_beginning(page, source)
    report("pages begin with a task and a command")

    for page in pages:
        check_links(page, source)
    report("links lead somewhere")

    for page in pages:
        check_paths(page, source)
    report("paths exist")

    listed = re.search(r"^Commands:\n(.*?)\n\n", help_of(pwlc), re.MULTILINE | re.DOTALL)[1]
    commands = [line.split()[0] for line in listed.splitlines()]
    text, table = "\n".join(page.read_text() for page in docs), (source / "docs/building.md").read_text()
    for command in commands:
        if f"pwlc {command}" not in text:
            problems.append(f"docs/ does not name pwlc {command}")
        if f"\n| `pwlc {command}` |" not in table:
            problems.append(f"docs/building.md: no row for pwlc {command} in its table of commands")
    report(f"docs/ names the {len(commands)} commands of pwlc")

    known = OTHER_FLAGS | {flag for command in ((), *((name,) for name in commands))
                           for flag in FLAG.findall(help_of(pwlc, *command))}
    for page in pages:
        check_flags(page, source, known)
    report("flags exist")

    print(f"1..{report.count}")
    sys.exit(report.failed or not docs or not commands)


main()
