# SPDX-License-Identifier: Apache-2.0
"""usage: fault_test.py PROGRAM

The fault layer on cpu:0: each kind of fault hits the step that it is meant for, says that the layer did it, and leaves the
others alone; what is lost stays lost until the device is closed. Twice the same rules give twice the same.
"""

import os
import subprocess
import sys
import time

STEPS = ["open"] + [f"{round} {step}" for round in ("first", "second", "third")
                    for step in ("create", "write", "add", "wait", "read")] + \
    ["close", "open again"] + [f"fourth {step}" for step in ("create", "write", "add", "wait", "read")]


def run(rules, layers="fault"):
    """What came of each step, and stderr."""
    variables = {**os.environ, "KEYWAY_LAYERS": layers, "KEYWAY_FAULT": rules}
    results = [subprocess.run([sys.argv[1], "cpu:0"], env=variables, capture_output=True, text=True, timeout=120)
               for _ in range(2)]
    for result in results:
        assert result.returncode == 0, result
        assert "wrong" not in result.stdout, result.stdout
    assert results[0].stdout == results[1].stdout, [r.stdout for r in results]
    return dict(line.split(": ", 1) for line in results[0].stdout.splitlines()), results[0].stderr


def check(rules, failing, absent=()):
    """failing: step to the beginning of what came of it. Steps in absent were not reached; all others went well."""
    said, _ = run(rules)
    for step in STEPS:
        if step in absent:
            assert step not in said, f"{rules}: {step}: {said[step]}"
        elif step in failing:
            assert said[step].startswith(failing[step]), f"{rules}: {step}: {said[step]}"
            assert "the fault layer" in said[step] or failing[step].startswith("device lost"), said[step]
        else:
            assert said[step] == "ok", f"{rules}: {step}: {said[step]}"
    return said


def steps(round, *names):
    return [f"{round} {name}" for name in names]


# The n-th call, and no other; by the slot's own count.
said = check("launch/add.Tensor@2:io", {"second add": "input or output failed"}, steps("second", "read"))
assert "launch/add.Tensor fail, call 2 of 'launch/add.Tensor@2:io'" in said["second add"], said
said = check("memory.copy@1:busy", {"first write": "busy"})
# From the n-th on, and all of a pattern.
check("launch/add*@2+:internal", {f"{r} add": "internal" for r in ("second", "third", "fourth")},
      [f"{r} read" for r in ("second", "third", "fourth")])
check("launch/mul*:internal", {})
# Two rules.
check("launch/add.Tensor@1:io,launch/add.Tensor@3:timeout", {"first add": "input or output failed", "third add": "timeout"},
      steps("first", "read") + steps("third", "read"))
# Out of memory, by a count and by bytes: afterwards there is some again.
check("memory.alloc@1+:out_of_memory", {f"{r} create": "out of memory" for r in ("first", "second", "third", "fourth")},
      [f"{r} {s}" for r in ("first", "second", "third", "fourth") for s in ("write", "add", "wait", "read")])
said, _ = run("memory>1KiB")
assert all(said[f"{r} create"].startswith("out of memory") for r in ("first", "second", "third")), said
assert "the fault layer has no" in said["first create"], said
check("memory>4GiB", {})
# A late error comes with the wait, once, and names the op.
said = check("launch/add.Tensor@2:late", {"second wait": "internal"})
assert "add.Tensor" in said["second wait"], said
check("launch/add.Tensor@3:late=out_of_memory", {"third wait": "out of memory"})
# Lost stays lost, until it is closed.
said = check("launch/add.Tensor@2:device_lost",
             {"second add": "device lost", "second wait": "device lost", "third create": "device lost"},
             steps("second", "read") + steps("third", "write", "add", "wait", "read"))
assert "the fault layer" in said["second add"], said
check("launch/add.Tensor@2:late=device_lost",
      {"second wait": "device lost", "second read": "device lost", "third create": "device lost"},
      steps("third", "write", "add", "wait", "read"))
# A device that does not open, and does at the second try.
said, _ = run("device.open@1:busy")
assert said["open"].startswith("busy") and len(said) == 1, said
# Later than otherwise: this alone asks a clock, for a least time.
before = time.monotonic()
check("launch/add.Tensor:100ms", {})
assert time.monotonic() - before >= 2 * 4 * 0.1

# What is not understood is said, and changes nothing.
for rules in ("nonsense", "memory.alloc@0:io", "memory.alloc@:io", "memory.alloc@5:nothing", "memory>much", ":io",
              "memory.alloc:5minutes", "a:io,b"):
    said, error = run(rules)
    assert "is not understood: WHERE[@N[+]]:WHAT" in error, error
    assert all(said[step] == "ok" for step in STEPS), said
_, error = run("")
assert "KEYWAY_FAULT has its rules, and is not set" in error, error
print("faults by count, by bytes, late, lost and slow: each where it was asked for")
