# SPDX-License-Identifier: Apache-2.0
"""Streams and events: the order of work, and waiting for it; graphs: calls recorded once and run many times.

Calls use the stream of the innermost `with stream:` of their thread and device, and the device's default stream
otherwise. Work of two streams is ordered only by events, or by waiting.
"""

import contextlib
import threading
from ctypes import byref, c_uint64

from . import _errors as errors, _library as library
from ._library import made

NS = 10**9
_current = threading.local()


def nanoseconds(seconds):
    return library.WAIT_FOREVER if seconds is None else int(seconds * NS)


def current(device):
    """The handle of the stream that calls on the device use now; None: its default stream."""
    for stream in reversed(getattr(_current, "streams", ())):
        if stream.device._handle == device._handle:
            return stream._handle
    return None


def _passed(status):
    if status not in (0, errors.NOT_READY):
        errors.raise_status(status, library.error_message().decode(errors="replace"))
    return status == 0


class Stream:
    def __init__(self, device):
        self._handle = made(library.stream_create, device._handle)
        self._destroy = library.stream_destroy
        self.device = device
        device._has_streams = True

    def __del__(self):
        if getattr(self, "_handle", None):
            try:
                self._destroy(self._handle)
            except RuntimeError:
                pass  # a late error that nobody waited for, or the child of a fork

    def __repr__(self):
        return f"<keyway stream of {self.device}>"

    def __enter__(self):
        if not hasattr(_current, "streams"):
            _current.streams = []
        _current.streams.append(self)
        return self

    def __exit__(self, *failure):
        _current.streams.remove(self)

    def synchronize(self, timeout=None):
        """Waits, at most so many seconds (keyway.Timeout); raises a late error of the stream, with the op it is of."""
        library.stream_synchronize_for(self._handle, nanoseconds(timeout))

    def query(self):
        """Whether all work is done."""
        return _passed(library.stream_query(self._handle))

    def record(self, event=None):
        """Marks this point of the stream by an event, a new one if none is given."""
        event = event or Event(self.device)
        library.event_record(event._handle, self._handle)
        return event

    def wait(self, event):
        """Later work of this stream comes after the event, of whatever device."""
        library.stream_wait_event(self._handle, event._handle)


class Event:
    def __init__(self, device):
        self._handle = made(library.event_create, device._handle)
        self._destroy = library.event_destroy
        self.device = device

    def __del__(self):
        if getattr(self, "_handle", None):
            try:
                self._destroy(self._handle)
            except RuntimeError:
                pass  # in the child of a fork

    def record(self):
        """Marks this point of the stream that calls use now."""
        library.event_record(self._handle, current(self.device))
        return self

    def query(self):
        """Whether it has been passed, or never recorded."""
        return _passed(library.event_query(self._handle))

    def synchronize(self, timeout=None):
        library.event_synchronize_for(self._handle, nanoseconds(timeout))

    def elapsed(self, end):
        """Seconds from this event to a later one; both have been passed."""
        result = c_uint64()
        library.event_elapsed(self._handle, end._handle, byref(result))
        return result.value / NS


class Graph:
    """Calls of ops, recorded and launched again with whatever their tensors hold then:

        graph = keyway.Graph()
        with graph.record(stream):
            y = keyway.ops.add(x, x)
        graph.launch(stream)

    Nothing is computed while it records. What would wait, such as reading a tensor, is refused there (keyway.Busy)."""

    _handle = None

    def __init__(self):
        self._destroy = library.graph_destroy

    @contextlib.contextmanager
    def record(self, stream):
        if self._handle:
            raise ValueError("this graph has been recorded: make another one")
        with stream:
            library.graph_begin(stream._handle)
            try:
                yield self
            except BaseException:
                library.graph_end(stream._handle, None)  # thrown away
                raise
            self._handle = made(library.graph_end, stream._handle)
        self.device = stream.device

    def launch(self, stream=None):
        """Enqueues all of it, on the stream that calls use now if none is given."""
        if not self._handle:
            raise ValueError("nothing has been recorded: `with graph.record(stream):` does that")
        library.graph_launch(self._handle, stream._handle if stream else current(self.device))

    def __del__(self):
        if self._handle:
            try:
                self._destroy(self._handle)
            except RuntimeError:
                pass  # in the child of a fork
