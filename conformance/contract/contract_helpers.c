/* SPDX-License-Identifier: Apache-2.0
 *
 * What contract tests share: failing and skipping, memory, patterns, work that keeps a stream busy.
 */
#include "contract_helpers.h"

#include "base/clock.h"
#include "base/worker_note.h"
#include "hold.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void kw_test_calls(const char *file, int line, const char *call) {
  static const char *const waits[] = {"synchronize", "destroy", "close"};
  char text[252];
  bool may_compile = true;
  for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) may_compile &= !strstr(call, waits[i]);
  snprintf(text, sizeof text, "%.200s [%s:%d]", call, file_name(file), line);
  kw_worker_note_set(may_compile ? KW_WORKER_CALLS : KW_WORKER_WAITS, text);
}

void kw_test_waits(const char *what) {
  kw_worker_note_set(KW_WORKER_WAITS, what);
}

void kw_test_fail(const char *file, int line, const char *format, ...) {
  kw_gate_check(); /* a gate that opened of itself: then this is none of the device's */
  char text[2048];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  size_t used = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
  snprintf(text + used, sizeof text - used, " [%s:%d]", file_name(file), line);
  kw_contract_set_failure(text);
  if (kw_contract.is_child) exit(1);
  _fail(file_name(file), line);
  abort(); /* _fail does not return */
}

void kw_test_skip(const char *format, ...) {
  static char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (kw_contract.is_child) {
    fprintf(stderr, "%s", text);
    exit(KW_CHILD_SKIPS);
  }
  kw_contract_skip(text);
  abort(); /* skip does not return */
}

void kw_test_status(const char *file, int line, const char *call, kw_status status, kw_status want) {
  kw_gate_check();
  if (status == want) return;
  const char *message = status == KW_OK ? "" : kw_error_message();
  kw_test_fail(file, line, "%s gave %d (%s), not %d (%s)%s%s", call, (int)status, kw_status_name(status), (int)want,
               kw_status_name(want), *message ? ": " : "", message);
}

void *kw_test_memory(size_t size) {
  void *memory = calloc(1, size ? size : 1);
  KW_CHECK(memory, "no host memory for %zu bytes", size);
  return memory;
}

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x) { /* the finaliser of SplitMix64 (Steele, Lea, Flood 2014) */
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static uint64_t word_at(uint64_t tag, uint64_t index) {
  return mix(mix(kw_contract.seed + tag * UINT64_C(0x9e3779b97f4a7c15)) + index * UINT64_C(0x9e3779b97f4a7c15));
}

void kw_test_pattern(void *bytes, size_t size, uint64_t tag) {
  unsigned char *out = bytes;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = word_at(tag, i / 8);
    memcpy(out + i, &word, size - i < 8 ? size - i : 8);
  }
}

void kw_test_floats(float *values, size_t count, uint64_t tag) {
  for (size_t i = 0; i < count; i++) values[i] = (float)((int)(word_at(tag, i) % 2001) - 1000);
}

void kw_test_same(const void *got, const void *want, size_t size, const char *what) {
  if (memcmp(got, want, size) == 0) return;
  const unsigned char *a = got, *b = want;
  size_t first = 0, wrong = 0;
  for (size_t i = size; i-- > 0;) {
    if (a[i] == b[i]) continue;
    first = i;
    wrong++;
  }
  KW_FAIL("%s: %zu of %zu bytes are wrong, the first at %zu: 0x%02x, not 0x%02x", what, wrong, size, first, a[first],
          b[first]);
}

kw_tensor *kw_test_bytes_on(kw_stream *stream, size_t size) {
  kw_tensor *tensor = NULL;
  int64_t shape = (int64_t)size;
  if (stream) {
    KW_CHECK_OK(kw_tensor_create_on(stream, KW_U8, 1, &shape, &tensor));
  } else {
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_U8, 1, &shape, &tensor));
  }
  return tensor;
}

kw_tensor *kw_test_bytes(size_t size, uint64_t tag) {
  kw_tensor *tensor = kw_test_bytes_on(NULL, size);
  void *bytes = kw_test_memory(size);
  kw_test_pattern(bytes, size, tag);
  KW_CHECK_OK(kw_tensor_write(tensor, bytes));
  free(bytes);
  return tensor;
}

