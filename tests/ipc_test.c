/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory by bytes (KW_MEM_IPC) between two processes over a test driver, as far as the suite does not see it: what is
 * opened is closed and what was freed is gone, each by the call that is for it. The build says which backend
 * (KEYWAY_IPC_*) and puts the driver in place.
 */
#include "child.h"

#include <keyway/interop.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZE = 5000, BEGIN = 100, END = 4999 };

/* Between the exporter and the importer. */
static int to_importer[2], to_exporter[2];

static void tell(const int pipe[2], const void *bytes, size_t size) {
  CHECK(write(pipe[1], bytes, size) == (ssize_t)size);
}

/* The other side may have ended instead. */
static void hear(const int pipe[2], void *bytes, size_t size) {
  CHECK(read(pipe[0], bytes, size) == (ssize_t)size);
}

static kw_device *open_device(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  kw_device *device;
  CHECK_OK(kw_init(&options));
  CHECK_OK(kw_plugin_load(KEYWAY_IPC_PLUGIN));
  CHECK_OK(kw_device_open(KEYWAY_IPC_KEY ":0", &device));
  return device;
}

static kw_tensor *create(kw_device *device, uint64_t flags) {
  const kw_memory_options options = {.struct_size = sizeof options, .flags = flags};
  kw_tensor *tensor = NULL;
  kw_status status = kw_tensor_create_in(device, &options, KW_U8, 1, (const int64_t[]){SIZE}, &tensor);
  CHECK((status == KW_OK) == (tensor != NULL));
  return tensor;
}

static void check_all(const kw_tensor *tensor, int value) {
  unsigned char bytes[SIZE];
  CHECK_OK(kw_tensor_read(tensor, bytes));
  for (size_t i = 0; i < END - BEGIN; i++) CHECK(bytes[i] == value);
}

static void write_all(kw_tensor *tensor, int value) {
  unsigned char bytes[SIZE];
  memset(bytes, value, sizeof bytes);
  CHECK_OK(kw_tensor_write(tensor, bytes));
}

static void check_refused(kw_device *device, const kw_external_memory *memory, const char *words) {
  kw_tensor *tensor = NULL;
  CHECK(kw_tensor_import(device, memory, NULL, NULL, &tensor) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), words);
}

static void import_from_another(void) {
  kw_external_memory memory, changed;
  kw_tensor *first, *second;
  char gone;
  kw_device *device = open_device();
  hear(to_importer, &memory, sizeof memory);
  changed = memory;
  changed.ipc[sizeof memory.ipc - 16] ^= 1; /* behind the driver's own bytes, which are still right */
  check_refused(device, &changed, "changed on their way");
  CHECK_OK(kw_tensor_import(device, &memory, NULL, NULL, &first));
  CHECK_OK(kw_tensor_import(device, &memory, NULL, NULL, &second));
  check_all(first, 1);
  kw_tensor_release(first);
  write_all(second, 2);
  kw_tensor_release(second);
  CHECK_OK(kw_memory_trim(device));
  tell(to_exporter, "r", 1);
  hear(to_importer, &gone, 1);
  check_refused(device, &memory, "they name no memory that is there");
  CHECK_OK(kw_device_close(device));
}

static void export_to_another(void) {
  kw_external_memory memory = {.struct_size = sizeof memory};
  kw_tensor *part;
  char released;
  kw_device *device = open_device();
  kw_tensor *tensor = create(device, KW_MEM_IPC);
  CHECK(tensor != NULL);
  write_all(tensor, 1);
  CHECK_OK(kw_tensor_slice(tensor, 0, BEGIN, END, 1, &part));
  CHECK_OK(kw_tensor_export(part, KW_HANDLE_IPC, &memory));
  tell(to_importer, &memory, sizeof memory);
  hear(to_exporter, &released, 1);
  check_all(part, 2);
  kw_tensor_release(part);
  kw_tensor_release(tensor);
  CHECK_OK(kw_memory_trim(device));
  tell(to_importer, "g", 1);
  CHECK_OK(kw_device_close(device));
}

static void share(void) {
  int status = -1;
  CHECK(pipe(to_importer) == 0 && pipe(to_exporter) == 0);
  const pid_t importer = fork();
  CHECK(importer >= 0);
  if (importer == 0) { /* each has no end of a pipe that it does not use: who waits for who has left goes on */
    close(to_importer[1]);
    close(to_exporter[0]);
    import_from_another();
    _exit(0);
  }
  close(to_importer[0]);
  close(to_exporter[1]);
  export_to_another();
  CHECK(waitpid(importer, &status, 0) == importer && status == 0);
}

/* Giving back fails in a line on stderr only. */
static void what_is_shared_is_given_back(void **state) {
  (void)state;
  run_child(share);
  assert_string_equal(read_text(scratch_path("stderr")), "");
}

static void refuse_both(void) {
  kw_device *device = open_device();
  CHECK(create(device, KW_MEM_IPC | KW_MEM_EXPORTABLE) == NULL);
  CHECK_CONTAINS(kw_error_message(), "not the same by both");
  CHECK_OK(kw_device_close(device));
}

static void the_same_by_both_is_refused(void **state) {
  (void)state;
  run_child(refuse_both);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_shared_is_given_back),
      cmocka_unit_test(the_same_by_both_is_refused),
  };
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
