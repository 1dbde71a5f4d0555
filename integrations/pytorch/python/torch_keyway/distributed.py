# SPDX-License-Identifier: Apache-2.0
"""The backend "keyway" of torch.distributed, for the devices that are registered here."""

import atexit
import os

from torch import distributed

from . import _C


def register(name):
    """Makes it the backend of the device of that name, beside gloo for the CPU."""
    distributed.Backend.register_backend("keyway", _make, extended_api=True, devices=[name])
    atexit.register(_C.end_staging)


def _make(options, _):
    """A process' part in a new group. gloo carries its bytes between the hosts, whatever the devices are. With
    KEYWAY_COLLECTIVES=vendor, on all ranks, NCCL or RCCL carries from device to device what they have: that has not met
    hardware yet."""
    way = os.environ.get("KEYWAY_COLLECTIVES", "host")
    if way not in ("host", "vendor"):
        raise ValueError(f"KEYWAY_COLLECTIVES is {way!r}: it is host (the default), or vendor for NCCL and RCCL")
    host = distributed.ProcessGroupGloo(options.store, options.group_rank, options.group_size, timeout=options.timeout)
    return _C.make_staged_backend(host, way == "vendor")
