/* SPDX-License-Identifier: Apache-2.0
 *
 * The energy group hands on a counter of eight bits as it is: it wraps.
 */
#include "mutant.h"

#include <stdatomic.h>

static kw_status read_energy(void *device, uint64_t *out_microjoules) {
  static atomic_uint readings;
  (void)device;
  *out_microjoules = atomic_fetch_add(&readings, 3) & 0xff;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_energy_api api = {.struct_size = sizeof api, .read = read_energy};
  kw_mutant_add_group(mutant, KW_GROUP_ENERGY, &api);
}
