# SPDX-License-Identifier: Apache-2.0
"""Networks of pictures by integers alone, beside their real numbers: the three of rapidocr-onnxruntime (PyPI), which find lines
of text, turn them upright and read them, on text that is drawn here. A part of bench_networks.py."""
import importlib.util
import pathlib
import tempfile

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, quantize_static
from PIL import Image, ImageDraw, ImageFont

import pwl.onnx
from pwl.network import Widths, quantise
from pwl.onnx.network import real_network
from spent import least_sum, spend

WORDS = ("lantern harbour seven oranges bridge theory railway station children choir northern lights kilos bread peace frog "
         "final match ancient manuscript violin bakery river council volcano judge geese museum football letter Brazil").split()
WIDTHS = (("16 bits", Widths.all(16)), ("8 bits but residual, products' and tables' inputs and outputs", Widths()),
          ("8 bits but residual", Widths(product_input=8, table_input=8, table_output=8)))
BACKGROUND = (200, 256)


def line(random, height, width):
    """Some words in one line, dark on light or light on dark, and what they are."""
    font, text = ImageFont.load_default(int(random.integers(24, 34))), ""
    while True:
        word = str(random.choice(WORDS))
        if font.getlength(f"{text} {word}") > width - 12:
            break
        text = f"{text} {word}".strip()
    dark, light = int(random.integers(0, 90)), int(random.integers(*BACKGROUND))
    ink, paper = (dark, light) if random.random() < 0.7 else (light, dark)
    picture = Image.new("L", (width, height), paper)
    ImageDraw.Draw(picture).text((6, height // 2), text, ink, font, "lm")
    pixels = np.asarray(picture, np.float64) + random.normal(0, 6, (height, width))
    return np.clip(pixels, 0, 255), text


def page(random, size):
    """A page with a few lines."""
    pixels = np.full((size, size), float(random.integers(*BACKGROUND)))
    for top in range(8, size - 40, 60):
        width = int(random.integers(size // 2, size - 16))
        left = int(random.integers(8, size - width))
        pixels[top:top + 40, left:left + width] = line(random, 40, width)[0]
    return pixels


def as_input(pixels):
    """One picture or more as the networks take them: three equal channels from -1 to 1."""
    return np.repeat((np.asarray(pixels, np.float32) / 127.5 - 1)[:, None], 3, 1)


def read_off(shares, characters):
    """The text of the likeliest character of each place, without spaces: repeated ones count once, and 0 is none."""
    texts = []
    for places in shares.argmax(-1):
        kept = [code for k, code in enumerate(places) if code and (k == 0 or code != places[k - 1])]
        texts.append("".join(characters[code] for code in kept).replace(" ", ""))
    return texts


def characters_of(session):
    return ["", *session.get_modelmeta().custom_metadata_map["character"].splitlines(), " "]


class Batches(CalibrationDataReader):
    """What ONNX Runtime calibrates on."""

    def __init__(self, name, batches):
        self.rest = iter([{name: x} for x in batches])

    def get_next(self):
        return next(self.rest, None)


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def by_session(session):
    name = session.get_inputs()[0].name
    return lambda x: session.run(None, {name: x})[0]


def static_int8(path, batches):
    """The model by ONNX Runtime's own static INT8, calibrated on the same batches."""
    with tempfile.TemporaryDirectory() as folder:
        quantize_static(str(path), f"{folder}/int8.onnx", Batches(session_of(path).get_inputs()[0].name, batches), per_channel=True)
        return by_session(session_of(f"{folder}/int8.onnx"))


def compare(report, path, name, batches, pictures, judged):
    """The network of a file on pictures, in each of the widths and by ONNX Runtime: judged(output) tells a row's figures. Times are
    the least of three rounds for each four pictures."""
    session = session_of(path)
    fours = [(pictures[k:k + 4],) for k in range(0, len(pictures), 4)]
    network, ranges = real_network(str(path), batches)

    def row(codes, run, real=None):
        spent = []
        for _ in range(3):
            found = np.concatenate([spend(run, four, spent) for four in fours]).astype(np.float64)
        real = found if real is None else real
        flat, exact = (x.reshape(len(x), -1) for x in (found, real))
        cosine = float(((flat * exact).sum(1) / np.linalg.norm(flat, axis=1) / np.linalg.norm(exact, axis=1)).mean())
        judge, ms = judged(session, real)(found), 1e3 * least_sum(spent, len(fours)) / len(pictures)
        report({"network": name, "codes": codes, "cosine": cosine, "judged": judge, "ms": ms})
        print(f"| {name} | {codes} | {cosine:.5f} | {judge} | {ms:.1f} |", flush=True)
        return found

    real = row("float32, ONNX Runtime", by_session(session))
    row("static INT8, ONNX Runtime", static_int8(path, batches), real)
    for codes, widths in WIDTHS:
        made = quantise(network, ranges, widths)
        row(codes, made.real, real)
        for one in made.report(batches[0][:2]).kinds:
            report({"network": name, "codes": codes, "part": one.name, "loss": one.loss})
            print(f"<!-- {codes}, loss of {one.name}: {one.loss:.5f} -->", flush=True)


def pictures(report):
    folder = pathlib.Path(importlib.util.find_spec("rapidocr_onnxruntime").origin).parent / "models"
    random = np.random.default_rng(1)
    print("\n## Text in pictures: rapidocr-onnxruntime\n\n| network | codes | cosine to float | right | ms a picture |\n"
          "|---|---|---:|---|---:|")

    def lines(count, width):
        drawn = [line(random, 48, width) for _ in range(count)]
        return np.array([pixels for pixels, _ in drawn]), [text for _, text in drawn]

    upright, _ = lines(96, 192)
    turned = np.arange(96) % 2 == 1
    upright[turned] = upright[turned, ::-1, ::-1]

    def direction(session, real):
        return lambda y: (f"{np.mean((y.argmax(1) == 1) == turned[32:]):.4f} "
                          f"(as float: {np.mean(y.argmax(1) == real.argmax(1)):.4f})")

    given = as_input(upright)
    compare(report, folder / "ch_ppocr_mobile_v2.0_cls_infer.onnx", "direction", [given[:32]], given[32:], direction)

    pixels, texts = lines(48, 320)

    def reading(session, real):
        characters = characters_of(session)
        exact, wanted = read_off(real, characters), [text.replace(" ", "") for text in texts[16:]]
        return lambda y: (f"{np.mean([a == b for a, b in zip(read_off(y, characters), wanted)]):.4f} "
                          f"(as float: {np.mean([a == b for a, b in zip(read_off(y, characters), exact)]):.4f})")

    given = as_input(pixels)
    compare(report, folder / "ch_PP-OCRv4_rec_infer.onnx", "reading", [given[:8], given[8:16]], given[16:], reading)

    def places(session, real):
        return lambda y: f"{((y > 0.3) & (real > 0.3)).sum() / ((y > 0.3) | (real > 0.3)).sum():.4f} of float's pixels of text"

    given = as_input([page(random, 256) for _ in range(12)])
    compare(report, folder / "ch_PP-OCRv4_det_infer.onnx", "places", [given[:4]], given[4:], places)
