/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite scale: copies and fills, to the device, back, and within it, past what is kept in 24, 31 and 32 bits.
 */
#include "contract/scale/scale.h"

enum { MARK = 64 }; /* bytes of a mark: contents by which a place is known */

static void check_bytes(const kw_tensor *tensor, const unsigned char *want, size_t size, const char *what) {
  unsigned char *got = kw_scale_host(size);
  memset(got, 0xa5, size);
  KW_CHECK_OK(kw_tensor_read(tensor, got));
  kw_test_same(got, want, size, what);
  kw_scale_host_drop(got);
}

static void clear(kw_tensor *tensor, size_t size) {
  unsigned char *bytes = kw_scale_host(size);
  memset(bytes, 0xa5, size);
  KW_CHECK_OK(kw_tensor_write(tensor, bytes));
  kw_scale_host_drop(bytes);
}

/* Every way that a copy of so many bytes can go. */
static void copy_all_ways(size_t size) {
  kw_scale_need(3 * size, size, 2 * size);
  kw_stream *stream = kw_stream_default(kw_contract.device);
  unsigned char *bytes = kw_scale_host(size);
  kw_test_pattern(bytes, size, size);
  kw_tensor *from = kw_scale_line(KW_U8, (int64_t)size), *to = kw_scale_line(KW_U8, (int64_t)size), *copy = NULL;
  KW_CHECK_OK(kw_tensor_write(from, bytes));
  check_bytes(from, bytes, size, "a large copy to the device and back");
  clear(to, size);
  KW_CHECK_OK(kw_tensor_copy_async(to, stream, from, stream));
  check_bytes(to, bytes, size, "a large copy within the device");
  KW_CHECK_OK(kw_tensor_to(from, kw_contract.device, &copy));
  kw_scale_keep(copy);
  check_bytes(copy, bytes, size, "a large tensor by kw_tensor_to on its own device");
  kw_scale_drop(copy);
  clear(to, size);
  KW_CHECK_OK(kw_tensor_write_async(to, bytes, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  check_bytes(to, bytes, size, "a large tensor by kw_tensor_write_async");
  memset(bytes, 0, size);
  KW_CHECK_OK(kw_tensor_read_async(from, bytes, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  check_bytes(from, bytes, size, "a large tensor by kw_tensor_read_async");
  kw_scale_drop(from);
  kw_scale_drop(to);
  kw_scale_host_drop(bytes);
}

/* Past 2^24 bytes; with more effort past 2^24 and 2^25 elements of four. */
void kw_contract_scale_copies(void **state) {
  (void)state;
  copy_all_ways(((size_t)1 << 24) + 4099);
  if (kw_contract.effort < KW_EFFORT_NORMAL) return;
  copy_all_ways(((size_t)1 << 20) + 3);
  copy_all_ways(((size_t)1 << 25) + 5);
  if (kw_contract.effort < KW_EFFORT_THOROUGH) return;
  copy_all_ways(((size_t)1 << 26) + 7);
  copy_all_ways(((size_t)1 << 27) + 9);
  copy_all_ways(((size_t)1 << 28) + 11);
}

/* Narrow columns out of rows further apart than 16 bits count, by copy_. */
static void copy_columns(void) {
  enum { ROWS = 3, PITCH = 70001, COLUMNS = 2, FROM = 3 };
  const kw_op *op = kw_op_find("copy_");
  if (!kw_scale_has("copy_", KW_F32)) return;
  float *all = kw_scale_host(ROWS * PITCH * sizeof *all), want[ROWS][COLUMNS], got[ROWS][COLUMNS];
  kw_test_floats(all, ROWS * PITCH, 9);
  for (int i = 0; i < ROWS; i++) memcpy(want[i], all + i * PITCH + FROM, sizeof want[i]);
  kw_tensor *wide = kw_scale_tensor(KW_F32, 2, (int64_t[]){ROWS, PITCH}), *columns = NULL;
  kw_tensor *narrow = kw_scale_tensor(KW_F32, 2, (int64_t[]){ROWS, COLUMNS}), *out = narrow;
  KW_CHECK_OK(kw_tensor_write(wide, all));
  KW_CHECK_OK(kw_tensor_slice(wide, 1, FROM, FROM + COLUMNS, 1, &columns));
  kw_scale_keep(columns);
  kw_scale_call(op, (kw_value[]){kw_arg_tensor(narrow), kw_arg_tensor(columns)}, 2, &out, 1);
  KW_CHECK_OK(kw_tensor_read(narrow, got));
  kw_test_same(got, want, sizeof want, "columns of a tensor whose rows lie far apart, by copy_");
  memset(all, 0, ROWS * PITCH * sizeof *all);
  KW_CHECK_OK(kw_tensor_write(wide, all));
  out = columns;
  kw_scale_call(op, (kw_value[]){kw_arg_tensor(columns), kw_arg_tensor(narrow)}, 2, &out, 1);
  KW_CHECK_OK(kw_tensor_read(wide, all));
  for (int i = 0; i < ROWS; i++) memcpy(got[i], all + i * PITCH + FROM, sizeof got[i]);
  kw_test_same(got, want, sizeof want, "columns that copy_ wrote into rows that lie far apart");
}

/* Transposed and stepped, past 2^24 elements: to and from the host, and within the device. */
void kw_contract_scale_strided_copies(void **state) {
  (void)state;
  copy_columns();
  const bool thorough = kw_contract.effort == KW_EFFORT_THOROUGH;
  const int64_t height = thorough ? 4099 : 1031, width = thorough ? 4111 : 1049, shape[2] = {height, width};
  const size_t size = (size_t)(height * width);
  kw_scale_need(3 * size, size, 3 * size);
  unsigned char *bytes = kw_scale_host(size), *turned = kw_scale_host(size);
  kw_test_pattern(bytes, size, 5);
  for (int64_t i = 0; i < height; i++) {
    for (int64_t j = 0; j < width; j++) turned[j * height + i] = bytes[i * width + j];
  }
  kw_tensor *whole = kw_scale_tensor(KW_U8, 2, shape), *view = NULL, *copy = NULL;
  KW_CHECK_OK(kw_tensor_write(whole, bytes));
  KW_CHECK_OK(kw_tensor_transpose(whole, 0, 1, &view));
  kw_scale_keep(view);
  check_bytes(view, turned, size, "a large transposed tensor");
  KW_CHECK_OK(kw_tensor_to(view, kw_contract.device, &copy));
  kw_scale_keep(copy);
  check_bytes(copy, turned, size, "a large transposed tensor by kw_tensor_to on its own device");
  KW_CHECK_OK(kw_tensor_write(view, bytes)); /* the other way round */
  check_bytes(view, bytes, size, "a large transposed tensor that was written");
}

/* ---- Beyond 4 GiB ------------------------------------------------------------------------------------------------ */

/* Where marks lie in so many bytes: about kw_scale_places. */
static uint32_t mark_places(uint64_t size, int64_t *out_places) {
  int64_t found[KW_SCALE_PLACES];
  const uint32_t count = kw_scale_places((int64_t)size, found);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    int64_t at = found[i] - MARK / 2;
    if (at < 0) at = 0;
    if (at > (int64_t)size - MARK) at = (int64_t)size - MARK;
    if (kept == 0 || at >= out_places[kept - 1] + MARK) out_places[kept++] = at;
  }
  return kept;
}

static void mark(unsigned char *out, int64_t place) {
  kw_test_pattern(out, MARK, (uint64_t)place);
}

static void check_mark(const unsigned char *got, int64_t place, const char *what) {
  unsigned char want[MARK];
  mark(want, place);
  for (int i = 0; i < MARK; i++) {
    KW_CHECK(got[i] == want[i], "%s: byte %lld is 0x%02x, not 0x%02x", what, (long long)(place + i), got[i], want[i]);
  }
}

static kw_tensor *part(const kw_tensor *whole, int64_t place, int64_t size) {
  kw_tensor *view = NULL;
  KW_CHECK_OK(kw_tensor_slice(whole, 0, place, place + size, 1, &view));
  return kw_scale_keep(view);
}

/* The marks on the device, each by a small copy of its own. */
static void check_marks(const kw_tensor *whole, const int64_t *places, uint32_t count, const char *what) {
  unsigned char got[MARK];
  for (uint32_t i = 0; i < count; i++) {
    kw_tensor *view = part(whole, places[i], MARK);
    KW_CHECK_OK(kw_tensor_read(view, got));
    kw_scale_drop(view);
    check_mark(got, places[i], what);
  }
}

static void write_everywhere(kw_tensor *whole, const int64_t *places, uint32_t count, const unsigned char *bytes) {
  for (uint32_t i = 0; i < count; i++) {
    kw_tensor *view = part(whole, places[i], MARK);
    KW_CHECK_OK(kw_tensor_write(view, bytes));
    kw_scale_drop(view);
  }
}

/* One copy of more than 2^32 bytes: to the device, back, and within it. What lies between the marks is zero. */
void kw_contract_scale_copies_beyond_4_gib(void **state) {
  (void)state;
  const uint64_t size = 4 * KW_GIB + 3 * KW_MIB + 12345;
  static const unsigned char nothing[MARK];
  int64_t places[KW_SCALE_PLACES] = {0};
  kw_scale_need(2 * size, size, 0);
  const uint32_t count = mark_places(size, places);
  kw_tensor *from = kw_scale_line(KW_U8, (int64_t)size);
  unsigned char *host = kw_test_memory(size); /* pages that nobody has touched */
  for (uint32_t i = 0; i < count; i++) mark(host + places[i], places[i]);
  write_everywhere(from, places, count, nothing);
  kw_test_calls(__FILE__, __LINE__, "kw_tensor_write of 4 GiB");
  kw_status status = kw_tensor_write(from, host);
  for (uint32_t i = 0; i < count; i++) memset(host + places[i], 0, MARK);
  if (status == KW_OK) status = kw_tensor_read(from, host);
  unsigned char *read = kw_scale_host((size_t)count * MARK);
  for (uint32_t i = 0; i < count; i++) memcpy(read + (size_t)i * MARK, host + places[i], MARK);
  free(host);
  KW_CHECK(status == KW_OK, "copies of 4 GiB gave %s: %s", kw_status_name(status), kw_error_message());
  check_marks(from, places, count, "a copy of more than 2^32 bytes to the device");
  for (uint32_t i = 0; i < count; i++) {
    check_mark(read + (size_t)i * MARK, places[i], "a copy of more than 2^32 bytes from the device");
  }
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_tensor *to = kw_scale_line(KW_U8, (int64_t)size);
  write_everywhere(to, places, count, nothing);
  KW_CHECK_OK(kw_tensor_copy_async(to, stream, from, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  check_marks(to, places, count, "a copy of more than 2^32 bytes within the device");
}

/* One fill of more than 2^32 bytes. */
void kw_contract_scale_fill_beyond_4_gib(void **state) {
  (void)state;
  static const char *const names[] = {"fill_.Scalar", NULL};
  const uint64_t size = 4 * KW_GIB + 3 * KW_MIB + 12345;
  const kw_op *op = kw_scale_first(names, KW_U8);
  unsigned char zero[MARK] = {0}, got[MARK];
  int64_t places[KW_SCALE_PLACES] = {0};
  if (!op) kw_test_skip("the device has no fill_.Scalar in u8");
  kw_scale_need(size, size, 0);
  const uint32_t count = mark_places(size, places);
  kw_tensor *whole = kw_scale_line(KW_U8, (int64_t)size);
  write_everywhere(whole, places, count, zero);
  kw_value args[] = {kw_arg_tensor(whole), kw_arg_scalar_i64(0x5b)};
  kw_scale_call(op, args, 2, NULL, 0);
  for (uint32_t i = 0; i < count; i++) {
    kw_tensor *view = part(whole, places[i], MARK);
    KW_CHECK_OK(kw_tensor_read(view, got));
    kw_scale_drop(view);
    for (int k = 0; k < MARK; k++) {
      KW_CHECK(got[k] == 0x5b, "fill_.Scalar of more than 2^32 bytes: byte %lld is 0x%02x, not 0x5b",
               (long long)places[i] + k, got[k]);
    }
  }
}
