# SPDX-License-Identifier: Apache-2.0
"""usage: claims.py DEVICE [--plugin FILE] [--seed N] [--count N] [--first N] [--only GLOB] [--verbose]

What a device takes it can run: ONNX's backend tests of one node, changed at random, on ONNX Runtime's CPU and on one Keyway device.
Changed are versions, attributes (to values that any test of the operator has, or near them), sizes, dtypes, which optional inputs
and outputs there are, which inputs are constants, and which sizes are known before the model runs. What the CPU runs and the device
takes has to run there, too, and give the same. Case I of seed N is always the same one, as long as onnx is.

Cases run in child processes: one that crashes is one failure."""

import argparse
import fnmatch
import multiprocessing
import sys
from collections import Counter, defaultdict

import numpy
import onnx
import onnxruntime
from node_tests import as_array, cases, why_not_counted
from onnx import TensorProto, helper, numpy_helper

TYPES = {
    f"tensor({name})": getattr(TensorProto, kind)
    for name, kind in [
        ("float", "FLOAT"), ("float16", "FLOAT16"), ("double", "DOUBLE"), ("bool", "BOOL"),
        ("int8", "INT8"), ("int16", "INT16"), ("int32", "INT32"), ("int64", "INT64"),
        ("uint8", "UINT8"), ("uint16", "UINT16"), ("uint32", "UINT32"), ("uint64", "UINT64"),
    ]
}  # fmt: skip

TYPED = ("to", "dtype", "output_dtype", "output_datatype")


class Pools:
    """Every one-node test, and what values each attribute of an operator has in any of them."""

    def __init__(self, only):
        self.cases, self.values = [], defaultdict(list)
        for name, model, sets, *_ in cases(["node", "simple", "pytorch-operator"]):
            if len(model.graph.node) != 1 or why_not_counted(model, {}) or not sets:
                continue
            node = model.graph.node[0]
            for each in node.attribute:
                self.values[node.op_type, each.name].append(each)
            if fnmatch.fnmatch(node.op_type, only):
                self.cases.append((name, model, [numpy.asarray(as_array(value)) for value in sets[0][0]]))


