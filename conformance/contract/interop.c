/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite interop: memory of others, for plugins that take such.
 */
#include "contract_helpers.h"

#include <keyway/interop.h>

enum { ALIGNMENT = 4096, SIZE = 16384 };

static void KW_CALL count_end(void *user) {
  atomic_fetch_add((atomic_int *)user, 1);
}

static kw_external_memory host_range(void *bytes, uint64_t flags) {
  return (kw_external_memory){
      .struct_size = sizeof(kw_external_memory), .kind = KW_HANDLE_HOST, .flags = flags, .size = SIZE, .host = bytes};
}

static unsigned char *new_range(uint64_t tag) {
  unsigned char *bytes = aligned_alloc(ALIGNMENT, SIZE);
  KW_CHECK(bytes, "no host memory");
  kw_test_pattern(bytes, SIZE, tag);
  return bytes;
}

/* The tensor u8[SIZE] on the range, whose end counts in *ended where that is given; skips where the device cannot reach
 * host memory. */
static kw_tensor *import(unsigned char *bytes, uint64_t flags, atomic_int *ended) {
  kw_tensor *tensor = NULL;
  const kw_external_memory memory = host_range(bytes, flags);
  kw_test_need(KW_NATIVE_INTEROP);
  kw_status status = kw_tensor_import(kw_contract.device, &memory, ended ? count_end : NULL, ended, &tensor);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("%s", kw_error_message());
  KW_CHECK_OK(status);
  return tensor;
}

/* A map of an import's middle is of its middle. */
static void expect_middle(const kw_tensor *tensor, uint64_t tag) {
  enum { BEGIN = 200, END = 9000 };
  unsigned char *want = kw_test_memory(SIZE);
  kw_tensor *middle = NULL;
  void *pointer = NULL;
  kw_test_pattern(want, SIZE, tag);
  KW_CHECK_OK(kw_tensor_slice(tensor, 0, BEGIN, END, 1, &middle));
  KW_CHECK_OK(kw_tensor_map(middle, NULL, KW_MAP_READ, &pointer));
  kw_test_same(pointer, want + BEGIN, END - BEGIN, "a map of the middle of an imported range");
  KW_CHECK_OK(kw_tensor_unmap(middle, pointer));
  kw_tensor_release(middle);
  free(want);
}

/* A host range is used where it lies: what the host wrote before is there, what copies and fills write is in the range,
 * at the latest when the import has ended. */
void kw_contract_interop_host_range(void **state) {
  (void)state;
  atomic_int ended = 0;
  unsigned char *bytes = new_range(1), *fresh = kw_test_memory(SIZE);
  kw_tensor *tensor = import(bytes, 0, &ended);
  kw_test_expect_bytes(tensor, 1, "an imported range");
  expect_middle(tensor, 1);
  kw_test_pattern(fresh, SIZE, 2);
  KW_CHECK_OK(kw_tensor_write(tensor, fresh));
  kw_test_expect_bytes(tensor, 2, "an imported range that was written");
  expect_middle(tensor, 2);
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  KW_CHECK(atomic_load(&ended) == 1, "the owner was told %d times that the import has ended", atomic_load(&ended));
  kw_test_same(bytes, fresh, SIZE, "the host's range after an import of it was written and has ended");
  free(fresh);
  free(bytes);
}

/* A read-only range is an argument as any other memory, and stays as it is; so does what lies behind it. */
void kw_contract_interop_read_only_argument(void **state) {
  (void)state;
  enum { COUNT = SIZE / sizeof(float) };
  kw_test_need_op("add.Tensor");
  atomic_int ended = 0;
  float *values = (float *)(void *)new_range(0), *want = kw_test_memory(2 * SIZE), *other = want + COUNT;
  kw_test_floats(values, COUNT, 3);
  kw_test_floats(other, COUNT, 4);
  for (size_t i = 0; i < COUNT; i++) want[i] = values[i] + other[i];
  kw_tensor *bytes = import((unsigned char *)values, KW_EXTERNAL_READ_ONLY, &ended), *a = NULL, *sum = NULL;
  kw_tensor *b = kw_test_f32(COUNT, 4);
  KW_CHECK_OK(kw_tensor_reinterpret(bytes, KW_F32, 1, (int64_t[]){COUNT}, (int64_t[]){1}, 0, &a));
  kw_tensor_release(bytes);
  kw_test_add(NULL, a, b, &sum);
  kw_test_expect_f32(sum, want, COUNT, "a sum with an imported argument");
  kw_test_expect_f32(a, values, COUNT, "the imported argument afterwards");
  kw_tensor_release(a);
  kw_tensor_release(b);
  kw_tensor_release(sum);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  free(values);
  free(want);
}

/* Kinds and critical flags that the plugin does not know are KW_ERR_UNSUPPORTED; hints that it does not know, nothing.
 */
