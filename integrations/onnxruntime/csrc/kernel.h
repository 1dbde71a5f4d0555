/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel for ONNX Runtime: a node and the rows of the mapping that serve its operator.
 */
#ifndef KEYWAY_ORT_KERNEL_H
#define KEYWAY_ORT_KERNEL_H

#include "expression.h"
#include "mapping.h"

#define KERNEL_MAX_ROWS 4

/* The rows of one operator and range of versions, their expressions read. */
typedef struct kernel_rows {
  const mapping *rows;
  unsigned count;
  expression *expressions[KERNEL_MAX_ROWS]; /* NULL where the row names a function */
} kernel_rows;

/* The rows from `first` on; made once in the process. */
OrtStatus *kernel_rows_find(unsigned first, unsigned count, const kernel_rows **out_rows);
/* Those that serve a node; NULL when none do. */
const kernel_rows *kernel_rows_of(const char *domain, const char *op_type, int since);
/* Runs the row that fits the dtype of the first input. */
bool kernel_rows_run(const kernel_rows *rows, run *run);

OrtStatus *kernel_create(void *rows, const OrtKernelInfo *info, ort_kernel **out_kernel);
OrtStatus *kernel_create_copy(void *none, const OrtKernelInfo *info, ort_kernel **out_kernel);

#endif
