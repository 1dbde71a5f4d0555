/* SPDX-License-Identifier: Apache-2.0
 *
 * What a family of ops is made of, and all families of the pack.
 */
#ifndef KEYWAY_GPU_FAMILIES_H
#define KEYWAY_GPU_FAMILIES_H

#include "lower/plan.h"

/* Each is defined by the source file of its name, and has its row in families.def. */
typedef struct kw_gpu_family {
  const kw_gpu_op *ops;             /* one without a name ends them; NULL: other families use its kernels */
  const kw_gpu_module *modules[10]; /* those that its source file defines; NULL ends them */
} kw_gpu_family;

#define KW_GPU_FAMILY(name) extern const kw_gpu_family kw_gpu_##name##_family;
#include "ops/families.def"
#undef KW_GPU_FAMILY

/* The op of that name, NULL when the pack has none. */
const kw_gpu_op *kw_gpu_op_find(const char *name);

#endif /* KEYWAY_GPU_FAMILIES_H */
