/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine: groups, barriers, local memory, atomics; queues, events, failures; memory. Which faults are set, the
 * first argument of the program says: they are per process.
 */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char kernels[] =
    "KW_KERNEL\nvoid kw_ids_kernel(KW_GLOBAL kw_i64 *out) {\n"
    "  const kw_engine_item *i = kw_engine_here;\n"
    "  kw_i64 place = 0;\n"
    "  for (int d = 2; d >= 0; --d) place = place * i->groups[d] * i->size[d] + i->group[d] * i->size[d] + "
    "i->local[d];\n"
    "  out[place] += place + 1;\n"
    "}\n"
    /* What each item gives is seen by another of its group, many times over, and by none of another group. */
    "KW_KERNEL\nvoid kw_pass_kernel(KW_GLOBAL kw_u32 *out, int rounds) {\n"
    "  KW_LOCAL kw_u32 shared[1024];\n"
    "  int item = KW_LOCAL_ID(0), size = kw_engine_here->size[0];\n"
    "  kw_u32 value = (kw_u32)(KW_GROUP_ID(0) * size + item);\n"
    "  for (int r = 0; r < rounds; ++r) {\n"
    "    shared[item] = value;\n"
    "    KW_BARRIER();\n"
    "    value = shared[(item + 1) % size];\n"
    "    KW_BARRIER();\n"
    "  }\n"
    "  out[KW_GLOBAL_ID()] = value;\n"
    "}\n"
    "KW_KERNEL\nvoid kw_count_kernel(KW_GLOBAL kw_u32 *out) { KW_ATOMIC_ADD(out, 1u); KW_ATOMIC_MAX(out + 1, "
    "(kw_u32)KW_GLOBAL_ID()); }\n"
    "KW_KERNEL\nvoid kw_apart_kernel(KW_GLOBAL kw_u32 *out, int who) {\n"
    "  if (KW_LOCAL_ID(0) == who) KW_BARRIER();\n"
    "  out[0] = 1;\n"
    "}\n";

static kw_engine_module *module;
static kw_engine_kernel ids, pass, count, apart;
static kw_engine_device *device;
static kw_engine_queue *queue;

static int setup(void **state) {
  const char *const sources[] = {kw_engine_prelude, kernels};
  void *bytes;
  size_t size;
  (void)state;
  assert_int_equal(kw_engine_compile(sources, 2, &bytes, &size), KW_ENGINE_OK);
  assert_int_equal(kw_engine_module_load(bytes, size, &module), KW_ENGINE_OK);
  size_t kept;
  assert_memory_equal(kw_engine_module_bytes(module, &kept), bytes, size);
  assert_int_equal(kept, size);
  free(bytes);
  assert_int_equal(kw_engine_kernel_find(module, "kw_ids_kernel", &ids), KW_ENGINE_OK);
  assert_int_equal(kw_engine_kernel_find(module, "kw_pass_kernel", &pass), KW_ENGINE_OK);
  assert_int_equal(kw_engine_kernel_find(module, "kw_count_kernel", &count), KW_ENGINE_OK);
  assert_int_equal(kw_engine_kernel_find(module, "kw_apart_kernel", &apart), KW_ENGINE_OK);
  device = kw_engine_device_get(0);
  return kw_engine_queue_create(device, &queue) != KW_ENGINE_OK;
}

static int teardown(void **state) {
  (void)state; /* after a failed setup too, which may have made neither */
  if (queue) kw_engine_queue_destroy(queue);
  if (module) kw_engine_module_unload(module);
  return 0;
}

static void *allocate(size_t size) {
  void *base = NULL;
  assert_int_equal(kw_engine_alloc(device, KW_ENGINE_MEMORY_DEVICE, size, 0, &base), KW_ENGINE_OK);
  memset(base, 0, size);
  return base;
}

/* A launch with a buffer, and a number when `number` is not negative. */
static kw_engine_task launch_of(const kw_engine_kernel *kernel, uint64_t groups, uint32_t items, void *buffer,
                                int number) {
  kw_engine_task task = {.kind = KW_ENGINE_LAUNCH,
                         .u.launch = {.kernel = kernel, .local = {items, 1, 1}, .groups = {groups, 1, 1}}};
  void *params[] = {&buffer, &number};
  assert_int_equal(kernel->param_count, number >= 0 ? 2 : 1);
  assert_true(kw_engine_launch_add_all(&task.u.launch, params));
  return task;
}

