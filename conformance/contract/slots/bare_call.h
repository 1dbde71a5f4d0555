/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that ask a kernel about a call without launching it: what can_implement, workspace_size and prepare are
 * given.
 */
#ifndef KEYWAY_CONTRACT_SLOTS_BARE_CALL_H
#define KEYWAY_CONTRACT_SLOTS_BARE_CALL_H

#include "contract/kernel_trial.h"

/* A call without memory. Holds pointers into itself. */
typedef struct kw_bare_call {
  kw_kernel_trial trial;
  kw_call call;
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref tensors[KW_MAX_ARGS], results[KW_MAX_RESULTS];
  const kw_tensor_ref *outs[KW_MAX_RESULTS];
} kw_bare_call;

/* Attempt `number` (kw_kernel_trial_describe) at a call of the kernel, most of whose sizes are `edge`. False where
 * there is none, and where the op takes lists or generators, is a vendor's own, or the kernel is off: other tests have
 * those.
 */
bool kw_bare_call_make(kw_bare_call *call, const kw_kernel_desc *kernel, void *device, int64_t edge, uint32_t number,
                       uint32_t alignment);

#endif /* KEYWAY_CONTRACT_SLOTS_BARE_CALL_H */
