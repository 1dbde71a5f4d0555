/* SPDX-License-Identifier: Apache-2.0
 *
 * Suites launch and soak: lists of more tensors than a driver has room for on its stack. Cases have short ones.
 */
#include "call.h"
#include "soak/soak.h"

enum { ROWS = 3, MOST = 129, WIDEST = 5 };

/* cat of many small tensors, along their only dimension or along the second of two. */
typedef struct long_list {
  const kw_op *op;
  kw_dtype dtype;
  uint32_t count, rank;
  kw_tensor *entries[MOST];
  unsigned char *want, *got;
  size_t size; /* bytes of the result */
} long_list;

/* A dtype that the device joins tensors of; false when there is none. */
static bool find_cat(long_list *list) {
  list->op = kw_op_find("cat");
  for (list->dtype = 0; list->dtype < KW_KEY_DTYPE_COUNT; list->dtype++) {
    if (kw_op_support(list->op, kw_contract.device, list->dtype) == KW_SUPPORT_KERNEL) return true;
  }
  return false;
}

/* Makes the entries, and what they are together. */
static void make_entries(long_list *list, uint32_t count, uint32_t rank) {
  const size_t item = kw_dtype_size(list->dtype), rows = rank == 2 ? ROWS : 1;
  size_t wide = 0, at = 0;
  list->count = count;
  list->rank = rank;
  for (uint32_t k = 0; k < count; k++) wide += 1 + k % WIDEST;
  list->size = rows * wide * item;
  list->want = kw_test_memory(list->size);
  list->got = kw_test_memory(list->size);
  for (uint32_t k = 0; k < count; k++) {
    const int64_t mine = 1 + k % WIDEST, shape[] = {ROWS, mine};
    unsigned char bytes[ROWS * WIDEST * 16];
    list->entries[k] = kw_test_tensor(kw_contract.device, list->dtype, rank, shape + 2 - rank, k + 1);
    KW_CHECK_OK(kw_tensor_read(list->entries[k], bytes));
    for (size_t r = 0; r < rows; r++) {
      memcpy(list->want + (r * wide + at) * item, bytes + r * (size_t)mine * item, (size_t)mine * item);
    }
    at += (size_t)mine;
  }
}

static void free_entries(long_list *list) {
  for (uint32_t k = 0; k < list->count; k++) kw_tensor_release(list->entries[k]);
  free(list->want);
  free(list->got);
}

/* stream: the call is recorded there, and what is judged is its replay; NULL: it runs at once. */
static void check_cat(long_list *list, kw_stream *stream) {
  const kw_value args[] = {kw_arg_tensor_list(list->entries, list->count), kw_arg_int((int64_t)list->rank - 1)};
  kw_tensor *out = NULL;
  kw_graph *graph = NULL;
  if (stream) KW_CHECK_OK(kw_graph_begin(stream));
  KW_CHECK_OK(kw_op_call(list->op, stream, args, 2, &out, 1));
  if (stream) {
    KW_CHECK_OK(kw_graph_end(stream, &graph));
    KW_CHECK_OK(kw_graph_launch(graph, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
  }
  KW_CHECK(kw_test_bytes_of(out) == list->size, "cat of %u tensors gave %zu bytes, not %zu", list->count,
           kw_test_bytes_of(out), list->size);
  KW_CHECK_OK(kw_tensor_read(out, list->got));
  size_t i = 0;
  while (i < list->size && list->got[i] == list->want[i]) i++;
  KW_CHECK(i == list->size, "%scat of %u tensors of rank %u: byte %zu of %zu of the result is not the tensors'",
           stream ? "recorded in a graph, " : "", list->count, list->rank, i, list->size);
  KW_CHECK_OK(kw_graph_destroy(graph));
  kw_tensor_release(out);
}

/* cat of lists past 8, 16, 32, 64 and 128 tensors gives all of them, at once and in a graph. */
void kw_contract_launch_long_lists(void **state) {
  (void)state;
  static const uint32_t counts[] = {9, 17, 33, 65, MOST};
  static long_list list;
  if (!find_cat(&list)) kw_test_skip("the device has no cat");
  kw_stream *stream = kw_test_stream();
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    for (uint32_t rank = 1; rank <= 2; rank++) {
      make_entries(&list, counts[i], rank);
      check_cat(&list, NULL);
      check_cat(&list, stream);
      free_entries(&list);
    }
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* Entries that are columns of one buffer: alike in all but where they begin. */
void kw_contract_launch_parts_in_lists(void **state) {
  (void)state;
  enum { PARTS = 4, WIDE = 5 };
  static long_list list;
  if (!find_cat(&list)) kw_test_skip("the device has no cat");
  const size_t item = kw_dtype_size(list.dtype), row = WIDE * item;
  kw_tensor *base = kw_test_tensor(kw_contract.device, list.dtype, 2, (int64_t[]){ROWS, PARTS * WIDE}, 1);
  unsigned char bytes[ROWS * PARTS * WIDE * 16];
  KW_CHECK_OK(kw_tensor_read(base, bytes));
  list.count = PARTS;
  for (list.rank = 1; list.rank <= 2; list.rank++) { /* the dimension is the last: rows of a column, or whole ones */
    const size_t rows = list.rank == 2 ? ROWS : 1;
    list.size = rows * PARTS * row;
    list.want = kw_test_memory(list.size);
    list.got = kw_test_memory(list.size);
    for (int64_t k = 0; k < PARTS; k++) {
      const int64_t shape[] = {(int64_t)rows, WIDE}, strides[] = {PARTS * WIDE, 1}, back = PARTS - 1 - k;
      KW_CHECK_OK(kw_tensor_as_strided(base, list.rank, shape + 2 - list.rank, strides + 2 - list.rank, back * WIDE,
                                       &list.entries[k]));
      for (size_t r = 0; r < rows; r++) {
        memcpy(list.want + (r * PARTS + (size_t)k) * row, bytes + (r * PARTS + (size_t)back) * row, row);
      }
    }
    check_cat(&list, NULL);
    free_entries(&list);
  }
  kw_tensor_release(base);
}

static void run_lists(void *user, uint64_t first, uint64_t count) {
  (void)first;
  for (uint64_t i = 0; i < count; i++) check_cat(user, NULL);
}

/* Long lists again and again: what is made for one goes with its call. */
void kw_contract_soak_lists(void **state) {
  (void)state;
  enum { COUNT = 33 };
  static long_list list;
  if (!find_cat(&list)) kw_test_skip("the device has no cat");
  make_entries(&list, COUNT, 1);
  const kw_soak_work work = {.objects = "calls with long lists",
                             .count = kw_soak_count(500, 2500, 70000),
                             .block = 250,
                             .least = 16,
                             .run = run_lists,
                             .user = &list};
  kw_soak_run(&work);
  free_entries(&list);
}
