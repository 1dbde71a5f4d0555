# SPDX-License-Identifier: Apache-2.0
"""The cpu plugin built apart from everything else: other flags, a changed source, under the key "variant".

Only the plugin is built here. The oracle that judges it, in the coordinator, stays that of the build directory, so that
a changed reference is never compared with itself.
"""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPU = ROOT / "backends/cpu"
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno", "-w",
         '-DKEYWAY_PLUGIN_VERSION="variant"', f"-I{ROOT}/abi/include"]
COMPUTE_TYPES = ["reference_f32.c", "reference_f64.c"]  # those that include the .inc files


def is_reference(path):
    """What is part of the cpu plugin: neither tests nor the oracle's own compute type."""
    return path.suffix in (".c", ".inc", ".h") and not path.name.endswith("_test.c") and path.name not in (
        "test_call.h", "reference_f128.c")


def reference_sources():
    return sorted(path for path in (CPU / "reference").iterdir() if is_reference(path))


def libraries(build):
    """What the fast kernels are linked with."""
    cache = (Path(build) / "CMakeCache.txt").read_text()
    return ["-lsleef"] if "\nSLEEF_FOUND:INTERNAL=1" in cache else []


class Variant:
    """A directory with a copy of the plugin's sources, its objects and the library. The fast kernels are those of the
    build directory, and are not registered: see conform."""

    def __init__(self, build, directory, flags):
        self.directory, self.flags = Path(directory), flags
        self.fast = [str(Path(build).resolve() / "lib/libkeyway_fast.a"), *libraries(build)]
        self.reference = self.directory / "reference"
        self.library = self.directory / "keyway_variant.so"
        shutil.rmtree(self.directory, ignore_errors=True)
        self.reference.mkdir(parents=True)
        for path in list(CPU.glob("*.[ch]")) + reference_sources():
            if not path.name.endswith("_test.c"):
                shutil.copy(path, self.directory / path.relative_to(CPU))
        plugin = self.directory / "plugin.c"
        plugin.write_text(plugin.read_text().replace('.key = "cpu"', '.key = "variant"'))

    def units(self):
        return sorted(self.directory.glob("*.c")) + sorted(self.reference.glob("*.c"))

    def refusal(self, unit):
        """What the compiler says of a unit that it refuses; None of one that it compiles."""
        done = subprocess.run(["gcc", *FLAGS, *self.flags, f"-I{self.reference}", f"-I{self.directory}", f"-I{CPU}", "-c",
                               str(unit), "-o", str(unit.with_suffix(".o"))],
                              cwd=self.directory, capture_output=True, text=True, errors="replace")
        return done.stderr if done.returncode != 0 else None

    def compile_all(self):
        for unit in self.units():
            refusal = self.refusal(unit)
            if refusal is not None:
                raise SystemExit(f"{unit} does not compile as FLAGS of {Path(__file__).name} say:\n{refusal}")

    def link(self):
        objects = [str(unit.with_suffix(".o")) for unit in self.units()]
        subprocess.run(["gcc", "-shared", *self.flags, *objects, "-o", str(self.library), *self.fast, "-lm", "-lpthread",
                        "-Wl,-Bsymbolic", f"-Wl,--version-script={ROOT}/cmake/plugin.map"], check=True, cwd=self.directory)


def program(build, directory):
    """The keyway program and its library and worker in a directory of their own, without plugins that each start would
    have to load. Returns the program's path."""
    build, directory = Path(build).resolve(), Path(directory)
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "lib/keyway").mkdir(parents=True)
    (directory / "bin").mkdir()
    shutil.copy(build / "bin/keyway", directory / "bin")
    for path in (build / "lib").glob("libkeyway.so*"):
        shutil.copy(path, directory / "lib", follow_symlinks=False)
    for path in (build / "lib/keyway").iterdir():
        if path.is_file():
            shutil.copy(path, directory / "lib/keyway")
    return directory / "bin/keyway"


def conform(keyway, library, *arguments, environment=None, timeout=600):
    """The exit code of a run of the suite on the library, and what it printed. It finds nothing of what runs before it left."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([str(keyway), "conform", "--plugin", str(library), "--device", "variant:0", *arguments],
                              capture_output=True, text=True, errors="replace", timeout=timeout,
                              env={**os.environ, "HOME": home, "XDG_CACHE_HOME": home, "KEYWAY_CPU_CAPABILITY": "reference",
                                   **(environment or {})})
    return done.returncode, done.stdout + done.stderr


def parts(keyway, library):
    """What there is to run: the options for each op of which the suite has cases, and for the contract suites in which
    kernels find what no op case has: data out of range, random states in memory. As a table: name -> options."""
    code, text = conform(keyway, library, "--suite", "ops", "--list")
    if code != 0:
        raise SystemExit(f"the variant of the cpu plugin cannot be used: {text}")
    table = {op: ["--suite", "ops", "--op", op] for op in sorted({line.split("/")[0] for line in text.splitlines() if line})}
    return {**table, **{f"suite {suite}": ["--suite", suite] for suite in ("error", "graph", "rng")}}
