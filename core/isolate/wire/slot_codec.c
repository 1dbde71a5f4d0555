/* SPDX-License-Identifier: Apache-2.0
 *
 * One function for each type of argument, side and direction.
 */
#include "isolate/wire/slot_codec.h"

#include "base/struct.h"

#include <stdarg.h>

/* Memory of the arena; without any the message is broken. */
static void *room(kw_message *m, kw_arena *arena, uint64_t size) {
  void *place = kw_arena_take(arena, size);
  if (place == NULL) m->broken = true;
  return place;
}

/* ---- Structs ----------------------------------------------------------------------------------------------------- */

#define GIVEN(type)                                                                \
  void kw_put_##type(kw_message *m, const type *argument) {                        \
    type whole;                                                                    \
    kw_struct_read(&whole, sizeof whole, argument);                                \
    kw_put_raw(m, &whole, sizeof whole);                                           \
  }                                                                                \
  void kw_take_##type(kw_message *m, kw_arena *arena, const type **out_argument) { \
    type *copy = room(m, arena, sizeof *copy);                                     \
    if (copy != NULL) kw_take_raw(m, copy, sizeof *copy);                          \
    *out_argument = copy;                                                          \
  }
KW_GIVEN_STRUCTS(GIVEN)

#define PLACE(name, type)                                                         \
  void kw_take_place_##name(kw_message *m, kw_arena *arena, type **out_place) {   \
    *out_place = kw_take_u64(m) != 0 ? room(m, arena, sizeof **out_place) : NULL; \
  }
#define FILLED(type)                                                              \
  void kw_take_place_##type(kw_message *m, kw_arena *arena, type **out_place) {   \
    *out_place = kw_take_u64(m) != 0 ? room(m, arena, sizeof **out_place) : NULL; \
    if (*out_place != NULL) (*out_place)->struct_size = sizeof **out_place;       \
  }
KW_FILLED_STRUCTS(FILLED)

/* Of what the other process fills in only a struct of this version's size is taken. */
#define PLAIN_RESULT(type)                                             \
  void kw_give_##type(kw_message *m, const type *result) {             \
    kw_put_raw(m, result, sizeof *result);                             \
  }                                                                    \
  void kw_get_##type(kw_message *m, type *out_result) {                \
    type whole;                                                        \
    kw_take_raw(m, &whole, sizeof whole);                              \
    if (!m->broken) kw_struct_write(out_result, &whole, sizeof whole); \
  }
PLAIN_RESULT(kw_device_info)
PLAIN_RESULT(kw_native_handle)

/* A text travels behind the struct; it is the message's until the receiver keeps a copy (proxy.c). */
void kw_give_kw_attribute(kw_message *m, const kw_attribute *result) {
  kw_put_u64(m, result->type);
  if (result->type == KW_ATTRIBUTE_STRING) {
    kw_put_text(m, result->u.s);
  } else {
    kw_put_raw(m, &result->u, sizeof result->u);
  }
}

/* ---- Given ------------------------------------------------------------------------------------------------------- */

void kw_put_handle(kw_message *m, const void *handle) {
  kw_put_u64(m, (uintptr_t)handle);
}

void kw_put_pattern(kw_message *m, const void *pattern) {
  kw_put_raw(m, pattern, 16);
}

void kw_put_place(kw_message *m, const void *place) {
  kw_put_u64(m, place != NULL);
}

void kw_put_options(kw_message *m, const kw_option *options, uint32_t count) {
  kw_put_u64(m, count);
  for (uint32_t i = 0; i < count; i++) {
    kw_put_text(m, options[i].key);
    kw_put_text(m, options[i].value);
  }
}

void kw_put_kw_open_info(kw_message *m, const kw_open_info *info) {
  kw_put_options(m, info->options, info->option_count);
}

/* ---- Taken ------------------------------------------------------------------------------------------------------- */

void kw_take_handle(kw_message *m, kw_arena *arena, void **out_handle) {
  (void)arena;
  *out_handle = (void *)(uintptr_t)kw_take_u64(m);
}

void kw_take_number(kw_message *m, kw_arena *arena, uint32_t *out_number) {
  (void)arena;
  *out_number = kw_take_u32(m);
}

void kw_take_long(kw_message *m, kw_arena *arena, uint64_t *out_number) {
  (void)arena;
  *out_number = kw_take_u64(m);
}

void kw_take_string(kw_message *m, kw_arena *arena, const char **out_text) {
  kw_message ahead = *m;
  const uint64_t length = kw_take_u64(&ahead);
  char *text = length <= (uint64_t)(m->end - m->at) ? room(m, arena, length + 1) : NULL;
  if (text != NULL) {
    kw_take_text(m, text, length + 1);
  } else {
    m->broken = true;
  }
  *out_text = text != NULL ? text : "";
}

void kw_take_pattern(kw_message *m, kw_arena *arena, const void **out_pattern) {
  void *copy = room(m, arena, 16);
  if (copy != NULL) kw_take_raw(m, copy, 16);
  *out_pattern = copy;
}

const kw_option *kw_take_options(kw_message *m, kw_arena *arena, uint32_t *out_count) {
  const uint32_t count = kw_take_u32(m);
  kw_option *options = count <= KW_OPTION_LIMIT ? room(m, arena, count * sizeof *options) : NULL;
  *out_count = options != NULL ? count : 0;
  if (options == NULL) m->broken = true;
  for (uint32_t i = 0; i < *out_count; i++) {
    kw_take_string(m, arena, &options[i].key);
    kw_take_string(m, arena, &options[i].value);
  }
  return options;
}

void kw_take_kw_open_info(kw_message *m, kw_arena *arena, const kw_open_info **out_info) {
  kw_open_info *info = room(m, arena, sizeof *info);
  *out_info = info;
  if (info == NULL) return;
  info->struct_size = sizeof *info;
  info->options = kw_take_options(m, arena, &info->option_count);
}

PLACE(number, uint32_t)
PLACE(long, uint64_t)
PLACE(handle, void *)

void kw_take_place_external(kw_message *m, kw_arena *arena, kw_external_memory **out_place) {
  *out_place = room(m, arena, sizeof **out_place);
  if (*out_place != NULL) kw_take_raw(m, *out_place, sizeof **out_place);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

void kw_give_number(kw_message *m, const uint32_t *result) {
  if (result != NULL) kw_put_u64(m, *result);
}

void kw_give_long(kw_message *m, const uint64_t *result) {
  if (result != NULL) kw_put_u64(m, *result);
}

void kw_give_handle(kw_message *m, void *const *result) {
  if (result != NULL) kw_put_u64(m, (uintptr_t)*result);
}

void kw_give_external(kw_message *m, const kw_external_memory *result) {
  kw_put_raw(m, result, sizeof *result);
}

void kw_get_number(kw_message *m, uint32_t *out_result) {
  if (out_result != NULL) *out_result = kw_take_u32(m);
}

void kw_get_long(kw_message *m, uint64_t *out_result) {
  if (out_result != NULL) *out_result = kw_take_u64(m);
}

void kw_get_handle(kw_message *m, void **out_result) {
  if (out_result != NULL) *out_result = (void *)(uintptr_t)kw_take_u64(m);
}

void kw_get_external(kw_message *m, kw_external_memory *out_result) {
  kw_take_raw(m, out_result, sizeof *out_result);
}

void kw_no_result(kw_message *m, ...) {
  (void)m;
}
