/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack out and in: what is said about a tensor, who waits for whom, what comes back, what is refused.
 */
#include "testing/test_device.h"

#include <keyway/dlpack.h>
#include <keyway/interop.h>

#define NATIVE (TEST_NATIVE_ALL | KW_NATIVE_INTEROP)

typedef struct foreign {
  union {
    DLManagedTensorVersioned versioned;
    DLManagedTensor unversioned;
  } as;
  int64_t shape[2], strides[2];
  unsigned deleted;
} foreign;

static void delete_versioned(DLManagedTensorVersioned *self) {
  ++((foreign *)self->manager_ctx)->deleted;
}

static void delete_unversioned(DLManagedTensor *self) {
  ++((foreign *)self->manager_ctx)->deleted;
}

/* As another library makes it: f32, 2 x 3, dense. */
static DLTensor describe(foreign *from, float *values) {
  memcpy(from->shape, (int64_t[]){2, 3}, sizeof from->shape);
  memcpy(from->strides, (int64_t[]){3, 1}, sizeof from->strides);
  return (DLTensor){.data = values,
                    .device = {kDLCPU, 0},
                    .ndim = 2,
                    .dtype = {kDLFloat, 32, 1},
                    .shape = from->shape,
                    .strides = from->strides};
}

static DLManagedTensorVersioned *make_versioned(foreign *from, float *values) {
  *from = (foreign){.deleted = 0};
  from->as.versioned = (DLManagedTensorVersioned){
      .version = {1, 7}, .manager_ctx = from, .deleter = delete_versioned, .dl_tensor = describe(from, values)};
  return &from->as.versioned;
}

static void exports_say_what_the_tensor_is(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = NULL, *view = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_I16, 2, (int64_t[]){4, 6}, &tensor));
  assert_ok(kw_tensor_select(tensor, 1, 2, &view));
  DLManagedTensorVersioned *managed = NULL;
  assert_ok(kw_tensor_to_dlpack(view, NULL, &managed));
  assert_int_equal(managed->version.major, 1);
  assert_int_equal(managed->flags, 0);
  const DLTensor *dl = &managed->dl_tensor;
  assert_int_equal(dl->device.device_type, kDLExtDev); /* the test device's own memory is no other library's business */
  assert_ptr_equal(dl->data, tensor->ref.mem);
  assert_int_equal(dl->byte_offset, view->ref.offset);
  assert_int_equal(dl->ndim, 1);
  assert_int_equal(dl->shape[0], 4);
  assert_int_equal(dl->strides[0], 6);
  assert_int_equal(dl->dtype.code, kDLInt);
  assert_int_equal(dl->dtype.bits, 16);
  assert_int_equal(dl->dtype.lanes, 1);
  kw_tensor_release(view);
  kw_tensor_release(tensor);
  assert_int_equal(test_stats(test).live, 1); /* the consumer's */
  managed->deleter(managed);
  assert_int_equal(test_stats(test).live, 0);
  test_device_close(test);
}

static void every_dtype_comes_back(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE), *other = test_device_open("test:1", NATIVE);
  kw_device_set_id(&other->device, 2);
  _Alignas(64) char values[16] = "";
  const kw_external_memory memory = {sizeof memory, KW_HANDLE_HOST, 0, sizeof values, 0, values, 0, {0}};
  for (kw_dtype dtype = 0; kw_dtype_size(dtype) != 0; ++dtype) {
    kw_tensor *bytes = NULL, *tensor = NULL, *back = NULL;
    DLManagedTensor *managed = NULL;
    assert_ok(kw_tensor_import(&test->device, &memory, NULL, NULL, &bytes));
    assert_ok(kw_tensor_reinterpret(bytes, dtype, 1, (int64_t[]){1}, (int64_t[]){1}, 0, &tensor));
    assert_ok(kw_tensor_to_dlpack_unversioned(tensor, NULL, &managed));
    assert_int_equal(managed->dl_tensor.dtype.bits * managed->dl_tensor.dtype.lanes, 8 * kw_dtype_size(dtype));
    assert_int_equal(managed->dl_tensor.device.device_type, kDLCPU);
    assert_ptr_equal(managed->dl_tensor.data, values);
    assert_ok(kw_tensor_from_dlpack_unversioned(&other->device, managed, &back)); /* another device: an import */
    assert_int_equal(back->ref.dtype, dtype);
    kw_tensor_release(back);
    kw_tensor_release(tensor);
    kw_tensor_release(bytes);
  }
  test_device_close(other);
  test_device_close(test);
}

