/* SPDX-License-Identifier: Apache-2.0
 *
 * The defects of drivers that this backend meets (quirk.c) and the dialect of kernels avoids (../gpu/README.md), each
 * in plain OpenCL: a driver that shows one no longer fails its test here, and what was done about it may go. Tests of a
 * driver that is not there are skipped; scripts/opencl.sh brings it.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MENDED "the driver does it right now: what meets the defect may go"

/* ---- What the tests share ---------------------------------------------------------------------------------------- */

/* A driver's first device, with a program of one kernel. */
typedef struct plain {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
} plain;

/* Nobody checks errors in between: what is not there fails when it is used. */
static bool plain_open(const char *platform, plain *out_plain) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl_int error;
  memset(out_plain, 0, sizeof *out_plain);
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return false;
  for (cl_uint i = 0; i < count && i < 16; ++i) {
    char name[128] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    if (strcmp(name, platform) != 0) continue;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &out_plain->device, NULL) != CL_SUCCESS) return false;
    out_plain->context = clCreateContext(NULL, 1, &out_plain->device, NULL, NULL, &error);
    if (error != CL_SUCCESS) return false;
    out_plain->queue = clCreateCommandQueue(out_plain->context, out_plain->device, 0, &error);
    return error == CL_SUCCESS;
  }
  return false;
}

static void plain_build(plain *p, const char *source, const char *kernel) {
  cl_int error;
  p->program = clCreateProgramWithSource(p->context, 1, &source, NULL, &error);
  assert_int_equal(error, CL_SUCCESS);
  assert_int_equal(clBuildProgram(p->program, 1, &p->device, "-cl-std=CL1.2", NULL, NULL), CL_SUCCESS);
  p->kernel = clCreateKernel(p->program, kernel, &error);
  assert_int_equal(error, CL_SUCCESS);
}

static cl_mem plain_buffer(const plain *p, size_t size, void *content) {
  cl_int error;
  cl_mem buffer =
      clCreateBuffer(p->context, CL_MEM_READ_WRITE | (content ? CL_MEM_COPY_HOST_PTR : 0), size, content, &error);
  assert_int_equal(error, CL_SUCCESS);
  return buffer;
}

static void plain_launch(const plain *p, size_t items) {
  cl_event event;
  assert_int_equal(clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL, &items, NULL, 0, NULL, &event), CL_SUCCESS);
  clFlush(p->queue);
  clWaitForEvents(1, &event);
  clReleaseEvent(event);
}

static void plain_close(plain *p) {
  if (p->kernel) clReleaseKernel(p->kernel);
  if (p->program) clReleaseProgram(p->program);
  clReleaseCommandQueue(p->queue);
  clReleaseContext(p->context);
}

static void need(const char *platform, plain *out_plain) {
  if (plain_open(platform, out_plain)) return;
  print_message("no driver \"%s\" here\n", platform);
  skip();
}

