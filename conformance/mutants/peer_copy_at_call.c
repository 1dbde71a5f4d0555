/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy between the devices happens when it is enqueued, whatever its stream has still to do.
 */
#include "mutant_two.h"

#include <string.h>

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  (void)device, (void)stream, (void)src_device; /* memory is the host's */
  memcpy((char *)copy->dst_mem + copy->dst_offset, (const char *)copy->src_mem + copy->src_offset, copy->size);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->memory.copy_peer = copy_peer;
}
