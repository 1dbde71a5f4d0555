/* SPDX-License-Identifier: Apache-2.0
 *
 * How ONNX's operators are made of Keyway's ops: the rows of mapping.def.
 */
#ifndef KEYWAY_ORT_MAPPING_H
#define KEYWAY_ORT_MAPPING_H

#include "run.h"

/* Which rows of an operator a node takes: by the dtype of its first input. */
enum mapping_dtypes { ANY, FLOATS, INTS, BOOLS, U64 };
/* Beside one of these: what the row does has the same bits for u64 as for i64. */
#define BITS 8

/* Inputs in host memory, as bits; HOST_OUTPUTS: all outputs, too. */
#define HOST(i) (1u << (i))
#define HOST_REST(i) (~0u << (i))

typedef struct mapping {
  const char *domain;
  const char *op_type;
  int first, last; /* versions of the operator, as its "since version" counts them */
  unsigned dtypes;
  uint32_t host_inputs;
  bool host_outputs;
  const char *text;           /* an expression, or */
  bool (*function)(run *run); /* a function, named in mapping.def */
} mapping;

extern const mapping kw_ort_mappings[];
extern const unsigned kw_ort_mapping_count;

/* The row among `count` of one operator that serves this dtype; NULL: none does. */
const mapping *mapping_for(const mapping *rows, unsigned count, kw_dtype dtype);

#endif
