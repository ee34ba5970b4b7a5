#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator JSON: what is hostile in it is refused with exit 2 and a message that names the field: TAP.
usage: test_operator_json.py PWLC. Each field gets half of the values, each claim is told to one command; PWL_TEST_LONG=1: all."""
import copy
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from signed_table import signed  # noqa: E402

PWLC = os.path.abspath(sys.argv[1])
LONG = os.environ.get("PWL_TEST_LONG") == "1"
FITS = {
    "softmax8": "softmax --in s8:0.0472 --out u8:2^-8 --rows 64",
    "softmax16": "softmax --in u16:0.0002 --out s16:2^-15 --rows 64",
    "logsoftmax": "logsoftmax --in s16:0.0002 --out s16:2^-11:32767 --rows 64",
    "layernorm": "layernorm --in s8:0.05 --out s16:2^-11 --rows 8 --gamma gamma.npy --beta beta.npy",
    "rmsnorm": "rmsnorm --in s16:2^-10:9 --out s8:0.03 --rows 8",
    "l2norm": "l2norm --in s8:2^-5 --out s8:2^-7 --rows 8",
    "requantise": "requantise --in s32:0.0003:5 --out s8:0.031:-3",
    "add": "add --in s8:0.05:4 --in-b u8:0.031:100 --out s8:0.06:2",
    "weigh8": "weigh --in s8:0.08:900 --in-b u8:0.03:4 --out s16:0.0003 --rows 64",
    "weigh16": "weigh --in u16:0.0003 --in-b s16:0.001 --out u8:0.2:128 --rows 64",
    "add16": "add --in s16:0.0007:4 --in-b s8:0.031 --out u16:0.0009:2",
}
LISTS = {"exp", "exp_high", "exp_shift", "log_factor", "log_value", "gamma", "beta", "gamma_codes", "beta_codes"}
# Reals and texts that a check cannot tell from others: only their hash can.
FREE = {"spec", "eps", "gamma", "beta"}
# Fields that may be left out: without gamma it is 1, without a certificate or its hash nothing is claimed.
OPTIONAL = {"gamma", "certificate", "hash"}


def pwlc(*arguments):
    return subprocess.run([PWLC, *arguments], capture_output=True, text=True)


def npy(path, values):
    import numpy
    numpy.save(path, numpy.array(values, float))


class Refusals:
    def __init__(self, name, op):
        self.name, self.op, self.failures, self.count = name, op, [], 0

    def expect(self, what, op, field=None, text=None, command=None):
        self.count += 1
        with open("hostile.json", "w") as file:
            file.write(text if text is not None else json.dumps(op))
        for command in [command] if command else (["show"], ["emit"], ["sweep"], ["eval"], ["certify"])[self.count % 5:][:1]:
            done = pwlc(*command, "hostile.json", *(["0"] if command == ["eval"] else []))
            if done.returncode != 2 or done.stdout or (field and field not in done.stderr):
                self.failures.append(f"{what}: {command[0]} exits {done.returncode}: {done.stderr.strip()}")

    def with_field(self, field, value):
        op = copy.deepcopy(self.op)
        op[field] = value
        return op

    def run(self):
        for turn, field in enumerate(self.op):
            if field not in OPTIONAL:
                without = {k: v for k, v in self.op.items() if k != field}
                self.expect(f"without {field}", without, None if field == "pwl_operator" else field.split("_c")[0])
            values = (None, True, "x" if field not in ("spec",) else 3, [], {}, 1.5 if field != "eps" else "1")
            for value in values if LONG else values[turn % 2::2]:
                self.expect(f"{field} = {value!r}", self.with_field(field, value))
            value = self.op[field]
            if isinstance(value, int) and field not in FREE:
                for wrong in (-(1 << 63), -1000, (1 << 63) - 1):
                    self.expect(f"{field} = {wrong}", self.with_field(field, wrong))
            if field in LISTS:
                self.expect(f"{field} shorter", self.with_field(field, value[:-1]), field)
                self.expect(f"{field} longer", self.with_field(field, value + value[-1:]), field)
                for wrong in (["1"], [None], [[1]], [True]):
                    self.expect(f"{field} with {wrong}", self.with_field(field, value[:-1] + wrong), field)
        self.expect("unknown field", self.with_field("surprise", 1), "surprise")
        for inner in {"in", "in_b", "out", "core", "certificate"} & set(self.op):
            self.expect(f"unknown field in {inner}", self.with_field(inner, {**self.op[inner], "surprise": 1}), "surprise")
        for bits in {7, 32} - {self.op["in"]["bits"]}:
            self.expect("bits", self.with_field("in", {**self.op["in"], "bits": bits}))
        self.expect("narrow input", self.with_field("in", {**self.op["in"], "qmax": 100}), "in.qm")
        self.expect("version", self.with_field("pwl_operator", 2), "pwl_operator")
        if "core" in self.op:
            self.expect("another core", self.with_field("core", {**self.op["core"], "segments": []}), "core")
            low = {**self.op["core"], "out": {**self.op["core"]["out"], "signed": True, "qmin": -32768, "qmax": 32767}}
            self.expect("a signed core", self.with_field("core", low))
        says = self.op["certificate"]
        parts = [{name: says[name] / 2} for name in says.keys() - {"bound_lsb", "max_err_lsb", "rows", "worst_row"}
                 if says[name] > 0]
        claims = [{"bound_lsb": 0.5}, {"max_err_lsb": 0.9}, {"max_err_lsb": says["max_err_lsb"] * 0.9999},
                  {"rows": says["rows"] - 1}, {"rows": (1 << 63) - 1}, {"worst_row": "one of them"},
                  {"worst_row": says["worst_row"] + "0"}, {"worst_row": says["worst_row"][:-2]},
                  {"worst_row": "all alike, 0 codes apart, 1 places, place 0"}, *parts]
        for turn, claim in enumerate(claims):
            claimed = self.with_field("certificate", {**self.op["certificate"], **claim})
            for command in (["show"], ["emit"]) if LONG else (["show"], ["emit"])[turn % 2:][:1]:
                self.expect(f"claims {claim}", signed(claimed), "certificate", command=command)
        text = json.dumps(self.op)
        self.expect("cut", None, text=text[:-2])
        self.expect("twice", None, text=text + text)
        self.expect("field twice", None, text=text.replace('"spec":', '"spec": "", "spec":', 1))
        return self.failures


def own(name, op, failures):
    """What only a particular operator can have wrong."""
    refusals = Refusals(name, op)
    changed = lambda field, k, v: refusals.with_field(field, op[field][:k] + [v] + op[field][k + 1:])
    if "exp" in op:
        refusals.expect("exp[0] above one", changed("exp", 0, op["exp"][0] + 1))
        refusals.expect("exp rises", changed("exp", 7, op["exp"][6] + 1))
        refusals.expect("fraction", refusals.with_field("fraction", op["fraction"] - 1))
    if "exp_high" in op:
        refusals.expect("exp_shift", changed("exp_shift", 3, 31))
        refusals.expect("exp_high", changed("exp_high", 0, 1 << 30))
    if "log_factor" in op:
        refusals.expect("log_factor", changed("log_factor", 5, 1))
        refusals.expect("log_value", changed("log_value", 5, -5))
    if "gamma_codes" in op:
        refusals.expect("sum too large", refusals.with_field("eps_code", (1 << 63) - 1))
        refusals.expect("odd shift", refusals.with_field("variance_shift", 3))
    if "beta_codes" in op:
        refusals.expect("beta_codes", changed("beta_codes", 0, -(1 << 63)))
    for side in {"in", "in_b"} & set(op) - ({"in"} if op["operator"] == "weigh" else set()) if "shift" in op else ():
        refusals.expect("zero point", refusals.with_field(side, {**op[side], "zero_point": 1 << 31}), "zero point")
        refusals.expect("wide", refusals.with_field(side, {**op[side], "bits": 32, "signed": False, "qmin": 0,
                                                           "qmax": (1 << 32) - 1}), f"{side}.bits")
        refusals.expect("core", refusals.with_field("core", {}), "core")
    if "multiplier" in op:
        refusals.expect("multiplier", refusals.with_field("multiplier", (1 << 30) - 1), "multiplier")
    if op["operator"] == "requantise":
        far = refusals.with_field("in", {**op["in"], "zero_point": -(1 << 31)})
        refusals.expect("sum too large", {**far, "multiplier": (1 << 31) - 1, "shift": 62}, "not safe to run")
    if "factor_a" in op:
        refusals.expect("factor_a", refusals.with_field("factor_a", 1 << 31), "factor_a")
        refusals.expect("in_b", refusals.with_field("in_b", {**op["in_b"], "bits": 32, "qmax": 1 << 30}))
    if op["operator"] == "softmax":
        refusals.expect("scale", refusals.with_field("out", {**op["out"], "scale": "0.01"}), "out.scale")
    failures += refusals.failures
    return refusals.count


def in_order(name, op):
    """Another JSON writer's file, whose fields are in alphabetical order, says the same."""
    commands = (["show"], ["emit"], ["sweep", "--rows", "1"])
    said = []
    for is_sorted in (False, True):
        with open("order.json", "w") as file:
            json.dump(op, file, sort_keys=is_sorted)
        said.append([pwlc(*command, "order.json") for command in commands])
    for command, expected, done in zip(commands, *said):
        if done.returncode or done.stdout != expected.stdout:
            return f"{command[0]}: {done.stderr}"
    return None


