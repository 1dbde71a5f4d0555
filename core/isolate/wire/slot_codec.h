/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of any slot in a message, chosen by their types: what slots.def says of a slot is enough for both
 * sides.
 *
 *     KW_EACH(PUT, arguments)      the caller writes them: KW_PUT_ARGUMENT
 *     KW_EACH(DECLARE, parameters) the server has variables of them,
 *     KW_EACH(TAKE, arguments)     reads them (KW_TAKE_ARGUMENT), calls the slot,
 *     KW_EACH(GIVE, arguments)     and answers with what the slot stored: KW_GIVE_RESULT
 *     KW_EACH(GET, arguments)      the caller stores that: KW_GET_RESULT
 *
 * A pointer to something of the plugin's (void *) is a number here. Pointers to memory of the application's have no
 * place in these messages: the slots that take such (copies, host memory, maps) go another way (proxy_memory.c).
 */
#ifndef KEYWAY_CORE_SLOT_CODEC_H
#define KEYWAY_CORE_SLOT_CODEC_H

#include "isolate/wire/arena.h"
#include "isolate/wire/message.h"

#include <keyway/plugin.h>

/* ---- Lists in parentheses ---------------------------------------------------------------------------------------- */

#define KW_UNPAREN(...) __VA_ARGS__
#define KW_FIRST(...) KW_FIRST_OF(__VA_ARGS__, )
#define KW_FIRST_OF(first, ...) first
#define KW_EACH(what, list) KW_EACH_OF(what, KW_UNPAREN list)
#define KW_EACH_OF(what, ...) KW_EACH_COUNTED(what, __VA_ARGS__)
#define KW_EACH_COUNTED(what, ...) \
  KW_PICK(__VA_ARGS__, KW_EACH_7, KW_EACH_6, KW_EACH_5, KW_EACH_4, KW_EACH_3, KW_EACH_2, KW_EACH_1, )(what, __VA_ARGS__)
#define KW_PICK(a, b, c, d, e, f, g, name, ...) name
#define KW_EACH_1(what, a) what(a)
#define KW_EACH_2(what, a, ...) what(a) KW_EACH_1(what, __VA_ARGS__)
#define KW_EACH_3(what, a, ...) what(a) KW_EACH_2(what, __VA_ARGS__)
#define KW_EACH_4(what, a, ...) what(a) KW_EACH_3(what, __VA_ARGS__)
#define KW_EACH_5(what, a, ...) what(a) KW_EACH_4(what, __VA_ARGS__)
#define KW_EACH_6(what, a, ...) what(a) KW_EACH_5(what, __VA_ARGS__)
#define KW_EACH_7(what, a, ...) what(a) KW_EACH_6(what, __VA_ARGS__)

/* ---- Structs that travel as they are ----------------------------------------------------------------------------- */

/* X(type): given to a slot. An entry of a chain cannot be among them: this version has none. */
#define KW_GIVEN_STRUCTS(X) \
  X(kw_alloc_info)          \
  X(kw_copy_info)           \
  X(kw_map_info)            \
  X(kw_stream_info)         \
  X(kw_event_info)          \
  X(kw_capture_info)        \
  X(kw_graph_launch_info)   \
  X(kw_external_memory)

/* X(type): filled by a slot; the first of them comes with contents. */
#define KW_FILLED_STRUCTS(X) \
  X(kw_device_info)          \
  X(kw_native_handle)        \
  X(kw_attribute)

#define KW_DECLARE_GIVEN(type)                             \
  void kw_put_##type(kw_message *m, const type *argument); \
  void kw_take_##type(kw_message *m, kw_arena *arena, const type **out_argument);
KW_GIVEN_STRUCTS(KW_DECLARE_GIVEN)
#undef KW_DECLARE_GIVEN

#define KW_DECLARE_FILLED(type)                                                \
  void kw_take_place_##type(kw_message *m, kw_arena *arena, type **out_place); \
  void kw_give_##type(kw_message *m, const type *result);                      \
  void kw_get_##type(kw_message *m, type *out_result);
KW_FILLED_STRUCTS(KW_DECLARE_FILLED)
#undef KW_DECLARE_FILLED

/* ---- The others -------------------------------------------------------------------------------------------------- */

void kw_put_handle(kw_message *m, const void *handle);
void kw_put_options(kw_message *m, const kw_option *options, uint32_t count);
void kw_put_kw_open_info(kw_message *m, const kw_open_info *info);
void kw_put_pattern(kw_message *m, const void *pattern); /* 16 bytes */
void kw_put_place(kw_message *m, const void *place);     /* whether the caller wants what the slot stores there */

