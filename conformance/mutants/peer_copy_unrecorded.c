/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies from the other device have no activity records.
 */
#include "mutant_two.h"

static kw_status (*copy_between)(void *device, void *stream, void *src_device, const kw_copy_info *copy);
static uint32_t unrecorded;

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  const kw_status status = copy_between(device, stream, src_device, copy);
  unrecorded += status == KW_OK;
  return status;
}

static void change(kw_activity *records, uint32_t *inout_count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *inout_count; i++) {
    if (records[i].kind == KW_ACTIVITY_COPY && unrecorded > 0) {
      unrecorded--;
    } else {
      records[kept++] = records[i];
    }
  }
  *inout_count = kept;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  copy_between = mutant->memory.copy_peer;
  mutant->memory.copy_peer = copy_peer;
  mutant->records = change;
}
