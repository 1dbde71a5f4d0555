/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite memory: placement, neighbours, accounting, leaks, too much asked for. reuse.c has stream-ordered reuse.
 */
#include "tools.h"
#include "op_table.h"

#include <stdio.h>

static uint64_t lowest_bit(uint64_t value) {
  return value & (~value + 1);
}

/* What kw_tensor_ref.alignment has to be: the largest power of two up to 4096 that divides the address of element 0,
 * given that mem is aligned to mem_alignment. */
static void check_alignment(const kw_tensor *tensor, uint32_t mem_alignment) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  uint64_t want = lowest_bit(ref->offset | mem_alignment | 4096);
  KW_CHECK(ref->alignment == want, "a tensor at offset %llu, in memory aligned to %u, says alignment %u, not %llu",
           (unsigned long long)ref->offset, mem_alignment, ref->alignment, (unsigned long long)want);
}

/* New tensors lie at multiples of offset_alignment; every descriptor's alignment is honest, views included. */
void kw_contract_memory_alignment(void **state) {
  (void)state;
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  kw_tensor *tensors[64];
  for (int i = 0; i < 64; i++) {
    int64_t shape = i < 40 ? i + 1 : (int64_t)1 << (i - 40);
    kw_dtype dtype = (kw_dtype)(i % KW_DTYPE_COUNT);
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, dtype, 1, &shape, &tensors[i]));
    const kw_tensor_ref *ref = kw_tensor_describe(tensors[i]);
    KW_CHECK(ref->mem, "a tensor has no memory");
    KW_CHECK(ref->offset % info.offset_alignment == 0, "a new tensor lies at offset %llu, no multiple of %u",
             (unsigned long long)ref->offset, info.offset_alignment);
    check_alignment(tensors[i], info.mem_alignment);
    for (int64_t start = 1; start < shape && start < 20; start++) {
      kw_tensor *view = NULL;
      KW_CHECK_OK(kw_tensor_slice(tensors[i], 0, start, shape, 1, &view));
      check_alignment(view, info.mem_alignment);
      kw_tensor_release(view);
    }
  }
  for (int i = 0; i < 64; i++) kw_tensor_release(tensors[i]);
}

/* Tensors without elements: made, written, read and released like others; rank 0 has one element. */
void kw_contract_memory_zero_size(void **state) {
  (void)state;
  kw_memory_stats before = kw_test_stats();
  static const struct {
    uint32_t rank;
    int64_t shape[3];
    int64_t numel;
  } cases[] = {{1, {0}, 0}, {3, {3, 0, 2}, 0}, {2, {0, 0}, 0}, {0, {0}, 1}, {3, {1, 1, 1}, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kw_tensor *tensor = NULL;
    double value = 1.5, back = 0;
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_F64, cases[i].rank, cases[i].shape, &tensor));
    KW_CHECK(kw_tensor_describe(tensor)->numel == cases[i].numel, "numel is %lld, not %lld",
             (long long)kw_tensor_describe(tensor)->numel, (long long)cases[i].numel);
    KW_CHECK_OK(kw_tensor_write(tensor, &value));
    KW_CHECK_OK(kw_tensor_read(tensor, &back));
    KW_CHECK(back == (cases[i].numel ? value : 0), "a tensor of %lld elements read %g", (long long)cases[i].numel,
             back);
    kw_tensor_release(tensor);
  }
  KW_CHECK(kw_test_stats().live == before.live, "a tensor without elements stayed live after its release");
}

