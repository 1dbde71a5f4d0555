/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ops a program called in which dtypes, by its trace (KEYWAY_TRACE).
 */
#ifndef KEYWAY_CLI_MODEL_TRACE_H
#define KEYWAY_CLI_MODEL_TRACE_H

#include <keyway/keyway.h>

typedef struct kw_model_op {
  char name[128];
  uint64_t dtypes; /* of its tensors */
} kw_model_op;

typedef struct kw_model_ops {
  kw_model_op *items;
  uint32_t count;
} kw_model_ops;

/* False when the file is no trace, or one without a call; `message` says why. */
bool kw_model_ops_read(const char *path, kw_model_ops *out_ops, char *message, size_t size);
void kw_model_ops_free(kw_model_ops *ops);

/* Those of the tensors that the op was called with, bit d for dtype d; 0: it was not. */
uint64_t kw_model_op_dtypes(const kw_model_ops *ops, const char *name);

#endif /* KEYWAY_CLI_MODEL_TRACE_H */
