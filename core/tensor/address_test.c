/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses that stand for tensors: that nobody can follow them, what they lead back to, and when they come back.
 */
#include "testing/test_device.h"

#include <keyway/interop.h>

#include <sys/wait.h>
#include <unistd.h>

static kw_tensor *new_floats(test_device *test, int64_t count) {
  kw_tensor *tensor = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_F32, 1, &count, &tensor));
  return tensor;
}

static void lead_to_memory_and_offset(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *tensor = new_floats(test, 100), *part = NULL, *view = NULL;
  void *address = NULL, *of_part = NULL;
  assert_ok(kw_tensor_slice(tensor, 0, 10, 50, 1, &part));
  assert_ok(kw_address_reserve(tensor, &address));
  assert_ok(kw_address_reserve(part, &of_part));
  assert_int_equal((uintptr_t)address % 512, 0);
  assert_ptr_equal(kw_address_device(address), &test->device);
  assert_ptr_equal(kw_address_device((char *)address + 400), &test->device);
  assert_null(kw_address_device(&view));
  assert_ok(kw_tensor_at((char *)address + 40, KW_F32, 2, (int64_t[]){3, 2}, (int64_t[]){4, 1}, &view));
  assert_ptr_equal(view->ref.mem, tensor->ref.mem);
  assert_int_equal(view->ref.offset, tensor->ref.offset + 40);
  assert_int_equal(view->ref.strides[0], 4);
  kw_tensor_release(view);
  assert_ok(kw_tensor_at((char *)of_part + 8, KW_I32, 1, (int64_t[]){2}, (int64_t[]){1}, &view));
  assert_int_equal(view->ref.offset, tensor->ref.offset + 48);
  kw_tensor_release(view);
  assert_ok(kw_tensor_at((char *)address + 400, KW_F32, 1, (int64_t[]){0}, (int64_t[]){1}, &view)); /* right behind */
  kw_tensor_release(view);
  assert_int_equal(kw_tensor_at((char *)address + 40, KW_F32, 1, (int64_t[]){91}, (int64_t[]){1}, &view),
                   KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_at((char *)address + 401, KW_F32, 1, (int64_t[]){0}, (int64_t[]){1}, &view),
                   KW_ERR_NOT_FOUND);
  assert_error("lies in no stretch of addresses");
  kw_tensor_release(part);
  kw_tensor_release(tensor);
  assert_int_equal(test_stats(test).live, 1); /* the stretches keep it */
  assert_ok(kw_address_release(address));
  assert_ok(kw_address_release(of_part));
  assert_int_equal(test_stats(test).live, 0);
  test_device_close(test);
}

/* Who asks for the same view again gets the tensor that was made before, or the owner where that is it; and another
 * once the addresses stand for other memory. */
static void the_same_view_is_one_tensor(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *tensor = new_floats(test, 100), *other = new_floats(test, 100), *views[4] = {NULL};
  void *address = NULL;
  assert_ok(kw_address_reserve(tensor, &address));
  assert_ok(kw_tensor_at(address, KW_F32, 1, (int64_t[]){100}, (int64_t[]){1}, &views[0]));
  assert_ptr_equal(views[0], tensor);
  for (int k = 1; k < 3; ++k) {
    assert_ok(kw_tensor_at((char *)address + 8, KW_F32, 2, (int64_t[]){4, 2}, (int64_t[]){2, 1}, &views[k]));
  }
  assert_ptr_equal(views[1], views[2]);
  assert_ok(kw_tensor_at((char *)address + 8, KW_F32, 2, (int64_t[]){4, 2}, (int64_t[]){1, 4}, &views[3]));
  assert_ptr_not_equal(views[3], views[1]);
  for (int k = 0; k < 4; ++k) kw_tensor_release(views[k]);
  assert_ok(kw_address_assign(address, other));
  kw_tensor_release(tensor);
  assert_int_equal(test_stats(test).live, 1); /* the other's: no view keeps the first */
  assert_ok(kw_tensor_at((char *)address + 8, KW_F32, 2, (int64_t[]){4, 2}, (int64_t[]){1, 4}, &views[0]));
  assert_ptr_equal(views[0]->ref.mem, other->ref.mem);
  assert_int_equal(views[0]->ref.offset, other->ref.offset + 8);
  kw_tensor_release(views[0]);
  kw_tensor_release(other);
  assert_ok(kw_address_release(address));
  assert_int_equal(test_stats(test).live, 0);
  test_device_close(test);
}

