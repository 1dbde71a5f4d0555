/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests in which the plugin is a small host's guest: a call of one of its kernels, made from the op's schema, as
 * descriptors that still need memory and a place.
 */
#ifndef KEYWAY_CONTRACT_KERNEL_TRIAL_H
#define KEYWAY_CONTRACT_KERNEL_TRIAL_H

#include "call.h"

#include <keyway/plugin.h>

/* Holds pointers into itself. */
typedef struct kw_kernel_trial {
  const kw_kernel_desc *kernel;
  kw_test_call call;
  kw_test_forms forms[KW_MAX_ARGS];
  kw_tensor_ref results[KW_MAX_RESULTS];
  bool has_generator;
} kw_kernel_trial;

/* A key dtype of the kernel's; most ops have calls with plain numbers in f32, others in i64. KW_DTYPE_NONE: none. */
kw_dtype kw_kernel_trial_dtype(const kw_kernel_desc *kernel, const kw_op_info *op);

/* Whether the op takes attempt `number` at a call of trial->kernel in this dtype, most of whose sizes are `edge`. */
bool kw_kernel_trial_describe(kw_kernel_trial *trial, const kw_op *op, kw_dtype dtype, int64_t edge, uint32_t number);

/* Entry k of argument i, as the host hands it over, apart from memory: in the shape of the result where tensors of the
 * op broadcast. */
kw_tensor_ref kw_kernel_trial_tensor(const kw_kernel_trial *trial, uint32_t i, uint32_t k);

int64_t kw_kernel_trial_numel(const kw_tensor_ref *tensor);
uint64_t kw_kernel_trial_bytes(const kw_tensor_ref *tensor);
/* The tensor in memory so aligned, at its beginning where its descriptor says nothing else. mem NULL: in none. */
kw_tensor_ref kw_kernel_trial_place(kw_tensor_ref tensor, kw_mem mem, uint32_t alignment);

#endif /* KEYWAY_CONTRACT_KERNEL_TRIAL_H */
