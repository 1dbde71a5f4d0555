/* SPDX-License-Identifier: Apache-2.0
 *
 * The device's attributes that are texts have one buffer, which holds the last one asked for.
 */
#include "mutant.h"

#include <stdio.h>
#include <string.h>

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  static char text[32];
  const bool is_serial = strcmp(key, "com.example.serial") == 0;
  if (!is_serial && strcmp(key, "luid") != 0) return kw_mutant_real.device.attribute(plugin, index, key, out_value);
  snprintf(text, sizeof text, "%s", is_serial ? "EXAMPLE-0" : "0123456789abcdef");
  out_value->type = KW_ATTRIBUTE_STRING;
  out_value->u.s = text;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.attribute = attribute;
}
