# SPDX-License-Identifier: Apache-2.0
"""usage: perfetto_check.py FILE [--schema]

Reads a trace in Perfetto's format without any library, rebuilds every flow, and fails unless

- all times are on one clock, tracks nest in a process, slices nest on their tracks, and every name is known;
- every launch on a stream of a device that tells what it does leads to what the device did, and is part of a call;
- what a device did for a call comes from that call's launch;
- memory is counted for every device.

--schema   reads it a second time with Protocol Buffers' runtime by Perfetto's own schema (PyPI: protobuf, perfetto), which
           must know every field, and give the same messages
"""

import sys

# Message: {number: (name, type)}: what is used of protos/perfetto/trace.
FIELDS = {
    "Trace": {1: ("packet", "TracePacket*")},
    "TracePacket": {
        6: ("clock_snapshot", "ClockSnapshot"), 8: ("timestamp", "uint"), 10: ("trusted_packet_sequence_id", "uint"),
        11: ("track_event", "TrackEvent"), 12: ("interned_data", "InternedData"), 13: ("sequence_flags", "uint"),
        42: ("previous_packet_dropped", "uint"), 59: ("trace_packet_defaults", "TracePacketDefaults"),
        60: ("track_descriptor", "TrackDescriptor")},
    "ClockSnapshot": {1: ("clocks", "Clock*"), 2: ("primary_trace_clock", "uint")},
    "Clock": {1: ("clock_id", "uint"), 2: ("timestamp", "uint")},
    "TracePacketDefaults": {58: ("timestamp_clock_id", "uint")},
    "TrackDescriptor": {
        1: ("uuid", "uint"), 2: ("name", "string"), 3: ("process", "ProcessDescriptor"),
        4: ("thread", "ThreadDescriptor"), 5: ("parent_uuid", "uint"), 8: ("counter", "CounterDescriptor")},
    "ProcessDescriptor": {1: ("pid", "uint"), 6: ("process_name", "string")},
    "ThreadDescriptor": {1: ("pid", "uint"), 2: ("tid", "uint"), 5: ("thread_name", "string")},
    "CounterDescriptor": {3: ("unit", "uint")},
    "InternedData": {1: ("event_categories", "EventCategory*"), 2: ("event_names", "EventName*")},
    "EventCategory": {1: ("iid", "uint"), 2: ("name", "string")},
    "EventName": {1: ("iid", "uint"), 2: ("name", "string")},
    "TrackEvent": {
        3: ("category_iids", "uint*"), 4: ("debug_annotations", "DebugAnnotation*"), 9: ("type", "uint"),
        10: ("name_iid", "uint"), 11: ("track_uuid", "uint"), 22: ("categories", "string*"), 23: ("name", "string"),
        30: ("counter_value", "uint"), 47: ("flow_ids", "fixed64*")},
    "DebugAnnotation": {3: ("uint_value", "uint"), 6: ("string_value", "string"), 10: ("name", "string")},
}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
MONOTONIC = 3


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def decode(data, message):
    """A message as a dictionary by the table."""
    out, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = FIELDS[message][tag >> 3]
        wire = {"uint": 0, "fixed64": 1}.get(kind.rstrip("*"), 2)
        assert tag & 7 == wire, f"{message}.{name} is of wire type {tag & 7}"
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            length, at = varint(data, at)
            piece, at = data[at:at + length], at + length
            assert len(piece) == length, f"{message}.{name} is cut off"
            value = piece.decode() if kind.rstrip("*") == "string" else decode(piece, kind.rstrip("*"))
        if kind.endswith("*"):
            out.setdefault(name, []).append(value)
        else:
            assert name not in out, f"{message}.{name} stands there twice"
            out[name] = value
    return out


