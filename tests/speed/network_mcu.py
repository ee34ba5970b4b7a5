# SPDX-License-Identifier: Apache-2.0
"""Networks as pwlc emits them on Cortex-M processors: sizes of the program, and instructions in an emulator. A part of
bench_networks.py."""
import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLATFORM, RUNTIME = ROOT / "tests/platform", ROOT / "runtime"
# Processor, board of the emulator, flags, ways, bytes of both memories: as tests/platform/meson.build has them.
PROCESSORS = {"cortex-m7": ("mps2-an500", [], {"DSP": ["cells16_dsp.c"]}, "4M"),
              "cortex-m55": ("mps3-an547", ["-mfloat-abi=hard"],
                             {"DSP": ["cells16_dsp.c"], "HELIUM": ["bytes_helium.c", "cells16_helium.c"]}, "512K")}
COMPILER, EMULATOR, SIZE = "arm-none-eabi-gcc", "qemu-system-arm", "arm-none-eabi-size"


def source_of(network, codes, wanted):
    """A program that runs the network on these codes, and fails where a code is another."""
    text, names = '#include "network.h"\n#include "ticks.h"\n', []
    for kind, arrays in (("given", codes), ("wanted", wanted)):
        for k, array in enumerate(arrays):
            text += f"static const {array.dtype.name}_t {kind}_{k}[] = {{{', '.join(map(str, array.ravel()))}}};\n"
    for k, array in enumerate(wanted):
        text += f"static {array.dtype.name}_t made_{k}[{array.size}];\n"
    names = [f"given_{k}" for k in range(len(codes))] + [f"made_{k}" for k in range(len(wanted))]
    compared = "".join(f"    for (int i = 0; i < {array.size}; i++)\n        failed |= made_{k}[i] != wanted_{k}[i];\n"
                       for k, array in enumerate(wanted))
    return (f"{text}int main(void)\n{{\n    const uint32_t calibration = ticks_begin(), then = SYST_CVR;\n"
            f"    int failed = network_program_run({', '.join(names)}) != PWL_OK;\n"
            "    const uint32_t taken = ticks_per_element(then, calibration, 1);\n"
            f"{compared}    print_instructions(\"network\", \"run\", taken);\n    return failed;\n}}\n")


def built(processor, folder, program):
    board, flags, ways, memory = PROCESSORS[processor]
    sources = [PLATFORM / "cortex_m.c", folder / program, *RUNTIME.glob("*.c"), *RUNTIME.glob("rows/*.c"),
               *RUNTIME.glob("network/*.c"), *(RUNTIME / "arm" / name for names in ways.values() for name in names)]
    subprocess.run([COMPILER, f"-mcpu={processor}", "-mthumb", *flags, "-O2", "-std=c11", "-ffreestanding", "-ffunction-sections",
                    "-fdata-sections", *(f"-DPWL_HAVE_{name}" for name in ways), f"-I{folder}", f"-I{RUNTIME / 'include'}",
                    f"-I{PLATFORM / 'freestanding'}", f"-I{PLATFORM}", *sources, "-nostdlib", "-Wl,--gc-sections",
                    "-T", PLATFORM / "cortex_m.ld", "-Wl,--defsym=rom=0", f"-Wl,--defsym=rom_bytes={memory}",
                    "-Wl,--defsym=ram=0x20000000", f"-Wl,--defsym=ram_bytes={memory}", "-lgcc", "-o", folder / "program"], check=True)
    sizes = subprocess.run([SIZE, folder / "program"], check=True, capture_output=True, text=True).stdout.splitlines()[1].split()[:3]
    return [int(size) for size in sizes]  # text, data, bss


def counted(processor, folder):
    found = subprocess.run([EMULATOR, "-M", PROCESSORS[processor][0], "-nographic", "-monitor", "none", "-serial", "none",
                            "-semihosting-config", "enable=on,target=native", "-icount", "shift=6", "-kernel", folder / "program"],
                           capture_output=True, text=True, timeout=300)
    if found.returncode != 0:
        raise SystemExit(f"{processor}: the program gives other codes: {found.stdout} {found.stderr}")
    return float((found.stdout + found.stderr).split()[-1])  # what is said comes by stderr


def array_bytes(network):
    return sum(array.nbytes for node in network.nodes for array in node.arrays.values()) + sum(
        array_bytes(node.body) for node in network.nodes if node.body is not None)


def programs(report, networks):
    """Of each network by its name, with codes of its inputs."""
    missing = [tool for tool in (COMPILER, EMULATOR, SIZE) if not shutil.which(tool)]
    if missing:
        print(f"\n{', '.join(missing)}: missing, no Cortex-M")
        return
    print("\n## Emitted programs, one picture\n\n| network | processor | bytes of ROM | of these the network's arrays | bytes of RAM | "
          "instructions |\n|---|---|---:|---:|---:|---:|")
    for name, (network, codes) in networks.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            network.save(folder / "network.json")
            sizes = {size: count for edge, array in zip(network.inputs, codes) for size, count in zip(network.edges[edge].shape, array.shape)
                     if isinstance(size, str)}
            subprocess.run([os.environ["PWLC"], "emit", folder / "network.json", "--name", "network_program", "-o", folder / "network.h",
                            *(part for size, count in sizes.items() for part in ("--size", f"{size}={count}"))], check=True)
            made = network(*codes)
            (folder / "main.c").write_text(source_of(network, codes, made if isinstance(made, tuple) else (made,)))
            (folder / "empty.c").write_text('#include "ticks.h"\nint main(void)\n{\n    print_instructions("network", "run", '
                                            "ticks_per_element(SYST_CVR, ticks_begin(), 1));\n    return 0;\n}\n")
            for processor in PROCESSORS:
                empty = built(processor, folder, "empty.c")
                text, data, bss = (size - less for size, less in zip(built(processor, folder, "main.c"), empty))
                row = {"network": name, "processor": processor, "rom": text + data, "arrays": array_bytes(network),
                       "ram": data + bss, "instructions": counted(processor, folder)}
                report(row)
                print(f"| {name} | {processor} | {row['rom']} | {row['arrays']} | {row['ram']} | {row['instructions']:.0f} |", flush=True)
