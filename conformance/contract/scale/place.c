/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite scale: memory far into an allocation, and in many, of which only a few pages are touched.
 */
#include "contract/scale/scale.h"

#include <stdio.h>

enum { SPOT = 70001, MOST_SPOTS = 24 };

/* Spots of SPOT bytes about each border below `size`, and where a place that is kept in 31 or 32 bits would lie
 * instead; none overlaps another. */
static uint32_t make_spots(uint64_t size, uint64_t *out_spots) {
  uint32_t count = 0;
  for (uint64_t base = 0; base + 4 * SPOT < size; base += 2 * KW_GIB) {
    if (base > 0) out_spots[count++] = base - 40000;
    out_spots[count++] = base + 2 * SPOT;
  }
  out_spots[count++] = size - SPOT;
  return count;
}

static kw_tensor *spot(const kw_tensor *whole, uint64_t at) {
  kw_tensor *view = NULL;
  KW_CHECK_OK(kw_tensor_slice(whole, 0, (int64_t)at, (int64_t)at + SPOT, 1, &view));
  return kw_scale_keep(view);
}

static void write_spot(const kw_tensor *whole, uint64_t at, uint64_t tag) {
  static unsigned char bytes[SPOT];
  kw_tensor *view = spot(whole, at);
  kw_test_pattern(bytes, SPOT, tag);
  KW_CHECK_OK(kw_tensor_write(view, bytes));
  kw_scale_drop(view);
}

static void check_spot(const kw_tensor *whole, uint64_t at, uint64_t tag, const char *what) {
  char text[120];
  kw_tensor *view = spot(whole, at);
  snprintf(text, sizeof text, "%s, at byte %llu of one allocation", what, (unsigned long long)at);
  kw_test_expect_bytes(view, tag, text);
  kw_scale_drop(view);
}

/* Copies into and out of an allocation of so many bytes, and inside of it. */
static void place_within(uint64_t size) {
  uint64_t spots[MOST_SPOTS];
  kw_scale_need(size, size, 0);
  const uint32_t count = make_spots(size, spots);
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_tensor *whole = kw_scale_line(KW_U8, (int64_t)size);
  uint64_t tags[MOST_SPOTS];
  for (uint32_t i = 0; i < count; i++) {
    tags[i] = i;
    write_spot(whole, spots[i], i);
  }
  for (uint32_t i = 0; i < count; i++) check_spot(whole, spots[i], tags[i], "what was written");
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t to = (i + 2) % count; /* the next one may begin at the same 31 bits */
    kw_tensor *from_view = spot(whole, spots[i]), *to_view = spot(whole, spots[to]);
    tags[i] = tags[to] = 100 + i;
    write_spot(whole, spots[i], tags[i]);
    KW_CHECK_OK(kw_tensor_copy_async(to_view, stream, from_view, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    for (uint32_t k = 0; k < count; k++) check_spot(whole, spots[k], tags[k], "after a copy within the device");
    kw_scale_drop(from_view);
    kw_scale_drop(to_view);
  }
}

void kw_contract_scale_placed_beyond_2_gib(void **state) {
  (void)state;
  place_within(2 * KW_GIB + 8 * KW_MIB);
}

void kw_contract_scale_placed_beyond_4_gib(void **state) {
  (void)state;
  place_within(4 * KW_GIB + 8 * KW_MIB);
}

void kw_contract_scale_placed_beyond_8_gib(void **state) {
  (void)state;
  place_within(8 * KW_GIB + 8 * KW_MIB);
}

/* Many allocations that are `total` bytes together, all at once. */
static void place_in_many(uint64_t total, uint64_t each) {
  enum { MOST = 64 };
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  if (info.max_alloc && each > info.max_alloc) each = info.max_alloc / 65536 * 65536;
  if (each < total / MOST) kw_test_skip("the device allocates in too small pieces for this test");
  const uint32_t count = (uint32_t)(total / each) + 1;
  kw_tensor *tensors[MOST + 1];
  kw_scale_need(count * each, each, 0);
  for (uint32_t i = 0; i < count; i++) {
    tensors[i] = kw_scale_line(KW_U8, (int64_t)each);
    write_spot(tensors[i], 0, 3 * i);
    write_spot(tensors[i], each / 2, 3 * i + 1);
    write_spot(tensors[i], each - SPOT, 3 * i + 2);
  }
  for (uint32_t i = 0; i < count; i++) {
    check_spot(tensors[i], 0, 3 * i, "one of many allocations");
    check_spot(tensors[i], each / 2, 3 * i + 1, "one of many allocations");
    check_spot(tensors[i], each - SPOT, 3 * i + 2, "one of many allocations");
  }
}

void kw_contract_scale_many_beyond_4_gib(void **state) {
  (void)state;
  place_in_many(4 * KW_GIB, 512 * KW_MIB);
}

void kw_contract_scale_many_beyond_8_gib(void **state) {
  (void)state;
  place_in_many(8 * KW_GIB, KW_GIB);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* Far memory that is handed out piece by piece. */
typedef struct far_memory {
  kw_tensor *whole;
  uint64_t used, step;
} far_memory;

static kw_tensor *far_view(far_memory *far, const kw_tensor *like) {
  const kw_tensor_ref *ref = kw_tensor_describe(like);
  int64_t strides[KW_MAX_RANK], stride = 1;
  kw_tensor *view = NULL;
  for (int d = ref->rank; d-- > 0;) {
    strides[d] = stride;
    if (ref->shape[d] > 0) stride *= ref->shape[d];
  }
  KW_CHECK_OK(kw_tensor_reinterpret(far->whole, ref->dtype, ref->rank, ref->shape, strides, far->used, &view));
  far->used += (kw_test_bytes_of(like) + far->step) / far->step * far->step;
  return kw_scale_keep(view);
}

static kw_tensor *far_copy(far_memory *far, const kw_tensor *from) {
  unsigned char *bytes = kw_scale_host(kw_test_bytes_of(from));
  kw_tensor *view = far_view(far, from);
  KW_CHECK_OK(kw_tensor_read(from, bytes));
  KW_CHECK_OK(kw_tensor_write(view, bytes));
  kw_scale_host_drop(bytes);
  return view;
}

/* The arguments of a call, far away. */
static void move_away(const kw_test_call *call, far_memory *far, kw_tensor *lists[][KW_TEST_ENTRIES],
                      kw_value *out_values) {
  kw_test_call_values(call, out_values);
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    const kw_test_arg *arg = &call->args[i];
    for (int k = 0; k < KW_TEST_ENTRIES; k++) lists[i][k] = arg->tensors[k] ? far_copy(far, arg->tensors[k]) : NULL;
    if (!arg->tensors[0]) continue;
    const bool list = arg->value.tag == KW_TAG_TENSOR_LIST;
    out_values[i] = list ? kw_arg_tensor_list(lists[i], arg->value.count) : kw_arg_tensor(lists[i][0]);
  }
}

/* Drops what a call has taken of the far memory; the views behind `from` only. */
static void drop_lists(kw_tensor *lists[][KW_TEST_ENTRIES], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES; k++) kw_scale_drop(lists[i][k]);
  }
}