void kw_contract_interop_unknown(void **state) {
  (void)state;
  atomic_int ended = 0;
  unsigned char *bytes = new_range(5);
  kw_tensor *tensor = import(bytes, UINT64_C(1) << 31, &ended);
  kw_test_expect_bytes(tensor, 5, "a range imported with an unknown hint");
  kw_tensor_release(tensor);
  tensor = NULL;
  kw_external_memory memory = host_range(bytes, UINT64_C(1) << 63);
  kw_status status = kw_tensor_import(kw_contract.device, &memory, count_end, &ended, &tensor);
  KW_CHECK(status == KW_ERR_UNSUPPORTED, "an import with the unknown critical flag 63: %s", kw_status_name(status));
  memory = host_range(bytes, 0);
  memory.kind = 0x7ff0;
  status = kw_tensor_import(kw_contract.device, &memory, count_end, &ended, &tensor);
  KW_CHECK(status == KW_ERR_UNSUPPORTED, "an import of the unknown kind 0x7ff0: %s", kw_status_name(status));
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  KW_CHECK(atomic_load(&ended) == 1, "imports that failed took the memory");
  free(bytes);
}

/* Where a map of an import is the range itself, which the device then uses where it lies, the alignment that it says
 * divides the range's address. */
static void check_mapped(kw_tensor *tensor, const unsigned char *range, size_t shift) {
  const uint32_t said = kw_tensor_describe(tensor)->alignment;
  void *pointer = NULL;
  KW_CHECK_OK(kw_tensor_map(tensor, NULL, KW_MAP_READ, &pointer));
  const bool is_range = pointer == range;
  KW_CHECK_OK(kw_tensor_unmap(tensor, pointer));
  KW_CHECK(!is_range || (uintptr_t)range % said == 0,
           "memory imported %zu bytes into a page, of which a map is that memory itself, says that it is aligned to %u",
           shift, said);
}

/* The alignment that an import says divides its address, as far as the device's own name for it is one, or a map of it
 * gives it. */
void kw_contract_interop_alignment(void **state) {
  (void)state;
  atomic_int ended = 0;
  unsigned char *bytes = aligned_alloc(ALIGNMENT, SIZE + ALIGNMENT);
  KW_CHECK(bytes, "no host memory");
  kw_test_need(KW_NATIVE_INTEROP);
  for (size_t shift = 1; shift < ALIGNMENT; shift *= 2) {
    kw_tensor *tensor = NULL;
    const kw_external_memory memory = host_range(bytes + shift, 0);
    kw_status status = kw_tensor_import(kw_contract.device, &memory, count_end, &ended, &tensor);
    if (status == KW_ERR_UNSUPPORTED) continue; /* it wants more, and says so */
    KW_CHECK_OK(status);
    kw_native_handle handle = {.struct_size = sizeof handle};
    const uint32_t said = kw_tensor_describe(tensor)->alignment;
    status = kw_tensor_native_handle(tensor, &handle);
    const bool is_address = status == KW_OK && handle.dl_device_type == 1;
    KW_CHECK(!is_address || (uintptr_t)handle.handle % said == 0,
             "memory imported %zu bytes into a page says that it is aligned to %u", shift, said);
    check_mapped(tensor, bytes + shift, shift);
    kw_tensor_release(tensor);
  }
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  free(bytes);
}

/* Allocators keep some freed pieces of each size aside. Makes them full, so that what is freed from here on is given
 * out again at once: who still uses it then sees what is there now. */
static void fill_free_lists(void) {
  enum { MOST_SIZE = 1024, KEPT = 16 };
  void *volatile pieces[KEPT];
  for (size_t size = 16; size <= MOST_SIZE; size += 16) {
    for (int i = 0; i < KEPT; i++) pieces[i] = malloc(size);
    for (int i = 0; i < KEPT; i++) free(pieces[i]);
  }
}

/* A range may be imported twice at once, and each import is an import of its own. */
void kw_contract_interop_same_range_twice(void **state) {
  (void)state;
  atomic_int ended[2] = {0, 0};
  enum { OTHERS = 8 };
  unsigned char *bytes = new_range(1), *others[OTHERS], *fresh = kw_test_memory(SIZE);
  kw_tensor *first = import(bytes, 0, &ended[0]), *second = NULL, *more[OTHERS];
  const kw_external_memory memory = host_range(bytes, 0);
  kw_status status = kw_tensor_import(kw_contract.device, &memory, count_end, &ended[1], &second);
  if (status == KW_ERR_UNSUPPORTED) { /* drivers may pin a page once */
    kw_tensor_release(first);
    KW_CHECK_OK(kw_memory_trim(kw_contract.device));
    kw_test_skip("%s", kw_error_message());
  }
  KW_CHECK_OK(status);
  fill_free_lists();
  kw_tensor_release(first);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  KW_CHECK(atomic_load(&ended[0]) == 1 && atomic_load(&ended[1]) == 0, "the end of one import of two ended %s",
           atomic_load(&ended[1]) ? "both" : "none");
  for (int i = 0; i < OTHERS; i++) { /* take the places of what the first one had */
    others[i] = new_range(3);
    more[i] = import(others[i], 0, NULL);
  }
  kw_test_expect_bytes(second, 1, "a range whose other import has ended");
  kw_test_pattern(fresh, SIZE, 2);
  KW_CHECK_OK(kw_tensor_write(second, fresh));
  kw_test_expect_bytes(second, 2, "a range, written when its other import had ended");
  for (int i = 0; i < OTHERS; i++) {
    kw_test_expect_bytes(more[i], 3, "another range");
    kw_tensor_release(more[i]);
  }
  kw_tensor_release(second);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  kw_test_same(bytes, fresh, SIZE, "the host's range after both imports of it have ended");
  free(fresh);
  for (int i = 0; i < OTHERS; i++) free(others[i]);
  free(bytes);
}