/* How this program ends that is told to do so: what the driver may not survive is done in a process of its own. */
static int end_of(const char *scenario) {
  int status = 0;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    execl("/proc/self/exe", "opencl_driver_test", scenario, (char *)NULL);
    _exit(127);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

/* ---- Intel's CPU runtime ----------------------------------------------------------------------------------------- */

#define INTEL "Intel(R) OpenCL"

/* A row of ones is added up, by sums of 16^k that are there already where such a block is wholly inside it. `size` is
 * an item's own; the vectoriser lets all items of a vector read what the first of them should. */
static const char *const add_up_source =
    "static long level_begins(long count, long size) {\n"
    "  long begin = 0;\n"
    "  for (long below = 16; below < size; below *= 16) begin += count / below;\n"
    "  return begin;\n"
    "}\n"
    "static int number(global const int *ones, global const int *sums, global const ulong *order, long wide,\n"
    "                  long count, long at, long size) {\n"
    "  if (size > 1) return sums[level_begins(count, size) + at / size];\n"
    "  return ones[(long)(wide ? order[2 * at + 1] : order[at] & 0xffffffffu)];\n"
    "}\n"
    "static long largest(long levels, long at, long end) {\n"
    "  long size = 1;\n"
    "  for (long level = 0; level < levels; ++level) {\n"
    "    if (at % (16 * size) != 0 || at + 16 * size > end) break;\n"
    "    size *= 16;\n"
    "  }\n"
    "  return size;\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(256, 1, 1)))\n"
    "void add_up(global const int *ones, global const int *sums, global const long *starts, global int *out,\n"
    "            long rows, long levels, global const ulong *order, long wide, long count) {\n"
    "  long row = get_global_id(0), at, end;\n"
    "  int total = 0;\n"
    "  if (row >= rows) return;\n"
    "  at = starts[row];\n"
    "  end = starts[row + 1];\n"
    "  while (at < end) {\n"
    "    long size = largest(levels, at, end);\n"
    "    int run = number(ones, sums, order, wide, count, at, size);\n"
    "    for (at += size; at < end && largest(levels, at, end) == size; at += size)\n"
    "      run += number(ones, sums, order, wide, count, at, size);\n"
    "    total += run;\n"
    "  }\n"
    "  out[row] = total;\n"
    "}\n";

static void intel_branches_for_its_neighbours(void **state) {
  (void)state;
  enum { ROWS = 32, MOST = ROWS * 60 };
  static cl_int ones[MOST], sums[MOST / 16], out[ROWS];
  static cl_long starts[ROWS + 1];
  static cl_ulong order[2 * MOST];
  plain p;
  need(INTEL, &p);
  for (int i = 0; i < MOST; ++i) ones[i] = 1;
  for (int i = 0; i < MOST / 16; ++i) sums[i] = 16;
  for (cl_ulong i = 0; i < MOST; ++i) order[i] = i;
  for (int row = 0; row < ROWS; ++row) starts[row + 1] = starts[row] + 1 + row * 37 % 59;
  plain_build(&p, add_up_source, "add_up");
  const cl_long rows = ROWS, levels = 2, wide = 0, count = starts[ROWS];
  const cl_mem buffers[] = {plain_buffer(&p, sizeof ones, ones), plain_buffer(&p, sizeof sums, sums),
                            plain_buffer(&p, sizeof starts, starts), plain_buffer(&p, sizeof out, NULL),
                            plain_buffer(&p, sizeof order, order)};
  for (cl_uint i = 0; i < 4; ++i) clSetKernelArg(p.kernel, i, sizeof buffers[i], &buffers[i]);
  clSetKernelArg(p.kernel, 4, sizeof rows, &rows);
  clSetKernelArg(p.kernel, 5, sizeof levels, &levels);
  clSetKernelArg(p.kernel, 6, sizeof buffers[4], &buffers[4]);
  clSetKernelArg(p.kernel, 7, sizeof wide, &wide);
  clSetKernelArg(p.kernel, 8, sizeof count, &count);
  plain_launch(&p, 256);
  clEnqueueReadBuffer(p.queue, buffers[3], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL);
  int wrong = 0;
  for (int row = 0; row < ROWS; ++row) wrong += out[row] != starts[row + 1] - starts[row];
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; ++i) clReleaseMemObject(buffers[i]);
  plain_close(&p);
  const char *mode = getenv("CL_CONFIG_CPU_VECTORIZER_MODE");
  if (mode && strcmp(mode, "1") == 0) {
    assert_int_equal(wrong, 0); /* nothing is vectorised */
  } else if (wrong == 0) {
    fail_msg(MENDED);
  }
}

static plain late;