class Case:
    """One test, changed: `model` and `feeds`."""

    def __init__(self, pools, seed, number):
        self.random = numpy.random.default_rng([seed, number])
        name, model, arrays = pools.cases[self.random.integers(len(pools.cases))]
        self.name, self.node = name, onnx.NodeProto()
        self.node.CopyFrom(model.graph.node[0])
        names = [value.name for value in model.graph.input]
        stored = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
        self.arrays = {**stored, **dict(zip(names, arrays))}
        domains = {each.domain or "": each.version for each in model.opset_import}
        self.opset = domains.get("", 13)
        if self.opset > 13 and self.luck(0.3):
            self.opset = int(self.random.integers(13, self.opset))
        self.domains = domains | {"": self.opset}
        self.change_sizes()
        self.change_dtypes()
        self.change_attributes(pools)
        self.leave_out()
        self.tame()
        self.finish(model.ir_version)

    def luck(self, chance):
        return self.random.random() < chance

    def pick(self, values):
        return values[self.random.integers(len(values))]

    def change_sizes(self):
        if self.luck(0.4):
            return
        sizes = sorted({size for each in self.arrays.values() for size in each.shape})
        new = {size: size if self.luck(0.5) else int(self.random.integers(1, 8)) for size in sizes}
        for name, each in self.arrays.items():
            shape = [new[size] for size in each.shape]
            if each.size and shape != list(each.shape):
                self.arrays[name] = self.random.choice(each.ravel(), shape)

    def change_dtypes(self):
        try:
            schema = onnx.defs.get_schema(self.node.op_type, self.opset, self.node.domain)
        except onnx.defs.SchemaError:
            return
        for constraint in schema.type_constraints:
            kinds = [TYPES[each] for each in constraint.allowed_type_strs if each in TYPES]
            if not kinds or self.luck(0.8):
                continue
            dtype = helper.tensor_dtype_to_np_dtype(self.pick(kinds))
            for i, name in enumerate(self.node.input):
                formal = schema.inputs[min(i, len(schema.inputs) - 1)]
                if name in self.arrays and formal.type_str == constraint.type_param_str:
                    with numpy.errstate(all="ignore"):
                        self.arrays[name] = self.arrays[name].astype(dtype)

    def change_attributes(self, pools):
        for (op_type, name), values in pools.values.items():
            if op_type != self.node.op_type or self.luck(0.7):
                continue
            chosen = onnx.AttributeProto()
            chosen.CopyFrom(self.pick(values))
            for i in range(len(chosen.ints)):
                if self.luck(0.2):
                    chosen.ints[i] += int(self.random.integers(-1, 2))
            if chosen.type == onnx.AttributeProto.INT and max(each.i for each in values) > 1 and name not in TYPED and self.luck(0.3):
                chosen.i += int(self.random.integers(-2, 3))
            kept = [each for each in self.node.attribute if each.name != name]
            del self.node.attribute[:]
            self.node.attribute.extend(kept if self.luck(0.3) else [*kept, chosen])

    def leave_out(self):
        for names in (self.node.input, self.node.output):
            if len(names) > 1 and self.luck(0.2):
                names[self.random.integers(1, len(names))] = ""
            while names and not names[-1]:
                del names[-1]

    def tame(self):
        """What is nowhere said: casts of what is no number, too large, or below 0 to what has no sign, divisions by 0, classes that
        there are not."""
        to = next((helper.tensor_dtype_to_np_dtype(each.i) for each in self.node.attribute if each.name == "to"), None)
        if self.node.op_type == "CastLike" and self.node.input[-1] in self.arrays:
            to = self.arrays[self.node.input[-1]].dtype
        least = 0 if to is not None and to.kind == "u" else -100
        for name, each in self.arrays.items():
            if self.node.op_type in ("Cast", "CastLike", "QuantizeLinear") and each.dtype.kind == "f":
                with numpy.errstate(all="ignore"):
                    self.arrays[name] = numpy.nan_to_num(each, nan=3, posinf=4, neginf=0).clip(least, 100).astype(each.dtype)
            if self.node.op_type in ("Div", "Mod") and each.dtype.kind in "iu" and name == self.node.input[-1]:
                self.arrays[name] = numpy.where(each == 0, numpy.ones_like(each), each)
            if self.node.op_type in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss") and each.dtype.kind == "i":
                self.arrays[name] = numpy.abs(each)

    def finish(self, ir_version):
        inputs, constants, self.feeds = [], [], {}
        blind = self.luck(0.5)
        for name in dict.fromkeys(self.node.input):
            if name not in self.arrays:
                continue
            each = self.arrays[name]
            kind = helper.np_dtype_to_tensor_dtype(each.dtype)
            if self.feeds and self.luck(0.4):
                constants.append(numpy_helper.from_array(each, name))
                continue
            shape = [f"{name}{d}" if blind and self.luck(0.6) else size for d, size in enumerate(each.shape)]
            inputs.append(helper.make_tensor_value_info(name, kind, shape))
            self.feeds[name] = each
        outputs = [onnx.ValueInfoProto(name=name) for name in self.node.output if name]
        graph = helper.make_graph([self.node], "changed", inputs, outputs, constants)
        opsets = [helper.make_opsetid(*each) for each in self.domains.items()]
        self.model = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version).SerializeToString()

    def __str__(self):
        return onnx.printer.to_text(onnx.load_from_string(self.model)) + "\n".join(
            f"{name} = {each.dtype}{list(each.shape)} {each.ravel()[:12].tolist()}" for name, each in self.arrays.items()
        )


def oracle_is_wrong(case):
    """Where ONNX Runtime's CPU is known not to do what the standard says, or that says nothing."""
    of = {each.name: helper.get_attribute_value(each) for each in case.node.attribute}
    if case.node.op_type == "MeanVarianceNormalization":
        return True  # the variance is a difference of two squares, of which it takes the root where that is below 0
    if case.node.op_type == "Attention" and of.get("is_causal"):
        mask = case.arrays.get(case.node.input[3]) if len(case.node.input) > 3 else None
        return mask is not None and mask.dtype.kind in "iu"  # to which infinity is cast
    if case.node.op_type == "Resize" and of.get("antialias"):
        return case.arrays[case.node.input[0]].dtype.kind in "iu"  # it weighs these by fixed-point numbers
    if case.node.op_type == "CausalConvWithState" and len(case.node.input) > 3 and case.node.input[3] in case.arrays:
        weight, past = (case.arrays[case.node.input[i]] for i in (1, 3))
        return past.shape[-1] != weight.shape[-1] - 1  # it does not look
    if case.node.op_type not in ("AveragePool", "LpPool", "MaxPool") or b"SAME" not in of.get("auto_pad", b""):
        return False
    # With auto_pad it forgets dilations of pools, and pads that would be below 0 it takes off one end, or refuses.
    return "dilations" in of or any(stride > size for stride, size in zip(of.get("strides", ()), of.get("kernel_shape", ())))


