/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the kernel sources that the host shares, compiled as C: argument blocks, opcodes, narrow rounding.
 */
#ifndef KEYWAY_GPU_DIALECT_H
#define KEYWAY_GPU_DIALECT_H

#include <keyway/types.h>

typedef uint32_t kw_u32;
typedef int64_t kw_i64;
typedef uint64_t kw_u64;

#define KW_FN static inline
#define KW_CLZ64(x) __builtin_clzll(x)

#include "kernels/args.kw"
#include "kernels/opcodes.kw"

#endif /* KEYWAY_GPU_DIALECT_H */
