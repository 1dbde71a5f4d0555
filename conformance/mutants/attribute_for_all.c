/* SPDX-License-Identifier: Apache-2.0
 *
 * The device has an answer to every key.
 */
#include "mutant.h"

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  if (kw_mutant_real.device.attribute(plugin, index, key, out_value) == KW_OK) return KW_OK;
  out_value->type = KW_ATTRIBUTE_INT;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.attribute = attribute;
}
