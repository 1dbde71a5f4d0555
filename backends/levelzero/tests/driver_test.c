/* SPDX-License-Identifier: Apache-2.0
 *
 * The test driver through the real loader: what it runs, what it refuses, and its faults. Argument 1 is the driver,
 * argument 2 a module of driver_test.cl; with argument 3, faults, only their test runs.
 */
#include <level_zero/ze_api.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OK(call) assert_int_equal(call, ZE_RESULT_SUCCESS)
#define GIVES(result, call) assert_int_equal(call, result)
#define FOREVER UINT64_MAX

static const char *module_path;
static ze_driver_handle_t driver;
static ze_device_handle_t devices[2];

/* What most tests need, on the first device: an immediate list, and an event of a pool. */
static ze_context_handle_t context;
static ze_command_list_handle_t list;
static ze_event_pool_handle_t pool;
static ze_event_handle_t done;
static ze_module_handle_t module;

/* ---- Setup ------------------------------------------------------------------------------------------------------- */

static ze_event_handle_t make_event(uint32_t index) {
  ze_event_handle_t event;
  const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = index};
  OK(zeEventCreate(pool, &desc, &event));
  return event;
}

static ze_command_list_handle_t make_list(ze_device_handle_t device) {
  ze_command_list_handle_t made;
  const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
  OK(zeCommandListCreateImmediate(context, device, &desc, &made));
  return made;
}

static void make_context(void) {
  const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  const ze_event_pool_desc_t events = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                       .count = 8};
  OK(zeContextCreate(driver, &desc, &context));
  OK(zeEventPoolCreate(context, &events, 1, devices, &pool));
  done = make_event(0);
  list = make_list(devices[0]);
}

static void destroy_context(void) {
  OK(zeCommandListDestroy(list));
  OK(zeEventDestroy(done));
  OK(zeEventPoolDestroy(pool));
  OK(zeContextDestroy(context));
}

static ze_module_desc_t read_module(void) {
  ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .format = ZE_MODULE_FORMAT_IL_SPIRV};
  FILE *file = fopen(module_path, "re");
  uint8_t *bytes = malloc(1 << 20);
  assert_non_null(file);
  desc.inputSize = fread(bytes, 1, 1 << 20, file);
  desc.pInputModule = bytes;
  fclose(file);
  return desc;
}

static void make_module(void) {
  ze_module_desc_t desc = read_module();
  OK(zeModuleCreate(context, devices[0], &desc, &module, NULL));
  free((void *)(uintptr_t)desc.pInputModule);
}

static int setup(void **state) {
  uint32_t count = 1;
  (void)state;
  OK(zeInit(0));
  OK(zeDriverGet(&count, &driver));
  count = 2;
  OK(zeDeviceGet(driver, &count, devices));
  assert_int_equal(count, 2);
  make_context();
  make_module();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  OK(zeModuleDestroy(module));
  destroy_context();
  return 0;
}

static void *allocate(ze_device_handle_t device, size_t size) {
  void *base = NULL;
  const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  OK(zeMemAllocDevice(context, &desc, size, 64, device, &base));
  return base;
}

static ze_kernel_handle_t make_kernel(const char *name, uint32_t x, uint32_t y, uint32_t z) {
  ze_kernel_handle_t kernel;
  const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
  OK(zeKernelCreate(module, &desc, &kernel));
  OK(zeKernelSetGroupSize(kernel, x, y, z));
  return kernel;
}

static ze_result_t launch(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z) {
  const ze_group_count_t groups = {x, y, z};
  return zeCommandListAppendLaunchKernel(list, kernel, &groups, done, 0, NULL);
}

/* Waits for `done` and resets it. */
static void finish(void) {
  OK(zeEventHostSynchronize(done, FOREVER));
  OK(zeEventHostReset(done));
}

static void fill_zero(void *base, size_t size) {
  OK(zeCommandListAppendMemoryFill(list, base, "", 1, size, done, 0, NULL));
  finish();
}

static void read_back(void *to, const void *from, size_t size) {
  OK(zeCommandListAppendMemoryCopy(list, to, from, size, done, 0, NULL));
  finish();
}

