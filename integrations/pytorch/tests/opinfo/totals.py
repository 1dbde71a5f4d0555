# SPDX-License-Identifier: Apache-2.0
"""What was seen: outcomes of samples, and the ops that Keyway ran, from its own trace."""

import collections
import ctypes
import json
import os

import known
import level
import pytest
import torch
import torch_keyway

ops = {op.name: op for op in torch_keyway.ops()}
names = {
    torch.bool: "bool", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64",
    torch.float8_e4m3fn: "f8e4m3fn", torch.float8_e5m2: "f8e5m2", torch.complex64: "c64", torch.complex128: "c128",
}  # fmt: skip

dtypes = {name: dtype for dtype, name in sorted(names.items(), key=lambda item: item[1] != "f32")}  # f32 first

outcomes = {"forward": collections.Counter(), "backward": collections.Counter()}
outside = collections.Counter()  # samples by the operator that they stop at
entries = collections.defaultdict(set)  # dtypes by entry of the database
_ran = collections.defaultdict(set)  # dtypes by op
_read = 0


def wanted(config):
    """The dtypes that --dtypes names."""
    given = config.getoption("--dtypes")
    return [dtype for name, dtype in dtypes.items() if not given or name in given.split(",")]


def part(config, database):
    """The entries that --shard names."""
    number, parts = map(int, config.getoption("--shard").split("/"))
    return database[number - 1 :: parts]


def parametrize(metafunc, name, database, dtypes_of):
    """A test for each entry of the database, which it gets as `name`, and each dtype, of those that were asked for."""
    if name not in metafunc.fixturenames:
        return
    cases = [
        pytest.param(entry, dtype, id=f"{getattr(entry, 'full_name', entry.name)}-{names[dtype]}")
        for entry in part(metafunc.config, database)
        for dtype in wanted(metafunc.config)
        if dtype in dtypes_of(entry)
    ]
    metafunc.parametrize(f"{name}, dtype", cases)


def conclude(problems, name, dtype, every, record):
    """Ends the test of an entry and a dtype. What known.toml says is held against all samples alone."""
    if every == 1:
        problems = problems + known.stale(name, names[dtype])
    record(problems)
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def note_ops(dtype):
    """Takes what the trace says since the last time as ops that ran with samples of `dtype`."""
    global _read
    path = os.environ["KEYWAY_TRACE"]
    ctypes.CDLL(None).fflush(None)
    with open(path) as file:
        file.seek(_read)
        for line in file:
            if '"cat": "op"' in line:
                event = json.loads(line.rstrip().rstrip(","))
                _ran[event["name"]] |= {dtype} if f"{names[dtype]}[" in event["args"]["detail"] else set()
        _read = file.tell()
    os.truncate(path, 0)  # the library goes on writing where it was, behind a hole


def text(device):
    """All that was counted, for a person to read."""
    pairs = sum(len(_ran[name] & set(op.dtypes)) for name, op in ops.items() if name in _ran)
    lines = [
        f"device {device}, PyTorch {torch.__version__}",
        f"ops of the op set: {len(ops)}, of which {sum(name in _ran for name in ops)} ran; "
        f"of {sum(len(op.dtypes) for op in ops.values())} pairs of op and dtype {pairs}",
        "ops that no operator of the database came to: " + ", ".join(name for name in ops if name not in _ran),
        f"operators of the database that come to the op set: {len(entries)}, "
        f"with dtypes {sum(len(dtypes) for dtypes in entries.values())}",
    ]
    for way, counts in outcomes.items():
        parts = ", ".join(f"{count} {what}" for what, count in counts.most_common())
        lines.append(f"{way}: {sum(counts.values())} samples: {parts}")
    counts, failing = level.noted()
    lines += level.table(counts) + level.why_not(counts) + level.rest(failing)
    stops = ", ".join(f"{name} {count}" for name, count in outside.most_common())
    lines += [f"  operators outside the op set: {stops or 'none'}"]
    lines += [f"fallback {torch_keyway.get_fallback()}, fallbacks: {torch_keyway.fallbacks() or 'none'}"]
    return "\n".join(lines)
