/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on the example vendor's queue device that other ops serve, beside the same calls on cpu:0: what the suite does
 * not ask. VENDOR_QUEUE is the path of the plugin.
 */
#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static kw_device *devices[2]; /* the vendor's, and cpu:0 */

static int open_devices(void **state) {
  (void)state;
  if (kw_plugin_load(VENDOR_QUEUE) != KW_OK) return -1;
  return kw_device_open("aqpu:0", &devices[0]) == KW_OK && kw_device_open("cpu:0", &devices[1]) == KW_OK ? 0 : -1;
}

static int close_devices(void **state) {
  (void)state;
  return kw_device_close(devices[0]) == KW_OK && kw_device_close(devices[1]) == KW_OK ? 0 : -1;
}

static kw_tensor *tensor_on(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape, const void *data) {
  kw_tensor *tensor = NULL;
  assert_int_equal(kw_tensor_create(device, dtype, rank, shape, &tensor), KW_OK);
  assert_int_equal(kw_tensor_write(tensor, data), KW_OK);
  return tensor;
}

/* The call's one result. */
static void call(const char *op, kw_device *device, const kw_value *args, uint32_t count, void *out_data) {
  kw_tensor *out = NULL;
  assert_int_equal(kw_op_call(kw_op_find(op), kw_stream_default(device), args, count, &out, 1), KW_OK);
  assert_int_equal(kw_tensor_read(out, out_data), KW_OK);
  kw_tensor_release(out);
}

/* As many dimensions as a tensor can have, each with an index, in a dtype that must be converted; some kept as well. */
static void indexes_tensors_of_the_largest_rank(void **state) {
  (void)state;
  int64_t shape[KW_MAX_RANK];
  for (uint32_t d = 0; d < KW_MAX_RANK; ++d) shape[d] = d < 4 ? 2 : 1;
  const float data[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (uint32_t indexed = KW_MAX_RANK / 2; indexed <= KW_MAX_RANK; ++indexed) {
    float got[2][2];
    for (uint32_t i = 0; i < 2; ++i) {
      kw_tensor *self = tensor_on(devices[i], KW_F32, KW_MAX_RANK, shape, data), *indices[KW_MAX_RANK];
      for (uint32_t d = 0; d < indexed; ++d)
        indices[d] =
            tensor_on(devices[i], KW_I32, 1, (int64_t[]){2}, d % 2 == 0 ? (int32_t[]){-1, 0} : (int32_t[]){0, -1});
      const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor_list(indices, indexed)};
      call("index.Tensor", devices[i], args, 2, got[i]);
      for (uint32_t d = 0; d < indexed; ++d) kw_tensor_release(indices[d]);
      kw_tensor_release(self);
    }
    assert_memory_equal(got[0], got[1], sizeof got[0]);
  }
}

/* Integers up to the largest that the dtype holds with all below it: the same ones as cpu:0's. */
static void draws_integers_of_every_dtype_s_range(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_BOOL, KW_U8, KW_I8, KW_I16, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; ++d) {
    unsigned char got[2][100 * 8] = {{0}};
    for (uint32_t i = 0; i < 2; ++i) {
      kw_generator *generator = NULL;
      kw_tensor *self = tensor_on(devices[i], dtypes[d], 1, (int64_t[]){100}, got[i]);
      assert_int_equal(kw_generator_create(devices[i], 7, &generator), KW_OK);
      const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(0), kw_arg_none(), kw_arg_generator(generator)};
      assert_int_equal(kw_op_call(kw_op_find("random_.from"), kw_stream_default(devices[i]), args, 4, NULL, 0), KW_OK);
      assert_int_equal(kw_tensor_read(self, got[i]), KW_OK);
      kw_tensor_release(self);
      kw_generator_destroy(generator);
    }
    assert_memory_equal(got[0], got[1], sizeof got[0]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(indexes_tensors_of_the_largest_rank),
      cmocka_unit_test(draws_integers_of_every_dtype_s_range),
  };
  return cmocka_run_group_tests(tests, open_devices, close_devices);
}
