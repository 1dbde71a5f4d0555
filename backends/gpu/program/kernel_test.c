/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that several threads ask for while one is being built.
 */
#include "program/kernel.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const kw_gpu_module quick = {"quick", KW_GPU_BY_NOTHING, KW_GPU_ONE, {"quick"}};
static const kw_gpu_module slow = {"slow", KW_GPU_BY_NOTHING, KW_GPU_ONE, {"slow"}};
static const kw_gpu_kernel quick_kernel = {&quick, "quick"}, slow_kernel = {&slow, "slow"};

/* A driver whose compiler takes as long for the module "slow" as the test wants. */
static sem_t begun, allowed;
static int built;

static kw_status build(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                       void **out_module) {
  (void)device;
  (void)sources;
  (void)source_count;
  if (name[0] == 's') {
    sem_post(&begun);
    while (sem_wait(&allowed) != 0) {
    }
  }
  *out_module = &built;
  ++built; /* one thread builds at a time */
  return KW_OK;
}

static kw_status create(kw_gpu_device *device, void *module, const char *name, void **out_kernel) {
  (void)device;
  (void)module;
  *out_kernel = (void *)(uintptr_t)name;
  return KW_OK;
}

static void destroy(kw_gpu_device *device, void *handle) {
  (void)device;
  (void)handle;
}

static kw_status KW_CALL report(void *ctx, void *device, const char *name, uint64_t ns, bool cached) {
  (void)ctx, (void)device, (void)name, (void)ns, (void)cached;
  return KW_OK;
}

static void *ask_for_slow(void *device) {
  void *kernel = NULL;
  return kw_gpu_kernel_find(device, &slow_kernel, KW_F32, -1, &kernel) == KW_OK ? kernel : NULL;
}

static void test_what_is_built_is_found_while_another_is_being_built(void **state) {
  static const kw_gpu_driver driver = {.prelude = "",
                                       .module_build = build,
                                       .module_destroy = destroy,
                                       .kernel_create = create,
                                       .kernel_destroy = destroy};
  const kw_host_api host = {.struct_size = sizeof host, .report_build = report};
  kw_gpu_device device = {0};
  pthread_t threads[2];
  void *kernel = NULL, *kernels[2];
  (void)state;
  sem_init(&begun, 0, 0);
  sem_init(&allowed, 0, 0);
  assert_int_equal(kw_gpu_device_start(&device, &driver, &host, true, NULL), KW_OK);
  assert_int_equal(kw_gpu_kernel_find(&device, &quick_kernel, KW_F32, -1, &kernel), KW_OK);
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, ask_for_slow, &device), 0);
  while (sem_wait(&begun) != 0) {
  }
  kernel = NULL;
  assert_int_equal(kw_gpu_kernel_find(&device, &quick_kernel, KW_F32, -1, &kernel), KW_OK); /* waits for nobody */
  assert_string_equal(kernel, "quick");
  sem_post(&allowed);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_join(threads[i], &kernels[i]), 0);
    assert_string_equal(kernels[i], "slow");
  }
  assert_int_equal(built, 2); /* each once */
  kw_gpu_device_finish(&device);
  sem_destroy(&begun);
  sem_destroy(&allowed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_built_is_found_while_another_is_being_built)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
