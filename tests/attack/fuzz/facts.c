/* SPDX-License-Identifier: Apache-2.0
 *
 * What a helper process, or the probe cache, says of a plugin: the plugin's code ran there.
 */
#include "plugin/facts.h"

#include "input.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kw_plugin_facts *facts = kw_facts_read((const char *)data, size);
  if (facts == NULL) return 0;
  INPUT_CHECK((facts->status == KW_OK) == (facts->reached == KW_STAGE_INIT));
  INPUT_CHECK(facts->device_count <= KW_DEVICE_LIMIT);
  for (uint32_t i = 0; i < facts->option_count; i++) INPUT_CHECK(strlen(facts->options[i]->key) > 0);
  for (uint32_t i = 0; i < facts->device_count; i++) kw_facts_attribute(facts, i, "numa_node");
  for (uint32_t i = 0; kw_facts_seen(facts, "libraries", i) != NULL; i++) continue;
  if (kw_facts_refuse(facts, KW_ERR_IO, "refused")) {
    INPUT_CHECK(strcmp(facts->reason, "refused") == 0);
    INPUT_CHECK(facts->reached < KW_STAGE_INIT);
  }
  kw_facts_free(facts);
  return 0;
}
