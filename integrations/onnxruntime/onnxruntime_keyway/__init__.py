# SPDX-License-Identifier: Apache-2.0
"""Any Keyway plugin is an execution provider of ONNX Runtime.

    import onnxruntime_keyway
    onnxruntime_keyway.register("vendor_npu.so")
    session = onnxruntime_keyway.session("model.onnx", "npu:0")

Each plugin is a provider of its own, "keyway.npu" for the devices npu:0, npu:1, ..., so that one session can have devices of
several. Whoever makes sessions without this module's session() takes device() and onnxruntime's own functions.
"""

import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import keyway
import onnxruntime

LIBRARY = Path(__file__).parent / "lib" / "libkeyway_ort.so"


class Placed(NamedTuple):
    """Where a node of the model went: `device` is None where Keyway did not take it, and `reason` says why."""

    operator: str
    node: str
    device: str | None
    reason: str


def register(plugin=None):
    """Makes providers of all plugins that are there, and of the plugin file named. Again, it adds those that are new. Returns the
    names of the devices."""
    if plugin is not None:
        keyway.load_plugin(plugin)
    registered = {provider.ep_name for provider in devices()}
    for name in dict.fromkeys(f"keyway.{each.name.partition(':')[0]}" for each in keyway.devices()):
        if name not in registered:
            onnxruntime.register_execution_provider_library(name, str(LIBRARY))
    return [name_of(each) for each in devices()]


def devices():
    """Keyway's among onnxruntime.get_ep_devices()."""
    return [each for each in onnxruntime.get_ep_devices() if "keyway_device" in each.ep_metadata]


def name_of(ep_device):
    """A device's name in Keyway: "npu:0"."""
    return ep_device.ep_metadata["keyway_device"]


def device(name):
    """The OrtEpDevice of a device by its name in Keyway, for SessionOptions.add_provider_for_devices."""
    known = {}
    for each in devices():
        known[name_of(each)] = known[each.ep_metadata["keyway_qualified_name"]] = each
    found = known.get(name) or known.get(name + ":0")
    if found is None:
        names = ", ".join(sorted(name_of(each) for each in devices())) or "none: call register() first"
        raise keyway.NotFound(f"no device '{name}' is registered with ONNX Runtime; there are {names}")
    return found


def value(array, device_name):
    """An array's copy in a device's memory, as an onnxruntime.OrtValue: for IoBinding."""
    memory = device(device_name).memory_info(onnxruntime.OrtDeviceMemoryType.DEFAULT)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array, "gpu", memory.device_id, memory.device_vendor_id)


def session(model, device_name, *, fallback=False, session_options=None, **options):
    """An onnxruntime.InferenceSession of a model (a path, or its bytes) on a device, or a list of devices, of which the first that
    can takes a node. With `fallback` ONNX Runtime's CPU takes what is left; otherwise that is an error, which says what each node
    lacks. Options: math ("highest", "tf32", "fast"), autocast ("f16", "bf16", "off"), operators ("MatMul,Add": only these),
    graph (True: runs are captured and replayed). `placement` of the session tells where each node went."""
    names = [device_name] if isinstance(device_name, str) else list(device_name)
    settings = session_options or onnxruntime.SessionOptions()
    settings.add_session_config_entry("session.disable_cpu_ep_fallback", "0" if fallback else "1")
    with tempfile.TemporaryDirectory() as folder:
        reports = [Path(folder) / str(i) for i in range(len(names))]
        for name, report in zip(names, reports):
            each = {key: str(value) for key, value in options.items()}
            settings.add_provider_for_devices([device(name)], {**each, "report": str(report)})
        try:
            made = onnxruntime.InferenceSession(model, settings)
        except Exception as error:
            first = error.__cause__ or error  # onnxruntime tries again, on the CPU, where the provider failed
            raise explained(first, placed(reports)) from error
        made.placement = placed(reports)
    made.disable_fallback()
    return made


def placed(reports):
    """What the providers wrote, node by node: the first that took it, or the last reason why not."""
    nodes = {}
    for report in reports:
        for line in report.read_text().splitlines() if report.exists() else []:
            taken_by, operator, node, reason = line.split("\t")
            before = nodes.get((operator, node))
            if before is None or before.device is None:
                nodes[operator, node] = Placed(operator, node, taken_by or None, reason)
    return list(nodes.values())


def explained(error, nodes):
    """The error with what the nodes lack that no device took."""
    lacking = Counter((each.operator, each.reason) for each in nodes if each.device is None)
    if not lacking:
        return error
    lines = [f"  {count} x {operator}: {reason}" for (operator, reason), count in lacking.most_common(20)]
    return type(error)("\n".join([str(error), "Nodes that no Keyway device took:", *lines]))
