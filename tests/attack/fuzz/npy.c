/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of arrays that `keyway eval` is given.
 */
#include "cli/npy.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kw_cli_npy array;
  char message[KW_CLI_NPY_MESSAGE];
  if (!kw_cli_npy_read(input_file(data, size), &array, message)) return 0;
  INPUT_CHECK((uint64_t)array.numel * array.item_size <= size);
  unsigned sum = 0;
  for (int64_t i = 0; i < array.numel * array.item_size; i++) sum += ((unsigned char *)array.data)[i];
  INPUT_CHECK(sum <= 255 * size);
  kw_cli_npy_free(&array);
  return 0;
}