/* ---- What it runs ------------------------------------------------------------------------------------------------ */

static void test_devices_say_that_they_are_emulated(void **state) {
  (void)state;
  ze_device_properties_t first = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2}, second = first;
  OK(zeDeviceGetProperties(devices[0], &first));
  OK(zeDeviceGetProperties(devices[1], &second));
  assert_non_null(strstr(first.name, "(emulated)"));
  assert_memory_not_equal(first.uuid.id, second.uuid.id, sizeof first.uuid.id);
  assert_int_equal(first.timerResolution, 1000000000);
}

static void test_every_item_of_three_dimensions(void **state) {
  static int64_t got[3 * 7 * 2 * 5 * 4 * 3];
  (void)state;
  ze_kernel_handle_t kernel = make_kernel("number_items", 7, 5, 3);
  void *out = allocate(devices[0], sizeof got);
  fill_zero(out, sizeof got);
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
  OK(launch(kernel, 3, 2, 4));
  finish();
  read_back(got, out, sizeof got);
  for (size_t i = 0; i < COUNT(got); ++i) assert_int_equal(got[i], i);
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(context, out));
}

static void test_barriers_and_local_memory_of_each_group(void **state) {
  static uint32_t got[40 * 128];
  const int rounds = 13;
  (void)state;
  ze_kernel_handle_t kernel = make_kernel("rotate_items", 64, 2, 1);
  void *out = allocate(devices[0], sizeof got);
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof rounds, &rounds));
  OK(launch(kernel, 40, 1, 1));
  finish();
  read_back(got, out, sizeof got);
  for (uint32_t i = 0; i < COUNT(got); ++i) assert_int_equal(got[i], i / 128 * 128 + (i % 128 + 13) % 128);
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(context, out));
}

static void test_arguments_of_every_kind(void **state) {
  const struct {
    int64_t factor;
    char offset;
  } block = {-3, 5};
  const char c = -7;
  const short s = -300;
  const float f = 0.25f;
  const double d = 1e10;
  uint16_t halves[2] = {0x3e00, 0}; /* 1.5 */
  double got;
  (void)state;
  ze_kernel_handle_t kernel = make_kernel("mix_arguments", 1, 1, 1);
  void *out = allocate(devices[0], sizeof got), *device_halves = allocate(devices[0], sizeof halves);
  OK(zeCommandListAppendMemoryCopy(list, device_halves, halves, sizeof halves, done, 0, NULL));
  finish();
  const void *values[] = {&out, &block, &c, &s, &f, &d, &device_halves};
  const size_t sizes[] = {sizeof out, sizeof block, 1, 2, 4, 8, sizeof device_halves};
  for (uint32_t i = 0; i < COUNT(values); ++i) OK(zeKernelSetArgumentValue(kernel, i, sizes[i], values[i]));
  OK(launch(kernel, 1, 1, 1));
  finish();
  read_back(&got, out, sizeof got);
  read_back(halves, device_halves, sizeof halves);
  assert_true(got == -15 - 7 - 300 + 0.25 + 1e10);
  assert_int_equal(halves[1], 0x4200); /* 3 */
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(context, out));
  OK(zeMemFree(context, device_halves));
}

static void test_native_binaries_run_again(void **state) {
  size_t size = 0;
  uint32_t got[3];
  ze_module_handle_t built = module;
  (void)state;
  OK(zeModuleGetNativeBinary(module, &size, NULL));
  uint8_t *bytes = malloc(size);
  OK(zeModuleGetNativeBinary(module, &size, bytes));
  ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                           .format = ZE_MODULE_FORMAT_NATIVE,
                           .inputSize = size,
                           .pInputModule = bytes};
  OK(zeModuleCreate(context, devices[0], &desc, &module, NULL));
  ze_kernel_handle_t kernel = make_kernel("count_items", 32, 1, 1);
  void *out = allocate(devices[0], sizeof got);
  fill_zero(out, sizeof got);
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
  OK(launch(kernel, 500, 1, 1));
  finish();
  read_back(got, out, sizeof got);
  assert_int_equal(got[0], 16000);
  assert_int_equal(got[1], 15999);
  assert_int_equal(got[2], 7);
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(context, out));
  OK(zeModuleDestroy(module));
  module = built;
  bytes[size / 2] ^= 1;
  ze_module_handle_t none;
  GIVES(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, zeModuleCreate(context, devices[0], &desc, &none, NULL));
  free(bytes);
}