static void call_late(void) {
  const size_t one = 1;
  clEnqueueNDRangeKernel(late.queue, late.kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
}

/* The handler is there before the driver's own, so it runs after them. */
static int scenario_late(void) {
  atexit(call_late);
  if (!plain_open(INTEL, &late)) return 1;
  plain_build(&late, "kernel void one(global int *x) { x[0] = 1; }", "one");
  const cl_mem buffer = plain_buffer(&late, sizeof(cl_int), NULL);
  clSetKernelArg(late.kernel, 0, sizeof buffer, &buffer);
  plain_launch(&late, 1);
  return 0;
}

static void intel_ends_before_the_process(void **state) {
  (void)state;
  plain p;
  need(INTEL, &p);
  plain_close(&p);
  if (!WIFSIGNALED(end_of("late"))) fail_msg(MENDED);
}

/* ---- Mesa's rusticl ---------------------------------------------------------------------------------------------- */

#define RUSTICL "rusticl"

typedef struct nested {
  cl_long of[4][16];
  cl_long length;
} nested;

static void rusticl_missizes_nested_arrays(void **state) {
  (void)state;
  static nested block;
  plain p;
  need(RUSTICL, &p);
  plain_build(&p,
              "typedef struct { long of[4][16]; long length; } nested;\n"
              "kernel void first(global long *out, nested block) { out[0] = block.of[0][0]; }\n",
              "first");
  const cl_int error = clSetKernelArg(p.kernel, 1, sizeof block, &block);
  plain_close(&p);
  if (error == CL_SUCCESS) fail_msg(MENDED);
}

static int scenario_index(void) {
  static cl_long block[65] = {[64] = 64};
  plain p;
  if (!plain_open(RUSTICL, &p)) return 1;
  plain_build(&p,
              "typedef struct { long of[64]; long length; } flat;\n"
              "kernel void sum(global long *out, flat block) {\n"
              "  long total = 0;\n"
              "  for (long i = 0; i < block.length; ++i) total += block.of[i];\n"
              "  out[0] = total;\n"
              "}\n",
              "sum");
  const cl_mem buffer = plain_buffer(&p, sizeof(cl_long), NULL);
  clSetKernelArg(p.kernel, 0, sizeof buffer, &buffer);
  clSetKernelArg(p.kernel, 1, sizeof block, block);
  plain_launch(&p, 1);
  return 0;
}

static void rusticl_dies_of_an_index(void **state) {
  (void)state;
  plain p;
  need(RUSTICL, &p);
  plain_close(&p);
  if (!WIFSIGNALED(end_of("index"))) fail_msg(MENDED);
}

/* Why a stream waits for its newest command's event. */
static void rusticl_finishes_early(void **state) {
  (void)state;
  enum { SIZE = 16 << 20 };
  plain p;
  need(RUSTICL, &p);
  char *bytes = calloc(1, SIZE);
  assert_non_null(bytes);
  const cl_mem buffer = plain_buffer(&p, SIZE, NULL);
  cl_int ended = CL_COMPLETE;
  for (int i = 0; i < 20 && ended == CL_COMPLETE; ++i) {
    cl_event event;
    clEnqueueWriteBuffer(p.queue, buffer, CL_FALSE, 0, SIZE, bytes, 0, NULL, &event);
    clFlush(p.queue);
    clFinish(p.queue);
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof ended, &ended, NULL);
    clWaitForEvents(1, &event);
    clReleaseEvent(event);
  }
  clReleaseMemObject(buffer);
  plain_close(&p);
  free(bytes);
  if (ended == CL_COMPLETE) fail_msg(MENDED);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "late") == 0) return scenario_late();
  if (argc > 1 && strcmp(argv[1], "index") == 0) return scenario_index();
  /* Code of one kind whatever the processor. The driver reads these when it is loaded. */
  setenv("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2", 0);
  setenv("CL_CONFIG_CPU_VECTORIZER_MODE", "4", 0);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intel_branches_for_its_neighbours),
      cmocka_unit_test(intel_ends_before_the_process),
      cmocka_unit_test(rusticl_missizes_nested_arrays),
      cmocka_unit_test(rusticl_dies_of_an_index),
      cmocka_unit_test(rusticl_finishes_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
