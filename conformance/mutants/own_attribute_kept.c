/* SPDX-License-Identifier: Apache-2.0
 *
 * An attribute of the vendor's own is a fresh copy of its text each time, which nobody frees.
 */
#include "mutant.h"

#include <string.h>

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  if (strcmp(key, "com.example.board") != 0) return kw_mutant_real.device.attribute(plugin, index, key, out_value);
  const char *copy = strdup("revision B, of 2026, with a text of some length");
  if (!copy) return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory");
  out_value->type = KW_ATTRIBUTE_STRING;
  out_value->u.s = copy;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.attribute = attribute;
}
