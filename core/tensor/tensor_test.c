/* SPDX-License-Identifier: Apache-2.0
 *
 * Making tensors, what they refuse, and handles after their release.
 */
#include "testing/test_device.h"

static void creation(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *tensor = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_F32, 3, (int64_t[]){2, 3, 4}, &tensor));
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  assert_int_equal(ref->struct_size, sizeof *ref);
  assert_int_equal(ref->dtype, KW_F32);
  assert_int_equal(ref->rank, 3);
  assert_int_equal(ref->numel, 24);
  assert_int_equal(ref->strides[0], 12);
  assert_int_equal(ref->strides[1], 4);
  assert_int_equal(ref->strides[2], 1);
  assert_int_equal(ref->shape[3], 0);
  assert_int_equal(ref->alignment, 256); /* mem_alignment of the test device */
  assert_non_null(ref->mem);
  assert_ptr_equal(ref, tensor); /* kernels read it in place */
  assert_ptr_equal(kw_tensor_device(tensor), &test->device);
  assert_true(kw_ref_is_contiguous(ref));
  kw_tensor_retain(tensor);
  kw_tensor_release(tensor);
  assert_int_equal(test_stats(test).live, 1);
  kw_tensor_release(tensor);
  assert_int_equal(test_stats(test).live, 0);
  kw_tensor_release(NULL);
  kw_tensor_retain(NULL);
  assert_null(kw_tensor_describe(NULL));
  assert_null(kw_tensor_device(NULL));
  test_device_close(test);
}

static void scalars_and_empty_tensors(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *scalar = NULL, *empty = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_C128, 0, NULL, &scalar));
  assert_int_equal(scalar->ref.numel, 1);
  assert_int_equal(kw_ref_extent(&scalar->ref), 16);
  assert_ok(kw_tensor_create(&test->device, KW_F32, 3, (int64_t[]){2, 0, 4}, &empty));
  assert_int_equal(empty->ref.numel, 0);
  assert_int_equal(empty->ref.strides[0], 4); /* as in ATen */
  assert_int_equal(empty->ref.strides[1], 4);
  assert_int_equal(kw_ref_extent(&empty->ref), 0);
  assert_non_null(empty->ref.mem);
  assert_true(kw_ref_is_contiguous(&empty->ref));
  kw_tensor_release(scalar);
  kw_tensor_release(empty);
  test_device_close(test);
}

static void created_on_a_stream(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = NULL;
  kw_tensor *tensor = NULL;
  assert_ok(kw_stream_create(&test->device, &stream));
  assert_ok(kw_tensor_create_on(stream, KW_I8, 1, (int64_t[]){5}, &tensor));
  assert_ptr_equal(atomic_load(&tensor->buffer->stream), stream);
  kw_tensor_release(tensor);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
}

