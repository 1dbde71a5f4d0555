# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: elements placed elsewhere, padding."""
from golden import add, any_of, FLOATS, of, scalar, specials, tensor

for dtype in ["bool", "u8", "i64", "f16", "bf16", "f32", "f64", "c64"]:
    def values(*shape):
        return any_of("f32", list(shape)).to(any_of(dtype, [1]).dtype) if dtype == "c64" else any_of(dtype, list(shape))

    x = values(2, 3)
    add("repeat", x, [2, 1])
    add("repeat", x, [2, 1, 2])
    add("flip", x, [1])
    add("flip", x, [0, -1])
    add("roll", x, [1], [1])
    add("roll", x, [-4, 1], [1, 0])
    add("roll", x, [2], [])
    for op in ["triu", "tril"]:
        add(op, values(3, 4), 0)
        add(op, values(2, 3, 2), -1)
        add(op, values(3, 4), 2)
    add("select_scatter", x, values(2), 1, -1)
    add("select_scatter", values(2, 3, 2), values(3, 2), 0, 1)
    add("slice_scatter", values(5, 2), values(2, 2), 0, 1, -1, 2)
    add("slice_scatter", x, values(2, 0), 1, 3, 1, 1)
    add("slice_scatter", x, x, 0, None, None, 1)
    add("constant_pad_nd", x, [1, 2], scalar(1))
    add("constant_pad_nd", x, [-1, 1, 1, 0], scalar(True if dtype == "bool" else 3))
    if dtype != "bool":  # the library has these for numbers only
        add("reflection_pad1d", values(2, 4), [3, 1])
        add("reflection_pad1d", values(1, 2, 3), [-1, 2])
        add("reflection_pad2d", values(1, 3, 3), [1, 2, 0, 1])
        add("reflection_pad3d", values(1, 2, 2, 3), [2, 1, 1, 0, 0, 1])
        add("replication_pad1d", values(2, 3), [4, 1])
        add("replication_pad1d", values(1, 2, 3), [-2, 3])
        add("replication_pad2d", values(1, 2, 3), [1, 2, 0, 1])
        add("replication_pad3d", values(1, 2, 1, 3), [2, 1, 1, 0, 0, 1])
for dtype in FLOATS:
    for kind in ["reflection", "replication"]:
        add(f"{kind}_pad1d_backward", tensor(dtype, [2, 6]), tensor(dtype, [2, 3]), [2, 1], terms=4)
        add(f"{kind}_pad1d_backward", tensor(dtype, [1, 2, 4]), tensor(dtype, [1, 2, 3]), [-1, 2], terms=4)
        add(f"{kind}_pad2d_backward", tensor(dtype, [1, 4, 5]), tensor(dtype, [1, 3, 3]), [1, 1, 0, 1], terms=9)
        add(f"{kind}_pad3d_backward", tensor(dtype, [1, 3, 3, 4]), tensor(dtype, [1, 2, 2, 2]), [1, 1, 1, 0, 0, 1],
            terms=27)
add("roll", specials("f32"), [5], [0])
add("triu", specials("f32").reshape(3, 4), 0)
add("constant_pad_nd", of("f32", [1.0]), [1, 1], scalar(0.1))