/* The exit status, or the signal that ended a child which reads a byte there. */
static int signal_of_reading(const volatile char *address) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(*address);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void cannot_be_followed(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *tensor = new_floats(test, 100);
  void *address = NULL;
  assert_ok(kw_address_reserve(tensor, &address));
  assert_int_equal(signal_of_reading(address), SIGSEGV);
  assert_ok(kw_address_release(address));
  assert_int_equal(signal_of_reading(address), SIGSEGV); /* afterwards as well */
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void released_addresses_come_back_late(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *tensor = new_floats(test, 100), *view = NULL;
  void *first = NULL, *second = NULL, *third = NULL;
  assert_ok(kw_address_reserve(tensor, &first));
  assert_ok(kw_address_release(first));
  assert_ok(kw_address_reserve(tensor, &second));
  assert_ptr_not_equal(first, second);
  assert_int_equal(kw_tensor_at(first, KW_F32, 1, (int64_t[]){1}, (int64_t[]){1}, &view), KW_ERR_NOT_FOUND);
  assert_int_equal(kw_address_release(first), KW_ERR_NOT_FOUND);
  assert_int_equal(kw_address_release((char *)second + 4), KW_ERR_NOT_FOUND);
  assert_ok(kw_address_release(NULL));
  assert_ok(kw_address_reserve(tensor, &third));
  assert_true((char *)third > (char *)second + 400);
  assert_ok(kw_address_release(second));
  assert_ok(kw_address_release(third));
  kw_tensor_release(tensor);
  test_device_close(test);
}

/* A range that is full: what was released in its middle is found again. */
static void a_full_range_is_used_again(void **state) {
  (void)state;
  enum { COUNT = 700 };
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  static void *taken[COUNT];
  int count = 0;
  const uint64_t size = UINT64_C(16) << 30; /* of 4 TiB at most */
  while (count < COUNT && kw_stretch_take(&test->device, size, 1, NULL, &taken[count]) == KW_OK) ++count;
  assert_in_range(count, 1, 256);
  assert_error("addresses left");
  void *middle = taken[count / 2], *again = NULL;
  kw_stretch_lock();
  kw_stretch_give(kw_stretch_find(middle));
  assert_null(kw_stretch_find((char *)middle + 1));
  kw_stretch_unlock();
  assert_int_equal(kw_stretch_take(&test->device, size + 1024, 1, NULL, &again), KW_ERR_OUT_OF_MEMORY);
  assert_ok(kw_stretch_take(&test->device, size, 1, NULL, &again));
  assert_ptr_equal(again, middle);
  test_device_close(test);
}

static void one_stretch_for_one_tensor_after_another(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL), *other = test_device_open("test:1", TEST_NATIVE_ALL);
  kw_tensor *a = new_floats(test, 10), *b = new_floats(test, 10), *longer = new_floats(test, 11);
  kw_tensor *elsewhere = new_floats(other, 10), *view = NULL;
  void *address = NULL, *there = NULL;
  assert_ok(kw_address_reserve(a, &address));
  assert_ok(kw_address_reserve(elsewhere, &there));
  assert_ptr_equal(kw_address_device(there), &other->device);
  assert_int_equal(kw_address_assign(address, longer), KW_ERR_INVALID_ARGUMENT);
  assert_error("44 bytes on test:0, the stretch 40 on test:0");
  assert_int_equal(kw_address_assign(address, elsewhere), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_address_assign((char *)address + 4, b), KW_ERR_NOT_FOUND);
  kw_mem mem = b->ref.mem;
  const uint64_t offset = b->ref.offset;
  assert_ok(kw_address_assign(address, b));
  kw_tensor_release(a);
  kw_tensor_release(b);
  assert_int_equal(test_stats(test).live, 2); /* b and longer */
  assert_ok(kw_tensor_at((char *)address + 8, KW_F32, 1, (int64_t[]){2}, (int64_t[]){1}, &view));
  assert_ptr_equal(view->ref.mem, mem);
  assert_int_equal(view->ref.offset, offset + 8);
  kw_tensor_release(view);
  assert_ok(kw_address_release(address));
  assert_ok(kw_address_release(there));
  kw_tensor_release(longer);
  kw_tensor_release(elsewhere);
  test_device_close(other);
  test_device_close(test);
}

static void refusals(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *tensor = NULL, *across = NULL, *none = NULL, *view = NULL;
  void *address = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_F32, 2, (int64_t[]){2, 3}, &tensor));
  assert_ok(kw_tensor_transpose(tensor, 0, 1, &across));
  assert_int_equal(kw_address_reserve(NULL, &address), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_address_reserve(tensor, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_address_reserve(across, &address), KW_ERR_INVALID_ARGUMENT);
  assert_error("is not contiguous");
  assert_int_equal(kw_tensor_at(NULL, KW_F32, 0, NULL, NULL, &view), KW_ERR_NOT_FOUND);
  assert_ok(kw_tensor_create(&test->device, KW_F32, 1, (int64_t[]){0}, &none));
  assert_ok(kw_address_reserve(none, &address));
  assert_ok(kw_tensor_at(address, KW_F32, 1, (int64_t[]){0}, (int64_t[]){1}, &view));
  kw_tensor_release(view);
  assert_ok(kw_address_release(address));
  kw_tensor_release(none);
  kw_tensor_release(across);
  kw_tensor_release(tensor);
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lead_to_memory_and_offset),
      cmocka_unit_test(the_same_view_is_one_tensor),
      cmocka_unit_test(cannot_be_followed),
      cmocka_unit_test(released_addresses_come_back_late),
      cmocka_unit_test(a_full_range_is_used_again),
      cmocka_unit_test(one_stretch_for_one_tensor_after_another),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
