#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Block formats against the gguf package (pip install gguf): bytes by ggml's rules, and values, of random matrices; of
super-blocks the values of any bytes.

blocks_gguf.py [CC [PWLC]]: compiles kernels/blocks/blocks.c with CC (cc) into a temporary library; with PWLC also has `pwlc gguf
extract` read a file that the package writes. Exit 77 without the package.
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile

try:
    import gguf
    import numpy as np
except ImportError as error:
    print(f"blocks_gguf.py: {error}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[3]
RULE_GGML = 1
FORMATS = {0: (gguf.GGMLQuantizationType.Q4_0, 18), 1: (gguf.GGMLQuantizationType.Q8_0, 34),
           3: (gguf.GGMLQuantizationType.MXFP4, 17)}

SUPER = {4: gguf.GGMLQuantizationType.Q4_K, 5: gguf.GGMLQuantizationType.Q5_K, 6: gguf.GGMLQuantizationType.Q6_K}


def load(directory, cc):
    path = f"{directory}/libblocks.so"
    sources = [f"{ROOT}/{name}" for name in ("kernels/blocks/blocks.c", "kernels/blocks/q8.c", "runtime/levels.c")]
    subprocess.run([cc, "-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT}/runtime/include",
                    f"-I{ROOT}/kernels/include", f"-I{ROOT}/kernels", *sources, "-o", path], check=True)
    library = ctypes.CDLL(path)
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    library.pwl_quantise.argtypes = [ctypes.c_int, ctypes.c_int, pointer, size, size, size, pointer]
    library.pwl_dequantise.argtypes = [ctypes.c_int, pointer, size, size, size, pointer]
    return library


def matrices():
    rng = np.random.default_rng(1)
    gaussian = rng.standard_normal((512, 4096)).astype(np.float32)
    yield "Gaussian", gaussian
    yield "uniform", rng.uniform(-1, 1, (512, 4096)).astype(np.float32)
    yield "tiny", gaussian[:64] * np.float32(1e-5)
    yield "multiples of 1/4", (np.round(rng.uniform(-16, 16, (256, 4096))) / 4).astype(np.float32)
    yield "zero", np.zeros((2, 64), np.float32)


def super_blocks(rng, kind, rows, blocks):
    """Of any bytes, but for scales that are infinite or NaN."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    data = rng.integers(0, 256, (rows, blocks, size), np.uint8)
    for at in ([size - 2] if kind == gguf.GGMLQuantizationType.Q6_K else [0, 2]):
        scales = rng.integers(0, 1 << 16, (rows, blocks), np.uint16)
        scales[scales & 0x7c00 == 0x7c00] ^= 0x400
        data[..., at:at + 2] = scales[..., None].view(np.uint8)
    return data.reshape(rows, blocks * size)


def extract(directory, pwlc):
    """Whether pwlc reads each type of tensor as the package means it."""
    kinds = gguf.GGMLQuantizationType
    path, array = f"{directory}/model.gguf", f"{directory}/tensor.npy"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_string("general.name", "test")
    writer.add_array("tokens", ["a", "b"])
    rng = np.random.default_rng(2)
    expected = {}
    for kind in (kinds.F32, kinds.F16, kinds.BF16, kinds.Q4_0, kinds.Q8_0, kinds.MXFP4, *SUPER.values()):
        data = (super_blocks(rng, kind, 5, 2) if kind in SUPER.values() else
                gguf.quants.quantize(rng.standard_normal((5, 96)).astype(np.float32), kind))
        expected[kind.name] = gguf.quants.dequantize(data, kind).astype(np.float32)
        writer.add_tensor(kind.name, data, raw_dtype=None if kind in (kinds.F32, kinds.F16) else kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    good = True
    for name, values in expected.items():
        subprocess.run([pwlc, "gguf", "extract", path, name, "-o", array], check=True)
        same = np.array_equal(np.load(array), values)
        good &= same
        print(f"{name} of a file: values {'equal' if same else 'differ'}")
    return good


def main():
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        library = load(directory, sys.argv[1] if len(sys.argv) > 1 else "cc")
        for form, (kind, block) in FORMATS.items():
            for name, x in matrices():
                rows, k = x.shape
                ours = np.zeros((rows, k // 32 * block), np.uint8)
                assert library.pwl_quantise(form, RULE_GGML, x.ctypes.data, rows, k, k, ours.ctypes.data) == 0
                theirs = np.ascontiguousarray(gguf.quants.quantize(x, kind))
                values = np.zeros_like(x)
                assert library.pwl_dequantise(form, theirs.ctypes.data, rows, k, k, values.ctypes.data) == 0
                differ = int((ours != theirs).sum())
                same = np.array_equal(values, gguf.quants.dequantize(theirs, kind))
                failed |= differ > 0 or not same
                print(f"{kind.name}, {name}: {differ} of {ours.size} bytes differ, values {'equal' if same else 'differ'}")
        for form, kind in SUPER.items():
            data = super_blocks(np.random.default_rng(3), kind, 512, 64)
            values = np.zeros((512, 64 * 256), np.float32)
            assert library.pwl_dequantise(form, data.ctypes.data, *values.shape, values.shape[1], values.ctypes.data) == 0
            differ = int((values.view(np.uint32) != gguf.quants.dequantize(data, kind).view(np.uint32)).sum())
            failed |= differ > 0
            print(f"{kind.name}, any bytes: {differ} of {values.size} values differ in a bit")
        if len(sys.argv) > 2:
            failed |= not extract(directory, sys.argv[2])
    return failed


if __name__ == "__main__":
    sys.exit(main())