def far_off(name, op):
    """What is off by any amount has a certificate that says so and that is read back, or none at all."""
    wrong = copy.deepcopy(op)
    for segment in wrong.get("core", {}).get("segments", ()):
        segment.update({field: 0 for field in ("q_b", "y", "term_c", "bias") if field in segment})
    wrong.update({field: 1 << 30 for field in ("multiplier", "factor_a") if field in op})
    for field in ("certificate", "hash"):
        del wrong[field]
    with open("wrong.json", "w") as file:
        json.dump(wrong, file)
    for command in (["certify", "wrong.json", "-o", "far.json"], ["show", "far.json"], ["sweep", "far.json"]):
        done = pwlc(*command)
        if done.returncode:
            return f"a core of zeros: {command[0]}: {done.stderr}"
    if "gamma" in op:
        with open("wrong.json", "w") as file:
            json.dump({**op, "gamma": [1e308] * op["rows"]}, file)
        done = pwlc("certify", "wrong.json", "-o", "endless.json")
        if done.returncode != 3 or os.path.exists("endless.json"):
            return f"endless: certify exits {done.returncode}: {done.stderr}"
    return None


def honest(name, op):
    """Another operator's certificate does not count, and certify gives a true one."""
    other = copy.deepcopy(op)
    other["certificate"]["bound_lsb"] = 0.5
    if "gamma_codes" in op:
        other["gamma_codes"][0] += 1
    elif "shift" in op:
        other["shift"] += 1
    else:
        other["rows"] = 63
    with open("other.json", "w") as file:
        json.dump(other, file)
    shown, again = pwlc("show", "other.json").stdout, pwlc("certify", "other.json", "-o", "true.json")
    if "another operator's" not in shown or "proven" in shown:
        return f"show: {shown}"
    true = json.load(open("true.json"))
    if again.returncode or true["spec"] or true["certificate"]["bound_lsb"] <= 0.5 or true["hash"] == op["hash"]:
        return f"certify: {again.stderr} {true['certificate']}"
    return None


def main():
    print(f"1..{4 * len(FITS)}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        npy("gamma.npy", [1, 2, -0.5, 1, 1, 1, 0.25, 1])
        npy("beta.npy", [0, 0.5, -1, 0, 0, 0, 0, 1])
        for k, (name, fit) in enumerate(FITS.items()):
            done = pwlc("fit", *fit.split(), "-o", "op.json")
            assert done.returncode == 0, done.stderr
            op = json.load(open("op.json"))
            refusals = Refusals(name, op)
            failures = refusals.run()
            count = refusals.count + own(name, op, failures)
            print(f"{'not ok' if failures else 'ok'} {4 * k + 1} - {name}: {count} hostile files refused")
            print("".join(f"# {text}\n" for text in failures), end="")
            failed += bool(failures)
            for number, (check, what) in enumerate(((honest, "a certificate of another operator"),
                                                    (in_order, "fields in another order"), (far_off, "far off")), 2):
                said = check(name, op)
                failed += bool(said)
                print(f"{'not ok' if said else 'ok'} {4 * k + number} - {name}: {what}", flush=True)
                if said:
                    print("# " + said)
    return failed > 0


sys.exit(main())
