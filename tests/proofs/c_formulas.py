# SPDX-License-Identifier: Apache-2.0
"""C functions as formulas over the integers, for z3: what they return, and what must hold so that nothing in them is
undefined or leaves its type. Read from the source itself, as the compiler's preprocessor gives it.

A value is a Python int, a bool, or a z3 term of one of these, with a C type. Signed arithmetic has the exact result and
an obligation that its type holds it; unsigned arithmetic is modulo 2^width. A shift's count must be known, and is an
obligation too. Statements are executed in order, under the condition by which they are reached; an assignment under a
condition is a choice between the new value and the old. Functions and loops may be replaced:

    calls[name] = f(run, arguments)          the value of a call
    loops[function] = f(run, node, frame)    the loop of a function, by its invariant: cut() makes one
    product = f(run, a, b)                   the product of two numbers that are not known
    arrays[name] = f(run, index)             an element of an array of the file, of the type declared there
    globals[name] = Value                    a variable of the file

Not taken, with an error: pointer arithmetic, arrays of functions, goto, switch, floats.
"""
import subprocess

import z3
from pycparser import CParser, c_ast


class Type:
    def __init__(self, bits, signed):
        self.bits, self.signed = bits, signed
        self.low, self.high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


INT, UNSIGNED, LONG, UNSIGNED_LONG = Type(32, True), Type(32, False), Type(64, True), Type(64, False)
WIDTHS = {"_Bool": 1, "char": 8, "short": 16, "long": 64}


class Value:
    def __init__(self, type, term):
        self.type, self.term = type, term


class Cell:
    """An object in memory that has a value."""

    def __init__(self, type, term):
        self.type, self.term = type, term


class Struct:
    def __init__(self, **cells):
        self.cells = cells


def is_known(term):
    return isinstance(term, (bool, int))


def number(term):
    if isinstance(term, bool):
        return int(term)
    return z3.If(term, 1, 0) if z3.is_bool(term) else term


def truth(term):
    if isinstance(term, bool) or not isinstance(term, int) and z3.is_bool(term):
        return term
    return term != 0


def both(a, b):
    if a is False or b is False:
        return False
    return b if a is True else a if b is True else z3.And(a, b)


def either(a, b):
    if a is True or b is True:
        return True
    return b if a is False else a if b is False else z3.Or(a, b)


def inverse(a):
    return not a if isinstance(a, bool) else z3.Not(a)


def choose(condition, a, b):
    if isinstance(condition, bool):
        return a if condition else b
    if is_known(a) and is_known(b) and a == b:
        return a
    return z3.If(condition, number(a), number(b))


def divided(a, power):
    """floor(a / 2^power)"""
    return a >> power if is_known(a) else a / (1 << power) if power else a


def modulo(a, bits):
    return a % (1 << bits)


def wrapped(term, type):
    """The value of the type that is the term modulo 2^bits."""
    if not type.signed:
        return modulo(term, type.bits)
    return modulo(term + (1 << type.bits - 1), type.bits) - (1 << type.bits - 1)


class Source:
    """Functions, typedefs and constants of enumerations of a translation unit."""

    def __init__(self, text, *flags):
        done = subprocess.run(["cc", "-std=c11", "-E", "-D__attribute__(x)=", "-D__extension__=", "-D__inline=inline",
                               "-D__restrict=", *flags, "-"], input=text, capture_output=True, text=True, check=True)
        tree = CParser().parse(done.stdout)
        self.functions = {item.decl.name: item for item in tree.ext if isinstance(item, c_ast.FuncDef)}
        self.typedefs = {item.name: item.type for item in tree.ext if isinstance(item, c_ast.Typedef)}
        self.arrays = {item.name: item.type.type for item in tree.ext
                       if isinstance(item, c_ast.Decl) and isinstance(item.type, c_ast.ArrayDecl)}
        self.constants, self.structs = {}, {}
        for item in tree.ext:
            self.collect(item)

    def collect(self, node):
        if isinstance(node, c_ast.Enum) and node.values:
            following = 0
            for one in node.values.enumerators:
                following = self.run().value(one.value).term if one.value else following
                self.constants[one.name] = number(following)
                following += 1
        if isinstance(node, c_ast.Struct) and node.decls:
            self.structs[node.name] = node.decls
        for _, child in node.children():
            self.collect(child)

    def run(self, **options):
        return Run(self, **options)

    def type_of(self, node):
        """A Type, or the fields' declarations of a struct; None for pointers and void."""
        if isinstance(node, c_ast.PtrDecl):
            return None
        if isinstance(node, (c_ast.TypeDecl, c_ast.Typename, c_ast.Typedef)):
            return self.type_of(node.type)
        if isinstance(node, c_ast.Enum):
            return INT
        if isinstance(node, c_ast.Struct):
            return self.structs[node.name]
        name = " ".join(node.names)
        if name in self.typedefs:
            return self.type_of(self.typedefs[name])
        bits = next((WIDTHS[word] for word in node.names if word in WIDTHS), 32)
        return None if name == "void" else Type(bits, "unsigned" not in node.names and name != "_Bool")