static void test_events_hold_commands_back(void **state) {
  ze_event_handle_t gate = make_event(1);
  ze_kernel_timestamp_result_t times;
  int32_t one = 1, got = 0;
  (void)state;
  void *out = allocate(devices[0], sizeof one);
  OK(zeCommandListAppendMemoryCopy(list, out, &one, sizeof one, NULL, 1, &gate));
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, /* nothing puts it behind the other */
        zeCommandListAppendMemoryCopy(list, &got, out, sizeof got, done, 0, NULL));
  OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
  OK(zeCommandListAppendMemoryCopy(list, &got, out, sizeof got, done, 0, NULL));
  GIVES(ZE_RESULT_NOT_READY, zeEventQueryStatus(done));
  GIVES(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 1000));
  GIVES(ZE_RESULT_NOT_READY, zeEventQueryKernelTimestamp(done, &times));
  OK(zeEventHostSignal(gate));
  OK(zeEventHostSynchronize(done, FOREVER));
  assert_int_equal(got, 1);
  OK(zeEventQueryKernelTimestamp(done, &times));
  assert_true(times.global.kernelStart > 0 && times.global.kernelStart <= times.global.kernelEnd);
  OK(zeEventHostReset(done));
  GIVES(ZE_RESULT_NOT_READY, zeEventQueryStatus(done));
  OK(zeCommandListAppendEventReset(list, gate));
  OK(zeCommandListAppendBarrier(list, done, 0, NULL));
  finish();
  GIVES(ZE_RESULT_NOT_READY, zeEventQueryStatus(gate));
  OK(zeEventDestroy(gate));
  OK(zeMemFree(context, out));
}