/* Two 4-bit numbers to a byte, as others describe them: single elements, or pairs as we have them. */
static void packed_nibbles_become_pairs(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  foreign from;
  _Alignas(64) uint8_t bytes[6] = {0x21, 0x43, 0x65, 0x87, 0xa9, 0xcb}, got[4];
  kw_tensor *tensor = NULL, *view = NULL;
  DLManagedTensorVersioned *managed = make_versioned(&from, (float *)(void *)bytes);
  managed->dl_tensor.dtype = (DLDataType){kDLInt, 4, 1};
  memcpy(from.shape, (int64_t[]){3, 4}, sizeof from.shape);
  memcpy(from.strides, (int64_t[]){4, 1}, sizeof from.strides);
  assert_ok(kw_tensor_from_dlpack(&test->device, managed, &tensor));
  assert_int_equal(tensor->ref.dtype, KW_I4X2);
  assert_true(tensor->ref.shape[0] == 3 && tensor->ref.shape[1] == 2 && tensor->ref.numel == 6);
  assert_true(tensor->ref.strides[0] == 2 && tensor->ref.strides[1] == 1);
  assert_ok(kw_tensor_slice(tensor, 0, 1, 3, 1, &view));
  assert_ok(kw_tensor_read(view, got));
  assert_memory_equal(got, bytes + 2, sizeof got);
  kw_tensor_release(view);
  kw_tensor_release(tensor);
  assert_int_equal(from.deleted, 1);

  static const struct {
    int64_t shape[2], strides[2];
    uint8_t bits;
    uint64_t flags;
  } misfits[] = {{{3, 3}, {4, 1}, 4, 0},
                 {{2, 4}, {5, 1}, 4, 0},
                 {{2, 2}, {1, 2}, 4, 0},
                 {{3, 4}, {4, 1}, 4, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED},
                 {{3, 4}, {4, 1}, 2, 0}};
  for (size_t i = 0; i < sizeof misfits / sizeof misfits[0]; ++i) {
    managed = make_versioned(&from, (float *)(void *)bytes);
    managed->flags = misfits[i].flags;
    managed->dl_tensor.dtype = (DLDataType){kDLUInt, misfits[i].bits, 1};
    memcpy(from.shape, misfits[i].shape, sizeof from.shape);
    memcpy(from.strides, misfits[i].strides, sizeof from.strides);
    assert_int_equal(kw_tensor_from_dlpack(&test->device, managed, &tensor), KW_ERR_UNSUPPORTED);
    assert_int_equal(from.deleted, 0);
  }
  managed = make_versioned(&from, (float *)(void *)bytes); /* pairs, in columns */
  managed->dl_tensor.dtype = (DLDataType){KW_DL_FLOAT4_E2M1FN, 4, 2};
  memcpy(from.strides, (int64_t[]){1, 2}, sizeof from.strides);
  assert_ok(kw_tensor_from_dlpack(&test->device, managed, &tensor));
  assert_true(tensor->ref.dtype == KW_F4E2M1X2 && tensor->ref.numel == 6 && tensor->ref.strides[1] == 2);
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void own_tensors_come_back_as_views(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE), *other = test_device_open("test:1", NATIVE);
  kw_tensor *tensor = NULL, *back = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_F32, 2, (int64_t[]){2, 3}, &tensor));
  DLManagedTensorVersioned *managed = NULL;
  assert_ok(kw_tensor_to_dlpack(tensor, NULL, &managed));
  assert_int_equal(kw_tensor_from_dlpack(&other->device, managed, &back), KW_ERR_UNSUPPORTED);
  assert_error("DLPack's device type 12");
  assert_ok(kw_tensor_from_dlpack(&test->device, managed, &back));
  assert_ptr_equal(back->buffer, tensor->buffer);
  assert_true(kw_fingerprint_equal(back->fingerprint, tensor->fingerprint));
  kw_tensor_release(tensor);
  kw_tensor_release(back);
  assert_int_equal(test_stats(test).live, 0);
  test_device_close(other);
  test_device_close(test);
}

static void foreign_private_memory_is_refused(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  foreign from;
  float values[6];
  kw_tensor *tensor = NULL;
  DLManagedTensorVersioned *managed = make_versioned(&from, values);
  managed->dl_tensor.device.device_type = kDLExtDev;
  assert_int_equal(kw_tensor_from_dlpack(&test->device, managed, &tensor), KW_ERR_UNSUPPORTED);
  assert_int_equal(TEST_CALLS(test, interop_import_memory), 0);
  assert_int_equal(from.deleted, 0);
  test_device_close(test);
}

