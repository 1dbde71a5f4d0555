#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: scripts/known_args.py

Writes abi/include/keyway/known_args.h, how many arguments each op of abi/ops.def has: after a change of that file.
op_test fails when the two differ.
"""
import re
from pathlib import Path

ABI = Path(__file__).resolve().parents[1] / "abi"
HEADER = """/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway: how many arguments each op of the op table has in this version, for kw_kernel_desc.known_args. Made from
 * ops.def by scripts/known_args.py.
 */
#ifndef KEYWAY_KNOWN_ARGS_H
#define KEYWAY_KNOWN_ARGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(op, arguments), by the op's name. */
#define KW_KNOWN_ARGS_LIST(X) \\
%s

/* How many arguments an op of the table has in these headers; 0 for another. For kernels that take all of them: a host
 * of a later version, whose schema has more, calls them where those have their defaults. */
static inline uint32_t kw_known_args(const char *op) {
  static const struct {
    const char *op;
    uint32_t count;
  } ops[] = {
#define KW_KNOWN_ARGS_ROW(op, count) {op, count},
      KW_KNOWN_ARGS_LIST(KW_KNOWN_ARGS_ROW)
#undef KW_KNOWN_ARGS_ROW
  };
  size_t low = 0, high = sizeof ops / sizeof ops[0];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const char *a = op, *b = ops[middle].op;
    while (*a != 0 && *a == *b) a++, b++;
    if (*a == *b) return ops[middle].count;
    if ((unsigned char)*a < (unsigned char)*b) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_KNOWN_ARGS_H */
"""


def schemas():
    text = re.sub(r"/\*.*?\*/", "", (ABI / "ops.def").read_text(), flags=re.S)
    for literals in re.findall(r'^KW_OP\(((?:\s*"[^"]*")+)', text, flags=re.M):
        yield "".join(re.findall(r'"([^"]*)"', literals))


def arguments(schema):
    depth, parts = 0, [""]
    for letter in schema[schema.index("(") + 1:schema.rindex(") ->")]:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return sum(part.strip() not in ("", "*") for part in parts)


def main():
    rows = sorted((schema[:schema.index("(")], arguments(schema)) for schema in schemas())
    text = HEADER % " \\\n".join(f'  X("{op}", {count})' for op, count in rows)
    (ABI / "include/keyway/known_args.h").write_text(text)


if __name__ == "__main__":
    main()