static void test_recorded_lists_run_again(void **state) {
  ze_command_queue_handle_t queue;
  ze_command_list_handle_t recorded;
  ze_fence_handle_t fence;
  ze_event_handle_t gate = make_event(1);
  uint32_t got[3];
  const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
  const ze_group_count_t groups = {10, 1, 1};
  (void)state;
  ze_kernel_handle_t kernel = make_kernel("count_items", 8, 1, 1);
  void *out = allocate(devices[0], sizeof got), *other = NULL;
  fill_zero(out, sizeof got);
  OK(zeCommandQueueCreate(context, devices[0], &queue_desc, &queue));
  OK(zeCommandListCreate(context, devices[0], &list_desc, &recorded));
  OK(zeFenceCreate(queue, &fence_desc, &fence));
  OK(zeCommandListAppendWaitOnEvents(recorded, 1, &gate));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
  OK(zeCommandListAppendLaunchKernel(recorded, kernel, &groups, NULL, 0, NULL));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof other, &other)); /* the list has the old one */
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandQueueExecuteCommandLists(queue, 1, &recorded, NULL));
  OK(zeCommandListClose(recorded));
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendBarrier(recorded, NULL, 0, NULL));
  OK(zeCommandQueueExecuteCommandLists(queue, 1, &recorded, NULL));
  OK(zeCommandQueueExecuteCommandLists(queue, 1, &recorded, fence));
  GIVES(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
  GIVES(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue, 1000));
  OK(zeEventHostSignal(gate));
  OK(zeFenceHostSynchronize(fence, FOREVER));
  OK(zeCommandQueueSynchronize(queue, FOREVER));
  OK(zeFenceReset(fence));
  GIVES(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
  read_back(got, out, sizeof got);
  assert_int_equal(got[0], 160);
  GIVES(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
  OK(zeCommandListReset(recorded));
  OK(zeCommandListAppendBarrier(recorded, NULL, 0, NULL));
  GIVES(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandQueueDestroy(queue));
  OK(zeFenceDestroy(fence));
  OK(zeCommandListDestroy(recorded));
  OK(zeCommandQueueDestroy(queue));
  OK(zeKernelDestroy(kernel));
  OK(zeEventDestroy(gate));
  OK(zeMemFree(context, out));
}

static void test_memory_knows_its_kind(void **state) {
  ze_memory_allocation_properties_t found = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
  const ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  ze_device_handle_t owner;
  void *host, *shared, *base, *own = allocate(devices[1], 100);
  size_t size;
  (void)state;
  OK(zeMemAllocHost(context, &host_desc, 64, 0, &host));
  OK(zeMemAllocShared(context, &device_desc, &host_desc, 64, 4096, devices[0], &shared));
  assert_int_equal((uintptr_t)shared % 4096, 0);
  OK(zeMemGetAllocProperties(context, (char *)own + 99, &found, &owner));
  assert_int_equal(found.type, ZE_MEMORY_TYPE_DEVICE);
  assert_ptr_equal(owner, devices[1]);
  OK(zeMemGetAllocProperties(context, host, &found, NULL));
  assert_int_equal(found.type, ZE_MEMORY_TYPE_HOST);
  OK(zeMemGetAllocProperties(context, shared, &found, &owner));
  assert_int_equal(found.type, ZE_MEMORY_TYPE_SHARED);
  assert_ptr_equal(owner, devices[0]);
  OK(zeMemGetAllocProperties(context, &size, &found, &owner));
  assert_int_equal(found.type, ZE_MEMORY_TYPE_UNKNOWN);
  OK(zeMemGetAddressRange(context, (char *)own + 50, &base, &size));
  assert_ptr_equal(base, own);
  assert_int_equal(size, 100);
  GIVES(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, zeMemAllocDevice(context, &device_desc, 0, 0, devices[0], &base));
  GIVES(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, zeMemAllocDevice(context, &device_desc, 8, 24, devices[0], &base));
  GIVES(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
        zeMemAllocDevice(context, &device_desc, (size_t)8 << 30, 0, devices[1], &base));
  OK(zeMemFree(context, own));
  OK(zeMemFree(context, host));
  OK(zeMemFree(context, shared));
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context, shared));
}

/* ---- What it refuses --------------------------------------------------------------------------------------------- */

static void test_wrong_arguments_of_kernels(void **state) {
  uint32_t mine = 0;
  int rounds = 1;
  ze_kernel_handle_t none;
  (void)state;
  ze_kernel_handle_t kernel = make_kernel("rotate_items", 64, 2, 1);
  void *out = allocate(devices[0], 4 * 128), *others = allocate(devices[1], 8), *host = &mine;
  const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "no_such_kernel"};
  GIVES(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, zeKernelCreate(module, &desc, &none));
  GIVES(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, zeKernelSetGroupSize(kernel, 128, 1, 1));
  GIVES(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, zeKernelSetArgumentValue(kernel, 2, 4, &rounds));
  GIVES(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, zeKernelSetArgumentValue(kernel, 1, 8, &out));
  OK(zeKernelSetArgumentValue(kernel, 1, 4, &rounds));
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, launch(kernel, 1, 1, 1)); /* the other is not set */
  void *const wrong[] = {host, others, (char *)out + 4 * 128};
  for (size_t i = 0; i < COUNT(wrong); ++i) {
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof wrong[i], &wrong[i]));
    GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, launch(kernel, 1, 1, 1));
  }
  GIVES(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeModuleDestroy(module));
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(context, out));
  OK(zeMemFree(context, others));
}

