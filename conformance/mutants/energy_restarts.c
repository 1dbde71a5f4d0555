/* SPDX-License-Identifier: Apache-2.0
 *
 * The energy counter begins at zero with each opening of the device.
 */
#include "mutant.h"

#include <stdatomic.h>

static atomic_uint_least64_t readings;

static kw_status read_energy(void *device, uint64_t *out_microjoules) {
  (void)device;
  *out_microjoules = atomic_fetch_add(&readings, 7);
  return KW_OK;
}

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  atomic_store(&readings, 0);
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_energy_api api = {.struct_size = sizeof api, .read = read_energy};
  mutant->device.open = open_device;
  kw_mutant_add_group(mutant, KW_GROUP_ENERGY, &api);
}
