/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy between the devices says that all is well and writes nothing. After FIDESlib issue 28: cudaMemcpyPeerAsync
 * into memory that was not mapped for the other device returned success.
 */
#include "mutant_two.h"

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  (void)device, (void)stream, (void)src_device, (void)copy;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->memory.copy_peer = copy_peer;
}