static void test_wrong_commands(void **state) {
  char bytes[16] = {0};
  (void)state;
  void *out = allocate(devices[0], 8), *others = allocate(devices[1], 8);
  GIVES(ZE_RESULT_ERROR_INVALID_SIZE, zeCommandListAppendMemoryCopy(list, out, bytes, 9, NULL, 0, NULL));
  GIVES(ZE_RESULT_ERROR_INVALID_SIZE, zeCommandListAppendMemoryCopy(list, bytes, (char *)out + 4, 5, NULL, 0, NULL));
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendMemoryCopy(list, out, others, 8, NULL, 0, NULL));
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendMemoryFill(list, bytes, "", 1, 8, NULL, 0, NULL));
  GIVES(ZE_RESULT_ERROR_INVALID_SIZE, zeCommandListAppendMemoryFill(list, out, bytes, 3, 6, NULL, 0, NULL));
  GIVES(ZE_RESULT_ERROR_INVALID_SIZE, zeCommandListAppendBarrier(list, NULL, 1, NULL));
  GIVES(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeContextDestroy(context));
  GIVES(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeEventPoolDestroy(pool));
  const ze_event_desc_t taken = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 0},
                        beyond = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 8},
                        unnamed = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC, .index = 1};
  ze_event_handle_t event;
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCreate(pool, &taken, &event));
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCreate(pool, &beyond, &event));
  GIVES(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCreate(pool, &unnamed, &event));
  GIVES(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventQueryStatus(NULL));
  GIVES(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventCreate(pool, NULL, &event));
  OK(zeMemFree(context, out));
  OK(zeMemFree(context, others));
}

static void test_bad_modules_have_a_log(void **state) {
  const uint8_t bytes[] = "this is no SPIR-V at all";
  ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .inputSize = sizeof bytes, .pInputModule = bytes};
  ze_module_handle_t none;
  ze_module_build_log_handle_t log;
  char text[4096];
  size_t size = sizeof text;
  (void)state;
  GIVES(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, zeModuleCreate(context, devices[0], &desc, &none, &log));
  OK(zeModuleBuildLogGetString(log, &size, text));
  assert_true(size > 1 && strlen(text) == size - 1);
  OK(zeModuleBuildLogDestroy(log));
  desc.format = ZE_MODULE_FORMAT_NATIVE;
  GIVES(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, zeModuleCreate(context, devices[0], &desc, &none, NULL));
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static void check_text(const char *part) {
  ze_result_t (*describe)(ze_driver_handle_t, const char **);
  const char *text;
  OK(zeDriverGetExtensionFunctionAddress(driver, "zeDriverGetLastErrorDescription", (void **)&describe));
  OK(describe(driver, &text));
  if (!strstr(text, part)) fail_msg("'%s' does not say '%s'", text, part);
}

/* A fence tells of its own execution, as often as it is asked, and the queue goes on. */
static void test_fences_tell_of_their_execution(void **state) {
  enum { RUNS = 3, LATE = 2 /* KW_FAULT_LATE */ };
  ze_result_t (*order_fault)(ze_device_handle_t, uint32_t, uint64_t);
  uint32_t got = 0;
  ze_command_queue_handle_t queue;
  ze_command_list_handle_t recorded;
  ze_fence_handle_t fences[RUNS];
  const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
  const ze_group_count_t groups = {1, 1, 1};
  (void)state;
  ze_kernel_handle_t kernel = make_kernel("count_items", 1, 1, 1);
  void *out = allocate(devices[0], 12);
  fill_zero(out, 12);
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
  OK(zeDriverGetExtensionFunctionAddress(driver, "kwTestOrderFault", (void **)&order_fault));
  OK(order_fault(devices[0], LATE, 1));
  OK(zeCommandQueueCreate(context, devices[0], &queue_desc, &queue));
  OK(zeCommandListCreate(context, devices[0], &list_desc, &recorded));
  OK(zeCommandListAppendLaunchKernel(recorded, kernel, &groups, NULL, 0, NULL));
  OK(zeCommandListClose(recorded));
  for (int i = 0; i < RUNS; ++i) {
    OK(zeFenceCreate(queue, &fence_desc, &fences[i]));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &recorded, fences[i]));
    GIVES(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
          zeCommandQueueExecuteCommandLists(queue, 1, &recorded, fences[i]));
  }
  OK(zeFenceHostSynchronize(fences[2], FOREVER));
  for (int again = 0; again < 2; ++again) {
    GIVES(ZE_RESULT_ERROR_UNKNOWN, zeFenceQueryStatus(fences[0]));
    check_text("a test has ordered");
    OK(zeFenceQueryStatus(fences[1]));
  }
  OK(zeCommandQueueSynchronize(queue, FOREVER));
  read_back(&got, out, sizeof got);
  assert_int_equal(got, RUNS - 1);
  for (int i = 0; i < RUNS; ++i) OK(zeFenceDestroy(fences[i]));
  OK(zeCommandListDestroy(recorded));
  OK(zeCommandQueueDestroy(queue));
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(context, out));
}

