/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that people write about cases: known failures, and waivers.
 */
#include "certify/waiver.h"
#include "input.h"
#include "run/known_failures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = input_file(data, size);
  kw_entry_list list;
  char message[512];
  if (kw_known_failures_read(path, &list, message, sizeof message)) {
    for (uint32_t i = 0; i < list.count; i++)
      kw_entry_matches(kw_entry_list_text(&list, i, 0), "add.Tensor/f32/prime/1");
    kw_entry_list_free(&list);
  }
  if (kw_waivers_read(path, "2026-01-01", &list, message, sizeof message)) kw_entry_list_free(&list);
  return 0;
}
