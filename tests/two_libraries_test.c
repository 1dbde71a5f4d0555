/* SPDX-License-Identifier: Apache-2.0
 *
 * Two libraries in one process, an application's and a framework's, over one plugin file: both compute on its device
 * at once, each hears of its own errors only, and one goes on when the other has been unloaded. Linked to neither.
 */
#include <dlfcn.h>
#include <keyway/keyway.h>
#include <keyway/test.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, ROUNDS = 200 };

#define FUNCTIONS(X)       \
  X(kw_init)               \
  X(kw_plugin_load)        \
  X(kw_error_message)      \
  X(kw_error_clear)        \
  X(kw_device_open)        \
  X(kw_device_close)       \
  X(kw_device_order_fault) \
  X(kw_stream_create)      \
  X(kw_stream_destroy)     \
  X(kw_stream_synchronize) \
  X(kw_tensor_create)      \
  X(kw_tensor_describe)    \
  X(kw_tensor_write)       \
  X(kw_tensor_read)        \
  X(kw_tensor_release)     \
  X(kw_op_find)            \
  X(kw_op_call)

/* One of the two, by its functions. */
typedef struct library {
  int number;
  void *handle;
  kw_device *device;
#define KW_ROW(name) __typeof__(name) *name;
  FUNCTIONS(KW_ROW)
#undef KW_ROW
} library;

/* What a library keeps until the process ends counts as lost once the library is unloaded. */
int __lsan_is_turned_off(void);
__attribute__((visibility("default"))) int __lsan_is_turned_off(void) {
  return 1;
}

#define CHECK(l, condition) check(l, condition, #condition, __LINE__)
static void check(const library *l, bool holds, const char *text, int line) {
  if (holds) return;
  fprintf(stderr, "two_libraries_test.c:%d: library %d: not so: %s\n  message: %s\n", line, l->number, text,
          l->kw_error_message());
  exit(1);
}

static void load(library *l, int number, const char *path) {
  *l = (library){.number = number, .handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
  if (l->handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define KW_ROW(name) *(void **)&l->name = dlsym(l->handle, #name);
  FUNCTIONS(KW_ROW)
#undef KW_ROW
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY | KW_INIT_TEST};
  CHECK(l, l->kw_init(&options) == KW_OK);
  CHECK(l, l->kw_plugin_load(NPU_PLUGIN) == KW_OK);
  CHECK(l, l->kw_device_open("npu:0", &l->device) == KW_OK);
}

/* A sum whose numbers say whose it is. */
static kw_status add(const library *l, int round, kw_stream *stream) {
  float values[COUNT], got[COUNT];
  kw_tensor *x, *sum = NULL;
  for (int i = 0; i < COUNT; i++) values[i] = (float)(l->number * 1000000 + round * COUNT + i);
  CHECK(l, l->kw_tensor_create(l->device, KW_F32, 1, (const int64_t[]){COUNT}, &x) == KW_OK);
  CHECK(l, l->kw_tensor_write(x, values) == KW_OK);
  const kw_value argument = {.tag = KW_TAG_TENSOR, .u.tensor = l->kw_tensor_describe(x)};
  const kw_value arguments[] = {argument, argument};
  CHECK(l, l->kw_op_call(l->kw_op_find("add.Tensor"), stream, arguments, 2, &sum, 1) == KW_OK);
  const kw_status status = l->kw_stream_synchronize(stream);
  if (status == KW_OK) {
    CHECK(l, l->kw_tensor_read(sum, got) == KW_OK);
    for (int i = 0; i < COUNT; i++) CHECK(l, got[i] == 2 * values[i]);
  }
  l->kw_tensor_release(x);
  l->kw_tensor_release(sum);
  return status;
}

/* An allocation of a size that says whose it is. */
static void ask_too_much(const library *l, int round) {
  const int64_t size = (INT64_C(1) << 40) + l->number * 100000 + round;
  char digits[32];
  kw_tensor *tensor = NULL;
  snprintf(digits, sizeof digits, "%lld", (long long)size);
  CHECK(l, l->kw_tensor_create(l->device, KW_U8, 1, &size, &tensor) == KW_ERR_OUT_OF_MEMORY);
  CHECK(l, strstr(l->kw_error_message(), digits) != NULL);
}

/* Every third round fails late, every fifth at once; the other library's rounds fail at other times. */
static void *work(void *user) {
  const library *l = user;
  kw_stream *stream;
  CHECK(l, l->kw_stream_create(l->device, &stream) == KW_OK);
  for (int round = 0; round < ROUNDS; round++) {
    const bool late = round % 3 == l->number, now = round % 5 == l->number;
    if (late) CHECK(l, l->kw_device_order_fault(l->device, KW_FAULT_LATE, 1) == KW_OK);
    CHECK(l, add(l, round, stream) == (late ? KW_ERR_INTERNAL : KW_OK));
    if (late) CHECK(l, strstr(l->kw_error_message(), "a test has ordered this launch to fail") != NULL);
    l->kw_error_clear();
    if (now) ask_too_much(l, round);
    if (!now) CHECK(l, l->kw_error_message()[0] == '\0');
  }
  CHECK(l, l->kw_stream_destroy(stream) == KW_OK);
  return NULL;
}

static void work_at_once(library *libraries, int count) {
  pthread_t threads[2];
  for (int i = 0; i < count; i++) CHECK(&libraries[i], pthread_create(&threads[i], NULL, work, &libraries[i]) == 0);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

int main(void) {
  static library libraries[2];
  setenv("KEYWAY_THREADS", "1", 1); /* a library with threads of its own cannot be unloaded */
  load(&libraries[0], 0, FIRST_LIBRARY);
  load(&libraries[1], 1, SECOND_LIBRARY);
  CHECK(&libraries[1], libraries[0].kw_init != libraries[1].kw_init);
  work_at_once(libraries, 2);
  CHECK(&libraries[0], libraries[0].kw_device_close(libraries[0].device) == KW_OK);
  work_at_once(&libraries[1], 1);
#ifndef __SANITIZE_THREAD__ /* which runs exit handlers at exit only, those of what was unloaded, too */
  if (dlclose(libraries[0].handle) != 0 || dlopen(FIRST_LIBRARY, RTLD_NOW | RTLD_NOLOAD) != NULL) {
    fprintf(stderr, "the first library is not unloaded\n");
    return 1;
  }
#endif
  work_at_once(&libraries[1], 1);
  CHECK(&libraries[1], libraries[1].kw_device_close(libraries[1].device) == KW_OK);
  return 0;
}