void kw_test_expect_bytes(const kw_tensor *tensor, uint64_t tag, const char *what) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  size_t size = (size_t)ref->numel * kw_dtype_size(ref->dtype);
  unsigned char *got = kw_test_memory(2 * size), *want = got + size;
  kw_test_pattern(want, size, tag);
  memset(got, 0xcd, size);
  KW_CHECK_OK(kw_tensor_read(tensor, got));
  kw_test_same(got, want, size, what);
  free(got);
}

kw_tensor *kw_test_f32(size_t count, uint64_t tag) {
  kw_tensor *tensor = NULL;
  int64_t shape = (int64_t)count;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_F32, 1, &shape, &tensor));
  float *values = kw_test_memory(count * sizeof *values);
  kw_test_floats(values, count, tag);
  KW_CHECK_OK(kw_tensor_write(tensor, values));
  free(values);
  return tensor;
}

void kw_test_expect_f32(const kw_tensor *tensor, const float *want, size_t count, const char *what) {
  float *got = kw_test_memory(count * sizeof *got);
  KW_CHECK_OK(kw_tensor_read(tensor, got));
  for (size_t i = 0; i < count; i++) {
    KW_CHECK(got[i] == want[i], "%s: element %zu of %zu is %g, not %g", what, i, count, (double)got[i],
             (double)want[i]);
  }
  free(got);
}

bool kw_test_has(const char *name) {
  const kw_op *op = kw_op_find(name);
  return op && kw_op_support(op, kw_contract.device, KW_F32) != KW_SUPPORT_NONE;
}

void kw_test_need_op(const char *op) {
  if (!kw_test_has(op)) kw_test_skip("the device has no %s in f32", op);
}

void kw_test_need_energy(void) {
  kw_energy_window *window = NULL;
  kw_energy energy = {.struct_size = sizeof energy};
  kw_test_need(KW_NATIVE_ENERGY);
  kw_status status = kw_energy_begin(kw_contract.device, &window);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("%s", kw_error_message());
  KW_CHECK_STATUS(status, KW_OK);
  KW_CHECK_OK(kw_energy_end(window, &energy));
}

void kw_test_add(kw_stream *stream, kw_tensor *a, kw_tensor *b, kw_tensor **out) {
  kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  KW_CHECK_OK(kw_op_call(kw_op_find("add.Tensor"), stream, args, 2, out, 1));
}

void kw_test_usable(const char *after) {
  kw_tensor *tensor = kw_test_bytes(4099, 0x05ab1e);
  kw_test_expect_bytes(tensor, 0x05ab1e, after);
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_stream_synchronize(kw_stream_default(kw_contract.device)));
}

kw_memory_stats kw_test_stats(void) {
  kw_memory_stats stats = {.struct_size = sizeof stats};
  KW_CHECK_OK(kw_memory_get_stats(kw_contract.device, &stats));
  return stats;
}

void kw_test_need(uint64_t native) {
  static const struct {
    uint64_t bit;
    const char *name;
  } names[] = {
#define KW_SLOT_GROUP(group, NAME, required, native, text) {native, text},
#define KW_NATIVE_SLOT(native, group, slot, text) {native, text},
#include "slots.def"
  };
  uint64_t missing = native & ~kw_device_native(kw_contract.device);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (missing & names[i].bit) kw_test_skip("%s has no %s of its own", kw_contract.device_name, names[i].name);
  }
}

kw_stream *kw_test_stream(void) {
  kw_stream *stream = NULL;
  KW_CHECK_OK(kw_stream_create(kw_contract.device, &stream));
  KW_CHECK(stream, "kw_stream_create gave KW_OK and no stream");
  kw_gate_name_stream(stream);
  return stream;
}

kw_event *kw_test_event(void) {
  kw_event *event = NULL;
  KW_CHECK_OK(kw_event_create(kw_contract.device, &event));
  KW_CHECK(event, "kw_event_create gave KW_OK and no event");
  return event;
}

kw_device *kw_test_other_device(const char **out_name) {
  static char name[80];
  uint32_t count = 0;
  KW_CHECK_OK(kw_device_count(&count));
  for (uint32_t i = 0; i < count; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    kw_device *device = NULL;
    KW_CHECK_OK(kw_device_get_entry(i, &entry));
    if (kw_device_open(entry.name, &device) != KW_OK) continue;
    if (device != kw_contract.device) {
      snprintf(name, sizeof name, "%s", entry.name);
      *out_name = name;
      return device;
    }
    KW_CHECK_OK(kw_device_close(device));
  }
  return NULL;
}

