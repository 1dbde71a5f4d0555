#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: new_test.py KEYWAY COMPILER INCLUDE EXAMPLES

`keyway new`: what it writes are the examples; under another name the bare one compiles and keeps the promises of the
ABI; what is wrong with a name or a folder it says, and leaves nothing behind. Its tests run by ctest, and `keyway conform --watch`, on that plugin.
"""
import filecmp
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

keyway, compiler, include, examples = sys.argv[1:]
os.chdir(work := tempfile.mkdtemp(prefix="keyway-new-"))


def run(*arguments, code=0, says=""):
    done = subprocess.run([keyway, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != code or says not in done.stdout:
        sys.exit(f"keyway {' '.join(arguments)}: exit {done.returncode}, wanted {code} and '{says}':\n{done.stdout}")


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def compile_plugin(folder):
    subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-fPIC", "-shared",
                    "-fvisibility=hidden", f"-I{include}", f"{folder}/plugin.c", "-o", f"{folder}.so"], check=True)


# The examples are what it makes.
run("new", "vendor_bare", "--vendor", "acme", says="vendor_bare:0")
assert files("vendor_bare") == files(f"{examples}/vendor_bare"), files("vendor_bare")
for name in files("vendor_bare"):
    assert filecmp.cmp(f"vendor_bare/{name}", f"{examples}/vendor_bare/{name}", shallow=False), name
run("new", "vendor_gpu", "--vendor", "acme", "--kit", "gpu")
for name in files(f"{examples}/vendor_gpu"):
    text = Path(f"{examples}/vendor_gpu/{name}").read_text().replace("agpu", "vendor_gpu")
    assert Path(f"vendor_gpu/{name}").read_text() == text, name
assert sum(1 for _ in open("vendor_bare/plugin.c")) <= 250

# Other names are everywhere.
run("new", "my_npu", "--vendor", "my_company", "--dir", "deep/my_npu")
for name in files("deep/my_npu"):
    text = Path(f"deep/my_npu/{name}").read_text()
    assert not any(word in text for word in ("vendor_bare", "acme", "agpu")), name

# What is refused leaves nothing.
before = files(".")
run("new", code=2, says="needs a name and a vendor")
run("new", "my_npu", code=2, says="needs a name and a vendor")
run("new", "My-NPU", "--vendor", "me", code=2, says="'My-NPU' is no name")
run("new", "npu", "--vendor", "9", code=2, says="'9' is no vendor: [a-z][a-z0-9_]*, at most 31 characters, as in my_company")
run("new", "cpu", "--vendor", "me", code=2, says="the name 'cpu' is taken")
run("new", "npu", "--vendor", "me", "--kit", "none", code=2, says="there is no kit 'none'")
run("new", "my_npu", "--vendor", "me", "--dir", "deep/my_npu", code=1, says="choose another with --dir")
run("new", "npu", "--vendor", "me", "--dir", "vendor_bare/plugin.c/npu", code=1, says="Not a directory")
assert files(".") == before and not list(Path(".").rglob("*.part"))
os.mkdir("empty")
run("new", "npu", "--vendor", "me", "--dir", "empty")

# The plugin: promises of the ABI, and the first op that is missing, by name.
compile_plugin("deep/my_npu")
device = ["--plugin", "deep/my_npu.so", "--device", "my_npu:0"]
suites = ("--suite", "abi,lifecycle,memory,stream,launch,event,slots,copy,error,graph")
run("conform", *device, *suites, says="verdict: conformant")
run("conform", *device, *suites, "--level", "core", says="verdict: conformant") # an op that is not there breaks no promise
run("conform", *device, "--suite", "ops", "--level", "core", "--quick", "--op", "add.Tensor,copy_", code=1,
    says="unimplemented copy_")

# Its tests as ctest runs them, of the compiled plugin: known failures alone are no failure.
Path("ctest").mkdir()
Path("ctest/CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.22)
project(my_npu LANGUAGES NONE)
add_executable(my_npu IMPORTED)
set_target_properties(my_npu PROPERTIES IMPORTED_LOCATION {work}/deep/my_npu.so)
include(tests.cmake)
""")
Path("ctest/tests.cmake").write_text(Path("deep/my_npu/tests.cmake").read_text())


def ctest(known, fails, says):
    Path("ctest/known_failures.json").write_text(json.dumps([{"case": case, "reason": "no copy_ yet"} for case in known]))
    done = subprocess.run(["ctest", "--test-dir", "ctest/build", "-R", "ops"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert (done.returncode != 0) == fails and says in done.stdout, done.stdout


subprocess.run(["cmake", "-S", "ctest", "-B", "ctest/build", f"-DKEYWAY={keyway}"], check=True, stdout=subprocess.DEVNULL)
ctest([], True, "***Failed")
ctest(["add.*/f32/mixed/*", "sub.*/f32/mixed/*"], False, "***Skipped")
launch = Path("deep/my_npu/.vscode/launch.json").read_text()
run("conform", *device, "--case", re.search('"default": "(.*)"', launch)[1], says="verdict: conformant")

# --watch: runs, and again when the plugin was built, until a signal.
run("conform", "--device", "cpu:0", "--watch", code=2, says="nothing to watch")
watch = subprocess.Popen([keyway, "conform", *device, "--suite", "lifecycle", "--watch"], stdout=subprocess.PIPE, text=True)


def wait_for(text):
    for line in watch.stdout:
        if text in line:
            return
    sys.exit(f"--watch ended with {watch.wait()} before it said '{text}'")


wait_for("verdict: conformant")
wait_for("waiting for my_npu.so")
compile_plugin("deep/my_npu")
wait_for("verdict: conformant")
wait_for("waiting for my_npu.so")
source = Path("deep/my_npu/plugin.c")
source.write_text(source.read_text().replace("*out_count = 1", "*out_count = 0"))
compile_plugin("deep/my_npu")
wait_for("waiting for my_npu.so")
watch.send_signal(signal.SIGINT)
assert watch.wait() == 130, watch.returncode
subprocess.run(["rm", "-r", work])