/* Writing one allocation, whatever its size, leaves those beside it alone. */
void kw_contract_memory_neighbours_kept(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 2, 3, 7, 63, 64, 65, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097, 65535, 65537};
  enum { COUNT = sizeof sizes / sizeof sizes[0] };
  kw_tensor *left[COUNT], *middle[COUNT], *right[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    left[i] = kw_test_bytes(sizes[i], 100 + i);
    middle[i] = kw_test_bytes_on(NULL, sizes[i]);
    right[i] = kw_test_bytes(sizes[i], 300 + i);
  }
  unsigned char *bytes = kw_test_memory(65537);
  for (size_t i = 0; i < COUNT; i++) {
    kw_test_pattern(bytes, sizes[i], 200 + i);
    KW_CHECK_OK(kw_tensor_write(middle[i], bytes));
  }
  for (size_t i = 0; i < COUNT; i++) {
    kw_test_expect_bytes(left[i], 100 + i, "the allocation before one that was written");
    kw_test_expect_bytes(middle[i], 200 + i, "an allocation that was written");
    kw_test_expect_bytes(right[i], 300 + i, "the allocation after one that was written");
    kw_tensor_release(left[i]);
    kw_tensor_release(middle[i]);
    kw_tensor_release(right[i]);
  }
  free(bytes);
}

/* Writing a slice leaves the bytes around it alone, at every odd place. */
void kw_contract_memory_slices_keep_neighbours(void **state) {
  (void)state;
  enum { SIZE = 200 };
  unsigned char want[SIZE], got[SIZE], piece[SIZE];
  kw_tensor *tensor = kw_test_bytes(SIZE, 1);
  kw_test_pattern(want, SIZE, 1);
  for (int start = 0; start < 20; start++) {
    for (int size = 1; size < 70; size += 1 + size / 6) {
      kw_tensor *slice = NULL;
      kw_test_pattern(piece, (size_t)size, (uint64_t)(start * 1000 + size));
      KW_CHECK_OK(kw_tensor_slice(tensor, 0, start, start + size, 1, &slice));
      KW_CHECK_OK(kw_tensor_write(slice, piece));
      kw_tensor_release(slice);
      memcpy(want + start, piece, (size_t)size);
      KW_CHECK_OK(kw_tensor_read(tensor, got));
      kw_test_same(got, want, SIZE, "a tensor after one slice of it was written");
    }
  }
  kw_tensor_release(tensor);
}

/* f32 elements before and after a piece of a tensor that some op wrote: unchanged, and the piece as wanted. */
static void check_piece(const kw_tensor *whole, size_t size, size_t start, size_t count, const float *piece,
                        uint64_t tag, const char *what) {
  float *want = kw_test_memory(size * sizeof *want);
  kw_test_floats(want, size, tag);
  memcpy(want + start, piece, count * sizeof *want);
  kw_test_expect_f32(whole, want, size, what);
  free(want);
}

static const size_t piece_sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 65, 127, 129, 1000, 1025};
enum { PIECES = sizeof piece_sizes / sizeof piece_sizes[0], MARGIN = 37 };

/* An op that writes into a part of a tensor leaves the rest alone, and its inputs too. */
void kw_contract_memory_op_keeps_neighbours(void **state) {
  (void)state;
  const kw_pair *pair = kw_test_need_pair();
  for (size_t i = 0; i < PIECES; i++) {
    size_t count = piece_sizes[i], size = count + 2 * MARGIN;
    kw_tensor *whole = kw_test_f32(size, 1), *a = kw_test_f32(count, 2), *b = kw_test_f32(count, 3), *out = NULL;
    float *x = kw_test_memory(3 * count * sizeof *x), *y = x + count, *result = y + count;
    kw_test_floats(x, count, 2);
    kw_test_floats(y, count, 3);
    for (size_t j = 0; j < count; j++) result[j] = pair->of(x[j], y[j]);
    KW_CHECK_OK(kw_tensor_slice(whole, 0, MARGIN, (int64_t)(MARGIN + count), 1, &out));
    KW_CHECK_OK(kw_test_pair(pair, NULL, a, b, &out));
    check_piece(whole, size, MARGIN, count, result, 1, "a tensor, a part of which an op wrote");
    kw_test_expect_f32(a, x, count, "the first input of an op afterwards");
    kw_test_expect_f32(b, y, count, "the second input of an op afterwards");
    kw_tensor_release(out);
    kw_tensor_release(a);
    kw_tensor_release(b);
    kw_tensor_release(whole);
    free(x);
  }
}

