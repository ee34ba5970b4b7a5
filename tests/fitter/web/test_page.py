#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page in Chromium: specs are typed into its form, and what it shows is what pwlc writes. More of them with
PWL_TEST_LONG=1.

    test_page.py BUILT PWLC
"""
import ast
import html
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
from xml.etree.ElementTree import canonicalize

from webdriver import browser, served

SIZE = 3_000_000  # bytes that the page may have
TEXTS = {"C header with its own evaluation": ("c", "--standalone"), "C header for libpwl": ("c",),
         "SystemVerilog": ("sv",), "JSON": ("json",)}
COST = ("--estimate", "--target", "ice40,ice40-dsp,xc7,xc7-nodsp,ecp5,ecp5-nodsp,generic", "--rtl-style", "tree",
        "--stages", "4", "--format", "json")
COLUMNS = ("target", "style", "lut", "dsp", "ram", "cells", "fmax_mhz")
TAB, ENTER, HOME, LEFT, PAGE_DOWN = "\ue004", "\ue007", "\ue011", "\ue012", "\ue00f"  # as WebDriver writes keys

# Fields of the form, as links hold them; a field that may be repeated has several values.
SPECS = """
function=sigmoid&in=s8:2^-4&out=s8:2^-8:-128&segments=8
function=tanh&in=s8:2^-5&out=s8:2^-7&segments=12&form=biased
function=tanh&in=s16:2^-13&out=s16:2^-15&segments=24&form=anchored&rounding=half_up
function=gelu&in=s8:0.0472:-3&out=s8:0.0238:-121&max-err=1
function=gelu_tanh&in=s8:2^-5&out=s8:2^-5&segments=6&method=minimax
function=softplus&in=s8:2^-4&out=u8:2^-5&segments=7&method=uniform
function=erf&in=s8:2^-5&out=s8:2^-7&symmetry=fold&segments=6
function=rsqrt&in=u16:2^-8&out=u16:2^-12&reduce=on&outside=clamp&segments=16
function=sigmoid&in=s8:2^-4&out=s8:2^-8:-128&segments=8&fix=0:0.5 2:0.875&slope-terms=2
function=tanh&in=s8:2^-5&out=s8:2^-7&method=lut
function=sigmoid&expr=x/(1+exp(-x))&in=s8:2^-4&out=s8:2^-4&segments=9
function=silu&in=s24:2^-20&out=s16:2^-12&segments=12
""".split("\n")[1:-1]

# With PWL_TEST_LONG=1 these, too.
MORE_SPECS = """
function=sigmoid&in=u16:2^-12:24576&out=u16:2^-16:-1&segments=16
function=gelu&in=q3.12&out=q3.12&max-err=4
function=quick_gelu&in=s10:2^-6&out=s10:2^-6&segments=8&rounding=half_away
function=silu&in=s8:2^-4&out=s8:2^-4&max-err=0.6&form=biased&rounding=half_even
function=mish&in=s8:2^-4&out=s8:2^-4&segments=9&monotone=on&outside=clamp
function=elu&param=alpha=0.5&in=s8:2^-4&out=s8:2^-4&segments=5
function=selu&in=s8:2^-4&out=s8:2^-3&segments=6&slope-bits=6
function=exp&in=s8:2^-5:127&out=s8:2^-8:-128&segments=10
function=log&in=u8:2^-4&out=s8:2^-5&segments=12&outside=clamp
function=sqrt&in=u8:2^-6&out=u8:2^-7&max-err=1&knots=pow2
function=reciprocal&in=u10:2^-6&out=u10:2^-6&segments=32&outside=clamp
function=sin&in=s8:2^-5&out=s8:2^-7&segments=14&continuous=1
function=atan&in=s8:2^-4&out=s8:2^-6&segments=8&knots=uniform
function=softsign&in=s12:2^-8&out=s12:2^-11&segments=16&shift=one
function=hard_swish&in=s8:2^-4&out=s8:2^-4&max-err=1
function=leaky_relu&param=alpha=0.1&in=s8:2^-4&out=s8:2^-4&segments=2
function=sigmoid&in=s8:2^-4&out=s8:2^-8:-128&max-err=1&for=ice40
function=tanh&range=-4:4&in=s8&out=s8&pow2-scales=on&segments=8
function=sigmoid&expr=min(max(x, -1), 1) * 0.5 + gelu(x)/4&in=s8:2^-5&out=s8:2^-5&max-err=0.75
""".split("\n")[1:-1]

REFUSED = """
function=sigmoid&in=q8&out=s8:2^-8:-128
function=sigmoid&in=s8:2^-4&out=s8:2^-8:-128&segments=0
function=sigmoid&in=s8:2^-4&out=s8:2^-8:-128&segments=1&max-err=0.5
function=sigmoid&expr=x/(1+exp(-&in=s8:2^-4&out=s8:2^-4
function=log&in=s8:2^-4&out=s8:2^-4
""".split("\n")[1:-1]

REPEATED = ("param", "fix")
failed = 0


def check(holds, what):
    global failed
    print(f"{'ok' if holds else 'not ok'} - {what}", flush=True)
    failed += not holds


def fields_of(link):
    return dict(part.split("=", 1) for part in link.split("&"))


def arguments(fields):
    """Those of pwlc fit."""
    argv = [] if "expr" in fields else [fields["function"]]
    for name, value in fields.items():
        if name != "function":
            for one in value.split() if name in REPEATED else [value]:
                argv += [f"--{name}"] + ([] if one == "on" and name != "reduce" else [one])
    return argv


class Pwlc:
    """The program, in a folder of its own."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def run(self, *argv):
        return subprocess.run([self.path, *argv], cwd=self.folder, capture_output=True, text=True, check=False)

    def read(self, name):
        return (self.folder / name).read_bytes()


def unfold(page):
    page.run("for (const one of document.querySelectorAll('details')) one.open = true")


def fill(page, fields):
    """Types what differs into the form."""
    script = """return [...document.querySelectorAll("#form [name]")].map(one => [one.name, one.type,
        one.type === "checkbox" ? one.checked ? "on" : "" : one.value])"""
    unfold(page)
    for name, kind, value in page.run(script):
        want, selector = fields.get(name, ""), f'#form [name="{name}"]'
        if name == "function" and not want:
            want = value
        if kind == "checkbox":
            if value != want:
                page.click(selector)
        elif kind.startswith("select"):
            if value != want:
                page.type(selector, want or "default")
        elif value != want:
            page.call("POST", f"/element/{page.find(selector)}/clear")
            page.type(selector, want)


def settle(page):
    """Waits for the table, or for why there is none."""
    page.wait(lambda: page.text("#status").startswith(("Done", "No table")))


def shown(page):
    return dict(page.run("""return [...document.querySelectorAll("#outputs details")].map(one =>
        [one.dataset.title, one.querySelector("pre").textContent])"""))


def numbers(row):
    """Of a row of the page's table of costs."""
    return [None if cell == "-" else float(cell) for cell in row]


def cells(page):
    rows = page.run("""return [...document.querySelectorAll("#cells tbody tr")].map(row =>
        [...row.cells].map(cell => cell.textContent))""")
    return [row[:2] + numbers(row[2:]) for row in rows]


def same_array(text, npy, pwlc):
    """Whether the page's Python has the numbers of the file that pwlc wrote, or says why there is none."""
    if npy.returncode != 0:
        return text == npy.stderr.strip()
    data = pwlc.read("emitted")
    held = struct.iter_unpack("<4q", data[10 + struct.unpack_from("<H", data, 8)[0]:])
    shown_array = re.search(r"np\.array\((\[.*\]), dtype=np\.int64\)", text, re.S)
    return shown_array is not None and [tuple(row) for row in ast.literal_eval(shown_array[1])] == list(held)


def fitted(page, pwlc, link):
    """Fits what a link asks in the page; then by pwlc, into table.json, and what that says."""
    fields = fields_of(link)
    fill(page, fields)
    page.click("#fit")
    settle(page)
    return pwlc.run("fit", *arguments(fields), "-o", "table.json")


def check_spec(page, pwlc, link):
    fit = fitted(page, pwlc, link)
    assert fit.returncode == 0, fit.stderr
    table = json.loads(pwlc.read("table.json"))
    texts, wrong = shown(page), []
    for title, (name, *flags) in TEXTS.items():
        pwlc.run("emit", "table.json", "--format", name, *flags, "-o", "emitted")
        if texts.get(title, "").encode() != pwlc.read("emitted"):
            wrong.append(title)
    npy = pwlc.run("emit", "table.json", "--format", "npy", "-o", "emitted")
    if not same_array(texts.get("NumPy", ""), npy, pwlc):
        wrong.append("NumPy")
    if page.text("#notes") != fit.stderr.strip():
        wrong.append("notes")
    cost = json.loads(pwlc.run("cost", "table.json", *COST).stdout or "[]")
    if cells(page) != [[row[key] for key in COLUMNS] for row in cost]:
        wrong.append("costs")
    # The page has the heading and the figures of pwlc report apart, and its rest further below.
    report = re.search(r"<section.*?</h2>(.*)</section>", pwlc.run("report", "table.json").stdout, re.S)[1]
    below = page.run("""return document.querySelector("#tiles .tiles").textContent +
        document.querySelector("#report").textContent""")
    if html.unescape(re.sub(r"<[^>]*>", "", report)).split() != below.split():
        wrong.append("report")
    says, read = table["certificate"], page.text("#read")
    if says["exhaustive"]:
        at = re.match(r"Code (-?\d+), .* error -?([\d.]+) LSB", read)
        if not at or (int(at[1]), float(at[2])) != (says["max_err_at"], says["max_err_lsb"]):
            wrong.append("worst code")
    elif "--exhaustive" not in read:
        wrong.append("why there are no codes")
    check(not wrong, f"{link}: {', '.join(wrong) + ' differ' if wrong else 'as pwlc writes it'}")


def check_refusal(page, pwlc, link):
    fit = fitted(page, pwlc, link)
    words = fit.stderr.strip().removeprefix("pwlc fit: ")
    check(fit.returncode in (2, 3) and page.text("#failure") == words and page.run(
        "return document.querySelector('#result').hidden"), f"refused: {link}: {words}")
    named = re.match(r"--([\w-]+)", words)
    check(not named or page.run("return [...document.querySelectorAll('[aria-invalid=true]')].map(one => one.name)") ==
          [named[1]], "the field is marked whose flag the message names")


def check_sizes(page, pwlc):
    fields = fields_of(SPECS[0])
    fill(page, fields)
    page.click("#fit")
    settle(page)
    page.click("#explore")
    page.wait(lambda: page.text("#status") == "Sizes are compared")
    del fields["segments"]
    pwlc.run("explore", *arguments(fields), "--segments", "4:64:x2", "--svg", "front.svg")
    front = page.run("return new XMLSerializer().serializeToString(document.querySelector('#front svg'))")
    check(canonicalize(front) == canonicalize(pwlc.read("front.svg").decode()), "sizes are compared as pwlc draws them")


def check_links(page, address):
    page.open(address + "#function=tanh&in=s8%3A2%5E-5&out=s8%3A2%5E-7&segments=5&symmetry=fold")
    page.call("POST", "/refresh")
    settle(page)
    have = page.run("return Object.fromEntries(new FormData(document.querySelector('form')))")
    check(have["function"] == "tanh" and have["segments"] == "5" and have["symmetry"] == "fold" and
          '"fold"' in shown(page)["JSON"], "a link holds the spec")
    fill(page, {"function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "segments": "6"})
    page.click("#fit")
    settle(page)
    check("segments=6" in page.run("return location.hash"), "what is typed is in the link")
    while "segments=5" not in page.run("return location.hash"):
        page.call("POST", "/back")
        settle(page)
    page.wait(lambda: '"fold"' in shown(page).get("JSON", ""))
    check(page.run("return document.querySelector('[name=segments]').value") == "5", "back goes to the spec before")


def check_progress(page):
    """Of a fit of some seconds: what it is at, how far that is, and how often a screen reader is told."""
    fill(page, {"function": "gelu", "in": "s16:2^-12", "out": "s16:2^-12", "segments": "64"})
    page.run("""
        const bar = document.querySelector("#progress"), step = document.querySelector("#step");
        const seen = window.seen = {open: 0, shares: [], steps: [], status: [], said: [], began: performance.now()};
        const note = (list, what) => { if (what !== list.at(-1)) list.push(what); };
        new MutationObserver(() => {
            if (bar.hidden)
                return;
            bar.hasAttribute("value") ? note(seen.shares, bar.position) : seen.open++;
            note(seen.steps, step.textContent);
        }).observe(document.querySelector("form"), {subtree: true, childList: true, attributes: true});
        for (const live of document.querySelectorAll("form [role=status]"))
            new MutationObserver(() => note(seen[live.id], live.textContent)).observe(live, {childList: true});""")
    page.click("#fit")
    settle(page)
    seen = page.run("""return {...window.seen, hidden: document.querySelector("#progress").hidden,
                               seconds: (performance.now() - window.seen.began) / 1000}""")
    between = [share for share in seen["shares"] if 0 < share < 1]
    check(seen["open"] and len(between) > 2 and seen["hidden"],
          f"the bar moves while a fit goes on: {len(between)} times")
    words = {step.split(", ")[0] for step in seen["steps"]}
    check({"values of the function", "real lines"} & words and
          any(re.search(r", \d+ %, [1-9]\d* s$", step) for step in seen["steps"]),
          f"words say what a fit is at, how far, and for how long: {sorted(words)}")
    steps = ["Fitting", "Drawing", "Measuring every code", "Estimating hardware", "Writing"]
    said = [words for words in seen["said"] if words]
    check(seen["status"][:-1] == steps and len(said) <= seen["seconds"] / 9,
          f"a screen reader is told the parts, and every ten seconds how far they are: {seen['status'] + said}")


def check_cancel(page):
    # Takes pwlc itself more than ten seconds.
    fill(page, {"function": "gelu", "in": "s32:2^-28", "out": "s32:2^-28", "segments": "4000", "method": "minimax"})
    page.click("#fit")
    page.wait(lambda: page.run("return !document.querySelector('#cancel').disabled"))
    page.wait(lambda: page.run("return document.querySelector('#progress').position") > 0)
    page.click("#cancel")
    check(page.text("#status") == "Cancelled" and page.run("return document.querySelector('#cancel').disabled"),
          "a fit is cancelled")
    fill(page, fields_of(SPECS[0]))
    page.click("#fit")
    page.wait(lambda: page.text("#status").startswith("Done"))
    check("8 segments" in page.text("#status") and page.run(
        "return document.querySelector('#progress').hidden && !document.querySelector('#step').textContent"),
          "the next fit ends")


def picture(page):
    return page.run("return document.querySelector('#chart').toDataURL()")


def check_keyboard(page):
    page.run("document.querySelector('#function').focus()")
    reached = set()
    for _ in range(80):
        reached.add(page.run("""const one = document.activeElement;
            return one.id || one.name || one.dataset.view || one.tagName"""))
        page.press(TAB)
    check({"in", "out", "segments", "fit", "chart", "code", "all", "SUMMARY"} <= reached, "Tab reaches every part")
    page.run("document.querySelector('#chart').focus()")
    code, before = int(page.run("return document.querySelector('#code').value")), picture(page)
    page.press("+", "+", LEFT)
    check(page.text("#read").startswith(f"Code {code - 1}, "), "an arrow chooses the next code")
    zoomed = picture(page)
    page.press(PAGE_DOWN)
    moved = picture(page)
    page.press(HOME)
    page.run("const one = document.querySelector('#code'); one.value = arguments[0]; one.onchange()", code)
    check(len({before, zoomed, moved}) == 3 and picture(page) == before,
          "keys zoom and move the chart, and show all again")
    fill(page, fields_of(SPECS[0]))
    page.type("[name=segments]", "\b4" + ENTER)
    page.wait(lambda: "4 segments" in page.text("#status"))
    check(True, "Enter in a field fits")


def check_names(page):
    """What a screen reader gets: a name of each control, and the roles."""
    unfold(page)
    page.devtools("Accessibility.enable")
    nodes = [node for node in page.devtools("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    roles = {}
    for node in nodes:
        roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    controls = ("button", "textbox", "combobox", "checkbox", "spinbutton", "link", "img", "image", "progressbar",
                "form", "DisclosureTriangle")
    unnamed = [role for role in controls for name in roles.get(role, []) if not name.strip()]
    check(not unnamed and len(roles["textbox"]) > 8 and len(roles["combobox"]) > 5,
          f"every control has a name: {unnamed}")
    check({"alert", "main", "form", "heading", "group"} <= set(roles) and len(roles.get("status", [])) >= 2,
          "the parts have their roles")


def check_schemes(page):
    colors = []
    for scheme in ("light", "dark"):
        page.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        # Two frames, as what follows the scheme is told of it before a frame.
        page.run_until_done("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        colors.append([picture(page), *page.run("""return [getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector("#report svg .bg")).fill]""")])
    check(all(light != dark for light, dark in zip(*colors)), "light and dark: page, chart and plots")


def check_nothing_leaves(page, address, built):
    origin = address.rsplit("/", 1)[0]
    names = page.run("return performance.getEntriesByType('resource').map(({name}) => name)")
    check(names and all(name.startswith((origin, "blob:")) for name in names), "all that is loaded is the page's own")
    refused = page.run_until_done("""const done = arguments[0];
        addEventListener("securitypolicyviolation", ({violatedDirective}) => done(violatedDirective), {once: true});
        fetch("https://example.org").catch(() => {}).then(() => setTimeout(done, 1000, "nothing"));""")
    check(refused == "connect-src", "the page may ask no other server")
    size = sum(path.stat().st_size for path in built.iterdir())
    check(size < SIZE, f"the page has {size} bytes")


def check_copy(page):
    page.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    unfold(page)
    page.click('.output[data-title="JSON"] button')
    page.wait(lambda: page.text("#status") == "JSON is copied")
    got = page.run_until_done("navigator.clipboard.readText().then(arguments[0])")
    check(got == shown(page)["JSON"], "a text is copied")


def main():
    built, path = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder, served(built) as address, browser() as page:
        pwlc = Pwlc(path, pathlib.Path(folder))
        page.open(address)
        settle(page)
        print(f"# the first table after {page.run('return Math.round(performance.now())')} ms")
        check("sigmoid" in page.run("return location.hash") and len(shown(page)) == 5, "a first table without a click")
        check_nothing_leaves(page, address, built)
        page.messages()
        check_names(page)
        check_schemes(page)
        check_copy(page)
        check_keyboard(page)
        for link in SPECS + (MORE_SPECS if os.environ.get("PWL_TEST_LONG") == "1" else []):
            check_spec(page, pwlc, link)
        for link in REFUSED:
            check_refusal(page, pwlc, link)
        check_progress(page)
        check_cancel(page)
        check_sizes(page, pwlc)
        check_links(page, address)
        wrong = [message for message in page.messages() if message["level"] == "SEVERE"]
        check(not wrong, f"the browser has nothing to say: {wrong}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
