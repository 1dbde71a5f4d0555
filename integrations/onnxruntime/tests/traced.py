# SPDX-License-Identifier: Apache-2.0
"""usage: [KEYWAY_TRACE=FILE] traced.py DEVICE FOLDER [graph | beside]

Runs a layer five times with ONNX Runtime's profile on, and with Keyway's trace: a process of its own, since that is written from its
start to its end. Prints the profile's name. With "graph" the run is captured; with "beside" it runs 100 times, while the device still computes what another session has given it
before."""

import sys
import threading

import keyway
import numpy
import onnxruntime
import onnxruntime_keyway
from conftest import FLOAT, model, node
from test_provider import FIXED_LAYER, LAYER_OF_X, X

LONG = 80  # nodes of the other session


def compute_long(device):
    size = 1 << 20
    nodes = [node("Cos", f"x{i}", f"x{i + 1}") for i in range(LONG)]
    session = onnxruntime_keyway.session(model(nodes, {"x0": (FLOAT, [size])}, {f"x{LONG}": (FLOAT, [size])}), device)
    session.run(None, {"x0": numpy.ones(size, "f4")})


def main():
    device, folder, *how = sys.argv[1:]
    onnxruntime_keyway.register()
    other = threading.Thread(target=compute_long, args=(device,))
    if how == ["beside"]:
        other.start()
        while keyway.device(device).counters().launches < LONG / 2 and other.is_alive():
            pass
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = folder + "/profile"
    session = onnxruntime_keyway.session(FIXED_LAYER, device, session_options=options, **({"graph": 1} if how == ["graph"] else {}))
    binding, y = session.io_binding(), onnxruntime_keyway.value(LAYER_OF_X * 0, device)
    binding.bind_ortvalue_input("x", onnxruntime_keyway.value(X, device))
    binding.bind_ortvalue_output("y", y)
    for _ in range(100 if how == ["beside"] else 5):
        session.run_with_iobinding(binding)
    assert (y.numpy() == LAYER_OF_X).all(), y.numpy()
    print(session.end_profiling())
    if how == ["beside"]:
        other.join()


if __name__ == "__main__":
    main()
