# SPDX-License-Identifier: Apache-2.0
"""The backend "keyway" of torch.distributed, for the devices that are registered here."""

import atexit

from torch import distributed

from . import _C


def register(name):
    """Makes it the backend of the device of that name, beside gloo for the CPU."""
    distributed.Backend.register_backend("keyway", _make, extended_api=True, devices=[name])
    atexit.register(_C.end_staging)


def _make(options, _):
    """A process' part in a new group. gloo carries its bytes between the hosts, whatever the devices are; a library of a
    vendor's own that reaches from device to device would be chosen here."""
    host = distributed.ProcessGroupGloo(options.store, options.group_rank, options.group_size, timeout=options.timeout)
    return _C.make_staged_backend(host)
