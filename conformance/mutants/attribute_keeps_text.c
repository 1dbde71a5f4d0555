/* SPDX-License-Identifier: Apache-2.0
 *
 * The device's attribute "luid" is a fresh copy of its text each time, which nobody frees.
 */
#include "mutant.h"

#include <string.h>

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  if (strcmp(key, "luid") != 0) return kw_mutant_real.device.attribute(plugin, index, key, out_value);
  return kw_mutant_tell_fresh_text("0123456789abcdef", out_value);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.attribute = attribute;
}