kw_device_entry kw_test_entry(void) {
  kw_device_entry entry = {.struct_size = sizeof entry};
  uint32_t count = 0;
  KW_CHECK_OK(kw_device_count(&count));
  for (uint32_t i = 0; i < count; i++) {
    kw_device *device = NULL;
    KW_CHECK_OK(kw_device_get_entry(i, &entry));
    if (kw_device_open(entry.name, &device) != KW_OK) continue;
    KW_CHECK_OK(kw_device_close(device));
    if (device == kw_contract.device) return entry; /* the run holds it open, so the pointer still names it */
  }
  KW_FAIL("the open device %s is in no line of the device list", kw_contract.device_name);
}

/* ---- Work -----------------------------------------------------------------------------------------------------------
 */

void kw_test_slow_flag(void *user) {
  volatile uint64_t sink = 0;
  for (uint64_t i = 0; i < 4000000; i++) sink = mix(sink + i);
  atomic_store((atomic_int *)user, 1);
}

void kw_test_limits_last(kw_status (*wait)(void *object, uint64_t limit), void *object, const char *what) {
  enum { WAITS = 20 };
  for (int i = 0; i < WAITS; i++) { /* a busy machine takes longer now and then; never less */
    const uint64_t limit = i == 0 ? 20000000 : 900000;
    const double begun = kw_clock_seconds();
    KW_CHECK_STATUS(wait(object, limit), KW_ERR_TIMEOUT);
    const double waited = kw_clock_seconds() - begun; /* half of it: clocks may differ, and be coarse */
    KW_CHECK(waited > 0.5e-9 * (double)limit,
             "a wait with a limit of %llu us for %s that is held up took less than half",
             (unsigned long long)limit / 1000, what);
  }
}

void kw_test_busy(kw_stream *stream) {
  enum { SIZE = 64, ROUNDS = 40 };
  unsigned char *bytes = kw_test_memory(2 * SIZE);
  kw_tensor *tensor = kw_test_bytes_on(stream, SIZE);
  kw_gate_expect(stream);
  for (int i = 0; i < ROUNDS; i++) {
    kw_test_pattern(bytes, SIZE, (uint64_t)i);
    KW_CHECK_OK(kw_tensor_write_async(tensor, bytes, stream));
    KW_CHECK_OK(kw_tensor_read_async(tensor, bytes + SIZE, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    kw_test_same(bytes + SIZE, bytes, SIZE, "a round trip on a stream");
    sched_yield();
  }
  kw_gate_expect(NULL);
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_stream_synchronize(stream));
  free(bytes);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

typedef struct test_thread {
  pthread_t thread;
  pthread_barrier_t *start;
  kw_test_body body;
  void *user;
  int index;
  int failed;
  char text[512];
} test_thread;

static void *thread_main(void *user) {
  test_thread *self = user;
  pthread_barrier_wait(self->start);
  self->failed = self->body(self->index, self->user, self->text, sizeof self->text);
  return NULL;
}

void kw_test_run_threads(kw_test_body body, void *user) {
  static test_thread threads[KW_TEST_THREADS];
  static pthread_barrier_t start;
  KW_NEED(pthread_barrier_init(&start, NULL, KW_TEST_THREADS) == 0, "barriers");
  for (int i = 0; i < KW_TEST_THREADS; i++) {
    threads[i] = (test_thread){.start = &start, .body = body, .user = user, .index = i};
    KW_NEED(pthread_create(&threads[i].thread, NULL, thread_main, &threads[i]) == 0, "threads");
  }
  for (int i = 0; i < KW_TEST_THREADS; i++) pthread_join(threads[i].thread, NULL);
  pthread_barrier_destroy(&start);
  for (int i = 0; i < KW_TEST_THREADS; i++) {
    KW_CHECK(!threads[i].failed, "thread %d of %d: %s", i, KW_TEST_THREADS, threads[i].text);
  }
}

int kw_test_note(kw_status status, const char *what, char *text, size_t size) {
  if (status == KW_OK) return 0;
  snprintf(text, size, "%s: %s: %s", what, kw_status_name(status), kw_error_message());
  return 1;
}

int kw_test_count_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  int count = 0;
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* ---- Around a test ----------------------------------------------------------------------------------------------- */

int kw_test_setup(void **state) {
  (void)state;
  kw_error_clear();
  kw_gate_begin_test();
  return 0;
}

int kw_test_teardown(void **state) {
  (void)state;
  return kw_gate_end_test() ? 0 : -1;
}
