/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages between the application and a plugin in a process of its own, as the other side may write them: calls,
 * values and tensors, arguments of slots, and what slots answered. The first byte says what is read.
 */
#include "input.h"
#include "isolate/wire/call_codec.h"
#include "isolate/wire/slot_codec.h"

#include <stdlib.h>

#define MESSAGE_MOST 65536

static void check_tensor(const kw_tensor_ref *tensor) {
  INPUT_CHECK(tensor == NULL || tensor->rank <= KW_MAX_RANK);
}

/* As a launch comes in. */
static void take_call(kw_message *m, kw_arena *arena) {
  kw_call call = {0};
  kw_take_call(m, arena, &call);
  if (m->broken) return;
  for (uint32_t i = 0; i < call.arg_count; i++) {
    if (call.args[i].tag == KW_TAG_TENSOR) check_tensor(call.args[i].u.tensor);
  }
}

static void take_values(kw_message *m, kw_arena *arena) {
  uint32_t count = 0;
  const kw_value *values = kw_take_values(m, arena, &count);
  for (uint32_t i = 0; !m->broken && i < count; i++) {
    if (values[i].tag == KW_TAG_TENSOR) check_tensor(values[i].u.tensor);
  }
  kw_tensor_ref **tensors = kw_take_tensors(m, arena, &count);
  for (uint32_t i = 0; !m->broken && i < count; i++) check_tensor(tensors[i]);
}

/* Arguments of slots. */
static void take_arguments(kw_message *m, kw_arena *arena) {
#define TAKE(type)       \
  const type *type##_in; \
  kw_take_##type(m, arena, &type##_in);
  KW_GIVEN_STRUCTS(TAKE)
#undef TAKE
  const char *text;
  const kw_open_info *info;
  uint32_t count;
  kw_take_string(m, arena, &text);
  if (!m->broken && text != NULL) INPUT_CHECK(strlen(text) < MESSAGE_MOST);
  kw_take_options(m, arena, &count);
  kw_take_kw_open_info(m, arena, &info);
}

/* What slots answered. */
static void get_results(kw_message *m, kw_arena *arena) {
  (void)arena;
  static kw_device_info device;
  kw_native_handle native = {.struct_size = sizeof native};
  kw_attribute attribute = {.struct_size = sizeof attribute};
  kw_external_memory external = {.struct_size = sizeof external};
  uint64_t number;
  void *handle;
  char text[100];
  device.struct_size = sizeof device;
  kw_get_kw_device_info(m, &device);
  kw_get_kw_native_handle(m, &native);
  kw_get_kw_attribute(m, &attribute);
  kw_get_external(m, &external);
  kw_get_long(m, &number);
  kw_get_handle(m, &handle);
  kw_take_text(m, text, sizeof text);
  INPUT_CHECK(memchr(text, '\0', sizeof text) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const readers[])(kw_message *, kw_arena *) = {take_call, take_values, take_arguments, get_results};
  if (size < 1 || size > MESSAGE_MOST) return 0;
  const size_t length = (size - 1) / 8 * 8; /* lanes are so many whole numbers */
  unsigned char *bytes = malloc(length + 1);
  if (bytes == NULL) abort();
  memcpy(bytes, data + 1, length);
  kw_message message = {bytes, bytes + length, false};
  kw_arena arena = {0};
  readers[data[0] % 4](&message, &arena);
  kw_arena_free(&arena);
  free(bytes);
  return 0;
}