static void host_memory_comes_in_where_it_lies(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  foreign from;
  float values[6] = {1, 2, 3, 4, 5, 6}, seen[3];
  kw_tensor *tensor = NULL;
  DLManagedTensorVersioned *managed = make_versioned(&from, values);
  from.strides[1] = 2; /* [2, 2]: 2, 4 / 4, 6 */
  from.strides[0] = 2;
  from.shape[1] = 2;
  managed->dl_tensor.byte_offset = 4;
  assert_ok(kw_tensor_from_dlpack(&test->device, managed, &tensor));
  assert_int_equal(tensor->buffer->size, 20);
  assert_ptr_equal(((test_mem *)tensor->ref.mem)->data, values + 1);
  assert_int_equal(tensor->ref.strides[0], 2);
  assert_false(kw_tensor_is_read_only(tensor));
  kw_tensor_release(tensor);
  assert_int_equal(from.deleted, 1);

  managed = make_versioned(&from, values);
  managed->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  managed->dl_tensor.strides = NULL;
  assert_ok(kw_tensor_from_dlpack(&test->device, managed, &tensor));
  assert_true(kw_tensor_is_read_only(tensor));
  assert_int_equal(kw_tensor_write(tensor, seen), KW_ERR_INVALID_ARGUMENT);
  DLManagedTensor *again = NULL;
  assert_int_equal(kw_tensor_to_dlpack_unversioned(tensor, NULL, &again), KW_ERR_UNSUPPORTED);
  assert_error("read-only");
  DLManagedTensorVersioned *said = NULL;
  assert_ok(kw_tensor_to_dlpack(tensor, NULL, &said));
  assert_int_equal(said->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  said->deleter(said);
  kw_tensor_release(tensor);
  assert_int_equal(from.deleted, 1);

  from.as.unversioned = (DLManagedTensor){.dl_tensor = describe(&from, values), .manager_ctx = &from};
  from.as.unversioned.deleter = delete_unversioned;
  from.deleted = 0;
  assert_ok(kw_tensor_from_dlpack_unversioned(&test->device, &from.as.unversioned, &tensor));
  assert_int_equal(tensor->ref.strides[0], 3);
  kw_tensor_release(tensor);
  assert_int_equal(from.deleted, 1);
  test_device_close(test);
}

static void empty_tensors_have_nothing_to_share(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  foreign from;
  kw_tensor *tensor = NULL;
  DLManagedTensorVersioned *managed = make_versioned(&from, NULL);
  from.shape[0] = 0;
  assert_ok(kw_tensor_from_dlpack(&test->device, managed, &tensor));
  assert_int_equal(from.deleted, 1);
  assert_int_equal(tensor->ref.shape[1], 3);
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void misfits_are_refused(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_device *device = &test->device;
  foreign from;
  float values[7];
  kw_tensor *tensor = NULL;
  DLManagedTensorVersioned *managed = make_versioned(&from, values);
  assert_int_equal(kw_tensor_from_dlpack(NULL, managed, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_from_dlpack(device, NULL, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_from_dlpack(device, managed, NULL), KW_ERR_INVALID_ARGUMENT);
  managed->version.major = 2;
  managed->dl_tensor.shape = (int64_t *)8; /* not looked at */
  assert_int_equal(kw_tensor_from_dlpack(device, managed, &tensor), KW_ERR_UNSUPPORTED);
  assert_error("DLPack 2.7");
  managed = make_versioned(&from, values);
  managed->dl_tensor.dtype.lanes = 4;
  assert_int_equal(kw_tensor_from_dlpack(device, managed, &tensor), KW_ERR_UNSUPPORTED);
  assert_error("4 lanes");
  managed = make_versioned(&from, values);
  managed->dl_tensor.ndim = 17;
  assert_int_equal(kw_tensor_from_dlpack(device, managed, &tensor), KW_ERR_UNSUPPORTED);
  managed = make_versioned(&from, values);
  from.strides[0] = -3;
  assert_int_equal(kw_tensor_from_dlpack(device, managed, &tensor), KW_ERR_UNSUPPORTED);
  assert_error("dimension 0 is negative");
  managed = make_versioned(&from, values);
  managed->dl_tensor.byte_offset = 2;
  assert_int_equal(kw_tensor_from_dlpack(device, managed, &tensor), KW_ERR_UNSUPPORTED);
  assert_error("no multiple of the 4 bytes of f32");
  managed = make_versioned(&from, values);
  managed->dl_tensor.device.device_type = kDLCUDA;
  assert_int_equal(kw_tensor_from_dlpack(device, managed, &tensor), KW_ERR_UNSUPPORTED);
  assert_int_equal(from.deleted, 0);
  assert_null(tensor);
  test_device_close(test);
}

/* What the consumer enqueues on its stream runs after the producer's work, without the host waiting. */
static void the_consumers_stream_waits(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_stream *producer, *consumer;
  kw_tensor *tensor = NULL;
  DLManagedTensorVersioned *managed = NULL;
  char seen[4] = "old";
  assert_ok(kw_stream_create(&test->device, &producer));
  assert_ok(kw_stream_create(&test->device, &consumer));
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, (int64_t[]){4}, &tensor));
  test_gate(producer, true);
  assert_ok(kw_tensor_write_async(tensor, "new", producer));
  assert_ok(kw_tensor_to_dlpack(tensor, consumer, &managed));
  const kw_copy_info copy = {.struct_size = sizeof copy,
                             .kind = KW_COPY_DEVICE_TO_HOST,
                             .dst_host = seen,
                             .src_mem = managed->dl_tensor.data,
                             .src_offset = managed->dl_tensor.byte_offset,
                             .size = 4};
  assert_ok(test_memory_copy(test, consumer->handle, &copy)); /* as the consumer does, past core */
  assert_string_equal(seen, "old");
  kw_tensor_release(tensor);
  managed->deleter(managed);
  test_gate(producer, false);
  assert_string_equal(seen, "new");
  assert_ok(kw_stream_destroy(producer));
  assert_ok(kw_stream_destroy(consumer));
  test_device_close(test);
}

/* Before the consumer's stream has passed what it was given, the memory serves nobody else. */
static void an_export_is_a_use(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_stream *consumer;
  kw_tensor *tensor = NULL, *next = NULL;
  DLManagedTensorVersioned *managed = NULL;
  assert_ok(kw_stream_create(&test->device, &consumer));
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, (int64_t[]){4}, &tensor));
  test_gate(consumer, true);
  assert_ok(kw_tensor_to_dlpack(tensor, consumer, &managed));
  const kw_mem mem = tensor->ref.mem;
  const uint64_t offset = tensor->ref.offset;
  kw_tensor_release(tensor);
  managed->deleter(managed);
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, (int64_t[]){4}, &next));
  assert_true(next->ref.mem != mem || next->ref.offset != offset);
  test_gate(consumer, false);
  kw_tensor_release(next);
  assert_ok(kw_stream_destroy(consumer));
  test_device_close(test);
}

