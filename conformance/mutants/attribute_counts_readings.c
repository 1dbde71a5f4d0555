/* SPDX-License-Identifier: Apache-2.0
 *
 * An attribute of the vendor's own has another text each time, in the same place.
 */
#include "mutant.h"

#include <stdio.h>
#include <string.h>

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  static char text[32];
  static unsigned readings;
  if (strcmp(key, "com.example.serial") != 0) {
    return kw_mutant_real.device.attribute(plugin, index, key, out_value);
  }
  snprintf(text, sizeof text, "EXAMPLE-0/%u", readings++);
  out_value->type = KW_ATTRIBUTE_STRING;
  out_value->u.s = text;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.attribute = attribute;
}
