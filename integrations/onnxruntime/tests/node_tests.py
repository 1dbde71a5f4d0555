# SPDX-License-Identifier: Apache-2.0
"""usage: node_tests.py DEVICE [--plugin FILE] [--baseline FILE] [--kind KIND]... [--only GLOB] [--shard I/N]
                     [--write FILE] [--least PERCENT]

ONNX's backend tests on one Keyway device, without the CPU as a substitute: neither the session's (disable_cpu_ep_fallback)
nor Python's (disable_fallback). What counts is what ONNX Runtime's own CPU passes, less the operators of not_counted.txt;
DEVICE "ort" makes that list (--write), and --baseline reads it. A session that needs a node which the device does not take
fails, so that each test which passes ran on the device alone.

Tests run in child processes: one that crashes is one failure."""

import argparse
import fnmatch
import json
import multiprocessing
import sys
import traceback
from collections import Counter
from pathlib import Path

import numpy
import onnx
import onnx.backend.test.loader
import onnxruntime
from onnx import numpy_helper

HERE = Path(__file__).parent


def cases(kinds):
    """(name, model, [(inputs, outputs)], rtol, atol) of every test of the kinds."""
    for kind in kinds:
        for case in sorted(onnx.backend.test.loader.load_model_tests(kind=kind), key=lambda case: case.name):
            if case.model is not None:
                yield case.name, case.model, case.data_sets, case.rtol, case.atol
            elif case.model_dir is not None:
                yield case.name, onnx.load(Path(case.model_dir) / "model.onnx"), stored(case), case.rtol, case.atol


def stored(case):
    sets = []
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        read = [[], []]
        for which, kind in enumerate(("input", "output")):
            for i in range(len(list(folder.glob(f"{kind}_*.pb")))):
                tensor = onnx.TensorProto()
                tensor.ParseFromString((folder / f"{kind}_{i}.pb").read_bytes())
                read[which].append(tensor)
        sets.append(read)
    return sets


def operators(graph):
    for node in graph.node:
        yield node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}::{node.op_type}"
        for attribute in node.attribute:
            for inner in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
                yield from operators(inner)


def not_counted():
    """Operators that the share is not of, with the reason."""
    rows = (line.split(" : ") for line in (HERE / "not_counted.txt").read_text().splitlines() if line and line[0] != "#")
    return {operator: reason for reason, names in rows for operator in names.split()}


def why_not_counted(model, excluded):
    for operator in operators(model.graph):
        if operator in excluded:
            return excluded[operator]
    for value in [*model.graph.input, *model.graph.output]:
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            return {"sequence_type": "sequences", "optional_type": "optional"}.get(kind, kind)
        if value.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            return "strings"
    return None


def as_array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else numpy.asarray(value)


def same(got, wanted, rtol, atol):
    got, wanted = numpy.asarray(got), numpy.asarray(as_array(wanted))
    if got.shape != wanted.shape:
        return f"shape {got.shape}, not {wanted.shape}"
    if wanted.dtype == object:
        return None if (got == wanted).all() else "differs"
    if got.dtype != wanted.dtype and got.dtype.itemsize == wanted.dtype.itemsize:
        got = got.view(wanted.dtype)
    if got.dtype != wanted.dtype:
        return f"dtype {got.dtype}, not {wanted.dtype}"
    exact = wanted.dtype.kind in "biu"
    wide = (got, wanted) if exact or wanted.dtype.kind == "c" else (got.astype("f8"), wanted.astype("f8"))
    if exact and (got == wanted).all() or not exact and numpy.allclose(*wide, rtol=rtol, atol=atol, equal_nan=True):
        return None
    return f"differs: {got.ravel()[:4]}, not {wanted.ravel()[:4]}"


def run(case, device):
    name, model, sets, rtol, atol = case
    if device == "ort":
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    else:
        import onnxruntime_keyway

        session = onnxruntime_keyway.session(model.SerializeToString(), device)
    session.disable_fallback()
    for inputs, outputs in sets:
        names = [value.name for value in session.get_inputs()]
        got = session.run(None, dict(zip(names, map(as_array, inputs))))
        for i, (one, wanted) in enumerate(zip(got, outputs)):
            if isinstance(one, (list, dict)) or one is None:
                continue
            wrong = same(one, wanted, rtol, atol)
            if wrong:
                return f"output {i} {wrong}"
    return None


def work(names, kinds, device, plugin, pipe):
    """Runs the tests of the names, and says of each what came of it, before the next begins."""
    onnxruntime.set_default_logger_severity(4)
    if device != "ort":
        import onnxruntime_keyway

        onnxruntime_keyway.register(plugin)
    wanted = set(names)
    for case in cases(kinds):
        if case[0] in wanted:
            pipe.send((case[0], None))
            try:
                result = run(case, device) or "passed"
            except Exception as error:
                result = f"{type(error).__name__}: {error}"
                if not isinstance(error, Exception) or "onnxruntime" not in type(error).__module__:
                    result += "\n" + traceback.format_exc(limit=-2)
            pipe.send((case[0], result))
    pipe.send((None, None))


def run_all(names, kinds, device, plugin):
    results, left = {}, list(names)
    context = multiprocessing.get_context("spawn")
    while left:
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=work, args=(left, kinds, device, plugin, there))
        child.start()
        there.close()
        begun = None
        try:
            while True:
                name, result = here.recv()
                if name is None:
                    break
                begun = name
                if result is not None:
                    results[name] = result
                    begun = None
        except EOFError:
            pass
        child.join()
        if begun is not None:
            results[begun] = f"crashed: exit status {child.exitcode}"
        elif child.exitcode:
            raise SystemExit(f"node_tests.py: the child ended with {child.exitcode} before a test")
        left = [name for name in left if name not in results]
        if begun is None:
            break
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("--plugin")
    parser.add_argument("--baseline", type=Path)
    parser.add_argument("--kind", action="append")
    parser.add_argument("--only", default="*")
    parser.add_argument("--shard", default="1/1", help="I/N: every N-th test, from the I-th on")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--show", type=int, default=0, help="how many of the tests that fail to print, with what they said")
    options = parser.parse_args()
    kinds = options.kind or ["node", "simple", "pytorch-converted", "pytorch-operator"]
    baseline = json.loads(options.baseline.read_text()) if options.baseline else None
    excluded, names, reasons = not_counted(), [], Counter()
    part, parts = map(int, options.shard.split("/"))
    for i, (name, model, *_) in enumerate(cases(kinds)):
        if i % parts != part - 1:
            continue
        why = why_not_counted(model, excluded)
        if why is None and baseline is not None and baseline.get(name) != "passed":
            why = "not passed by ONNX Runtime's CPU"
        if why is not None:
            reasons[why] += 1
        elif fnmatch.fnmatch(name, options.only):
            names.append(name)
    results = run_all(names, kinds, options.device, options.plugin)
    if options.write:
        options.write.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    passed = sum(result == "passed" for result in results.values())
    for name in sorted(name for name in results if results[name] != "passed")[: options.show]:
        print(f"{name}: {results[name]}")
    share = 100 * passed / max(1, len(names))
    print("not counted: " + ", ".join(f"{count} {why}" for why, count in reasons.most_common()))
    print(f"{options.device}: {passed} of {len(names)} backend tests passed ({share:.1f} %)")
    return 0 if names and share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
