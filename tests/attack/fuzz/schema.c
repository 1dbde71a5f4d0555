/* SPDX-License-Identifier: Apache-2.0
 *
 * Schemas as a plugin may give them with define_op.
 */
#include "input.h"
#include "op/schema.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = input_text(data, size);
  kw_schema schema;
  if (kw_schema_parse(text, &schema) == KW_OK) {
    INPUT_CHECK(schema.arg_count <= KW_MAX_ARGS && schema.result_count <= KW_MAX_RESULTS);
    INPUT_CHECK(strcmp(schema.text, text) == 0);
    kw_schema_free(&schema);
  }
  free(text);
  return 0;
}
