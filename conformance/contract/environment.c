/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite environment: a plugin leaves the floating-point environment, signal handlers and mask, locale, working
 * directory, environment variables and umask of the process as they are, from its loading to the exit, on every thread
 * that calls into it; and writes nothing to stdout or stderr.
 */
#include "call.h"
#include "child.h"
#include "guest.h"
#include "scenarios.h"
#include "surroundings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <keyway/plugin.h>

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* The library's own constructors and those of what it needs, its query and its probe: floating point stays as it is.
 * Linking with -ffast-math adds a constructor that flushes subnormals in whatever process loads the library. */
int kw_child_fast_math(void) {
  void *library = dlopen(kw_contract.plugin_path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s", dlerror());
    return 1;
  }
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  kw_query_info host = {.struct_size = sizeof host,
                        .abi_min = KW_ABI_VERSION_MIN,
                        .abi_max = KW_ABI_VERSION,
                        .host_version = kw_version()};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL, *oddity = kw_float_oddity(kw_float_control());
  const char *step = "loading";
  if (!oddity && query && query(&host, &desc, &reason) == KW_OK && desc) {
    desc->probe(&reason);
    oddity = kw_float_oddity(kw_float_control());
    step = "query or probe of";
  }
  if (!oddity) return 0;
  fprintf(stderr, "after %s %s %s. Link it, and the libraries that it needs, without -ffast-math", step,
          kw_contract.plugin_path, oddity);
  return 1;
}

void kw_contract_environment_no_fast_math(void **state) {
  (void)state;
  kw_test_child("fast_math");
}

/* Loading the library changed nothing else of the process. Keyway compares before and after in the helper process that
 * opens a plugin first, and remarks on a difference in the load report. */