static void without_a_stream_the_host_waits(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE), *other = test_device_open("test:1", NATIVE);
  kw_stream *stream;
  kw_tensor *tensor = NULL;
  DLManagedTensor *managed = NULL;
  assert_ok(kw_stream_create(&test->device, &stream));
  assert_ok(kw_tensor_create_on(stream, KW_U8, 1, (int64_t[]){4}, &tensor));
  test_gate(stream, true);
  assert_ok(kw_tensor_write_async(tensor, "new", stream));
  assert_int_equal(kw_tensor_to_dlpack_unversioned(tensor, other->device.default_stream, &managed),
                   KW_ERR_INVALID_ARGUMENT);
  test->open_on_wait = true;
  assert_ok(kw_tensor_to_dlpack_unversioned(tensor, NULL, &managed));
  const test_mem *mem = managed->dl_tensor.data;
  assert_string_equal((char *)mem->data + managed->dl_tensor.byte_offset, "new");
  managed->deleter(managed);
  kw_tensor_release(tensor);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(other);
  test_device_close(test);
}

static void *delete_it(void *managed) {
  ((DLManagedTensorVersioned *)managed)->deleter(managed);
  return NULL;
}

static void deleters_run_on_any_thread(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = NULL;
  DLManagedTensorVersioned *managed = NULL;
  pthread_t thread;
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, (int64_t[]){4}, &tensor));
  assert_ok(kw_tensor_to_dlpack(tensor, NULL, &managed));
  kw_tensor_release(tensor);
  assert_int_equal(pthread_create(&thread, NULL, delete_it, managed), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(test_stats(test).live, 0);
  assert_int_equal(kw_tensor_to_dlpack(tensor, NULL, &managed), KW_ERR_INVALID_ARGUMENT); /* released */
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exports_say_what_the_tensor_is),      cmocka_unit_test(every_dtype_comes_back),
      cmocka_unit_test(packed_nibbles_become_pairs),         cmocka_unit_test(own_tensors_come_back_as_views),
      cmocka_unit_test(foreign_private_memory_is_refused),   cmocka_unit_test(host_memory_comes_in_where_it_lies),
      cmocka_unit_test(empty_tensors_have_nothing_to_share), cmocka_unit_test(misfits_are_refused),
      cmocka_unit_test(the_consumers_stream_waits),          cmocka_unit_test(an_export_is_a_use),
      cmocka_unit_test(without_a_stream_the_host_waits),     cmocka_unit_test(deleters_run_on_any_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