/* So does a fill. */
void kw_contract_memory_fill_keeps_neighbours(void **state) {
  (void)state;
  kw_test_need_op("fill_.Scalar");
  for (size_t i = 0; i < PIECES; i++) {
    size_t count = piece_sizes[i], size = count + 2 * MARGIN;
    kw_tensor *whole = kw_test_f32(size, 4), *part = NULL;
    float *values = kw_test_memory(count * sizeof *values);
    for (size_t j = 0; j < count; j++) values[j] = -2.5f;
    KW_CHECK_OK(kw_tensor_slice(whole, 0, MARGIN, (int64_t)(MARGIN + count), 1, &part));
    kw_value args[] = {kw_arg_tensor(part), kw_arg_scalar_f64(-2.5)};
    KW_CHECK_OK(kw_op_call(kw_op_find("fill_.Scalar"), NULL, args, 2, NULL, 0));
    check_piece(whole, size, MARGIN, count, values, 4, "a tensor, a part of which was filled");
    kw_tensor_release(part);
    kw_tensor_release(whole);
    free(values);
  }
}

/* Live allocations share no byte, also after many were released and others took their place. */
void kw_contract_memory_live_do_not_overlap(void **state) {
  (void)state;
  enum { COUNT = 200 };
  kw_tensor *tensors[COUNT];
  uint64_t tags[COUNT];
  for (uint64_t i = 0; i < COUNT; i++) {
    tags[i] = i;
    tensors[i] = kw_test_bytes(1 + (size_t)(i * i * 7) % 30000, i);
  }
  for (uint64_t round = 1; round < 4; round++) {
    for (uint64_t i = round % 2; i < COUNT; i += 2) {
      kw_tensor_release(tensors[i]);
      tags[i] = round * 1000 + i;
      tensors[i] = kw_test_bytes(1 + (size_t)(i * 977 * round) % 40000, tags[i]);
    }
    for (uint64_t i = 0; i < COUNT; i++) kw_test_expect_bytes(tensors[i], tags[i], "one of many live allocations");
  }
  for (uint64_t i = 0; i < COUNT; i++) kw_tensor_release(tensors[i]);
}

/* Nor do large ones, whatever they are rounded to. */
void kw_contract_memory_large_do_not_overlap(void **state) {
  (void)state;
  enum { COUNT = 4, MIB = 1 << 20 };
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  if (info.total_memory && info.total_memory < (uint64_t)64 * MIB) kw_test_skip("the device has less than 64 MiB");
  kw_tensor *tensors[COUNT];
  for (uint64_t i = 0; i < COUNT; i++) tensors[i] = kw_test_bytes((size_t)(2 * i + 3) * MIB + 1, i);
  for (uint64_t i = 0; i < COUNT; i++) {
    kw_test_expect_bytes(tensors[i], i, "one of several large allocations");
    kw_tensor_release(tensors[i]);
  }
}

/* Writes `bytes` at the beginning of the tensor, and from `more` on its last ones. */
static void write_ends(kw_tensor *tensor, int64_t size, const unsigned char *bytes, int64_t end) {
  kw_tensor *head = NULL, *tail = NULL;
  KW_CHECK_OK(kw_tensor_slice(tensor, 0, 0, end, 1, &head));
  KW_CHECK_OK(kw_tensor_slice(tensor, 0, size - end, size, 1, &tail));
  KW_CHECK_OK(kw_tensor_write(head, bytes));
  KW_CHECK_OK(kw_tensor_write(tail, bytes + end));
  kw_tensor_release(head);
  kw_tensor_release(tail);
}

static void expect_ends(kw_tensor *tensor, int64_t size, uint64_t tag, int64_t end) {
  static const char *const what[2] = {"the beginning of one of several large allocations",
                                      "the end of one of several large allocations"};
  for (int64_t i = 0; i < 2; i++) {
    kw_tensor *part = NULL;
    KW_CHECK_OK(kw_tensor_slice(tensor, 0, i * (size - end), i * (size - end) + end, 1, &part));
    kw_test_expect_bytes(part, 2 * tag + (uint64_t)i, what[i]);
    kw_tensor_release(part);
  }
}