static void bad_shapes(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_device *device = &test->device;
  kw_tensor *tensor = NULL;
  int64_t many[KW_MAX_RANK + 1] = {0};
  assert_int_equal(kw_tensor_create(NULL, KW_F32, 0, NULL, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_create: argument device");
  assert_int_equal(kw_tensor_create_on(NULL, KW_F32, 0, NULL, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument stream");
  assert_int_equal(kw_tensor_create(device, KW_F32, 0, NULL, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument out_tensor");
  assert_int_equal(kw_tensor_create(device, 99, 0, NULL, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_error("99 is not a dtype");
  assert_int_equal(kw_tensor_create(device, KW_F32, 1, NULL, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_create(device, KW_F32, KW_MAX_RANK + 1, many, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_error("rank 17");
  assert_int_equal(kw_tensor_create(device, KW_F32, 2, (int64_t[]){2, -1}, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_error("size -1 of dimension 1");
  assert_int_equal(kw_tensor_create(device, KW_F32, 2, (int64_t[]){INT64_C(1) << 31, INT64_C(1) << 31}, &tensor),
                   KW_ERR_INVALID_ARGUMENT);
  assert_error("2^63");
  assert_int_equal(kw_tensor_create(device, KW_I8, 3, (int64_t[]){0, INT64_MAX, 2}, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_create(device, KW_I8, 1, (int64_t[]){INT64_MAX}, &tensor), KW_ERR_OUT_OF_MEMORY);
  assert_null(tensor);
  test_device_close(test);
}

static void alignment_follows_the_offset(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  test->device.info.mem_alignment = 65536;
  kw_buffer *buffer = NULL;
  assert_ok(kw_buffer_create(test->device.default_stream, 16384, &buffer));
  assert_int_equal(buffer->offset, 0);
  static const struct {
    uint64_t offset;
    uint32_t alignment;
  } rows[] = {{0, 4096}, {1, 1}, {2, 2}, {24, 8}, {512, 512}, {4096, 4096}, {8192, 4096}, {6144, 2048}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    kw_tensor *tensor = NULL;
    assert_ok(kw_tensor_on_buffer(buffer, KW_I8, 0, NULL, NULL, rows[i].offset, &tensor));
    assert_int_equal(tensor->ref.alignment, rows[i].alignment);
    assert_int_equal(tensor->ref.offset, rows[i].offset);
    kw_tensor_release(tensor);
  }
  kw_buffer_release(buffer);
  test_device_close(test);
}

static void tensors_stay_in_their_buffer(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *first = NULL, *buffer = NULL;
  kw_tensor *tensor = NULL;
  assert_ok(kw_buffer_create(test->device.default_stream, 10, &first));
  assert_ok(kw_buffer_create(test->device.default_stream, 40, &buffer));
  assert_int_equal(buffer->offset, 512);
  assert_ok(kw_tensor_on_buffer(buffer, KW_F32, 2, (int64_t[]){2, 3}, (int64_t[]){5, 2}, 0, &tensor));
  assert_int_equal(kw_ref_extent(&tensor->ref), 40);
  assert_int_equal(tensor->ref.offset, 512);
  assert_false(kw_ref_is_contiguous(&tensor->ref));
  kw_tensor_release(tensor);
  tensor = NULL;
  assert_int_equal(kw_tensor_on_buffer(buffer, KW_F32, 2, (int64_t[]){2, 3}, (int64_t[]){5, 2}, 1, &tensor),
                   KW_ERR_INVALID_ARGUMENT);
  assert_error("f32[2, 3]");
  assert_error("40 bytes");
  assert_int_equal(kw_tensor_on_buffer(buffer, KW_F32, 1, (int64_t[]){3}, (int64_t[]){INT64_MAX}, 0, &tensor),
                   KW_ERR_INVALID_ARGUMENT);
  assert_null(tensor);
  assert_ok(kw_tensor_on_buffer(buffer, KW_F32, 1, (int64_t[]){0}, (int64_t[]){INT64_MAX}, 4000, &tensor));
  kw_tensor_release(tensor);
  kw_buffer_release(buffer);
  kw_buffer_release(first);
  test_device_close(test);
}

static void dead_tensors_are_noticed(void **state) {
  (void)state;
  kw_tensor dead = {.magic = 0};
  assert_int_equal(kw_tensor_check("test", "self", &dead), KW_ERR_INVALID_ARGUMENT);
  assert_error("test: argument self is not a living tensor");
  assert_int_equal(kw_tensor_check("test", "self", NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("is NULL");
}

/* Not even where somebody else has got the memory that the tensor had, as far as that may be given away. */
static void released_tensors_are_noticed(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", 0);
  kw_tensor *released[2], *others[24] = {NULL};
  for (int i = 0; i < 2; ++i) assert_ok(kw_tensor_create(&test->device, KW_F32, 0, NULL, &released[i]));
  for (int i = 0; i < 2; ++i) kw_tensor_release(released[i]);
  for (int i = 0; i < 24; i += 2) {
    others[i] = malloc(sizeof *others[i]);
    memset(others[i], 0, sizeof *others[i]);
    others[i]->magic = KW_TENSOR_MAGIC;
    assert_ok(kw_tensor_create(&test->device, KW_F32, 0, NULL, &others[i + 1]));
  }
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(kw_tensor_check("test", "self", released[i]), KW_ERR_INVALID_ARGUMENT);
    assert_error("released already?");
    kw_tensor_release(released[i]); /* logged */
  }
  for (int i = 0; i < 24; i += 2) {
    free(others[i]);
    kw_tensor_release(others[i + 1]);
  }
  test_device_close(test);
}

/* Whatever the last tensor left in its slot, and a shape that was refused. */
static void nothing_is_left_of_the_last_tensor(void **state) {
  (void)state;
  enum { COUNT = 400 };
  static const int64_t long_shape[] = {1, 2, 1, 3, 1, 2}, refused[] = {1, 2, 3, -4, 5, 6, 7}, short_shape[] = {5};
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *tensors[COUNT], *none;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < COUNT; ++i) assert_ok(kw_tensor_create(&test->device, KW_F32, 6, long_shape, &tensors[i]));
    for (int i = 0; i < COUNT; ++i) kw_tensor_release(tensors[i]);
    for (int i = 0; i < COUNT; ++i) {
      assert_int_equal(kw_tensor_create(&test->device, KW_F32, 7, refused, &none), KW_ERR_INVALID_ARGUMENT);
    }
    for (int i = 0; i < COUNT; ++i) {
      assert_ok(kw_tensor_create(&test->device, KW_F32, 1, short_shape, &tensors[i]));
      const kw_tensor_ref *ref = kw_tensor_describe(tensors[i]);
      assert_int_equal(ref->shape[0], 5);
      assert_int_equal(ref->strides[0], 1);
      for (int d = 1; d < KW_MAX_RANK; ++d) assert_true(ref->shape[d] == 0 && ref->strides[d] == 0);
      assert_true(ref->reserved == 0 && ref->layout == 0);
    }
    for (int i = 0; i < COUNT; ++i) kw_tensor_release(tensors[i]);
  }
  test_device_close(test);
}

#define THREADS 4
#define ROUNDS 3000

typedef struct worker {
  kw_device *device;
  unsigned seed;
  const char *failure;
} worker;

/* What threads have made and others release. */
static _Atomic(kw_tensor *) shared[64];

/* More than a thread keeps slots for, of shapes that tell whose a slot is. */
static void *exchange(void *user) {
  worker *w = user;
  for (int i = 0; i < ROUNDS && !w->failure; ++i) {
    const int64_t size = 1 + rand_r(&w->seed) % 7, shape[] = {size, 2 * size};
    const uint32_t place = (uint32_t)rand_r(&w->seed) % 64;
    kw_tensor *tensor;
    if (kw_tensor_create(w->device, KW_F32, 2, shape, &tensor) != KW_OK) {
      w->failure = "create";
      break;
    }
    kw_tensor *other = atomic_exchange(&shared[place], tensor);
    if (other && (kw_tensor_check("test", "other", other) != KW_OK || other->ref.shape[1] != 2 * other->ref.shape[0])) {
      w->failure = "other";
    }
    kw_tensor_release(other);
  }
  return NULL;
}

static void threads_release_each_others_tensors(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  for (int round = 0; round < 2; ++round) { /* slots of threads that have ended serve again */
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) {
      workers[i] = (worker){.device = &test->device, .seed = 3u + (unsigned)i};
      assert_int_equal(pthread_create(&threads[i], NULL, exchange, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
      assert_null(workers[i].failure);
    }
    for (int i = 0; i < 64; ++i) kw_tensor_release(atomic_exchange(&shared[i], NULL));
    assert_int_equal(test_stats(test).live, 0);
  }
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(creation),
      cmocka_unit_test(scalars_and_empty_tensors),
      cmocka_unit_test(created_on_a_stream),
      cmocka_unit_test(bad_shapes),
      cmocka_unit_test(alignment_follows_the_offset),
      cmocka_unit_test(tensors_stay_in_their_buffer),
      cmocka_unit_test(dead_tensors_are_noticed),
      cmocka_unit_test(nothing_is_left_of_the_last_tensor),
      cmocka_unit_test(threads_release_each_others_tensors),
      cmocka_unit_test(released_tensors_are_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
