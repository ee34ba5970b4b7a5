# SPDX-License-Identifier: GPL-3.0-or-later
"""check_litert.py PWLC: what LiteRT's own operators give at every code is what recipes.py says of them, and pwlc's tables
of the same types and sizes are no worse."""
import json
import sys

import numpy as np
from ai_edge_litert import interpreter

import recipes
from tables import Pwlc, check, difference, end
from tflite_model import one_operator

# Of int8, every operator has a table. Of int16, LOGISTIC and TANH have none at these scales.
BYTES = (("sigmoid", "s8:2^-4:0", "s8:2^-8:-128"), ("tanh", "s8:2^-4:0", "s8:2^-7:0"),
         ("gelu", "s8:2^-4:0", "s8:2^-5:-123"), ("exp", "s8:2^-6:0", "s8:2^-5:-128"))
POINTS = (("gelu", "s16:2^-13:0", "s16:2^-13:0"), ("exp", "s16:2^-13:0", "s16:2^-9:0"))
OTHERS = (("sigmoid", "s16:2^-12:0", "s16:2^-15:0"), ("tanh", "s16:2^-12:0", "s16:2^-15:0"),
          ("sigmoid", "s16:2^-11:0", "s16:2^-15:0"), ("tanh", "s16:2^-11:0", "s16:2^-15:0"))


def litert(function, of_in, of_out, resolver=interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
    """Outputs of a model of one operator at every code."""
    codes = np.arange(of_in.qmin, of_in.qmax + 1).astype(f"int{of_in.bits}").reshape(1, -1)
    model = one_operator(function, of_in.bits, codes.size, of_in.scale, of_out.scale, of_out.zero)
    made = interpreter.Interpreter(model_content=model, num_threads=1, experimental_op_resolver_type=resolver)
    made.allocate_tensors()
    made.set_tensor(made.get_input_details()[0]["index"], codes)
    made.invoke()
    return made.get_tensor(made.get_output_details()[0]["index"]).ravel()


def check_recipe(pwlc, profile, recipe, function, types):
    of_in, of_out = (recipes.Type(text) for text in types)
    f = recipes.target(function, of_in, of_out)
    made = np.array(recipe(function, of_in, of_out))
    got = litert(function, of_in, of_out)
    what = f"{function} {types[0]} to {types[1]}"
    check(f"{what}: LiteRT gives what its recipe says", difference(got, made))
    table = pwlc.fit(function, profile, "--in", types[0], "--out", types[1])
    largest, theirs = (recipes.errors(outputs, f, of_in, of_out)[0] for outputs in (pwlc.outputs(table, of_in.bits), got))
    check(f"{what}: {profile}'s largest error, {largest:.4f}, is not above LiteRT's, {theirs:.4f}",
          "" if largest <= theirs else "it is")
    written = json.loads(table.read_text())["certificate"]["max_err_lsb"]
    check(f"{what}: the certificate's largest error is the measured one",
          "" if abs(written - largest) <= 1e-5 * largest else f"it says {written}")


def main():
    pwlc = Pwlc(sys.argv[1])
    for function, *types in BYTES:
        check_recipe(pwlc, "tflm8", recipes.each_code, function, types)
    for function, *types in POINTS:
        check_recipe(pwlc, "tflm16", recipes.tflm, function, types)
    for function, *types in OTHERS:
        of_in, of_out = (recipes.Type(text) for text in types)
        f = recipes.target(function, of_in, of_out)
        for name, kind in (("by default", interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES),
                           ("by its reference kernels", interpreter.OpResolverType.BUILTIN_REF)):
            largest, rms = recipes.errors(litert(function, of_in, of_out, kind), f, of_in, of_out)
            print(f"# {function} {types[0]} to {types[1]}, no table of points, {name}: largest error {largest:.3f}, "
                  f"root mean square {rms:.3f}")
    end()


main()