static kw_engine_status run(const kw_engine_task *task) {
  assert_int_equal(kw_engine_queue_push(queue, task), KW_ENGINE_OK);
  return kw_engine_queue_wait(queue, KW_ENGINE_FOREVER);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void test_every_item_runs_once(void **state) {
  static const uint32_t locals[][3] = {{1, 1, 1}, {7, 5, 3}, {1024, 1, 1}, {1, 16, 64}};
  (void)state;
  for (int i = 0; i < 4; ++i) {
    int64_t all = 3 * 4 * 5;
    for (int d = 0; d < 3; ++d) all *= locals[i][d];
    int64_t *out = allocate((size_t)all * sizeof *out);
    kw_engine_task task = launch_of(&ids, 3, 1, out, -1);
    memcpy(task.u.launch.local, locals[i], sizeof locals[i]);
    memcpy(task.u.launch.groups, (uint64_t[]){3, 4, 5}, sizeof task.u.launch.groups);
    assert_int_equal(run(&task), KW_ENGINE_OK);
    for (int64_t k = 0; k < all; ++k) assert_int_equal(out[k], k + 1);
    kw_engine_free(out);
  }
}

static void test_barriers_and_local_memory(void **state) {
  static const uint32_t sizes[] = {1, 2, 17, 256, 1024};
  enum { GROUPS = 50, ROUNDS = 20 };
  (void)state;
  for (int i = 0; i < 5; ++i) {
    uint32_t size = sizes[i], *out = allocate(GROUPS * size * sizeof *out);
    kw_engine_task task = launch_of(&pass, GROUPS, size, out, ROUNDS);
    assert_int_equal(run(&task), KW_ENGINE_OK);
    for (uint32_t k = 0; k < GROUPS * size; ++k) assert_int_equal(out[k], k / size * size + (k % size + ROUNDS) % size);
    kw_engine_free(out);
  }
}

static void test_atomics_across_groups(void **state) {
  (void)state;
  uint32_t *out = allocate(2 * sizeof *out);
  kw_engine_task task = launch_of(&count, 3000, 32, out, -1);
  assert_int_equal(run(&task), KW_ENGINE_OK);
  assert_int_equal(out[0], 96000);
  assert_int_equal(out[1], 95999);
  kw_engine_free(out);
}

/* The first item alone, another alone: both are told, and the queue works again. */
static void test_barrier_that_not_all_meet(void **state) {
  (void)state;
  uint32_t *out = allocate(64);
  for (int who = 0; who < 2; ++who) {
    kw_engine_task task = launch_of(&apart, 4, 8, out, who);
    assert_int_equal(run(&task), KW_ENGINE_FAILED);
    assert_non_null(strstr(kw_engine_message(), "kw_apart_kernel"));
    assert_int_equal(kw_engine_queue_wait(queue, 0), KW_ENGINE_OK);
  }
  kw_engine_task task = launch_of(&count, 1, 1, out, -1);
  out[0] = 5;
  assert_int_equal(run(&task), KW_ENGINE_OK);
  assert_int_equal(out[0], 6);
  kw_engine_free(out);
}

static void test_arguments_end(void **state) {
  static const char bytes[KW_ENGINE_ARG_BYTES];
  kw_engine_launch launch = {0};
  (void)state;
  assert_true(kw_engine_launch_add(&launch, bytes, sizeof bytes - 16));
  assert_true(kw_engine_launch_add(&launch, bytes, 1));
  assert_false(kw_engine_launch_add(&launch, bytes, 1));
  assert_int_equal(launch.arg_count, 2);
}

static void test_sources_in_error_are_told(void **state) {
  const char *const sources[] = {"this is no kernel\n"};
  void *bytes;
  size_t size;
  kw_engine_kernel kernel;
  kw_engine_module *none;
  (void)state;
  assert_int_equal(kw_engine_compile(sources, 1, &bytes, &size), KW_ENGINE_INVALID);
  assert_non_null(strstr(kw_engine_message(), "this"));
  assert_int_equal(kw_engine_module_load("no library", 10, &none), KW_ENGINE_INVALID);
  assert_int_equal(kw_engine_kernel_find(module, "kw_none_kernel", &kernel), KW_ENGINE_INVALID);
}

/* ---- Queues and events ------------------------------------------------------------------------------------------- */

static void wait_for_gate(void *data) {
  kw_engine_event_wait(data, 1, KW_ENGINE_FOREVER);
}

static void test_queues_work_on_their_own(void **state) {
  kw_engine_event gate = {0}, done = {0};
  kw_engine_queue *other;
  uint32_t *out = allocate(8);
  (void)state;
  assert_int_equal(kw_engine_queue_create(device, &other), KW_ENGINE_OK);
  const kw_engine_task hold = {.kind = KW_ENGINE_CALL, .u.call = {wait_for_gate, &gate}};
  const kw_engine_task fill = {.kind = KW_ENGINE_FILL,
                               .signal = &done,
                               .signal_value = 7,
                               .u.fill = {.to = out, .size = 8, .pattern_size = 4, .pattern = {1, 2}}};
  const kw_engine_task after = {.kind = KW_ENGINE_WAIT, .u.event = {&done, 7}};
  const kw_engine_task copy = {.kind = KW_ENGINE_COPY, .u.copy = {out + 1, out, 2}};
  kw_engine_queue_push(queue, &hold);
  kw_engine_queue_push(queue, &fill);
  kw_engine_queue_push(other, &after);
  kw_engine_queue_push(other, &copy);
  assert_int_equal(kw_engine_queue_wait(queue, 0), KW_ENGINE_NOT_READY);
  assert_int_equal(kw_engine_queue_wait(other, 1000), KW_ENGINE_NOT_READY);
  assert_int_equal(kw_engine_event_wait(&done, 7, 1000), KW_ENGINE_NOT_READY);
  assert_int_equal(out[0], 0);
  kw_engine_event_signal(&gate, 1);
  assert_int_equal(kw_engine_queue_wait(other, KW_ENGINE_FOREVER), KW_ENGINE_OK);
  assert_int_equal(kw_engine_event_wait(&done, 8, 0), KW_ENGINE_NOT_READY);
  assert_int_equal(out[0], 0x201);
  assert_int_equal(out[1], 0x201);
  uint64_t begin, end;
  assert_false(kw_engine_event_times(&done, 8, &begin, &end));
  assert_true(kw_engine_event_times(&done, 7, &begin, &end));
  assert_true(begin > 0 && begin <= end && end <= kw_engine_now_ns());
  const kw_engine_task reset = {.kind = KW_ENGINE_RESET, .u.event = {&done, 0}};
  assert_int_equal(run(&reset), KW_ENGINE_OK);
  assert_int_equal(kw_engine_event_wait(&done, 1, 0), KW_ENGINE_NOT_READY);
  kw_engine_queue_destroy(other);
  kw_engine_free(out);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void test_memory_ends(void **state) {
  kw_engine_allocation found;
  void *base, *all;
  (void)state;
  assert_int_equal(kw_engine_device_used(device), 0);
  assert_int_equal(kw_engine_alloc(device, KW_ENGINE_MEMORY_SHARED, 1000, 4096, &base), KW_ENGINE_OK);
  assert_int_equal((uintptr_t)base % 4096, 0);
  assert_int_equal(kw_engine_device_used(device), 1000);
  assert_true(kw_engine_find((char *)base + 999, &found));
  assert_ptr_equal(found.base, base);
  assert_int_equal(found.size, 1000);
  assert_int_equal(found.kind, KW_ENGINE_MEMORY_SHARED);
  assert_ptr_equal(found.device, device);
  assert_false(kw_engine_find((char *)base + 1000, &found));
  assert_false(kw_engine_find(&found, &found));
  assert_int_equal(kw_engine_alloc(device, KW_ENGINE_MEMORY_DEVICE, KW_ENGINE_DEVICE_MEMORY, 0, &all),
                   KW_ENGINE_OUT_OF_MEMORY);
  assert_int_equal(kw_engine_device_used(device), 1000);
  assert_int_equal(kw_engine_free((char *)base + 1), KW_ENGINE_INVALID);
  assert_int_equal(kw_engine_free(base), KW_ENGINE_OK);
  assert_int_equal(kw_engine_free(base), KW_ENGINE_INVALID);
  assert_int_equal(kw_engine_device_used(device), 0);
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static void test_faults(void **state) {
  kw_engine_event event = {0};
  void *base;
  (void)state;
  uint32_t *out = allocate(8);
  assert_int_equal(kw_engine_alloc(device, KW_ENGINE_MEMORY_DEVICE, 8, 0, &base), KW_ENGINE_OUT_OF_MEMORY);
  assert_non_null(strstr(kw_engine_message(), "injected"));
  kw_engine_task task = launch_of(&count, 1, 1, out, -1);
  assert_int_equal(run(&task), KW_ENGINE_OK);
  assert_int_equal(kw_engine_queue_push(queue, &task), KW_ENGINE_REFUSED);
  assert_int_equal(kw_engine_queue_wait(queue, 0), KW_ENGINE_OK);
  kw_engine_queue_push(queue, &task); /* fails while it runs, and so do those after it */
  task.signal = &event;
  task.signal_value = 1;
  kw_engine_queue_push(queue, &task);
  assert_int_equal(kw_engine_event_wait(&event, 1, KW_ENGINE_FOREVER), KW_ENGINE_FAILED);
  assert_non_null(strstr(kw_engine_message(), "launch 3"));
  assert_int_equal(out[0], 1);
  assert_int_equal(kw_engine_queue_wait(queue, KW_ENGINE_FOREVER), KW_ENGINE_OK);
  assert_int_equal(kw_engine_queue_push(queue, &task), KW_ENGINE_LOST);
  assert_int_equal(kw_engine_device_losses(device), 1);
  assert_int_equal(kw_engine_device_losses(kw_engine_device_get(1)), 0);
  assert_int_equal(kw_engine_queue_wait(queue, KW_ENGINE_FOREVER), KW_ENGINE_LOST);
  assert_int_equal(kw_engine_queue_push(queue, &task), KW_ENGINE_LOST);
  kw_engine_queue_destroy(queue);
  assert_int_equal(kw_engine_queue_create(device, &queue), KW_ENGINE_OK);
  assert_int_equal(run(&task), KW_ENGINE_OK);
  assert_int_equal(out[0], 2);
  assert_int_equal(kw_engine_launch_count(), 6);
  kw_engine_free(out);
}

/* What was ordered happens once, and to one device. */
static void test_orders(void **state) {
  void *base;
  (void)state;
  uint32_t *out = allocate(8);
  kw_engine_task task = launch_of(&count, 1, 1, out, -1);
  assert_int_equal(kw_engine_device_order(device, KW_ENGINE_ORDER_HOLD + 1, 1), KW_ENGINE_INVALID);
  assert_int_equal(kw_engine_device_order(device, KW_ENGINE_ORDER_ALLOC, 2), KW_ENGINE_OK);
  for (int i = 0; i < 3; ++i) {
    const kw_engine_status status = kw_engine_alloc(device, KW_ENGINE_MEMORY_DEVICE, 8, 0, &base);
    assert_int_equal(status, i == 1 ? KW_ENGINE_OUT_OF_MEMORY : KW_ENGINE_OK);
    if (status == KW_ENGINE_OK) kw_engine_free(base);
  }
  assert_int_equal(kw_engine_device_order(device, KW_ENGINE_ORDER_LATE, 2), KW_ENGINE_OK);
  assert_int_equal(run(&task), KW_ENGINE_OK);
  assert_int_equal(run(&task), KW_ENGINE_FAILED);
  assert_int_equal(run(&task), KW_ENGINE_OK);
  assert_int_equal(out[0], 2);
  assert_int_equal(kw_engine_device_order(device, KW_ENGINE_ORDER_HOLD, 2), KW_ENGINE_OK);
  assert_int_equal(run(&task), KW_ENGINE_OK);
  assert_int_equal(kw_engine_queue_push(queue, &task), KW_ENGINE_OK);
  assert_int_equal(kw_engine_queue_wait(queue, 1000000), KW_ENGINE_NOT_READY);
  assert_int_equal(out[0], 3);
  assert_int_equal(kw_engine_device_order(device, KW_ENGINE_ORDER_NONE, 0), KW_ENGINE_OK);
  assert_int_equal(kw_engine_queue_wait(queue, KW_ENGINE_FOREVER), KW_ENGINE_OK);
  assert_int_equal(out[0], 4);
  assert_int_equal(kw_engine_device_order(device, KW_ENGINE_ORDER_LOSE, 1), KW_ENGINE_OK);
  assert_int_equal(kw_engine_queue_push(queue, &task), KW_ENGINE_OK);
  assert_int_equal(kw_engine_queue_wait(queue, KW_ENGINE_FOREVER), KW_ENGINE_LOST);
  assert_int_equal(kw_engine_device_losses(kw_engine_device_get(1)), 0);
  kw_engine_queue_destroy(queue);
  assert_int_equal(kw_engine_queue_create(device, &queue), KW_ENGINE_OK);
  assert_int_equal(run(&task), KW_ENGINE_OK);
  assert_int_equal(out[0], 5);
  kw_engine_free(out);
}

int main(int argument_count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_item_runs_once),
      cmocka_unit_test(test_barriers_and_local_memory),
      cmocka_unit_test(test_atomics_across_groups),
      cmocka_unit_test(test_barrier_that_not_all_meet),
      cmocka_unit_test(test_arguments_end),
      cmocka_unit_test(test_sources_in_error_are_told),
      cmocka_unit_test(test_queues_work_on_their_own),
      cmocka_unit_test(test_memory_ends),
      cmocka_unit_test(test_orders),
  };
  const struct CMUnitTest faults[] = {cmocka_unit_test(test_faults)};
  if (argument_count < 2) return cmocka_run_group_tests(tests, setup, teardown);
  setenv("KEYWAY_ENGINE_FAULT", arguments[1], 1);
  return cmocka_run_group_tests(faults, setup, teardown);
}