/* The ends of still larger ones, up to a quarter of what the device has. */
void kw_contract_memory_ends_do_not_overlap(void **state) {
  (void)state;
  enum { COUNT = 10, END = 8191 };
  static unsigned char bytes[2 * END];
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  kw_tensor *tensors[COUNT];
  int64_t sizes[COUNT];
  uint64_t made = 0;
  for (; made < COUNT; made++) { /* 16 MiB to 256 MiB, and a byte more, which the host may round up */
    sizes[made] = ((int64_t)16 << 20 << made / 2) + (int64_t)made % 2;
    if (info.total_memory && (uint64_t)sizes[made] > info.total_memory / 4) break;
    kw_status status = kw_tensor_create(kw_contract.device, KW_U8, 1, &sizes[made], &tensors[made]);
    if (status == KW_ERR_OUT_OF_MEMORY && made > 0) break; /* others use the device, too */
    KW_CHECK_OK(status);
    for (uint64_t i = 0; i < 2; i++) kw_test_pattern(bytes + i * END, END, 2 * made + i);
    write_ends(tensors[made], sizes[made], bytes, END);
  }
  if (made == 0) kw_test_skip("the device has less than 64 MiB");
  for (uint64_t i = 0; i < made; i++) {
    expect_ends(tensors[i], sizes[i], i, END);
    kw_tensor_release(tensors[i]);
  }
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
}

/* A large piece, all of which is written: with another piece's place it would overwrite what lies behind that. */
static kw_tensor *write_all(int64_t size) {
  kw_tensor *tensor = NULL;
  unsigned char *bytes = kw_test_memory((size_t)size);
  kw_status status = kw_tensor_create(kw_contract.device, KW_U8, 1, &size, &tensor);
  if (status == KW_OK) status = kw_tensor_write(tensor, bytes);
  free(bytes);
  KW_CHECK(status == KW_OK || status == KW_ERR_OUT_OF_MEMORY, "a large allocation and a copy there gave %s: %s",
           kw_status_name(status), kw_error_message());
  return tensor;
}

/* One of which the beginning and the end are written. */
static kw_tensor *make_ends(int64_t size, uint64_t tag, int64_t end) {
  kw_tensor *tensor = NULL;
  unsigned char *bytes = kw_test_memory(2 * (size_t)end);
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_U8, 1, &size, &tensor));
  for (int64_t i = 0; i < 2; i++) kw_test_pattern(bytes + i * end, (size_t)end, 2 * tag + (uint64_t)i);
  write_ends(tensor, size, bytes, end);
  free(bytes);
  return tensor;
}

/* Places of large pieces that were freed are not used for larger ones, which may be of the same power of two. */
void kw_contract_memory_freed_are_not_outgrown(void **state) {
  (void)state;
  enum { COUNT = 2, SIZE = 16 << 20, END = 8191 };
  static const int64_t freed[COUNT] = {INT64_C(17) << 20, INT64_C(33) << 20},
                       wanted[COUNT] = {INT64_C(30) << 20, INT64_C(62) << 20};
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  for (uint64_t i = 0; i < COUNT; i++) {
    kw_tensor *first = NULL, *neighbours[2];
    if (info.total_memory && (uint64_t)wanted[i] > info.total_memory / 8) break;
    neighbours[0] = make_ends(SIZE, 2 * i, END);
    kw_status status = kw_tensor_create(kw_contract.device, KW_U8, 1, &freed[i], &first);
    if (status == KW_ERR_OUT_OF_MEMORY) kw_test_skip("others use the device's memory");
    KW_CHECK_OK(status);
    neighbours[1] = make_ends(SIZE, 2 * i + 1, END);
    kw_tensor_release(first);
    KW_CHECK_OK(kw_memory_trim(kw_contract.device));
    kw_tensor *larger = write_all(wanted[i]);
    for (uint64_t k = 0; k < 2; k++) {
      expect_ends(neighbours[k], SIZE, 2 * i + k, END);
      kw_tensor_release(neighbours[k]);
    }
    kw_tensor_release(larger);
  }
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
}

