# SPDX-License-Identifier: Apache-2.0
"""usage: bench.py FOLDER --torch PYTHON [--rounds N] [--device DEVICE]... [NAME...]

What a run of each model in FOLDER costs (export.py writes them): on a Keyway device by ONNX Runtime, on ONNX Runtime's own
CPU, and on the same device by torch_keyway, of the environment whose Python is named. Each has a process of its own, all with as
many threads as they take by themselves; rounds go in turns, and each begins with a run that does not count. Prints a table of
Markdown: medians over the rounds, and the others' time over Keyway's."""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def by_onnxruntime(path, device):
    import numpy
    import onnxruntime

    if device == "ort":
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    else:
        import onnxruntime_keyway

        onnxruntime_keyway.register()
        session = onnxruntime_keyway.session(path, device)
    with numpy.load(Path(path).with_suffix(".npz")) as arrays:
        inputs = {name: arrays[name] for name in arrays if name.startswith("in")}
    return lambda: session.run(None, inputs)


def by_torch(path, device, small):
    sys.path.insert(0, str(HERE))
    import export
    import torch
    import torch_keyway

    place = torch_keyway.register(device.partition(":")[0])
    module, arguments, _ = export.make(Path(path).stem, small)
    module = module.to(place)

    def run():
        with torch.inference_mode():
            there = torch.utils._pytree.tree_map(lambda each: each.to(place), arguments)
            return [each.cpu() for each in export.flat(module(*there))]

    return run


def work(kind, path, device, small):
    """Answers each line, a number, with the seconds of a run, of so many after one that is not counted."""
    run = by_torch(path, device, small) if kind == "torch" else by_onnxruntime(path, device)
    print("ready", flush=True)
    for line in sys.stdin:
        run()
        began = time.perf_counter()
        for _ in range(int(line)):
            run()
        print((time.perf_counter() - began) / int(line), flush=True)


class Peer:
    def __init__(self, python, kind, path, device, small):
        words = [python, __file__, "--work", kind, str(path), device] + ["--small"] * small
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit(f"bench.py: {' '.join(words)} failed")

    def seconds(self, runs):
        self.process.stdin.write(f"{runs}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def row(path, device, options):
    peers = [
        Peer(sys.executable, "ort", path, device, options.small),
        Peer(sys.executable, "ort", path, "ort", options.small),
        Peer(options.torch, "torch", path, device, options.small),
    ]
    runs = [max(1, int(0.5 / peer.seconds(1))) for peer in peers]
    rounds = [[peer.seconds(count) for peer, count in zip(peers, runs)] for _ in range(options.rounds)]
    for peer in peers:
        peer.end()
    ours, cpu, torch = (1000 * statistics.median(each) for each in zip(*rounds))
    return f"| {path.stem} | {device} | {ours:.1f} | {cpu:.1f} | {cpu / ours:.2f} | {torch:.1f} | {torch / ours:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torch", metavar="PYTHON", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", action="append")
    parser.add_argument("--small", action="store_true", help="the models are export.py's small ones")
    options = parser.parse_args()
    print("| model | device | Keyway, ms | ORT's CPU, ms | over Keyway's | torch_keyway, ms | over Keyway's |")
    print("|---|---|---|---|---|---|---|")
    for name in options.names or sorted(file.stem for file in options.folder.glob("*.onnx")):
        for device in options.device or ["cpu:0", "opencl:0"]:
            print(row(options.folder / f"{name}.onnx", device, options), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:5], small="--small" in sys.argv)
    else:
        main()
