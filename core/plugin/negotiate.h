/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plugin answers to query, checked and copied into structs of the host's own size. Used by the library and by
 * keyway-probe; depends on error.c only.
 */
#ifndef KEYWAY_CORE_NEGOTIATE_H
#define KEYWAY_CORE_NEGOTIATE_H

#include "base/word.h"

#include <keyway/keyway.h>
#include <keyway/plugin.h>

typedef struct kw_plugin_answer {
  kw_plugin_desc desc;  /* zero-filled copy; strings are the plugin's, never NULL */
  uint32_t abi_version; /* agreed: the lower of host's and plugin's; desc.abi_version has the plugin's own */
  uint64_t native;      /* KW_NATIVE_* */
  /* A table for each group of slots.def: device, memory, ... Every slot is callable: a stub returns KW_ERR_UNSUPPORTED
   * and names the slot. */
#define KW_SLOT_GROUP(group, NAME, required, native, text) kw_##group##_api group;
#include "slots.def"
} kw_plugin_answer;

/* Asks the plugin and checks: version, struct sizes, strings, groups, required slots. On failure the message is one
 * sentence, and *out_result holds what was known until then. */
kw_status kw_negotiate(kw_query_fn query, kw_plugin_answer *out_result);

/* The failure of a query or a probe: what it says, why by what it gave in *out_reason, or that it gave nothing. Returns
 * the canonical status. */
kw_status kw_reason_refuse(kw_status status, const char *reason, const char *what);

/* Which slots are the plugin's own: a bit for each of slots.def, in its order. And stubs in the place of the others. */
uint64_t kw_answer_slots(const kw_plugin_answer *answer);
void kw_answer_restrict(kw_plugin_answer *answer, uint64_t slots);

#endif /* KEYWAY_CORE_NEGOTIATE_H */
