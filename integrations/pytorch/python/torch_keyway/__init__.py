# SPDX-License-Identifier: Apache-2.0
"""Any Keyway plugin is a PyTorch device.

    import torch, torch_keyway
    torch_keyway.register("my_npu", name="my_hardware_device", plugin="build/my_npu/my_npu.so")
    x = torch.randn((2, 3)).to("my_hardware_device")
    y = x + x
"""

import atexit
import importlib.metadata
import warnings
from pathlib import Path

import torch
import torch.utils.dlpack


def _check_torch():
    """Before what was built for another PyTorch is loaded, which may end in any way."""
    built_for = importlib.metadata.version("torch_keyway").partition("+torch")[2]
    running = ".".join(torch.__version__.split(".")[:2])
    if built_for != running:
        raise ImportError(
            f"this torch_keyway was built for PyTorch {built_for}, and this is {torch.__version__}: build it against this one, "
            f"pip install --no-build-isolation integrations/pytorch, or install torch=={built_for}.*"
        )


_check_torch()

from . import _C, decompose, device_module, flex, printing, sharing, strides  # some register themselves

_fallback_modes = ("off", "warn", "allow")
_name = None


def register(device="auto", *, name=None, plugin=None):
    """Makes Keyway devices the indices of PyTorch's private-use device.

    `device` is a device by its Keyway name ("npu:1"), all devices of a key or of a plugin's file ("npu",
    "vendor_npu"), or a policy ("auto", "gpu"). `plugin` is a plugin's file to load first. `name` is what PyTorch calls the
    device, "keyway" unless given; it is chosen once per process. Called again, it adds devices: the first is index 0.
    Returns the torch.device of the first one.
    """
    if plugin is not None:
        _C.load_plugin(str(plugin))
    _rename(name)
    entries = _C.list_devices()
    chosen = [entry.name for entry in entries if device in (entry.name.split(":")[0], Path(entry.plugin).stem)]
    indices = [_C.open_device(each) for each in chosen or [device]]
    _C.register_ops()
    _C.start_autograd()
    _check_gradients(max(indices))
    return torch.device(_name, indices[0])


def _check_gradients(index):
    """PyTorch makes a thread for each device's gradients at the first backward of the process, and never again."""
    if torch.is_inference_mode_enabled():  # without gradients
        return
    try:
        _C.pass_autograd(index)
    except RuntimeError as error:
        if "device_ready_queues_" not in str(error):
            raise
        torch.autograd.set_multithreading_enabled(False)
        warnings.warn(
            f"{torch.device(_name, index)} was registered after this process' first backward, and PyTorch has no thread for its "
            "gradients: they are computed in the calling thread. Other threads that call backward need "
            "torch.autograd.set_multithreading_enabled(False) as well. Register devices first to have neither.",
            stacklevel=3,
        )


def _rename(name):
    global _name
    if _name is not None:
        if name not in (None, _name):
            raise RuntimeError(f"the device is called {_name!r} in this process already; it cannot be {name!r} as well")
        return
    chosen = name or "keyway"
    torch.utils.rename_privateuse1_backend(chosen)
    torch._register_device_module(chosen, device_module)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    torch.Tensor.__dlpack_device__ = _dlpack_device
    sharing.register()
    flex.register(chosen)
    atexit.register(_C.end_autograd)
    _C.register_graphs()
    if torch.distributed.is_available():
        from . import distributed

        distributed.register(chosen)
    _name = chosen


_dlpack_device_of_others = torch.Tensor.__dlpack_device__


def _dlpack_device(tensor):
    """Tensor.__dlpack_device__, which does not know a private-use device by the name it was given (pytorch#195815)."""
    if tensor.device.type != _name:
        return _dlpack_device_of_others(tensor)
    return torch.utils.dlpack.DLDeviceType.kDLExtDev, tensor.device.index


def devices():
    """All devices that Keyway sees, registered or not: objects with name, qualified_name, plugin, product, emulated."""
    return _C.list_devices()


def ops():
    """All ops of Keyway, and those of the plugins that are loaded: objects with name, schema, and the dtypes that the op is
    defined for."""
    return _C.list_ops()


def keyway_name(device):
    """The Keyway name of a registered device: "npu:0"."""
    return _C.device_name(torch.device(device).index or 0)


def device(name):
    """The torch.device that a registered device is, by its Keyway name ("npu:1"). PyTorch's own strings do not know those:
    torch.device("opencl:0") is a kind of device that PyTorch once had a name for, and no tensors."""
    names = [_C.device_name(index) for index in range(_C.device_count())]
    if name not in names:
        there = ", ".join(f"{each} is {_name}:{index}" for index, each in enumerate(names)) or "none is"
        raise RuntimeError(f"{name} is not registered ({there}). Register it with torch_keyway.register({name!r})")
    return torch.device(_name, names.index(name))


def set_constant(what, constant=True):
    """Says of a tensor, or of all weights of a module, that its numbers stay as they are: kernels may then keep them in the
    order in which they read them best, which takes as much memory again. It ends by itself when something changes the
    numbers, an optimizer's step for instance. Biases and other vectors of a module are left alone."""
    module = isinstance(what, torch.nn.Module)
    for tensor in (p for p in what.parameters() if p.dim() > 1) if module else (what,):
        _C.set_constant(tensor, constant)


def is_constant(tensor):
    """Whether set_constant has been said of the tensor's memory, and nothing has changed it since."""
    return _C.is_constant(tensor)


def set_fallback(mode):
    """What happens when a device lacks an op: "off" (an error), "warn" (once per op) or "allow". KEYWAY_FALLBACK sets
    what it is at the start."""
    _C.set_fallback(_fallback_modes.index(mode))


def get_fallback():
    return _fallback_modes[_C.get_fallback()]


def fallbacks():
    """How often a CPU ran what a device could not, since the start: a dictionary, empty when that never happened. What no op
    of Keyway serves stands there as PyTorch's operator ("aten::mode"), what a device has no kernel for as the op
    ("normal_")."""
    return dict(_C.fallback_counts())
