# SPDX-License-Identifier: Apache-2.0
"""usage: KEYWAY_TRACE=FILE traced.py DEVICE FOLDER [graph]

Runs a layer five times with ONNX Runtime's profile on, and with Keyway's trace: a process of its own, since that is written from its
start to its end. Prints the profile's name. With "graph" the run is captured."""

import sys

import onnxruntime
import onnxruntime_keyway
from test_provider import FIXED_LAYER, LAYER_OF_X, X


def main():
    device, folder, *graph = sys.argv[1:]
    onnxruntime_keyway.register()
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = folder + "/profile"
    session = onnxruntime_keyway.session(FIXED_LAYER, device, session_options=options, **({"graph": 1} if graph else {}))
    binding, y = session.io_binding(), onnxruntime_keyway.value(LAYER_OF_X * 0, device)
    binding.bind_ortvalue_input("x", onnxruntime_keyway.value(X, device))
    binding.bind_ortvalue_output("y", y)
    for _ in range(5):
        session.run_with_iobinding(binding)
    assert (y.numpy() == LAYER_OF_X).all(), y.numpy()
    print(session.end_profiling())


if __name__ == "__main__":
    main()