void kw_contract_environment_loading_changes_nothing(void **state) {
  (void)state;
  kw_plugin_report report = {.struct_size = sizeof report};
  KW_CHECK_OK(kw_plugin_get_report(kw_test_entry().plugin, &report));
  KW_CHECK(!strstr(report.reason, "loading it changes"), "%s: %s", report.path, report.reason);
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

/* What the steps share. */
typedef struct visit {
  kw_device *device;
  kw_stream *stream;
  kw_event *event, *later;
  kw_tensor *tensor, *other;
  unsigned char bytes[1 << 16];
} visit;

static kw_status do_open(visit *v) {
  return kw_device_open(kw_contract.device_name, &v->device);
}
static kw_status do_info(visit *v) {
  kw_device_info info = {.struct_size = sizeof info};
  return kw_device_get_info(v->device, &info);
}
static kw_status do_stream_create(visit *v) {
  return kw_stream_create(v->device, &v->stream);
}
static kw_status do_alloc(visit *v) {
  int64_t shape = sizeof v->bytes / sizeof(float);
  kw_status status = kw_tensor_create_on(v->stream, KW_F32, 1, &shape, &v->tensor);
  return status != KW_OK ? status : kw_tensor_create_on(v->stream, KW_F32, 1, &shape, &v->other);
}
static kw_status do_write(visit *v) {
  return kw_tensor_write_async(v->tensor, v->bytes, v->stream);
}
static kw_status do_op(visit *v, const char *name) { /* other = tensor, or with itself */
  kw_value args[] = {kw_arg_tensor(v->tensor), kw_arg_tensor(v->tensor)};
  return kw_test_has(name) ? kw_op_call(kw_op_find(name), v->stream, args, 2, &v->other, 1) : KW_OK;
}
static kw_status do_add(visit *v) {
  return do_op(v, "add.Tensor");
}
static kw_status do_default_stream(visit *v) {
  kw_value args[] = {kw_arg_tensor(v->other), kw_arg_scalar_f64(0.5)};
  kw_status status = kw_stream_synchronize(v->stream);
  if (status == KW_OK && kw_test_has("fill_.Scalar")) {
    status = kw_op_call(kw_op_find("fill_.Scalar"), NULL, args, 2, NULL, 0);
  }
  return status == KW_OK ? kw_stream_synchronize(kw_stream_default(v->device)) : status;
}
static kw_status do_plan(visit *v) {
  if (!kw_test_has("mul.Tensor")) return KW_OK;
  kw_value args[] = {kw_arg_tensor(v->tensor), kw_arg_tensor(v->tensor)};
  kw_plan *plan = NULL;
  kw_status status = kw_plan_make(kw_op_find("mul.Tensor"), v->stream, args, 2, &v->other, 1, NULL, &plan);
  if (status == KW_OK) status = kw_plan_run(plan, v->stream, args, 2, &v->other, 1);
  kw_plan_destroy(plan);
  return status;
}
static kw_status do_event_create(visit *v) {
  kw_status status = kw_event_create(v->device, &v->event);
  return status != KW_OK ? status : kw_event_create(v->device, &v->later);
}
static kw_status do_record(visit *v) {
  kw_status status = kw_event_record(v->event, v->stream);
  return status != KW_OK ? status : kw_event_record(v->later, v->stream);
}
static kw_status do_wait_event(visit *v) {
  return kw_stream_wait_event(kw_stream_default(v->device), v->event);
}
static void nothing(void *user) {
  (void)user;
}
static kw_status do_call_host(visit *v) {
  return kw_stream_call_host(v->stream, nothing, NULL);
}
static kw_status do_query(visit *v) {
  kw_status status = kw_stream_query(v->stream);
  return status == KW_ERR_NOT_READY ? KW_OK : status;
}
static kw_status do_event_query(visit *v) {
  kw_status status = kw_event_query(v->event);
  return status == KW_ERR_NOT_READY ? KW_OK : status;
}
static kw_status do_read(visit *v) {
  return kw_tensor_read_async(v->tensor, v->bytes, v->stream);
}
static kw_status do_event_synchronize(visit *v) {
  return kw_event_synchronize(v->later);
}
static kw_status do_synchronize(visit *v) {
  return kw_stream_synchronize(v->stream);
}
static kw_status do_elapsed(visit *v) {
  uint64_t ns = 0;
  kw_status status = kw_event_elapsed(v->event, v->later, &ns);
  return status == KW_ERR_UNSUPPORTED ? KW_OK : status;
}
static kw_status do_failing(visit *v) { /* the way out of a refused allocation */
  int64_t shape = INT64_C(1) << 46;
  kw_tensor *huge = NULL;
  return kw_tensor_create_on(v->stream, KW_U8, 1, &shape, &huge) == KW_OK ? KW_ERR_INTERNAL : KW_OK;
}
static kw_status do_event_destroy(visit *v) {
  kw_status status = kw_event_destroy(v->event);
  return status != KW_OK ? status : kw_event_destroy(v->later);
}
static kw_status do_release(visit *v) {
  kw_tensor_release(v->tensor);
  kw_tensor_release(v->other);
  return kw_memory_trim(v->device);
}
static kw_status do_stream_destroy(visit *v) {
  return kw_stream_destroy(v->stream);
}
static kw_status do_device_synchronize(visit *v) {
  return kw_device_synchronize(v->device);
}
static kw_status do_close(visit *v) {
  return kw_device_close(v->device);
}

static const struct {
  const char *what;
  kw_status (*action)(visit *v);
} steps[] = {
    {"opening the device", do_open},
    {"asking for its info", do_info},
    {"creating a stream", do_stream_create},
    {"allocating", do_alloc},
    {"copying to the device", do_write},
    {"launching a kernel", do_add},
    {"launching a kernel on the default stream", do_default_stream},
    {"making and running a plan", do_plan},
    {"creating events", do_event_create},
    {"recording events", do_record},
    {"making a stream wait for an event", do_wait_event},
    {"enqueueing a host function", do_call_host},
    {"querying a stream", do_query},
    {"querying an event", do_event_query},
    {"copying from the device", do_read},
    {"waiting for an event", do_event_synchronize},
    {"waiting for a stream", do_synchronize},
    {"measuring the time between events", do_elapsed},
    {"failing to allocate", do_failing},
    {"destroying events", do_event_destroy},
    {"freeing memory", do_release},
    {"destroying a stream", do_stream_destroy},
    {"waiting for the device", do_device_synchronize},
    {"closing the device", do_close},
};

/* Goes through all steps and compares after each. 0, or 1 with the reason in `text`. Usable on any thread. */
static int visit_device(char *text, size_t size) {
  visit *v = calloc(1, sizeof *v);
  kw_surroundings *before = malloc(2 * sizeof *before), *after = before + 1;
  if (!v || !before) return snprintf(text, size, "no memory"), 1;
  fexcept_t raised; /* what the thread had raised itself, which is no fault of the device */
  fegetexceptflag(&raised, FE_ALL_EXCEPT);
  feraiseexcept(FE_DIVBYZERO); /* a flag that stays raised */
  kw_surroundings_take(before);
  int failed = 0;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !failed; i++) {
    char difference[400];
    if (kw_test_note(steps[i].action(v), steps[i].what, text, size)) {
      failed = 1;
      break;
    }
    kw_surroundings_take(after);
    failed = kw_surroundings_differ(before, after, difference, sizeof difference);
    kw_surroundings_free(after);
    if (failed) snprintf(text, size, "%s changed %s", steps[i].what, difference);
  }
  kw_surroundings_free(before);
  free(before);
  free(v);
  fesetexceptflag(&raised, FE_ALL_EXCEPT);
  return failed;
}