/* Memory that was freed can be had again: in a row, more than the device has. */
void kw_contract_memory_freed_comes_back(void **state) {
  (void)state;
  enum { MOST = 64 };
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  uint64_t piece = info.total_memory / 4;
  if (piece > info.max_alloc) piece = info.max_alloc;
  if (!piece) kw_test_skip("the size of the device's memory is not known");
  if (info.total_memory / piece >= MOST) kw_test_skip("the device allocates in too small pieces for this test");
  for (uint64_t asked = 0; asked <= info.total_memory + piece; asked += piece) {
    kw_tensor *tensor = NULL;
    int64_t size = (int64_t)piece;
    KW_CHECK_OK(kw_memory_trim(kw_contract.device));
    kw_status status = kw_tensor_create(kw_contract.device, KW_U8, 1, &size, &tensor);
    if (asked == 0 && status == KW_ERR_OUT_OF_MEMORY) kw_test_skip("a quarter of the memory is not to be had now");
    KW_CHECK(status == KW_OK, "%llu bytes in all were allocated and freed, and %lld more gave %s: %s",
             (unsigned long long)asked, (long long)size, kw_status_name(status), kw_error_message());
    kw_tensor_release(tensor);
  }
}

/* After all of a test's tensors are gone and caches are trimmed. */
static kw_memory_stats settled(void) {
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  return kw_test_stats();
}

/* The books balance: bytes and allocations go up with create and come back with release and trim. */
void kw_contract_memory_accounting(void **state) {
  (void)state;
  enum { COUNT = 50 };
  kw_memory_stats before = settled();
  kw_tensor *tensors[COUNT];
  uint64_t bytes = 0;
  for (int i = 0; i < COUNT; i++) {
    size_t size = (size_t)(i + 1) * 1000;
    tensors[i] = kw_test_bytes(size, 1);
    bytes += size;
    kw_memory_stats now = kw_test_stats();
    KW_CHECK(now.allocated >= before.allocated + bytes, "%llu bytes are live and allocated says %llu more than before",
             (unsigned long long)bytes, (unsigned long long)(now.allocated - before.allocated));
    KW_CHECK(now.held >= now.allocated, "held (%llu) is less than allocated (%llu)", (unsigned long long)now.held,
             (unsigned long long)now.allocated);
    KW_CHECK(now.allocated_peak >= now.allocated && now.held_peak >= now.held, "a peak is below the present value");
    KW_CHECK(now.live == before.live + (uint64_t)i + 1, "%d allocations more are live, and live says %llu", i + 1,
             (unsigned long long)(now.live - before.live));
    KW_CHECK(now.allocations == before.allocations + (uint64_t)i + 1, "allocations counts wrong");
  }
  for (int i = 0; i < COUNT; i++) kw_tensor_release(tensors[i]);
  kw_memory_stats after = kw_test_stats();
  KW_CHECK(after.allocated == before.allocated, "allocated is %llu after all was released, %llu before",
           (unsigned long long)after.allocated, (unsigned long long)before.allocated);
  KW_CHECK(after.live == before.live, "live is %llu after all was released, %llu before",
           (unsigned long long)after.live, (unsigned long long)before.live);
  after = settled();
  KW_CHECK(after.held == before.held, "held is %llu after kw_memory_trim, %llu before", (unsigned long long)after.held,
           (unsigned long long)before.held);
  KW_CHECK(after.plugin_allocs - after.plugin_frees == before.plugin_allocs - before.plugin_frees,
           "the plugin's alloc was called %llu times and its free %llu times", (unsigned long long)after.plugin_allocs,
           (unsigned long long)after.plugin_frees);
}

static bool has_digit(const char *text) {
  return strcspn(text, "0123456789") < strlen(text);
}