def differs(got, wanted):
    """What is different, in words. Floats are compared with the largest there are; of whole numbers made by rounding one may be
    the next one."""
    for i, (one, other) in enumerate(zip(got, wanted)):
        one, other = numpy.asarray(one), numpy.asarray(other)
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"output {i} is {one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
        if other.size == 0:
            continue
        if other.dtype.kind == "f":  # ONNX Runtime masks by the lowest number
            lowest = -6e4 if other.dtype.itemsize == 2 else -1e38
            one, other = (numpy.where(each < lowest, -numpy.inf, each) for each in (one, other))
        with numpy.errstate(all="ignore"):
            finite = numpy.isfinite(other.astype("f8"))
            if not numpy.array_equal(one[~finite].astype("f8"), other[~finite].astype("f8"), equal_nan=True):
                return f"output {i}: {one.ravel()[:8]}, not {other.ravel()[:8]}"
            apart = numpy.abs(one[finite].astype("f8") - other[finite].astype("f8"))
            most = numpy.abs(other[finite].astype("f8")).max(initial=0)
        exact = other.dtype.kind in "biu"
        bound = 0 if exact else {2: 0.02, 4: 1e-4, 8: 1e-7}.get(other.dtype.itemsize, 0.1) * max(most, 1e-3)
        if not (apart <= bound).all():
            return f"output {i}: {one.ravel()[:8]}, not {other.ravel()[:8]}"
    return None


def run(case, device, tell):
    """What came of it: "refused by the CPU", "not taken", "passed", or how it failed."""
    import onnxruntime_keyway

    tell("the CPU")
    try:
        session = onnxruntime.InferenceSession(case.model, providers=["CPUExecutionProvider"])
        with numpy.errstate(all="ignore"):
            wanted = session.run(None, case.feeds)
    except Exception:
        return "refused by the CPU"
    if oracle_is_wrong(case):
        return "not compared"
    tell(device)
    try:
        session = onnxruntime_keyway.session(case.model, device)
    except Exception as error:
        if "Nodes that no Keyway device took" in str(error):
            return "not taken: " + str(error).splitlines()[-1]
        return f"FAILED {error}"
    try:
        wrong = differs(session.run(None, case.feeds), wanted)
    except Exception as error:
        return f"FAILED {error}"
    return f"DIFFERS {wrong}" if wrong else "passed"


def work(options, first, pipe):
    """Runs cases from `first` on, and says of each what came of it, before the next begins."""
    import onnxruntime_keyway

    onnxruntime.set_default_logger_severity(4)
    onnxruntime_keyway.register(options.plugin)
    pools = Pools(options.only)
    for number in range(first, options.first + options.count):
        case = Case(pools, options.seed, number)
        pipe.send((number, case.node.op_type, "building it", None))
        result = run(case, options.device, lambda stage: pipe.send((number, case.node.op_type, stage, None)))
        pipe.send((number, case.node.op_type, result, f"{case.name}\n{case}" if result[0] in "FD" else ""))
    pipe.send(None)


def results(options):
    """(number, operator, what came of it, the case in text) of each."""
    context, first = multiprocessing.get_context("spawn"), options.first
    while first < options.first + options.count:
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=work, args=(options, first, there))
        child.start()
        there.close()
        stage = None
        try:
            while (message := here.recv()) is not None:
                number, operator, stage, text = message
                if text is not None:
                    yield message
                    first, stage = number + 1, None
        except EOFError:
            pass
        child.join()
        if stage is None and first < options.first + options.count:
            raise SystemExit(f"claims.py: the child ended with {child.exitcode} before a case")
        if stage is not None:
            first = number + 1
            crashed = "refused by the CPU" if stage == "the CPU" else f"FAILED crashed in {stage}: exit status {child.exitcode}"
            yield number, operator, crashed, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("--plugin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--only", default="*", help="operators")
    parser.add_argument("--verbose", action="store_true", help="the whole of each case that fails")
    options = parser.parse_args()
    counts, operators, reasons = Counter(), set(), Counter()
    for number, operator, result, text in results(options):
        bad = result[0] in "FD"
        result, _, why = (result, "", "") if bad else result.partition(": ")
        counts["failed" if bad else result] += 1
        reasons[why] += 1
        if bad:
            print(f"{number} {operator}: {result}" + (f"\n{text}" if options.verbose else ""), flush=True)
        elif result == "passed":
            operators.add(operator)
    if options.verbose:
        print("\n".join(f"not taken {count}: {why}" for why, count in reasons.most_common() if why))
    told = ", ".join(f"{count} {what}" for what, count in counts.most_common())
    print(f"{options.device}: seed {options.seed}: {told}; {len(operators)} operators")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
