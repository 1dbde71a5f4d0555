/* SPDX-License-Identifier: Apache-2.0
 *
 * The packed forms of a call's constant arguments: found, or made at the first call that can have them.
 */
#ifndef KEYWAY_CORE_PACKS_H
#define KEYWAY_CORE_PACKS_H

#include "call/plan.h"

/* What a launch is given, by kw_call_extra.packed. */
typedef struct kw_packs {
  uint32_t count;
  kw_packed forms[KW_MAX_ARGS];
  const kw_packed *by_arg[KW_MAX_ARGS];
  kw_buffer *held[KW_MAX_ARGS]; /* `count` */
} kw_packs;

/* Asks the kernel about each argument that it packs, for plan->packs; bit i of `cast`: argument i is cast first, so
 * what the kernel sees is no constant. `call` is the plan's, without memory. */
kw_status kw_packs_plan(kw_plan *plan, const kw_kernel *kernel, uint32_t cast, const kw_call *call);

/* The packed forms of the arguments in `call`, which the kernel is about to be launched with on the stream; what has
 * none is left as it lies. Packing waits, so a host function's call packs nothing. kw_packs_release is due after the
 * launch, whatever the status. */
kw_status kw_packs_obtain(kw_packs *packs, const kw_plan *plan, const kw_request *request, kw_stream *stream,
                          kw_call *call);
void kw_packs_release(kw_packs *packs);

#endif /* KEYWAY_CORE_PACKS_H */