/* Free memory is a part of all of it, before and while tensors take some. Others may use the device, too. */
void kw_contract_memory_usage(void **state) {
  (void)state;
  enum { SIZE = 1 << 20 };
  uint64_t unused = 0, total = 0, again = 0;
  kw_status status = kw_memory_get_usage(kw_contract.device, &unused, &total);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("the size of the device's memory is not known");
  KW_CHECK(status == KW_OK, "kw_memory_get_usage gave %s: %s", kw_status_name(status), kw_error_message());
  KW_CHECK(total > 0 && unused <= total, "%llu bytes are free, of %llu", (unsigned long long)unused,
           (unsigned long long)total);
  kw_tensor *tensor = kw_test_bytes(SIZE, 1);
  KW_CHECK_OK(kw_memory_get_usage(kw_contract.device, &unused, &again));
  KW_CHECK(again == total, "all memory was %llu bytes, and is %llu while a tensor lives", (unsigned long long)total,
           (unsigned long long)again);
  KW_CHECK(unused + SIZE <= total, "%llu bytes are free, of %llu, while a tensor of %d bytes lives",
           (unsigned long long)unused, (unsigned long long)total, SIZE);
  kw_tensor_release(tensor);
}

/* A request that cannot be met. */
static void ask_too_much(int64_t size) {
  kw_tensor *tensor = NULL;
  kw_status status = kw_tensor_create(kw_contract.device, KW_U8, 1, &size, &tensor);
  KW_CHECK(status != KW_OK, "an allocation of %lld bytes, more than the device has, was reported as success",
           (long long)size);
  KW_CHECK(status == KW_ERR_OUT_OF_MEMORY, "an allocation of %lld bytes gave %d (%s), not %d (%s): %s", (long long)size,
           (int)status, kw_status_name(status), KW_ERR_OUT_OF_MEMORY, kw_status_name(KW_ERR_OUT_OF_MEMORY),
           kw_error_message());
  KW_CHECK(!tensor, "a failed allocation set *out_tensor");
  KW_CHECK(has_digit(kw_error_message()), "the message of a failed allocation has no numbers: %s", kw_error_message());
}

static void ask_too_much_in_all_sizes(void) {
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  if (info.total_memory && info.total_memory < (uint64_t)1 << 60) ask_too_much((int64_t)info.total_memory * 2);
  for (int shift = 50; shift < 63; shift++) ask_too_much((int64_t)1 << shift);
  ask_too_much(INT64_MAX);
}

/* More than there is: KW_ERR_OUT_OF_MEMORY with numbers, and the device works on. */
void kw_contract_memory_out_of_memory(void **state) {
  (void)state;
  kw_memory_stats before = kw_test_stats();
  ask_too_much_in_all_sizes();
  kw_memory_stats after = kw_test_stats();
  KW_CHECK(after.allocated == before.allocated && after.live == before.live,
           "allocations that failed are counted as live");
  KW_CHECK(after.oom_failures > before.oom_failures, "oom_failures does not count");
  kw_test_usable("a round trip after KW_ERR_OUT_OF_MEMORY");
}

/* ... and what lives is not disturbed. */
void kw_contract_memory_out_of_memory_disturbs_none(void **state) {
  (void)state;
  enum { COUNT = 20 };
  kw_tensor *tensors[COUNT];
  for (uint64_t i = 0; i < COUNT; i++) tensors[i] = kw_test_bytes(10000 * (size_t)(i + 1), i);
  ask_too_much_in_all_sizes();
  for (uint64_t i = 0; i < COUNT; i++) {
    kw_test_expect_bytes(tensors[i], i, "a tensor that lived while another allocation failed");
    kw_tensor_release(tensors[i]);
  }
}

