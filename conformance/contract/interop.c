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

/* The tensor u8[SIZE] on the range; skips where the device cannot reach host memory. */
static kw_tensor *import(unsigned char *bytes, uint64_t flags, atomic_int *ended) {
  kw_tensor *tensor = NULL;
  const kw_external_memory memory = host_range(bytes, flags);
  kw_test_need(KW_NATIVE_INTEROP);
  kw_status status = kw_tensor_import(kw_contract.device, &memory, count_end, ended, &tensor);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("%s", kw_error_message());
  KW_CHECK_OK(status);
  return tensor;
}

/* A host range is used where it lies: what the host wrote before is there, what copies and fills write is in the range,
 * at the latest when the import has ended. */
void kw_contract_interop_host_range(void **state) {
  (void)state;
  atomic_int ended = 0;
  unsigned char *bytes = new_range(1), *fresh = kw_test_memory(SIZE);
  kw_tensor *tensor = import(bytes, 0, &ended);
  kw_test_expect_bytes(tensor, 1, "an imported range");
  kw_test_pattern(fresh, SIZE, 2);
  KW_CHECK_OK(kw_tensor_write(tensor, fresh));
  kw_test_expect_bytes(tensor, 2, "an imported range that was written");
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

/* The alignment that an import says divides its address, as far as the device's own name for it is one. */
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
    kw_tensor_release(tensor);
  }
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  free(bytes);
}
