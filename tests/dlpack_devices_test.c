/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack between devices of different plugins: host memory that cpu:0 has, read-only or not, is used by other devices
 * where it lies, in both of DLPack's forms; memory of the others' own is no one else's.
 */
#include <keyway/dlpack.h>
#include <keyway/interop.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 1 << 16, SIZE = COUNT * sizeof(float), PAGE = 4096 };

static const struct {
  const char *plugin, *name;
} others[] = {
    {NPU_PLUGIN, "npu:0"},
#ifdef OPENCL_PLUGIN
    {OPENCL_PLUGIN, "opencl:0"},
#endif
};
enum { OTHERS = sizeof others / sizeof others[0] };

static kw_device *cpu, *devices[OTHERS];
static float values[COUNT], doubled[COUNT];

#define assert_ok(call)                                            \
  do {                                                             \
    const kw_status status_ = (call);                              \
    if (status_ != KW_OK) print_error("%s\n", kw_error_message()); \
    assert_int_equal(status_, KW_OK);                              \
  } while (0)

static int open_devices(void **state) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  (void)state;
  for (int i = 0; i < COUNT; ++i) doubled[i] = 2 * (values[i] = (float)i);
  assert_ok(kw_init(&options));
  assert_ok(kw_plugin_load(CPU_PLUGIN));
  assert_ok(kw_device_open("cpu:0", &cpu));
  for (int i = 0; i < OTHERS; ++i) {
    assert_ok(kw_plugin_load(others[i].plugin));
    assert_ok(kw_device_open(others[i].name, &devices[i]));
  }
  return 0;
}

static int close_devices(void **state) {
  (void)state;
  for (int i = 0; i < OTHERS; ++i) assert_ok(kw_device_close(devices[i]));
  assert_ok(kw_device_close(cpu));
  return 0;
}

/* ---- Both of DLPack's forms -------------------------------------------------------------------------------------- */

typedef struct exported {
  bool versioned;
  DLManagedTensorVersioned *new;
  DLManagedTensor *old;
} exported;

static const DLTensor *described(const exported *e) {
  return e->versioned ? &e->new->dl_tensor : &e->old->dl_tensor;
}

static exported export_it(kw_tensor *tensor, bool versioned) {
  exported e = {.versioned = versioned};
  assert_ok(versioned ? kw_tensor_to_dlpack(tensor, NULL, &e.new)
                      : kw_tensor_to_dlpack_unversioned(tensor, NULL, &e.old));
  return e;
}

static kw_status import_it(kw_device *device, const exported *e, kw_tensor **out_tensor) {
  return e->versioned ? kw_tensor_from_dlpack(device, e->new, out_tensor)
                      : kw_tensor_from_dlpack_unversioned(device, e->old, out_tensor);
}

