/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of devices, with options behind them.
 */
#include "device/device_name.h"

#include "input.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = input_text(data, size);
  kw_device_name_parts parts;
  const char *options = kw_device_name_options(text);
  INPUT_CHECK(options == NULL || (options > text && options[-1] == '/'));
  if (kw_device_name_parse(text, &parts) == KW_OK) {
    INPUT_CHECK(memchr(parts.key, '\0', sizeof parts.key) && memchr(parts.vendor, '\0', sizeof parts.vendor));
    INPUT_CHECK(memchr(parts.stable_id, '\0', sizeof parts.stable_id) != NULL);
  }
  free(text);
  return 0;
}