def check_schema(data, trace):
    """The same by Perfetto's schema: every field known there by this name, every value equal."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    def compare(ours, theirs, message):
        known = {field.name: value for field, value in theirs.ListFields()}
        assert set(known) == set(ours), f"{message}: {set(known) ^ set(ours)}"
        for name, value in ours.items():
            kind = next(kind for field, kind in FIELDS[message].values() if field == name)
            pairs = zip(value, known[name], strict=True) if kind.endswith("*") else [(value, known[name])]
            for one, other in pairs:
                if isinstance(one, dict):
                    compare(one, other, kind.rstrip("*"))
                else:
                    assert one == other, f"{message}.{name}: {one} and {other}"

    theirs = perfetto_trace_pb2.Trace()
    theirs.ParseFromString(data)
    compare(trace, theirs, "Trace")
    for packet in theirs.packet:
        kind = packet.track_event.type
        assert not packet.HasField("track_event") or kind in (BEGIN, END, INSTANT, COUNTER)
    print(f"by Perfetto's own schema: the same {len(theirs.packet)} packets, each field known")


class Slice:
    def __init__(self, track, begin, category, name, event):
        self.track, self.begin, self.end, self.category, self.name = track, begin, None, category, name
        self.flows = event.get("flow_ids", [])
        self.args = {a["name"]: a.get("string_value", a.get("uint_value")) for a in event.get("debug_annotations", [])}

    def encloses(self, other):
        return self.track == other.track and self.begin <= other.begin and other.end <= self.end


def read(trace):
    """Tracks, slices, counters and instants; checks what each packet needs."""
    tracks, names, slices, counters, instants, opened = {}, {}, [], {}, [], {}
    cleared = False
    for packet in trace["packet"]:
        flags = packet.get("sequence_flags", 0)
        if flags & 1:
            names, cleared = {}, True
            assert packet["trace_packet_defaults"]["timestamp_clock_id"] == MONOTONIC
        assert cleared and packet["trusted_packet_sequence_id"] > 0
        for kind, entries in packet.get("interned_data", {}).items():
            for entry in entries:
                names[kind, entry["iid"]] = entry["name"]
        track = packet.get("track_descriptor")
        if track:
            assert "parent_uuid" not in track or track["parent_uuid"] in tracks, f"{track} has no parent"
            assert tracks.setdefault(track["uuid"], track) == track, "one track is two"
        event = packet.get("track_event")
        if not event:
            continue
        assert flags & 2, "an event that needs no state"
        uuid, kind = event["track_uuid"], event["type"]
        assert uuid in tracks, "an event on a track that nobody described"
        if kind == BEGIN:
            category = names["event_categories", event["category_iids"][0]] if "category_iids" in event else \
                event["categories"][0]
            name = names["event_names", event["name_iid"]] if "name_iid" in event else event["name"]
            slices.append(Slice(uuid, packet["timestamp"], category, name, event))
            assert opened.setdefault(uuid, slices[-1]) is slices[-1], "a begin without the end of the one before"
        elif kind == END:
            opened.pop(uuid).end = packet["timestamp"]
        elif kind == COUNTER:
            counters.setdefault(uuid, []).append((packet["timestamp"], event["counter_value"]))
        else:
            instants.append(event["name"])
    assert not opened, "a slice without an end"
    return tracks, slices, counters, instants


def check_nesting(slices):
    """As a viewer does it: by time alone."""
    for track in {s.track for s in slices}:
        stack = []
        edges = [(s.begin, 1, -s.end, s) for s in slices if s.track == track]
        edges += [(s.end, 0, -s.begin, s) for s in slices if s.track == track and s.end > s.begin]
        for _, begins, _, s in sorted(edges, key=lambda edge: edge[:3]):
            if begins and s.end > s.begin:
                stack.append(s)
            elif not begins:
                assert stack.pop() is s, f"{s.category} {s.name} does not nest with what is on its track"


def check_flows(tracks, slices):
    streams = {int(t["name"].split()[1]): t for t in tracks.values() if t.get("name", "").startswith("stream ")}
    launches = {s.args["call"]: s for s in slices if s.category == "launch" and s.args["stream"] in streams}
    ops = [s for s in slices if s.category == "op"]
    did = [s for s in slices if s.category == "device"]
    reached = set()
    for kernel in did:
        if "call" not in kernel.args:
            continue
        launch = launches[kernel.args["call"]]
        assert kernel.flows == launch.flows and len(launch.flows) == 1, f"{kernel.name} comes from no launch"
        reached.add(kernel.args["call"])
    assert reached == set(launches), f"launches that lead to nothing: {sorted(set(launches) - reached)[:9]}"
    in_calls = 0
    for launch in launches.values():
        around = [op for op in ops if op.encloses(launch)]
        assert all(launch.flows[0] in op.flows for op in around), f"{launch.name}: its call does not lead there"
        in_calls += bool(around)
    dangling = {flow for s in slices for flow in s.flows} - {flow for s in did for flow in s.flows}
    assert not dangling, f"flows that end nowhere: {dangling}"
    return len(launches), in_calls, sum("call" in kernel.args for kernel in did)


def check_memory(tracks, counters):
    devices = {t["parent_uuid"] for t in tracks.values() if "counter" in t}
    for device in devices:
        assert tracks[device]["name"] and tracks[tracks[device]["parent_uuid"]]["process"]["process_name"]
        levels = {t["name"]: counters[t["uuid"]] for t in tracks.values() if t.get("parent_uuid") == device and
                  "counter" in t}
        assert set(levels) == {"memory in use", "memory reserved"}
        for used, held in zip(levels["memory in use"], levels["memory reserved"], strict=True):
            assert used[0] == held[0] and used[1] <= held[1]
    return len(devices)


def check(path, schema=False):
    with open(path, "rb") as file:
        data = file.read()
    trace = decode(data, "Trace")
    if schema:
        check_schema(data, trace)
    tracks, slices, counters, instants = read(trace)
    check_nesting(slices)
    launches, in_calls, kernels = check_flows(tracks, slices)
    devices = check_memory(tracks, counters)
    print(f"{path}: {len(slices)} slices on {len(tracks)} tracks; {launches} launches, {in_calls} of them in calls of "
          f"ops, lead to {kernels} intervals of devices, and none to nothing; memory of {devices} devices")
    return launches, devices, instants


if __name__ == "__main__":
    check(sys.argv[1], sys.argv[2:] == ["--schema"])