class Obligation:
    """What must hold where it is reached, by what was known by then."""

    def __init__(self, known, reached, holds, where):
        self.known, self.reached, self.holds, self.where = known, reached, holds, where


class Run:
    """Executes functions; what must hold for that is in `obligations`."""

    def __init__(self, source, calls=None, loops=None, product=None, assumptions=(), arrays=None, globals=None):
        self.source, self.calls, self.loops, self.product = source, calls or {}, loops or {}, product
        self.arrays, self.globals = arrays or {}, globals or {}
        self.assumptions = list(assumptions)
        self.obligations, self.active, self.frames, self.symbols = [], True, [], 0
        self.wrapped = {}  # by the id of a term modulo 2^bits: itself, what it was, and bits

    def symbol(self, name, low=None, high=None):
        """A number of which nothing is known but its limits."""
        self.symbols += 1
        term = z3.Int(f"{name}.{self.symbols}")
        if low is not None:
            self.assumptions += [term >= low, term <= high]
        return term

    def demand(self, holds, node, what):
        if holds is not True:
            self.obligations.append(Obligation(self.assumptions[:], self.active, holds, f"{getattr(node, 'coord', '')}: {what}"))

    def is_possible(self, condition):
        if isinstance(condition, bool):
            return condition
        solver = z3.Solver()
        solver.set("rlimit", 2000000)  # the same on every machine, as no limit of time is
        solver.add(*self.assumptions, condition)
        return solver.check() != z3.unsat

    # Functions and statements.

    def call(self, name, *arguments):
        """Arguments are Values, or what pointers point to."""
        function = self.source.functions[name]
        frame = {"": None}
        for parameter, argument in zip(function.decl.type.args.params, arguments):
            type = self.source.type_of(parameter.type) if isinstance(argument, Value) else None
            frame[parameter.name] = Cell(type, self.converted(argument, type) if type else argument)
        self.frames.append((name, frame))
        entered = self.active
        self.execute(function.body)
        self.active = entered
        self.frames.pop()
        if isinstance(frame[""], Struct) or frame[""] is None:
            return frame[""]
        type = self.source.type_of(function.decl.type.type)
        return Value(type, frame[""])

    def execute(self, node):
        if self.active is not False and node is not None:
            getattr(self, "do_" + type(node).__name__, self.do_expression)(node)

    def do_expression(self, node):
        self.value(node)

    def do_Compound(self, node):
        for item in node.block_items or []:
            self.execute(item)

    def do_DeclList(self, node):
        for item in node.decls:
            self.execute(item)

    def do_Decl(self, node):
        type, frame = self.source.type_of(node.type), self.frames[-1][1]
        if isinstance(type, list):
            if not isinstance(node.init, c_ast.InitList):
                frame[node.name] = self.value(node.init)
                return
            cells = {}
            for field, one in zip(type, node.init.exprs):
                field_type = self.source.type_of(field.type)
                cells[field.name] = Cell(field_type, self.converted(self.value(one), field_type))
            frame[node.name] = Struct(**cells)
        elif node.init is None:
            frame[node.name] = Cell(type, None if type is None else self.symbol(node.name, type.low, type.high))
        else:
            made = self.value(node.init)
            frame[node.name] = Cell(type, self.converted(made, type) if isinstance(made, Value) else made)

    def do_If(self, node):
        condition = self.condition(node.cond)
        entered = self.active
        after = []
        for chosen, branch in ((condition, node.iftrue), (inverse(condition), node.iffalse)):
            self.active = inside = both(entered, chosen)
            if branch is not None and (is_known(inside) or not self.is_possible(inside)):
                inside = self.active = inside is True
            self.execute(branch)
            after.append((self.active, self.active is inside))
        (first, first_whole), (second, second_whole) = after
        if first_whole and second_whole and not isinstance(condition, bool):
            self.active = entered
        else:
            self.active = either(first, second)
            if not self.is_possible(self.active):
                self.active = False

    def do_Return(self, node):
        frame = self.frames[-1][1]
        if node.expr is not None:
            made = self.value(node.expr)
            if isinstance(made, Struct):
                frame[""] = made
            else:
                declared = self.source.functions[self.frames[-1][0]].decl.type.type
                term = number(self.converted(made, self.source.type_of(declared)))
                frame[""] = term if frame[""] is None else choose(self.active, term, frame[""])
        self.active = False

    def do_While(self, node):
        self.loops[self.frames[-1][0]](self, node, self.frames[-1][1])

    def do_For(self, node):
        self.execute(node.init)
        self.loops[self.frames[-1][0]](self, node, self.frames[-1][1])

    # Expressions.

    def converted(self, value, type):
        if type is None or value.type is None:
            return value.term
        if value.type.low >= type.low and value.type.high <= type.high:
            return value.term
        term = number(value.term)
        if is_known(term):
            return wrapped(term, type)
        return self.reduced(term, type)

    def condition(self, node):
        """Whether an expression is not 0; a pointer is null where it is None."""
        made = self.value(node)
        return truth(made.term) if isinstance(made, Value) else made is not None

    def value(self, node):
        return getattr(self, "value_" + type(node).__name__)(node)

    def place(self, node):
        """The Cell or Struct that an expression names."""
        if isinstance(node, c_ast.ID):
            return self.frames[-1][1][node.name]
        if isinstance(node, c_ast.StructRef):
            whole = self.place(node.name)
            return (whole.term if node.type == "->" else whole).cells[node.field.name]
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self.place(node.expr).term
        raise NotImplementedError(f"{node.coord}: {type(node).__name__} as a place")

    def read(self, place):
        if isinstance(place, Struct):
            return place
        return place.term if place.type is None else Value(place.type, place.term)

    def assign(self, place, value):
        if place.type is None:
            place.term = value
        else:
            term = number(self.converted(value, place.type))
            place.term = choose(self.active, term, place.term)

    def value_ID(self, node):
        if node.name in self.source.constants:
            return Value(INT, self.source.constants[node.name])
        if node.name in self.globals:
            return self.globals[node.name]
        return self.read(self.place(node))

    def value_StructRef(self, node):
        return self.read(self.place(node))

    def value_ArrayRef(self, node):
        term = self.arrays[node.name.name](self, number(self.value(node.subscript).term))
        return Value(self.source.type_of(self.source.arrays[node.name.name]), term)

    def value_Constant(self, node):
        if node.type == "string":
            return Value(None, node.value)
        digits = node.value.lower()
        text = digits.rstrip("ul")
        suffix = digits[len(text):]
        term = int(text, 0)
        for type in ((INT, LONG) if "u" not in suffix else ()) + (UNSIGNED, UNSIGNED_LONG):
            if term <= type.high and (type.bits == 64 or "l" not in suffix):
                return Value(type, term)
        raise NotImplementedError(node.value)

    def value_Cast(self, node):
        made, type = self.value(node.expr), self.source.type_of(node.to_type.type)
        return Value(type, self.converted(made, type)) if isinstance(made, Value) and type else made

    def value_TernaryOp(self, node):
        condition, entered = self.condition(node.cond), self.active
        made = []
        for chosen, branch in ((condition, node.iftrue), (inverse(condition), node.iffalse)):
            self.active = both(entered, chosen)
            made.append(None if chosen is False else self.value(branch))
        self.active = entered
        if isinstance(condition, bool):
            return made[not condition]
        type = self.common(*made)
        return Value(type, choose(condition, *(self.converted(one, type) for one in made)))

    def value_Assignment(self, node):
        place = self.place(node.lvalue)
        made = self.value(node.rvalue)
        if node.op != "=":
            made = self.binary(node, node.op[:-1], self.read(place), made)
        self.assign(place, made)
        return self.read(place)

    def value_FuncCall(self, node):
        arguments = [self.argument(one) for one in node.args.exprs] if node.args else []
        if node.name.name in self.calls:
            return self.calls[node.name.name](self, arguments)
        return self.call(node.name.name, *arguments)

    def argument(self, node):
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            return self.place(node.expr)
        return self.value(node)

    def value_UnaryOp(self, node):
        if node.op in ("p++", "p--", "++", "--"):
            place = self.place(node.expr)
            before = self.read(place)
            self.assign(place, self.binary(node, node.op.strip("p")[0], before, Value(INT, 1)))
            return before if node.op[0] == "p" else self.read(place)
        if node.op == "*":
            return self.read(self.place(node))
        if node.op == "!":
            return Value(INT, inverse(self.condition(node.expr)))
        made = self.promoted(self.value(node.expr))
        if node.op == "-":
            return self.binary(node, "-", Value(made.type, 0), made)
        if node.op == "~":
            return Value(made.type, -1 - made.term if made.type.signed else made.type.high - made.term)
        raise NotImplementedError(node.op)

    def promoted(self, value):
        return Value(INT if value.type.bits < 32 else value.type, number(value.term))

    def common(self, a, b):
        a, b = self.promoted(a).type, self.promoted(b).type
        if a.bits != b.bits:
            return a if a.bits > b.bits else b
        return a if not a.signed else b

    def value_BinaryOp(self, node):
        if node.op in ("&&", "||"):
            left = self.condition(node.left)
            decided, entered = left if node.op == "&&" else inverse(left), self.active
            if not self.is_possible(both(entered, decided)):
                return Value(INT, node.op == "||")
            self.active = both(entered, decided)
            right = self.condition(node.right)
            self.active = entered
            return Value(INT, both(decided, right) if node.op == "&&" else either(inverse(decided), right))
        return self.binary(node, node.op, self.value(node.left), self.value(node.right))

    def binary(self, node, op, left, right):
        if op in ("<<", ">>"):
            return self.shift(node, op, self.promoted(left), self.promoted(right).term)
        type = self.common(left, right)
        a, b = number(self.converted(left, type)), number(self.converted(right, type))
        if op in ("<", "<=", ">", ">=", "==", "!="):
            return Value(INT, {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op])
        if op in ("&", "|"):
            return Value(type, self.bits_of(node, op, a, b))
        if op == "*" and not is_known(a) and not is_known(b):
            exact = self.product(self, a, b)
        else:
            exact = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: self.quotient(node, a, b)}[op]()
        if not type.signed:
            return Value(type, self.reduced(exact, type))
        self.demand(in_type(exact, type), node, f"{op} leaves {type.bits} bits")
        return Value(type, exact)

    def quotient(self, node, a, b):
        """By a known number; that nothing negative is divided is an obligation."""
        if not is_known(b) or b <= 0:
            raise NotImplementedError(f"{node.coord}: a quotient by {b}")
        self.demand(a >= 0, node, "a negative number is divided")
        return a // b if is_known(a) else a / b

    def reduced(self, term, type):
        """The term modulo 2^bits: itself where that can be shown."""
        if is_known(term) or self.is_possible(both(self.active, z3.Not(in_type(term, type)))):
            made = wrapped(term, type)
            if not is_known(made):
                self.wrapped[made.get_id()] = made, term, type.bits
            return made
        return term

    def bits_of(self, node, op, a, b):
        if is_known(a) and is_known(b):
            return a & b if op == "&" else a | b
        if is_known(a):
            a, b = b, a
        if op == "&" and is_known(b):
            if b >= 0 and b & b + 1 == 0:
                _, whole, bits = self.wrapped.get(a.get_id(), (a, a, 64))
                return modulo(whole if bits >= b.bit_length() else a, b.bit_length())
            return sum(modulo(divided(a, k), 1) * (1 << k) for k in range(64) if b >> k & 1)
        if op == "|":  # of numbers with no bit in common, which is an obligation: b below the lowest bit of a
            self.demand(z3.And(b >= 0, b < 1 << 32, a % (1 << 32) == 0), node, "| of bits in common")
            return a + b
        raise NotImplementedError(f"{node.coord}: {op} of two unknown numbers")

    def shift(self, node, op, left, count):
        if not is_known(count):
            raise NotImplementedError(f"{node.coord}: a shift by what is not known")
        self.demand(0 <= count < left.type.bits, node, f"a shift by {count}")
        count = min(max(count, 0), left.type.bits - 1)
        if op == ">>":
            return Value(left.type, divided(left.term, count))
        exact = left.term * (1 << count)
        if not left.type.signed:
            return Value(left.type, self.reduced(exact, left.type))
        self.demand(both(left.term >= 0, in_type(exact, left.type)), node, "<< leaves its type")
        return Value(left.type, exact)


