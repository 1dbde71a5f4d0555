/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures that `keyway replay` is given: read to their end, twice, with the same in both.
 */
#include "cli/capture_reader.h"
#include "input.h"

static uint64_t sum_of_places(const kw_capture_value *value) {
  uint64_t sum = 0;
  if (value->value.tag == KW_TAG_TENSOR) sum += value->places->size;
  for (uint32_t i = 0; value->value.tag == KW_TAG_TENSOR_LIST && i < value->value.count; i++)
    if (value->present[i]) sum += value->places[i].size;
  for (uint32_t i = 0; value->value.tag == KW_TAG_INT_LIST && i < value->value.count; i++)
    sum += (uint64_t)value->value.u.ints[i];
  if (value->value.tag == KW_TAG_STRING) sum += strlen(value->value.u.s);
  return sum;
}

static uint64_t read_all(kw_capture_reader *reader, size_t size) {
  uint64_t sum = 0;
  kw_capture_read_status status = KW_CAPTURE_HAS_READ;
  kw_capture_reader_rewind(reader);
  while (status == KW_CAPTURE_HAS_READ) {
    kw_capture_entry entry = {0};
    char message[160];
    status = kw_capture_reader_next(reader, &entry, message, sizeof message);
    if (status == KW_CAPTURE_HAS_READ) {
      INPUT_CHECK(entry.data_size <= size && entry.record_size <= size);
      INPUT_CHECK(entry.type != KW_CAPTURE_WRITE || entry.data_size == entry.place.size);
      for (size_t i = 0; i < entry.data_size; i++) sum += entry.data[i];
      for (uint32_t i = 0; i < entry.call.arg_count; i++) sum += sum_of_places(&entry.call.args[i]);
      for (uint32_t i = 0; i < entry.call.out_count; i++) sum += entry.call.outs[i].place.size;
      sum += strlen(entry.call.op) + strlen(entry.call.kernel) + entry.number;
    }
    kw_capture_entry_free(&entry);
  }
  return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kw_capture_reader reader;
  char message[512];
  if (!kw_capture_reader_open(&reader, input_file(data, size), message, sizeof message)) return 0;
  const uint64_t first = read_all(&reader, size);
  INPUT_CHECK(first == read_all(&reader, size));
  kw_capture_reader_close(&reader);
  return 0;
}
