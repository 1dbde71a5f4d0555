# SPDX-License-Identifier: Apache-2.0
"""usage: capture_test.py KEYWAY PROGRAM FAULTY MODEL TRAINED MUTANT

Captures and their replays: the program beside this file (PROGRAM) and two models, which print the same with the layer on
and come out again bit for bit; a plugin with one defect (MUTANT, in native_layer_norm), whose first wrong call is named,
and cut out; calls that fail (FAULTY, below the layer fault), which leave nothing; files that reach their limit, are cut off, or damaged.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

KEYWAY, PROGRAM, FAULTY, MODEL, TRAINED, MUTANT = sys.argv[1:]


def run(*command, code=0, **variables):
    result = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300)
    assert result.returncode == code, f"{command}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result


def capture(file, *command, **variables):
    return run(*command, KEYWAY_LAYERS="capture", KEYWAY_CAPTURE=file, **variables)


def replay(file, *options, code=0):
    return json.loads(run(KEYWAY, "replay", file, "--json", *options, code=code).stdout)


def whole(folder):
    """One of each thing, and models as they are."""
    file = f"{folder}/program"
    assert capture(file, PROGRAM, "cpu:0").stdout == run(PROGRAM, "cpu:0").stdout
    assert not os.path.exists(file + ".part")
    plain = replay(file)
    assert plain["outcome"] == "same" and plain["complete"] and plain["launches"] == 2, plain
    assert plain["calls"] == 6 + 4 + 2 + 2 + 2 + 60, plain  # by function of the program
    assert plain["reads"] == 2 + 4 + 5 + 2 + 2 + 60, plain
    beside = replay(file, "--against", "cpu:0")
    assert beside["outcome"] == "same" and beside["in_bounds"] == 0 and beside["launches"] == 2, beside
    for name, command in ("model", [MODEL, "--device", "cpu:0"]), ("trained", [TRAINED, "--train", "gpt2"]):
        capture(f"{folder}/{name}", *command)
        again = replay(f"{folder}/{name}")
        assert again["outcome"] == "same" and again["calls"] > 30 and again["reads"] > 1, again
    said = run(KEYWAY, "replay", f"{folder}/model").stdout
    assert "all as it was, bit for bit" in said, said


def defect(folder):
    plugin = ["--plugin", MUTANT, "--device", "mutant:0"]
    file, cut = f"{folder}/model", f"{folder}/cut"
    assert replay(file, *plugin, code=1)["outcome"] == "differs"
    found = replay(file, *plugin, "--against", "cpu:0", "--cut", cut, code=1)
    assert found["outcome"] == "differs" and found["op"] == "native_layer_norm" and found["wrong"] > 0, found
    assert "native_layer_norm(f32[36, 128], [128], f32[128], f32[128], " in found["text"], found
    assert 1 < found["call"] < 38 and found["bounds"] > 1, found
    alone = replay(cut)
    assert alone["outcome"] == "same" and alone["calls"] == 1 and alone["reads"] > 0, alone
    assert replay(cut, *plugin, code=1)["op"] == ""
    again = replay(cut, *plugin, "--against", "cpu:0", code=1)
    assert again["op"] == "native_layer_norm" and again["call"] == 1, again
    assert os.path.getsize(cut) < os.path.getsize(file) / 10


def failures(folder):
    """In either order of the layers; without the faults it all comes out again."""
    for layers in "capture,fault", "fault,capture":
        file = f"{folder}/{layers}"
        said = run(FAULTY, "cpu:0", KEYWAY_LAYERS=layers, KEYWAY_CAPTURE=file,
                   KEYWAY_FAULT="launch/add.Tensor@2:io,memory.alloc@3:out_of_memory,launch/add.Tensor@3:late").stdout
        assert said.count("the fault layer") == 2, said  # the library tries the allocation again
        again = replay(file)
        assert again["outcome"] == "same" and again["calls"] == again["reads"] == 3, again


def limit(folder):
    file = f"{folder}/limited"
    said = capture(file, MODEL, "--device", "cpu:0", KEYWAY_CAPTURE_LIMIT="1500KiB").stderr
    assert "the capture ends here: it has reached its limit" in said, said
    assert os.path.getsize(file) <= 1500 * 1024
    said = run(KEYWAY, "replay", file)
    assert "ends at its limit" in said.stderr and "bit for bit" in said.stdout, said


def no_captures(folder):
    run(KEYWAY, "version", KEYWAY_LAYERS="capture", KEYWAY_CAPTURE=f"{folder}/none")
    assert not os.path.exists(f"{folder}/none") and not os.path.exists(f"{folder}/none.part")
    for name, words in ("/dev/null", "is no capture"), (f"{folder}/none", "cannot be read"):
        said = run(KEYWAY, "replay", name, code=2).stderr
        assert words in said, said
    said = run(KEYWAY, "replay", f"{folder}/program", "--device", "nope:0", code=2).stderr
    assert "there is no device 'nope" in said, said
    said = run(KEYWAY, "replay", f"{folder}/program", "--cut", f"{folder}/x", code=2).stderr
    assert "--cut FILE needs --against" in said, said
    said = capture(f"{folder}/no/folder", PROGRAM, "cpu:0").stderr
    assert said.count("nothing is captured") == 1, said


def damaged(folder):
    """Cut off anywhere, and with bytes changed: said, or run; never a crash."""
    with open(f"{folder}/program", "rb") as file:
        data = file.read()
    path = f"{folder}/damaged"
    draw = random.Random(20)
    for number in range(120):
        changed = bytearray(data)
        if number < 30:
            del changed[draw.randrange(16, len(data)):]
        else:
            for _ in range(draw.choice([1, 1, 1, 8])):
                at = draw.randrange(len(data))
                changed[at] = draw.choice([0, 0xFF, 0x7F, changed[at] ^ 1 << draw.randrange(8)])
        with open(path, "wb") as file:
            file.write(changed)
        options = [[], ["--against", "cpu:0"]][number % 2]
        result = subprocess.run([KEYWAY, "replay", path, *options], capture_output=True, text=True, timeout=300,
                                env={**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1"})
        assert result.returncode in (0, 1, 2), f"damage {number}: {result.returncode}\n{result.stderr}"
        assert number >= 30 or "is cut off" in result.stderr, result


with tempfile.TemporaryDirectory() as scratch:
    whole(scratch)
    defect(scratch)
    failures(scratch)
    limit(scratch)
    no_captures(scratch)
    damaged(scratch)
print("captures come out again; the first wrong call of a defective plugin is named; damaged ones harm nothing")
