/* SPDX-License-Identifier: Apache-2.0
 *
 * Places of memory that a driver has imported by itself.
 */
#include "lower/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char own, first, second, from_nowhere; /* as kw_mem */
static const char host[64];

static bool import_place(kw_gpu_device *device, kw_mem mem, const void **out_host) {
  (void)device;
  *out_host = mem == &first ? host : mem == &second ? host + 16 : NULL;
  return mem != &own;
}

static const kw_gpu_driver asked = {.import_place = import_place}, silent = {.key = "silent"};
static kw_gpu_device device = {.driver = &asked, .memories_lock = PTHREAD_MUTEX_INITIALIZER};

/* Eight bytes of either, of the one from `begin` on. */
static bool meet(kw_mem a, int64_t begin, kw_mem b) {
  const kw_gpu_range one = {a, kw_gpu_memory_place(&device, a), begin, begin + 8};
  const kw_gpu_range other = {b, kw_gpu_memory_place(&device, b), 0, 8};
  return kw_gpu_ranges_meet(&one, &other);
}

static void the_driver_knows_its_imports(void **state) {
  (void)state;
  device.driver = &asked;
  assert_false(meet(&first, 8, &second));
  assert_true(meet(&first, 9, &second));
  assert_true(meet(&first, 23, &second));
  assert_false(meet(&first, 24, &second));
  assert_true(meet(&from_nowhere, 0, &first));
  assert_false(meet(&own, 0, &first));
  assert_false(meet(&own, 0, &from_nowhere));
}

static void without_imports_memory_is_the_device_s_own(void **state) {
  (void)state;
  device.driver = &silent;
  assert_false(meet(&first, 16, &second));
  assert_false(meet(&from_nowhere, 0, &first));
  assert_true(meet(&first, 7, &first));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_driver_knows_its_imports),
      cmocka_unit_test(without_imports_memory_is_the_device_s_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
