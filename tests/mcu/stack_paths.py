#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The most stack that calls of public functions take, by all paths through the library.

usage: stack_paths.py REMOVED LIMIT:FUNCTIONS ... -- FILE.ci ...

FUNCTIONS is a regular expression; REMOVED has what ld --print-gc-sections said of functions that a program with all
public ones does not need, or is empty. The other files are what gcc -fcallgraph-info=su writes: a node for each function with its bytes of stack, an edge for each
call. Calls through pointers have one target there, __indirect_call; which functions these may be, INDIRECT says. Prints
the deepest path from each function that a limit names; fails where one exceeds its limit, where a function's stack has
no bound, where a call by pointer is not in INDIRECT, and where calls come back to a function.
"""
import re
import sys

LEVELS = r"(_(avx512vbmi|avx512|avx2|sse41|neon|sve2|helium|dsp|rvv))?"
WAYS = r"pwl_(values|narrow|pieces|wide|cells16|cells|octaves)" + LEVELS
BYTES = r"pwl_bytes" + LEVELS
CONVERTED = r"pwl_run_(converted|joined)(_avx2)?"
# The function that calls, and those whose pointers it may have; static ones with their files.
INDIRECT = [
    (r"(.*:)?pwl_run_real_by|pwl_plan_run", rf"{WAYS}|{BYTES}|{CONVERTED}|plan.c:run_\w+"),
    (r"map.c:by_plan", rf"{WAYS}|{BYTES}|{CONVERTED}"), # none where values alone lie on the stack
    (r"map.c:by_blocks|pwl_map_typed", r"map.c:(read_[su]|map_start_|write_)\w+"),
    (r"pwl_run_converted" + LEVELS, WAYS + r"|convert.*:([su](8|16|32)_to_\w+|low_\d+_to_\d+)"),
    (r"pwl_run_joined" + LEVELS, BYTES + r"|convert.*:([su](8|16|32)_to_\w+|low_\d+_to_\d+)"),
    (r"pwl_way_look", r".*:(\w+_size|count)"),
    (r"octaves.c:octaves_size", r"cells.c:cells_size"),
    (r"pwl_way_prepare", r".*:prepare(_\w+)?"),
    (r"octaves.c:prepare", r"cells.c:prepare"),
    (r"pwl_values", r"values.c:look_up_\w+"),
    (r"pwl_softmax_run", r"pwl_softmax(?!_exp)" + LEVELS),
    (r"pwl_norm_run", r"pwl_norm" + LEVELS),
]


def read(paths, removed):
    """{name: bytes}, {name: set of names called}; names are file:function of static functions."""
    stack, calls = {}, {}
    for path in paths:
        with open(path) as file:
            for line in file:
                node = re.match(r'node: { title: "([^"]*)" label: "([^"]*)"', line)
                edge = re.match(r'edge: { sourcename: "([^"]*)" targetname: "([^"]*)"', line)
                if node and plain(node[1]) not in removed:
                    size = re.search(r"\\n(\d+) bytes \((static|dynamic,bounded)\)", node[2])
                    if size:
                        stack[node[1]] = int(size[1])
                    elif " bytes (" in node[2]:
                        sys.exit(f"{node[1]}: its stack has no bound")
                elif edge:
                    calls.setdefault(edge[1], set()).add(edge[2])
    return stack, calls


def plain(name):
    """Without the folders, and without what gcc adds where it makes parts and copies."""
    return re.sub(r"\.(part|isra|constprop|cold)\.\d+", "", name.split("/")[-1])


def deepest(name, stack, calls, known, above):
    """(bytes, path) from a function down."""
    if name in above:
        sys.exit("calls come back: " + " > ".join(map(plain, above + [name])))
    if name not in known:
        below = set(calls.get(name, ()))
        if "__indirect_call" in below:
            below.remove("__indirect_call")
            targets = [target for caller, target in INDIRECT if re.fullmatch(caller, plain(name))]
            if not targets:
                sys.exit(f"{name}: a call by pointer that INDIRECT does not have")
            below |= {other for other in stack if re.fullmatch(targets[0], plain(other))}
        paths = [deepest(other, stack, calls, known, above + [name]) for other in sorted(below)]
        most, path = max(paths, default=(0, []))
        known[name] = stack.get(name, 0) + most, [f"{plain(name)} {stack.get(name, 0)}"] + path
    return known[name]


def main():
    split = sys.argv.index("--")
    with open(sys.argv[1]) as file:
        sections = re.findall(r"'\.text\.(\S+)' in file '(\S+)\.o'", file.read())
    removed = {plain(name) for name, _ in sections} | {plain(f"{path}.c:{name}") for name, path in sections}
    stack, calls = read(sys.argv[split + 1 :], removed)
    failed = False
    for limit, names in (argument.split(":", 1) for argument in sys.argv[2:split]):
        roots = [name for name in stack if re.fullmatch(names, name)]
        if not roots:
            sys.exit(f"no function is called {names}")
        known = {}
        most, path = max(deepest(root, stack, calls, known, []) for root in roots)
        print(f"{most:6} of {limit:>5} bytes of stack: {', '.join(path)}")
        if most > int(limit):
            print(f"FAILED: more than {limit}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