/* Caches are given back before an allocation fails: what is cached cannot stand in the way. */
void kw_contract_memory_out_of_memory_retry(void **state) {
  (void)state;
  enum { MOST = 64 };
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  if (!info.total_memory || info.total_memory > (uint64_t)2 << 30) {
    kw_test_skip("the device's memory is too large to be filled by a test (or of unknown size)");
  }
  kw_tensor *tensors[MOST] = {NULL};
  int64_t piece = (int64_t)info.total_memory / 16, large = (int64_t)info.total_memory / 4;
  if (info.max_alloc && large > (int64_t)info.max_alloc) kw_test_skip("max_alloc is less than a quarter of the memory");
  kw_status status = KW_OK;
  int count = 0;
  while (count < MOST && status == KW_OK) {
    status = kw_tensor_create(kw_contract.device, KW_U8, 1, &piece, &tensors[count]);
    if (status == KW_OK) count++;
  }
  KW_CHECK(status == KW_ERR_OUT_OF_MEMORY, "%d allocations of 1/16 of the memory each ended with %d (%s)", count,
           (int)status, kw_status_name(status));
  for (int i = 0; i < count; i++) kw_tensor_release(tensors[i]);
  kw_memory_stats before = kw_test_stats();
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_U8, 1, &large, &tensor));
  KW_CHECK(kw_test_stats().oom_retries > before.oom_retries || before.held < info.total_memory * 3 / 4,
           "caches filled the memory and no retry was counted");
  kw_tensor_release(tensor);
  kw_test_usable("a round trip after the memory was full");
}

/* Create and release, 200 times over: the plugin's allocations stay bounded and come back. */
void kw_contract_memory_cycles_do_not_leak(void **state) {
  (void)state;
  enum { CYCLES = 200, EACH = 10 };
  kw_memory_stats before = settled();
  uint64_t after_first = 0;
  for (int cycle = 0; cycle < CYCLES; cycle++) {
    kw_tensor *tensors[EACH];
    for (int i = 0; i < EACH; i++) tensors[i] = kw_test_bytes((size_t)(1 + i) * 5000, 1);
    for (int i = 0; i < EACH; i++) kw_tensor_release(tensors[i]);
    if (cycle == 0) after_first = kw_test_stats().plugin_allocs;
  }
  kw_memory_stats now = kw_test_stats();
  KW_CHECK(now.plugin_allocs - after_first <= EACH,
           "%d rounds of the same ten tensors called the plugin's alloc %llu times after the first round", CYCLES,
           (unsigned long long)(now.plugin_allocs - after_first));
  KW_CHECK(now.allocated == before.allocated && now.live == before.live, "released tensors are still counted");
  now = settled();
  KW_CHECK(now.held == before.held, "%llu bytes are still held after kw_memory_trim, %llu before",
           (unsigned long long)now.held, (unsigned long long)before.held);
}

/* Streams and events that come and go leave no memory behind. */
void kw_contract_memory_streams_do_not_leak(void **state) {
  (void)state;
  kw_memory_stats before = settled();
  unsigned char *bytes = kw_test_memory(3000);
  for (int i = 0; i < 200; i++) {
    kw_stream *stream = kw_test_stream();
    kw_event *event = kw_test_event();
    kw_tensor *tensor = kw_test_bytes_on(stream, 3000);
    KW_CHECK_OK(kw_tensor_write_async(tensor, bytes, stream));
    KW_CHECK_OK(kw_event_record(event, stream));
    kw_tensor_release(tensor);
    KW_CHECK_OK(kw_event_destroy(event));
    KW_CHECK_OK(kw_stream_destroy(stream));
  }
  kw_memory_stats now = settled();
  KW_CHECK(now.held == before.held && now.live == before.live && now.allocated == before.allocated,
           "200 streams left %llu bytes held, %llu bytes allocated and %llu allocations live",
           (unsigned long long)(now.held - before.held), (unsigned long long)(now.allocated - before.allocated),
           (unsigned long long)(now.live - before.live));
  free(bytes);
}