def in_type(term, type):
    return type.low <= term <= type.high if is_known(term) else z3.And(term >= type.low, term <= type.high)


def cut(names, invariant, measure):
    """A loop by its invariant(run, frame): it holds at first, and if it and the condition hold, after the body; so behind
    the loop it holds and the condition does not. What it changes: the variables `names`, or (struct, field). `measure` is
    a number that is never below 0 and shrinks each time."""
    def loop(run, node, frame):
        cells = [frame[name[0]].cells[name[1]] if isinstance(name, tuple) else frame[name] for name in names]
        entered = run.active
        run.demand(invariant(run, frame), node, "the invariant holds at first")
        for cell in cells:
            cell.term = run.symbol("loop", cell.type.low, cell.type.high)
        terms, assumed = [cell.term for cell in cells], invariant(run, frame)
        before = measure(run, frame)
        run.active = both(entered, assumed)
        condition = run.condition(node.cond)
        run.active = both(run.active, condition)
        run.execute(node.stmt)
        if isinstance(node, c_ast.For):
            run.execute(node.next)
        run.demand(invariant(run, frame), node, "the invariant holds again")
        run.demand(z3.And(0 <= measure(run, frame), measure(run, frame) < before), node, "the loop ends")
        # The variables are now those of the last round, which returns, or those behind the loop.
        run.assumptions.append(z3.Implies(entered, both(assumed, inverse(run.active))))
        for cell, term in zip(cells, terms):
            cell.term = term
        run.active = both(entered, both(assumed, inverse(condition)))
    return loop