/* alloc:2,launch:2,late:3,lost:5 */
static void test_faults(void **state) {
  const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  uint32_t got = 0;
  void *none;
  (void)state;
  ze_kernel_handle_t kernel = make_kernel("count_items", 1, 1, 1);
  void *out = allocate(devices[0], 12);
  fill_zero(out, 12);
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
  GIVES(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, zeMemAllocDevice(context, &desc, 8, 0, devices[0], &none));
  check_text("allocation 2");
  OK(launch(kernel, 1, 1, 1));
  finish();
  GIVES(ZE_RESULT_ERROR_UNKNOWN, launch(kernel, 1, 1, 1));
  check_text("launch 2");
  GIVES(ZE_RESULT_NOT_READY, zeEventQueryStatus(done));
  OK(launch(kernel, 1, 1, 1));
  GIVES(ZE_RESULT_ERROR_UNKNOWN, zeEventHostSynchronize(done, FOREVER));
  check_text("launch 3");
  OK(zeEventHostReset(done));
  OK(launch(kernel, 1, 1, 1));
  finish();
  read_back(&got, out, sizeof got);
  assert_int_equal(got, 2);
  GIVES(ZE_RESULT_ERROR_DEVICE_LOST, launch(kernel, 1, 1, 1));
  GIVES(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(done, FOREVER));
  GIVES(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListAppendBarrier(list, NULL, 0, NULL));
  GIVES(ZE_RESULT_ERROR_DEVICE_LOST, zeMemAllocDevice(context, &desc, 8, 0, devices[0], &none));
  ze_command_list_handle_t others = make_list(devices[1]);
  void *memory = allocate(devices[1], 8);
  OK(zeCommandListAppendMemoryFill(others, memory, "", 1, 8, NULL, 0, NULL));
  OK(zeCommandListDestroy(others));
  OK(zeMemFree(context, memory));
  OK(zeMemFree(context, out));
  OK(zeKernelDestroy(kernel));
  teardown(NULL);
  make_context();
  make_module();
  kernel = make_kernel("count_items", 1, 1, 1);
  out = allocate(devices[0], 12);
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
  OK(launch(kernel, 1, 1, 1));
  finish();
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(context, out));
}

int main(int argument_count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_devices_say_that_they_are_emulated),
      cmocka_unit_test(test_every_item_of_three_dimensions),
      cmocka_unit_test(test_barriers_and_local_memory_of_each_group),
      cmocka_unit_test(test_arguments_of_every_kind),
      cmocka_unit_test(test_native_binaries_run_again),
      cmocka_unit_test(test_events_hold_commands_back),
      cmocka_unit_test(test_recorded_lists_run_again),
      cmocka_unit_test(test_fences_tell_of_their_execution),
      cmocka_unit_test(test_memory_knows_its_kind),
      cmocka_unit_test(test_wrong_arguments_of_kernels),
      cmocka_unit_test(test_wrong_commands),
      cmocka_unit_test(test_bad_modules_have_a_log),
  };
  const struct CMUnitTest faults[] = {cmocka_unit_test(test_faults)};
  if (argument_count < 3) return 2;
  setenv("ZE_ENABLE_ALT_DRIVERS", arguments[1], 1);
  setenv("KEYWAY_ENGINE_DEVICES", "2", 1);
  module_path = arguments[2];
  if (argument_count == 3) return cmocka_run_group_tests(tests, setup, teardown);
  setenv("KEYWAY_ENGINE_FAULT", arguments[3], 1);
  return cmocka_run_group_tests(faults, setup, teardown);
}
