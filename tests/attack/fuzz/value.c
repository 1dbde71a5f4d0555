/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of arguments on a command line. The first byte chooses the argument's type, the second what it is marked with.
 */
#include "cli/value.h"

#include "input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  char *text = input_text(data + 2, size - 2);
  const kw_tag tag = data[0] % (KW_TAG_GENERATOR + 1);
  kw_arg_info arg = {.struct_size = sizeof arg, .tag = tag, .flags = data[1], .name = "fuzz"};
  static kw_cli_storage storage;
  kw_value value;
  if (kw_cli_value_parse(&arg, text, &storage, &value)) {
    INPUT_CHECK(value.tag != KW_TAG_INT_LIST || value.count <= KW_CLI_MAX_INTS);
  } else {
    INPUT_CHECK(kw_cli_value_expects(&arg)[0] != '\0');
  }
  free(text);
  return 0;
}
