/* SPDX-License-Identifier: Apache-2.0
 *
 * What crosses the boundary, field by field. Each function carries one type: into a parcel on one side, out of it in
 * the same order on the other, where what pointers point to lives as long as the parcel. All take a pointer to the
 * variable, so that _Generic can choose among them.
 */
#ifndef KEYWAY_TESTS_PIPE_CARRY_H
#define KEYWAY_TESTS_PIPE_CARRY_H

#include <keyway/plugin.h>

#include "wire.h"

/* True in the process that has the real plugin. Whatever is a pointer to one side is a number to the other. The child
 * swaps the halves of all such numbers, so that neither side can follow a pointer of the other by mistake. */
extern bool carry_in_child;

/* ---- Parameters that go in ---- */
void carry_i32(parcel *p, void *place);
void carry_u32(parcel *p, void *place);
void carry_u64(parcel *p, void *place);
void carry_bool(parcel *p, void *place);
void carry_token(parcel *p, void *place);
void carry_text(parcel *p, void *place);
void carry_open_info(parcel *p, void *place);
void carry_init_info(parcel *p, void *place);
void carry_alloc_info(parcel *p, void *place);
void carry_copy_info(parcel *p, void *place);
void carry_stream_info(parcel *p, void *place);
void carry_event_info(parcel *p, void *place);
void carry_capture_info(parcel *p, void *place);
void carry_graph_launch_info(parcel *p, void *place);
void carry_external_memory(parcel *p, void *place);
void carry_call(parcel *p, void *place);
void carry_chain(parcel *p, void *place);

/* `count` arguments of an op. */
void carry_values(parcel *p, const kw_value **values, uint32_t count);
void carry_tensor(parcel *p, void *place);

/* A kernel or an op without its functions; the result is which of them it has. Its `user` is a token. */
enum { HAS_CAN_IMPLEMENT = 1, HAS_WORKSPACE_SIZE = 2, HAS_PREPARE = 4, HAS_RELEASE = 8 };
enum { HAS_INFER = 1, HAS_REFERENCE = 2 };
uint32_t carry_kernel_desc(parcel *p, kw_kernel_desc *desc);
uint32_t carry_op_desc(parcel *p, kw_op_desc *desc);

/* ---- Places for results: whether they are there ---- */
void carry_place(parcel *p, void *place); /* of at most 8 bytes */
void carry_info_place(parcel *p, void *place);
void carry_attribute_place(parcel *p, void *place);

#define CARRY_IN_WAY(x) \
  _Generic((x),                                     \
      int32_t: carry_i32,                           \
      uint32_t: carry_u32,                          \
      uint64_t: carry_u64,                          \
      bool: carry_bool,                             \
      void *: carry_token,                          \
      const char *: carry_text,                     \
      const kw_open_info *: carry_open_info,        \
      const kw_alloc_info *: carry_alloc_info,      \
      const kw_copy_info *: carry_copy_info,        \
      const kw_stream_info *: carry_stream_info,    \
      const kw_event_info *: carry_event_info,      \
      const kw_capture_info *: carry_capture_info,  \
      const kw_graph_launch_info *: carry_graph_launch_info, \
      const kw_external_memory *: carry_external_memory, \
      const kw_call *: carry_call,                  \
      void **: carry_place,                         \
      const char **: carry_place,                   \
      uint32_t *: carry_place,                      \
      uint64_t *: carry_place,                      \
      kw_device_info *: carry_info_place,           \
      kw_attribute *: carry_attribute_place,        \
      kw_external_memory *: carry_external_memory)

/* ---- Results: nothing when the call failed, but for texts that say why ---- */
void carry_nothing(parcel *p, void *place);
void carry_out_token(parcel *p, void *place);
void carry_out_text(parcel *p, void *place);
void carry_out_u32(parcel *p, void *place);
void carry_out_u64(parcel *p, void *place);
void carry_out_info(parcel *p, void *place);
void carry_out_attribute(parcel *p, void *place);
void carry_out_external_memory(parcel *p, void *place);

#define CARRY_OUT_WAY(x) \
  _Generic((x),                                \
      void **: carry_out_token,                \
      const char **: carry_out_text,           \
      uint32_t *: carry_out_u32,               \
      uint64_t *: carry_out_u64,               \
      kw_device_info *: carry_out_info,        \
      kw_attribute *: carry_out_attribute,     \
      kw_external_memory *: carry_out_external_memory, \
      default: carry_nothing)

/* A copy of a text that stays; the same for the same text. */
const char *carry_kept_text(const char *text);

/* Bytes that a tensor reaches from its first element on; 0 where that is not known: of a dtype or layout of later. */
uint64_t carry_tensor_span(const kw_tensor_ref *tensor);

/* The bytes of all tensors of a reference's call, whose `mem` is memory of the process. */
void carry_memories(parcel *p, const kw_call *call);

#endif /* KEYWAY_TESTS_PIPE_CARRY_H */