static void delete_it(const exported *e) {
  if (e->versioned) {
    e->new->deleter(e->new);
  } else {
    e->old->deleter(e->old);
  }
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static kw_tensor *tensor_of(kw_device *device) {
  kw_tensor *tensor;
  assert_ok(kw_tensor_create(device, KW_F32, 1, (int64_t[]){COUNT}, &tensor));
  assert_ok(kw_tensor_write(tensor, values));
  return tensor;
}

static void assert_holds(const kw_tensor *tensor, const float *want) {
  static float got[COUNT];
  assert_ok(kw_tensor_read(tensor, got));
  assert_memory_equal(got, want, SIZE);
}

static kw_status add_to_itself(kw_tensor *tensor, kw_tensor **out) {
  return kw_op_call(kw_op_find("add.Tensor"), NULL, (kw_value[]){kw_arg_tensor(tensor), kw_arg_tensor(tensor)}, 2, out,
                    1);
}

static const char *address_of(const kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  return (const char *)ref->mem + ref->offset;
}

/* Copied to the device so far. */
static uint64_t bytes_to(kw_device *device) {
  kw_counters counters = {.struct_size = sizeof counters};
  assert_ok(kw_device_get_counters(device, &counters));
  return counters.bytes_to_device;
}

/* f32[COUNT] on cpu:0 at the start of a page, as other devices want it. */
static kw_tensor *tensor_on_pages(float *pages, uint64_t flags) {
  const kw_external_memory memory = {
      .struct_size = sizeof memory, .kind = KW_HANDLE_HOST, .flags = flags, .size = SIZE, .host = pages};
  kw_tensor *bytes = NULL, *tensor = NULL;
  memcpy(pages, values, SIZE);
  assert_ok(kw_tensor_import(cpu, &memory, NULL, NULL, &bytes));
  assert_ok(kw_tensor_reinterpret(bytes, KW_F32, 1, (int64_t[]){COUNT}, (int64_t[]){1}, 0, &tensor));
  kw_tensor_release(bytes);
  return tensor;
}

/* One memory, whoever looks: what the other device writes is cpu:0's tensor then. */
static void devices_share_memory_of_the_host(void **state) {
  (void)state;
  for (int i = 0; i < 2 * OTHERS; ++i) {
    kw_device *device = devices[i / 2];
    float *pages = aligned_alloc(PAGE, SIZE);
    kw_tensor *mine = tensor_on_pages(pages, 0), *theirs = NULL;
    const uint64_t before = bytes_to(device);
    exported e = export_it(mine, i % 2);
    assert_int_equal(described(&e)->device.device_type, kDLCPU);
    assert_ptr_equal((const char *)described(&e)->data + described(&e)->byte_offset, address_of(mine));
    assert_ok(import_it(device, &e, &theirs));
    assert_false(kw_tensor_is_read_only(theirs));
    assert_ok(add_to_itself(theirs, &theirs));
    assert_ok(kw_device_synchronize(device));
    assert_int_equal(bytes_to(device), before);
    kw_tensor_release(theirs);
    assert_ok(kw_memory_trim(device));
    assert_holds(mine, doubled);
    kw_tensor_release(mine);
    assert_ok(kw_memory_trim(cpu));
    free(pages);
  }
}

/* On one device an export comes back as the memory that it is. */
static void what_comes_back_is_the_same_memory(void **state) {
  (void)state;
  for (int i = 0; i < 2 * (OTHERS + 1); ++i) {
    kw_device *device = i < 2 ? cpu : devices[i / 2 - 1];
    kw_tensor *mine = tensor_of(device), *back = NULL;
    exported e = export_it(mine, i % 2);
    assert_ok(import_it(device, &e, &back));
    assert_ptr_equal(address_of(back), address_of(mine));
    assert_ok(add_to_itself(back, &back));
    assert_holds(mine, doubled);
    kw_tensor_release(back);
    kw_tensor_release(mine);
  }
}

/* What may not be written to says so, and stays so on its way; the unversioned form cannot say it. */
static void read_only_memory_stays_so(void **state) {
  (void)state;
  float *pages = aligned_alloc(PAGE, SIZE);
  kw_tensor *mine = tensor_on_pages(pages, KW_EXTERNAL_READ_ONLY);
  DLManagedTensor *old = NULL;
  assert_int_equal(kw_tensor_to_dlpack_unversioned(mine, NULL, &old), KW_ERR_UNSUPPORTED);
  for (int i = 0; i < OTHERS + 1; ++i) {
    kw_device *device = i == 0 ? cpu : devices[i - 1];
    kw_tensor *theirs = NULL, *sum = NULL;
    exported e = export_it(mine, true);
    assert_int_equal(e.new->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    assert_ptr_equal((const char *)described(&e)->data + described(&e)->byte_offset, pages);
    assert_ok(import_it(device, &e, &theirs));
    assert_true(kw_tensor_is_read_only(theirs));
    assert_int_equal(add_to_itself(theirs, &theirs), KW_ERR_INVALID_ARGUMENT);
    assert_int_equal(kw_tensor_write(theirs, doubled), KW_ERR_INVALID_ARGUMENT);
    assert_ok(add_to_itself(theirs, &sum));
    assert_holds(sum, doubled);
    assert_holds(theirs, values);
    kw_tensor_release(sum);
    kw_tensor_release(theirs);
    assert_ok(kw_memory_trim(device));
  }
  kw_tensor_release(mine);
  assert_ok(kw_memory_trim(cpu));
  assert_memory_equal(pages, values, SIZE);
  free(pages);
}

/* Memory that only its own device reaches stays with whoever has it. */
static void private_memory_is_refused_elsewhere(void **state) {
  (void)state;
  for (int i = 0; i < 2 * OTHERS; ++i) {
    kw_tensor *mine = tensor_of(devices[i / 2]), *theirs = NULL;
    exported e = export_it(mine, i % 2);
    assert_int_not_equal(described(&e)->device.device_type, kDLCPU);
    assert_int_equal(import_it(cpu, &e, &theirs), KW_ERR_UNSUPPORTED);
    assert_null(theirs);
    delete_it(&e);
    assert_holds(mine, values);
    kw_tensor_release(mine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_share_memory_of_the_host),
      cmocka_unit_test(what_comes_back_is_the_same_memory),
      cmocka_unit_test(read_only_memory_stays_so),
      cmocka_unit_test(private_memory_is_refused_elsewhere),
  };
  return cmocka_run_group_tests(tests, open_devices, close_devices);
}
