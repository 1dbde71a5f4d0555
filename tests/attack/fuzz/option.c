/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of options, as KEYWAY_OPTIONS and device names have them.
 */
#include "plugin/option.h"

#include "input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = input_text(data, size);
  kw_options options = {0};
  if (kw_options_parse(&options, "fuzz", text) == KW_OK) INPUT_CHECK(options.count > 0);
  kw_options_free(&options);
  free(text);
  return 0;
}