void kw_take_handle(kw_message *m, kw_arena *arena, void **out_handle);
void kw_take_number(kw_message *m, kw_arena *arena, uint32_t *out_number);
void kw_take_long(kw_message *m, kw_arena *arena, uint64_t *out_number);
void kw_take_string(kw_message *m, kw_arena *arena, const char **out_text);
void kw_take_pattern(kw_message *m, kw_arena *arena, const void **out_pattern);
const kw_option *kw_take_options(kw_message *m, kw_arena *arena, uint32_t *out_count);
void kw_take_kw_open_info(kw_message *m, kw_arena *arena, const kw_open_info **out_info);
void kw_take_place_number(kw_message *m, kw_arena *arena, uint32_t **out_place);
void kw_take_place_long(kw_message *m, kw_arena *arena, uint64_t **out_place);
void kw_take_place_handle(kw_message *m, kw_arena *arena, void ***out_place);
void kw_take_place_external(kw_message *m, kw_arena *arena, kw_external_memory **out_place);

void kw_give_number(kw_message *m, const uint32_t *result);
void kw_give_long(kw_message *m, const uint64_t *result);
void kw_give_handle(kw_message *m, void *const *result);
void kw_give_external(kw_message *m, const kw_external_memory *result);
void kw_get_number(kw_message *m, uint32_t *out_result);
void kw_get_long(kw_message *m, uint64_t *out_result);
void kw_get_handle(kw_message *m, void **out_result);
void kw_get_external(kw_message *m, kw_external_memory *out_result);
void kw_no_result(kw_message *m, ...); /* of an argument that the slot only reads */

/* ---- By type ----------------------------------------------------------------------------------------------------- */

#define KW_PUT_ARGUMENT(m, argument) \
  _Generic((argument), void *                   \
           : kw_put_handle, const void *        \
           : kw_put_pattern, uint32_t           \
           : kw_put_u64, uint64_t               \
           : kw_put_u64, const char *           \
           : kw_put_text, const kw_open_info *  \
           : kw_put_kw_open_info, const kw_alloc_info * \
           : kw_put_kw_alloc_info, const kw_copy_info * \
           : kw_put_kw_copy_info, const kw_map_info * \
           : kw_put_kw_map_info, const kw_stream_info * \
           : kw_put_kw_stream_info, const kw_event_info * \
           : kw_put_kw_event_info, const kw_capture_info * \
           : kw_put_kw_capture_info, const kw_graph_launch_info * \
           : kw_put_kw_graph_launch_info, const kw_external_memory * \
           : kw_put_kw_external_memory, kw_external_memory * \
           : kw_put_kw_external_memory, default \
           : kw_put_place)((m), (argument))

#define KW_TAKE_ARGUMENT(m, arena, argument) \
  _Generic((argument), void *                   \
           : kw_take_handle, const void *       \
           : kw_take_pattern, uint32_t          \
           : kw_take_number, uint64_t           \
           : kw_take_long, const char *         \
           : kw_take_string, const kw_open_info * \
           : kw_take_kw_open_info, const kw_alloc_info * \
           : kw_take_kw_alloc_info, const kw_copy_info * \
           : kw_take_kw_copy_info, const kw_map_info * \
           : kw_take_kw_map_info, const kw_stream_info * \
           : kw_take_kw_stream_info, const kw_event_info * \
           : kw_take_kw_event_info, const kw_capture_info * \
           : kw_take_kw_capture_info, const kw_graph_launch_info * \
           : kw_take_kw_graph_launch_info, const kw_external_memory * \
           : kw_take_kw_external_memory, uint32_t * \
           : kw_take_place_number, uint64_t *   \
           : kw_take_place_long, void **        \
           : kw_take_place_handle, kw_device_info * \
           : kw_take_place_kw_device_info, kw_native_handle * \
           : kw_take_place_kw_native_handle, kw_attribute * \
           : kw_take_place_kw_attribute, kw_external_memory * \
           : kw_take_place_external)((m), (arena), &(argument))

#define KW_GIVE_RESULT(m, argument) \
  _Generic((argument), uint32_t *          \
           : kw_give_number, uint64_t *    \
           : kw_give_long, void **         \
           : kw_give_handle, kw_device_info * \
           : kw_give_kw_device_info, kw_native_handle * \
           : kw_give_kw_native_handle, kw_attribute * \
           : kw_give_kw_attribute, kw_external_memory * \
           : kw_give_external, default     \
           : kw_no_result)((m), (argument))

#define KW_GET_RESULT(m, argument) \
  _Generic((argument), uint32_t *         \
           : kw_get_number, uint64_t *    \
           : kw_get_long, void **         \
           : kw_get_handle, kw_device_info * \
           : kw_get_kw_device_info, kw_native_handle * \
           : kw_get_kw_native_handle, kw_attribute * \
           : kw_get_kw_attribute, kw_external_memory * \
           : kw_get_external, default     \
           : kw_no_result)((m), (argument))

#endif /* KEYWAY_CORE_SLOT_CODEC_H */