/* Floating point as a slot may find it on a thread of the application; saved to be set back. */
static void choose_float(int rounding, bool flush, fenv_t *out_saved) {
  fegetenv(out_saved);
  fesetround(rounding);
#if defined(__x86_64__)
  if (flush) __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#elif defined(__aarch64__)
  fenv_t flushing;
  fegetenv(&flushing);
  flushing.__fpcr |= 1u << 24; /* FZ */
  if (flush) fesetenv(&flushing);
#else
  (void)flush;
#endif
}

static int visit_with(int rounding, bool flush, char *text, size_t size) {
  fenv_t saved;
  choose_float(rounding, flush, &saved);
  int failed = visit_device(text, size);
  fesetenv(&saved);
  return failed;
}

/* No slot changes the process or the thread that calls it. */
void kw_contract_environment_process_kept(void **state) {
  (void)state;
  char text[600] = "";
  const char *oddity = kw_float_oddity(kw_float_control());
  KW_CHECK(!oddity, "before this test called anything, %s: a plugin that this process loaded did it", oddity);
  KW_CHECK(visit_device(text, sizeof text) == 0, "%s", text);
}

/* Nor does it set back what the thread has chosen: another rounding, flushing. */
void kw_contract_environment_choices_kept(void **state) {
  (void)state;
  char text[600] = "";
  static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (int i = 0; i < 8; i++) {
    KW_CHECK(visit_with(roundings[i / 2], i & 1, text, sizeof text) == 0, "%s", text);
  }
}

static int visit_body(int index, void *user, char *text, size_t size) {
  (void)user;
  static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  const char *oddity = kw_float_oddity(kw_float_control());
  if (oddity) {
    snprintf(text, size, "on a thread started after the plugin was loaded %s", oddity);
    return 1;
  }
  for (int round = 0; round < 3; round++) {
    if (visit_with(roundings[(index + round) % 4], (index + round) % 2, text, size)) return 1;
  }
  return 0;
}

/* The same on threads of the application, several at once, each with its own choice. */
void kw_contract_environment_threads_kept(void **state) {
  (void)state;
  kw_test_run_threads(visit_body, NULL);
}

/* a * b on a stream, made by a thread with this choice; the products are inexact and some subnormal. */
static void multiply(int rounding, bool flush, bool own_stream, const float *a, const float *b, float *product) {
  enum { COUNT = 2048 };
  const int64_t shape = COUNT;
  fenv_t saved;
  choose_float(rounding, flush, &saved);
  kw_stream *stream = own_stream ? kw_test_stream() : NULL;
  kw_tensor *x = NULL, *y = NULL, *out = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_F32, 1, &shape, &x));
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_F32, 1, &shape, &y));
  KW_CHECK_OK(kw_tensor_write(x, a));
  KW_CHECK_OK(kw_tensor_write(y, b));
  kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  KW_CHECK_OK(kw_op_call(kw_op_find("mul.Tensor"), stream, args, 2, &out, 1));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  fesetenv(&saved);
  KW_CHECK_OK(kw_tensor_read(out, product));
  kw_tensor_release(x);
  kw_tensor_release(y);
  kw_tensor_release(out);
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* What a kernel computes does not depend on how the thread that launches it, or created its stream, rounds or flushes.
 */
void kw_contract_environment_results_do_not_depend(void **state) {
  (void)state;
  enum { COUNT = 2048 };
  kw_test_need_op("mul.Tensor");
  float *a = kw_test_memory(4 * COUNT * sizeof *a), *b = a + COUNT, *want = b + COUNT, *got = want + COUNT;
  kw_test_fill(KW_F32, a, COUNT, 1);
  kw_test_fill(KW_F32, b, COUNT, 2);
  for (int i = 0; i < COUNT; i += 4) a[i] *= FLT_MIN;
  static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (int own_stream = 0; own_stream < 2; own_stream++) {
    multiply(FE_TONEAREST, false, own_stream, a, b, want);
    for (int i = 1; i < 8; i++) {
      multiply(roundings[i / 2], i & 1, own_stream, a, b, got);
      char what[160];
      snprintf(what, sizeof what, "a product on %s by a thread that %s%s, against one that does neither",
               own_stream ? "a stream created" : "the default stream, launched",
               i / 2 ? "rounds otherwise" : "flushes subnormals", i / 2 && i & 1 ? " and flushes subnormals" : "");
      kw_test_same(got, want, COUNT * sizeof *got, what);
    }
  }
  free(a);
}