static void run_far(const kw_test_call *call, far_memory *far) {
  static const unsigned char rubbish[4096] = {0x5a, 0xa5, 0x5a};
  kw_tensor *lists[KW_MAX_ARGS][KW_TEST_ENTRIES], *near[KW_MAX_RESULTS] = {NULL}, *away[KW_MAX_RESULTS] = {NULL};
  kw_value values[KW_MAX_ARGS];
  char what[160];
  KW_CHECK_OK(kw_test_call_run(call, NULL, near));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  far->used = kw_test_bytes_of(far->whole) - 4 * KW_MIB;
  move_away(call, far, lists, values);
  for (uint32_t i = 0; i < call->info.result_count; i++) {
    if (!near[i]) continue;
    away[i] = far_view(far, near[i]);
    if (kw_test_bytes_of(near[i]) <= sizeof rubbish) KW_CHECK_OK(kw_tensor_write(away[i], rubbish));
  }
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_status status = kw_op_call(call->op, stream, values, call->given, away, call->info.result_count);
  if (status == KW_OK) status = kw_stream_synchronize(stream);
  KW_CHECK(status == KW_OK, "%s with its tensors beyond 4 GiB of their memory gave %s: %s", call->info.name,
           kw_status_name(status), kw_error_message());
  for (uint32_t i = 0; i < call->info.result_count; i++) {
    if (!near[i]) continue;
    const size_t size = kw_test_bytes_of(near[i]);
    unsigned char *want = kw_scale_host(size), *got = kw_scale_host(size);
    KW_CHECK_OK(kw_tensor_read(near[i], want));
    KW_CHECK_OK(kw_tensor_read(away[i], got));
    snprintf(what, sizeof what, "%s, output %u, with its tensors beyond 4 GiB of their memory", call->info.name, i);
    kw_scale_same(kw_tensor_describe(near[i])->dtype, got, want, size, what);
    kw_scale_host_drop(want);
    kw_scale_host_drop(got);
    kw_tensor_release(near[i]);
    kw_scale_drop(away[i]);
  }
  drop_lists(lists, call->info.arg_count);
}

/* A call that can be made again far away: it changes nothing, draws nothing, and fills all of its results. */
static bool make_call(const kw_op *op, kw_test_call *out_call) {
  kw_op_info info = {.struct_size = sizeof info};
  if (kw_op_get_info(op, &info) != KW_OK || info.counted || kw_scale_is_random(op)) return false;
  for (int k = 0; k < KW_TEST_KINDS; k++) {
    if (kw_op_support(op, kw_contract.device, kw_test_kinds[k]) != KW_SUPPORT_KERNEL) continue;
    if (!kw_test_call_make(op, kw_test_kinds[k], 64, out_call)) continue;
    if (!out_call->in_place) return true;
    kw_test_call_free(out_call);
    return false;
  }
  return false;
}

/* Every op that the device has, on tensors that lie beyond 4 GiB of one allocation. */
void kw_contract_scale_kernels_beyond_4_gib(void **state) {
  (void)state;
  static kw_test_call call; /* holds pointers into itself */
  const uint64_t size = 4 * KW_GIB + 16 * KW_MIB;
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  kw_scale_need(size, size, 0);
  far_memory far = {.whole = kw_scale_line(KW_U8, (int64_t)size), .step = 256};
  if (info.offset_alignment > far.step) far.step = info.offset_alignment;
  uint32_t tried = 0;
  for (uint32_t i = 0; i < kw_op_count(); i++) {
    if (!make_call(kw_op_at(i), &call)) continue;
    run_far(&call, &far);
    kw_test_call_free(&call);
    tried++;
  }
  if (tried == 0) kw_test_skip("the device has no op that could be called");
}
