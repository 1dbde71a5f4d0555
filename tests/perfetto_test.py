# SPDX-License-Identifier: Apache-2.0
"""usage: perfetto_test.py KEYWAY

Traces in Perfetto's format as an application writes them: whole ones, whose flows are rebuilt (perfetto_check.py) and which
`keyway trace` reads as it reads Chrome's; one that reaches its limit; FIFOs without a reader, and with one that does not
read.
"""

import json
import os
import subprocess
import sys
import tempfile

import perfetto_check

KEYWAY = sys.argv[1]
CALLS = [KEYWAY, "bench", "--device", "cpu:0", "--rounds", "1", "--size", "16", "--op", "mm", "--op", "add.Tensor"]
MANY_CALLS = CALLS + ["--op", "exp", "--op", "relu"]  # a pipe's worth, however slow the machine


def run(command, trace, **variables):
    result = subprocess.run(command, env={**os.environ, "KEYWAY_TRACE": trace, **variables}, capture_output=True,
                            text=True, timeout=300)
    assert result.returncode == 0, f"{command}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result


def both_formats(folder):
    verdicts = {}
    for name in ("trace.pftrace", "trace.perfetto-trace", "trace.json"):
        path = f"{folder}/{name}"
        run(CALLS, path)
        if not name.endswith("json"):
            launches, devices, instants = perfetto_check.check(path)
            assert launches > 50 and devices == 1 and not instants
        verdict = json.loads(subprocess.run([KEYWAY, "trace", path, "--json", "--slack", "100000"], capture_output=True,
                                            text=True, timeout=300).stdout)
        verdicts[name] = verdict["all"]
        assert verdict["streams"][0]["stream"].startswith("cpu:0 stream "), verdict["streams"]
    for verdict in verdicts.values():
        assert verdict["launches"] == verdict["recorded"] > 50, verdicts
        assert verdict["intervals"] >= verdict["recorded"] and verdict["overlaps"] == 0, verdicts


def cut_off(folder):
    """A file that a crash cut anywhere is read up to there."""
    with open(f"{folder}/trace.pftrace", "rb") as file:
        data = file.read()
    for size in range(len(data) - 200, len(data), 29):
        with open(f"{folder}/cut.pftrace", "wb") as file:
            file.write(data[:size])
        status = subprocess.run([KEYWAY, "trace", f"{folder}/cut.pftrace"], capture_output=True, timeout=300).returncode
        assert status in (0, 1), status


def limit(folder):
    path = f"{folder}/limit.pftrace"
    for name in ("limit.pftrace", "limit.json"):
        path = f"{folder}/{name}"
        said = run(MANY_CALLS, path, KEYWAY_TRACE_LIMIT="64KiB").stderr
        assert "has reached its limit of 65536 bytes" in said, said
        assert 60000 < os.path.getsize(path) <= 65536, os.path.getsize(path)
    with open(path) as file:
        assert json.load(file)["traceEvents"][-1]["name"].startswith("the trace ends here")
    with open(f"{folder}/limit.pftrace", "rb") as file:
        instants = perfetto_check.read(perfetto_check.decode(file.read(), "Trace"))[3]
    assert len(instants) == 1 and "KEYWAY_TRACE_LIMIT" in instants[0], instants


def fifos(folder):
    """The application ends by itself; what its reader has got by then holds together."""
    path = f"{folder}/fifo.pftrace"
    os.mkfifo(path)
    said = run(CALLS, path).stderr
    assert "Start the FIFO's reader first" in said, said
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    said = run(MANY_CALLS, path).stderr
    assert "nobody read in time" in said, said
    data = b""
    while piece := os.read(reader, 1 << 16):
        data += piece
    os.close(reader)
    assert len(data) >= 4096, len(data)


with tempfile.TemporaryDirectory() as scratch:
    both_formats(scratch)
    cut_off(scratch)
    limit(scratch)
    fifos(scratch)
print("traces in both formats, cut off, limited, and into FIFOs: as they should be")