static void note_float_control(void *user) {
  *(uint64_t *)user = kw_float_control();
}

/* A function of the application that a plugin's thread runs finds floating point as in a fresh process, whatever the
 * thread that enqueued it has chosen. */
void kw_contract_environment_host_function_float(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  static uint64_t seen[2];
  for (int i = 0; i < 2; i++) {
    fenv_t saved;
    fegetenv(&saved);
    if (i == 1) fesetround(FE_UPWARD);
    kw_stream *stream = kw_test_stream();
    seen[i] = ~UINT64_C(0);
    KW_CHECK_OK(kw_stream_call_host(stream, note_float_control, &seen[i]));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    KW_CHECK_OK(kw_stream_destroy(stream));
    fesetenv(&saved);
    const char *oddity = kw_float_oddity(seen[i]);
    KW_CHECK(!oddity, "in a function given to kw_stream_call_host%s, %s (control state 0x%llx)",
             i ? " by a thread that rounds upward" : "", oddity, (unsigned long long)seen[i]);
  }
}

/* ---- A whole life ------------------------------------------------------------------------------------------------ */

static kw_surroundings at_start, now;
static bool arrived; /* everything before the exit was as it should be */

static void compare_at_exit(void) {
  char text[400];
  if (!arrived) return;
  kw_surroundings_take(&now);
  if (!kw_surroundings_differ(&at_start, &now, text, sizeof text)) return;
  fprintf(stderr, "after all exit handlers that came with Keyway and the plugin, it changed %s", text);
  fflush(stderr);
  _exit(1);
}

static void compare_now(const char *what) {
  char text[400];
  kw_surroundings_take(&now);
  KW_CHECK(!kw_surroundings_differ(&at_start, &now, text, sizeof text), "%s changed %s", what, text);
  kw_surroundings_free(&now);
}

int kw_child_lifetime(void) {
  kw_surroundings_take(&at_start);
  atexit(compare_at_exit); /* the first, so it runs last */
  char text[600] = "";
  kw_child_load_plugin();
  compare_now("loading the plugin");
  kw_surroundings_free(&at_start);
  kw_surroundings_choose_directory();
  kw_surroundings_take(&at_start);
  KW_CHECK_OK(kw_device_open(kw_contract.device_name, &kw_contract.device));
  compare_now("opening the device");
  KW_CHECK(visit_device(text, sizeof text) == 0, "%s", text);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  compare_now("closing the device for the last time");
  arrived = true;
  return 0;
}

/* From before the plugin is loaded until after it was shut down at exit. */
void kw_contract_environment_whole_life(void **state) {
  (void)state;
  kw_test_child("lifetime");
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

int kw_child_quiet(void) {
  static kw_host_api host;
  const kw_guest g = kw_guest_load();
  const kw_init_info init = {.struct_size = sizeof init};
  void *plugin = NULL;
  host = kw_guest_host_for(&g);
  KW_GUEST_OK("while its output is caught", g.desc->init(&host, &init, &plugin));
  kw_guest_use_device(&g, plugin, 1, "while its output is caught");
  kw_guest_use_device(&g, plugin, 2, "opened again while its output is caught");
  KW_GUEST_OK("while its output is caught", g.desc->shutdown(plugin));
  return 0;
}

/* A plugin does not write to stdout or stderr, from its loading to the exit; it logs through the host. What Keyway
 * itself does here may be logged to stderr, so all that goes through Keyway is held against stdout alone. */
void kw_contract_environment_stdout_untouched(void **state) {
  (void)state;
  char reason[600] = "", text[200] = "";
  fflush(stdout);
  int saved = dup(STDOUT_FILENO), file = memfd_create("stdout", MFD_CLOEXEC);
  KW_NEED(saved >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0, "descriptors");
  int failed = visit_device(reason, sizeof reason);
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  ssize_t size = pread(file, text, sizeof text - 1, 0);
  close(file);
  KW_CHECK(!failed, "%s", reason);
  KW_CHECK(size == 0, "the device wrote to stdout: \"%.200s\"; use host->log", text);
  kw_test_quiet_child("quiet");
}
