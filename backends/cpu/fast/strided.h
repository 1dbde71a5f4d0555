/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of strided tensors: settled once for dtypes, shapes and strides, run for addresses.
 */
#ifndef KEYWAY_CPU_FAST_STRIDED_H
#define KEYWAY_CPU_FAST_STRIDED_H

#include "lanes.h"
#include "loop.h"

#include <stdbool.h>

typedef struct kw_strided {
  kw_loop loop; /* operand 0: what is written, 1: what is read */
  int64_t to_size, from_size;

  bool moves;        /* the dtypes are one: elements keep their bits; otherwise they go through the ports */
  uint32_t move;     /* which of the moves by size (KW_MOVE_SIZES) is that of what is read */
  int64_t row_bytes; /* of short dense rows, which the loop's elements are then; otherwise 0 */
  kw_port to, from;

  bool has_tiles;        /* if so: */
  uint32_t across;       /* the dimension that is dense in what is read; in what is written the last one is */
  int64_t rows, columns; /* of a tile: elements of the last dimension, and of that one */
  int64_t row_tiles, column_tiles;
} kw_strided;

/* Whether elements lie side by side in row-major order. */
bool kw_strided_is_dense(const kw_tensor_ref *tensor);

/* A dense tensor of the same shape, over memory to come. */
kw_tensor_ref kw_strided_dense_like(const kw_tensor_ref *tensor, kw_dtype dtype);

/* Which of the moves by size (KW_MOVE_SIZES) is that of a dtype. */
uint32_t kw_strided_size(kw_dtype dtype);

/* Whether elements of one dtype are copied, or converted with one rounding, to another here. The reference does that
 * for all. */
bool kw_strided_serves(kw_dtype to, kw_dtype from);

/* A copy of `from`, which broadcasts, to `to`. False where their dtypes are not served. */
bool kw_strided_plan(kw_strided *copy, const kw_tensor_ref *to, const kw_tensor_ref *from);

/* `to` and `from` are the first elements. They are the same where a tensor is copied to itself. */
kw_status kw_strided_run(const kw_strided *copy, const kw_host_api *host, char *to, const char *from);

/* Both at once, for tensors that a plan has no room for. KW_ERR_NOT_IMPLEMENTED where their dtypes are not served. */
kw_status kw_strided_copy(const kw_host_api *host, const kw_tensor_ref *to, const kw_tensor_ref *from);

/* The same with zeros. */
kw_status kw_strided_clear(const kw_host_api *host, const kw_tensor_ref *to);

#endif /* KEYWAY_CPU_FAST_STRIDED_H */
