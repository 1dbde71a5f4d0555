/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of ops in messages: all that a kw_call points to, tensors as long as their rank.
 */
#ifndef KEYWAY_CORE_CALL_CODEC_H
#define KEYWAY_CORE_CALL_CODEC_H

#include "isolate/wire/arena.h"
#include "isolate/wire/message.h"

#include <keyway/plugin.h>

void kw_put_tensor(kw_message *m, const kw_tensor_ref *tensor);
void kw_put_values(kw_message *m, const kw_value *values, uint32_t count);
void kw_put_tensors(kw_message *m, const kw_tensor_ref *const *tensors, uint32_t count);
/* The call as it is, its device, its prepared state and nothing of op and user: the receiver knows these. */
void kw_put_call(kw_message *m, const kw_call *call, uint64_t device, uint64_t prepared);

/* Into the arena. What cannot be breaks the message. */
kw_tensor_ref *kw_take_tensor(kw_message *m, kw_arena *arena);
kw_value *kw_take_values(kw_message *m, kw_arena *arena, uint32_t *out_count);
kw_tensor_ref **kw_take_tensors(kw_message *m, kw_arena *arena, uint32_t *out_count);
void kw_take_call(kw_message *m, kw_arena *arena, kw_call *out_call);

#endif /* KEYWAY_CORE_CALL_CODEC_H */
