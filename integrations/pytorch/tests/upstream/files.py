#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: files.py FOLDER OUT [--device NAME] [--most N] [FILE...]

Runs PyTorch's own test files (FOLDER is the `test` folder of its sources, of the release that is installed, or the nearest)
on a device of Keyway: of each FILE the tests that PyTorch makes for a kind of device of others. Writes what became of them to
OUT, which pages.py reads. With --most no more than N tests of each file, drawn by chance. A test that ends its process or says
nothing for three minutes has failed, and the next one is the first of another process.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = """test_torch test_ops test_nn test_autograd test_modules test_optim test_indexing test_view_ops test_type_promotion
    test_tensor_creation_ops test_reductions test_binary_ufuncs test_unary_ufuncs test_sort_and_select test_shape_ops
    test_linalg test_dataloader test_serialization""".split()
KINDS = "passed", "skipped", "failed"
HERE = Path(__file__).parent
PATIENCE = 180  # seconds


def events(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


def unfinished(log):
    """The test that began and did not end."""
    told = [event for event in events(log) if "test" in event or "done" in event]
    return told[-1]["test"] if told and "test" in told[-1] else None


def run_once(folder, file, log, output, environment):
    """Returns how the process ended, or None where nothing was heard from it for too long."""
    command = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-c", os.devnull, "--rootdir", folder, "--tb=short",
               "-p", "files_plugin", "-p", "no:cacheprovider", "--continue-on-collection-errors", f"{file}.py"]
    with open(output, "w") as text:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=text, stderr=text, start_new_session=True)
    size = -1
    while True:
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            if log.stat().st_size == size:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return None
            size = log.stat().st_size


def run(folder, file, device, most):
    """Figures of collection, outcomes by test, helpers that are no more, what went wrong with the file."""
    with tempfile.TemporaryDirectory() as scratch:
        log, output = Path(scratch, "log"), Path(scratch, "output")
        log.touch()
        environment = os.environ | {
            "PYTORCH_TESTING_DEVICE_ONLY_FOR": "privateuse1", "PYTHONPATH": f"{HERE}:{folder}", "OMP_NUM_THREADS": "1",
            "KEYWAY_UPSTREAM_DEVICE": device, "KEYWAY_UPSTREAM_MOST": str(most), "KEYWAY_UPSTREAM_LOG": str(log)}
        while True:
            code = run_once(folder, file, log, output, environment)
            stuck = unfinished(log)
            if stuck is None:
                break
            how = f"ends the process ({code})" if code is not None else f"says nothing for {PATIENCE} seconds"
            with open(log, "a") as text:
                text.write(json.dumps({"done": stuck, "outcome": "failed", "text": how}) + "\n")
        told = events(log)
        collected = next((event for event in told if "collected" in event), {"collected": 0, "of_device": 0})
        wrong = next((event["wrong"] for event in told if "wrong" in event), "")
        if not wrong and not any("done" in event for event in told):
            wrong = output.read_text()[-600:]
        outcomes = {}
        for event in told:
            if "done" in event and outcomes.get(event["done"], {}).get("outcome") != "failed":
                outcomes[event["done"]] = {"outcome": event["outcome"], "text": event["text"]}
        gone = sorted({event["gone"] for event in told if "gone" in event})
        return collected | {"gone": gone, "wrong": wrong, "outcomes": outcomes}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0].removeprefix("usage: "))
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--most", type=int, default=0)
    options = parser.parse_intermixed_args()
    folder = os.path.abspath(options.folder)
    results = {}
    for name in options.files:
        file = name.removesuffix(".py")
        if not Path(folder, f"{file}.py").exists():
            results[file] = {"wrong": "not in the folder", "collected": 0, "of_device": 0, "gone": [], "outcomes": {}}
            continue
        result = results[file] = run(folder, file, options.device, options.most)
        kinds = [each["outcome"] for each in result["outcomes"].values()]
        print(f"{file}: of {result['of_device']} " + ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS), flush=True)
        with open(options.out, "w") as out:
            json.dump({"device": options.device, "most": options.most, "files": results}, out)


if __name__ == "__main__":
    main()
