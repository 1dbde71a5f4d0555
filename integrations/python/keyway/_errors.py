# SPDX-License-Identifier: Apache-2.0
"""What Keyway refuses, as exceptions with its whole message: from the call down to the driver's own words.

All are keyway.Error; each is also what Python calls such a failure, so that `except MemoryError` finds it.
"""


class Error(RuntimeError):
    """A call of Keyway failed. `status` is its number (KW_ERR_... in keyway/types.h)."""

    status = None


class InvalidArgument(Error, ValueError):
    """The caller broke a documented rule."""


class NotImplementedHere(Error, NotImplementedError):
    """This device has no kernel for it; another one may, and keyway.settings.fallback lets cpu:0 stand in."""


class Unsupported(Error):
    """The device, or the process after a fork, never will."""


class OutOfMemory(Error, MemoryError):
    pass


class DeviceLost(Error):
    """Every stream of the device is dead; close it and open it again."""


class Timeout(Error, TimeoutError):
    pass


class Busy(Error):
    """In use now; later it may work."""


class Mismatch(Error):
    """No common ABI version."""


class NotFound(Error, LookupError):
    """No such device, op, plugin or file."""


class InputOutput(Error, OSError):
    pass


class Permission(Error, PermissionError):
    """Refused for safety: ownership or mode of a file, or a list of trust."""


class Internal(Error):
    """A defect in Keyway or in a plugin."""


NOT_READY = 11  # what a query says of work that still runs
NAMES = {
    1: InvalidArgument,
    2: NotImplementedHere,
    3: Unsupported,
    5: OutOfMemory,
    6: DeviceLost,
    7: Timeout,
    8: Busy,
    9: Mismatch,
    10: NotFound,
    12: InputOutput,
    13: Permission,
}
CLASSES = {2: OutOfMemory, 3: DeviceLost, 4: Busy, 5: Unsupported}  # of numbers that plugins give themselves


def raise_status(status, message):
    kind = NAMES.get(status) or CLASSES.get(status >> 24) or Internal
    error = kind(message or f"Keyway failed with status {status} and said nothing")
    error.status = status
    raise error from None
