# SPDX-License-Identifier: Apache-2.0
"""Runs a model on a device, its inputs all ones, and prints where its nodes went and what came out."""

import argparse
from base64 import b64decode

import numpy
import onnxruntime_keyway

# The model of the README, y = Relu(x w + b), as onnx writes it.
LAYER = b64decode(
    "CAg6qgEKEwoBeAoBdxIBYSIGTWF0TXVsOgAKEAoBYQoBYhIBYyIDQWRkOgAKDgoBYxIBeSIEUmVsdToAEgVsYXllciorCAQIAhABIiAAAIA/AACAvwAAAEAA"
    "AADAAABAQAAAQMAAAIBAAACAwEIBdyoRCAIQASIIAAAAPwAAAEFCAWJaFAoBeBIPCg0IARIJCgMSAW4KAggEYhQKAXkSDwoNCAESCQoDEgFuCgIIAkIECgAQ"
    "EQ=="
)

NUMPY = {"float": "f4", "double": "f8", "float16": "f2", "bool": "?"}


def ones(value, size):
    """For an input of a session: an open size is `size`."""
    name = value.type[len("tensor(") : -1]
    return numpy.ones([each if isinstance(each, int) else size for each in value.shape], NUMPY.get(name, name))


def main():
    parser = argparse.ArgumentParser(prog="python -m onnxruntime_keyway", description=__doc__)
    parser.add_argument("device", help="opencl:0, for instance; 'list' prints those that there are")
    parser.add_argument("model", nargs="?", help="a file; without one a layer of a network")
    parser.add_argument("--plugin", help="the file of a vendor's plugin")
    parser.add_argument("--size", type=int, default=1, help="of dimensions that the model leaves open (1)")
    options = parser.parse_args()
    names = onnxruntime_keyway.register(options.plugin)
    if options.device == "list":
        print("\n".join(names))
        return
    session = onnxruntime_keyway.session(options.model or LAYER, options.device)
    outputs = session.run(None, {value.name: ones(value, options.size) for value in session.get_inputs()})
    print(f"{len(session.placement)} nodes on {options.device}")
    for value, got in zip(session.get_outputs(), outputs):
        print(f"{value.name} {list(got.shape)} {got.dtype}: {numpy.array2string(got, threshold=8, separator=', ')}")


if __name__ == "__main__":
    main()
