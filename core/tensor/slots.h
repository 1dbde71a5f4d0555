/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of tensors: a table of handles that is never given back, so that a handle whose tensor was released can be
 * looked at for as long as the process lives.
 */
#ifndef KEYWAY_CORE_SLOTS_H
#define KEYWAY_CORE_SLOTS_H

#include "tensor/tensor.h"

/* A zero-filled tensor that is not alive yet, the one that was given back first; NULL without memory. Any thread. */
kw_tensor *kw_tensor_slot_take(void);
/* The tensor is not alive any more. */
void kw_tensor_slot_give(kw_tensor *tensor);

#endif /* KEYWAY_CORE_SLOTS_H */
