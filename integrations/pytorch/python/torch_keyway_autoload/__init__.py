# SPDX-License-Identifier: Apache-2.0
"""What `import torch` runs by itself. A package of its own, so that nothing else is loaded where nobody asked for it."""

import os
import sys
import traceback


def autoload():
    """Registers the devices that TORCH_KEYWAY_DEVICES names, "npu,opencl:1", under the name TORCH_KEYWAY_NAME or "keyway".
    Never breaks the import: what goes wrong is printed."""
    try:
        for device in filter(None, os.environ.get("TORCH_KEYWAY_DEVICES", "").split(",")):
            import torch_keyway

            torch_keyway.register(device, name=os.environ.get("TORCH_KEYWAY_NAME"))
    except Exception:
        print("torch_keyway: the devices of TORCH_KEYWAY_DEVICES are not all there; torch goes on without:", file=sys.stderr)
        traceback.print_exc()
