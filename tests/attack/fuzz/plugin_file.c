/* SPDX-License-Identifier: Apache-2.0
 *
 * Files in a plugin directory: what is looked at before anything opens them as code.
 */
#include "input.h"
#include "plugin/discover.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = input_file_named("input.so", data, size);
  kw_candidate candidate;
  if (kw_candidate_examine(path, false, &candidate) != KW_OK) return 0;
  INPUT_CHECK(candidate.status != KW_OK || size >= 4);
  free(candidate.path);
  return 0;
}
