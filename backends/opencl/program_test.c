/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs: what a first call compiles; and on disk, of a platform that keeps none itself. PoCL does, so it goes by
 * another name here.
 */
#include "test_host.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static bool renamed;
static int from_source, from_binary;
static char defines[256]; /* the beginning of the last program from source */

static void *real(const char *name) {
  return dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), name);
}

/* The plugin's calls of these three come here first. */
__attribute__((visibility("default"))) cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                            cl_platform_info what, size_t size,
                                                                            void *value, size_t *out_size) {
  cl_int(CL_API_CALL * function)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
  *(void **)&function = real("clGetPlatformInfo");
  cl_int error = function(platform, what, size, value, out_size);
  if (renamed && what == CL_PLATFORM_NAME && value) *(char *)value = 'X';
  return error;
}

__attribute__((visibility("default"))) cl_program CL_API_CALL clCreateProgramWithSource(
    cl_context context, cl_uint count, const char **strings, const size_t *lengths, cl_int *out_error) {
  cl_program(CL_API_CALL * function)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
  *(void **)&function = real("clCreateProgramWithSource");
  ++from_source;
  snprintf(defines, sizeof defines, "%s", strings[0]);
  return function(context, count, strings, lengths, out_error);
}

__attribute__((visibility("default"))) cl_program CL_API_CALL
clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
                          const unsigned char **binaries, cl_int *out_statuses, cl_int *out_error) {
  cl_program(CL_API_CALL * function)(cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **,
                                     cl_int *, cl_int *);
  *(void **)&function = real("clCreateProgramWithBinary");
  ++from_binary;
  return function(context, count, devices, lengths, binaries, out_statuses, out_error);
}

static char directory[64];

static int make_directory(void **state) {
  (void)state;
  strcpy(directory, "/tmp/program_test_XXXXXX");
  return mkdtemp(directory) ? setenv("KEYWAY_MODULE_CACHE", directory, 1) : -1;
}

static int remove_directory(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  return system(command);
}

/* One life of the plugin: opens it, negates, closes it. */
static void negate(void) {
  void *state = NULL;
  from_source = from_binary = 0;
  assert_int_equal(test_host_start(&state), 0);
  test_host *host = state;
  const float numbers[] = {1, -2, 3};
  float got[3];
  kw_tensor_ref in = test_tensor(host, KW_F32, 1, (int64_t[]){3}, numbers);
  kw_tensor_ref out = test_tensor(host, KW_F32, 1, (int64_t[]){3}, NULL);
  test_call(host, "neg", KW_F32, (kw_value[]){test_tensor_arg(&in)}, 1, &out);
  test_read(host, &out, got, sizeof got);
  for (int i = 0; i < 3; ++i) assert_true(got[i] == -numbers[i]);
  test_tensor_free(host, &in);
  test_tensor_free(host, &out);
  assert_int_equal(test_host_stop(&state), 0);
}

/* The path of the one kept program, or NULL. */
static const char *kept_file(void) {
  static char path[400];
  const char *found = NULL;
  DIR *list = opendir(directory);
  assert_non_null(list);
  for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    assert_null(found);
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    found = path;
  }
  closedir(list);
  return found;
}

static void a_driver_that_keeps_programs_is_left_to_it(void **state) {
  (void)state;
  renamed = false;
  negate();
  assert_int_equal(from_source, 1);
  assert_null(kept_file());
}

static void programs_come_back(void **state) {
  (void)state;
  renamed = true;
  negate();
  assert_int_equal(from_source, 1);
  assert_non_null(kept_file());
  negate();
  assert_int_equal(from_source, 0);
  assert_int_equal(from_binary, 1);
}

static void a_damaged_program_never_reaches_the_driver(void **state) {
  (void)state;
  renamed = true;
  negate();
  const char *path = kept_file();
  FILE *file = fopen(path, "r+");
  assert_non_null(file);
  assert_int_equal(fseek(file, -9, SEEK_END), 0);
  int last = fgetc(file);
  assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
  fputc(last ^ 4, file);
  fclose(file);
  negate();
  assert_int_equal(from_binary, 0);
  assert_int_equal(from_source, 1);
  assert_int_equal(truncate(path, 1000), 0);
  negate();
  assert_int_equal(from_binary, 0);
  assert_int_equal(from_source, 1);
  negate(); /* it was mended */
  assert_int_equal(from_binary, 1);
}

static void call_of_one(test_host *host, const char *op) {
  const float numbers[] = {1, 2, 3};
  kw_tensor_ref in = test_tensor(host, KW_F32, 1, (int64_t[]){3}, numbers);
  kw_tensor_ref out = test_tensor(host, KW_F32, 1, (int64_t[]){3}, NULL);
  test_call(host, op, KW_F32, (kw_value[]){test_tensor_arg(&in)}, 1, &out);
  test_tensor_free(host, &in);
  test_tensor_free(host, &out);
}

/* Of functions, which take long, the one that is called; of what is quickly compiled all together. */
static void a_first_call_compiles_what_it_calls(void **state) {
  (void)state;
  void *fixture = NULL;
  from_source = 0;
  assert_int_equal(test_host_start(&fixture), 0);
  test_host *host = fixture;
  call_of_one(host, "neg");
  const bool has_vectors = strstr(defines, "#define KW_VECTOR_BYTES 0\n") == NULL;
  assert_null(strstr(defines, "KW_OPCODE"));
  call_of_one(host, "abs");
  assert_int_equal(from_source, 1);
  call_of_one(host, "exp");
  assert_int_equal(from_source, 2);
  assert_int_equal(strstr(defines, "#define KW_OPCODE 0\n") != NULL, has_vectors);
  call_of_one(host, "log");
  assert_int_equal(from_source, has_vectors ? 3 : 2);
  call_of_one(host, "exp");
  assert_int_equal(from_source, has_vectors ? 3 : 2);
  assert_int_equal(test_host_stop(&fixture), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_first_call_compiles_what_it_calls),
      cmocka_unit_test(a_driver_that_keeps_programs_is_left_to_it),
      cmocka_unit_test(programs_come_back),
      cmocka_unit_test(a_damaged_program_never_reaches_the_driver),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