static int memory_body(int index, void *user, char *text, size_t size) {
  (void)user;
  unsigned char bytes[2048], back[2048];
  for (int i = 0; i < 100; i++) {
    kw_tensor *tensors[4];
    for (int j = 0; j < 4; j++) {
      int64_t shape = 512 * (j + 1);
      memset(bytes, index * 31 + i + j, sizeof bytes);
      if (kw_test_note(kw_tensor_create(kw_contract.device, KW_U8, 1, &shape, &tensors[j]), "create", text, size))
        return 1;
      if (kw_test_note(kw_tensor_write(tensors[j], bytes), "write", text, size)) return 1;
    }
    for (int j = 0; j < 4; j++) {
      memset(bytes, index * 31 + i + j, sizeof bytes);
      if (kw_test_note(kw_tensor_read(tensors[j], back), "read", text, size)) return 1;
      kw_tensor_release(tensors[j]);
      if (memcmp(bytes, back, 512 * (size_t)(j + 1)) != 0) {
        snprintf(text, size, "round %d, tensor %d: another thread's data", i, j);
        return 1;
      }
    }
  }
  return 0;
}

/* Allocation from many threads at once. */
void kw_contract_memory_threads(void **state) {
  (void)state;
  kw_memory_stats before = settled();
  kw_test_run_threads(memory_body, NULL);
  kw_memory_stats after = settled();
  KW_CHECK(after.allocated == before.allocated && after.live == before.live && after.held == before.held,
           "threads left memory behind");
}

/* ---- Host memory ------------------------------------------------------------------------------------------------- */

static void check_host_round_trip(unsigned char *memory, size_t size, uint64_t tag) {
  kw_tensor *tensor = kw_test_bytes_on(NULL, size);
  kw_test_pattern(memory, size, tag);
  KW_CHECK_OK(kw_tensor_write_async(tensor, memory, NULL));
  KW_CHECK_OK(kw_stream_synchronize(kw_stream_default(kw_contract.device)));
  kw_test_expect_bytes(tensor, tag, "a tensor written from memory of kw_host_alloc");
  memset(memory, 0, size);
  KW_CHECK_OK(kw_tensor_read_async(tensor, memory, NULL));
  KW_CHECK_OK(kw_stream_synchronize(kw_stream_default(kw_contract.device)));
  unsigned char *want = kw_test_memory(size);
  kw_test_pattern(want, size, tag);
  kw_test_same(memory, want, size, "memory of kw_host_alloc after a tensor was read into it");
  free(want);
  kw_tensor_release(tensor);
}

/* Memory of kw_host_alloc is the process's own: aligned, every byte of it usable, apart from all other, and copies go
 * to it and from it. */
void kw_contract_memory_host_memory(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 63, 64, 65, 4096, 5000, 65537, 300001};
  enum { COUNT = sizeof sizes / sizeof sizes[0] };
  void *memory[COUNT] = {NULL};
  for (size_t i = 0; i < COUNT; i++) {
    KW_CHECK_OK(kw_host_alloc(kw_contract.device, sizes[i], &memory[i]));
    KW_CHECK((uintptr_t)memory[i] % 64 == 0, "%zu bytes of host memory lie at %p, no multiple of 64", sizes[i],
             memory[i]);
    kw_test_pattern(memory[i], sizes[i], i);
  }
  for (size_t i = 0; i < COUNT; i++) {
    unsigned char *want = kw_test_memory(sizes[i]);
    kw_test_pattern(want, sizes[i], i);
    kw_test_same(memory[i], want, sizes[i], "host memory after other host memory was written");
    free(want);
  }
  for (size_t i = 0; i < COUNT; i++) check_host_round_trip(memory[i], sizes[i], 100 + i);
  for (size_t i = 0; i < COUNT; i++) KW_CHECK_OK(kw_host_free(kw_contract.device, memory[i]));
  for (int i = 0; i < 200; i++) {
    KW_CHECK_OK(kw_host_alloc(kw_contract.device, 1 << 20, &memory[0]));
    KW_CHECK_OK(kw_host_free(kw_contract.device, memory[0]));
  }
  kw_test_usable("a round trip after host memory came and went");
}
