/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite abi, the process: a plugin leaves the floating-point environment, signal handlers, locale, working directory,
 * environment variables and umask as they are, and writes nothing to stdout.
 */
#include "contract_helpers.h"

#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A bit of everything a device does. */
static void use_device(void) {
  enum { SIZE = 1 << 20 };
  unsigned char *bytes = kw_test_memory(SIZE);
  kw_stream *stream = kw_test_stream();
  kw_event *event = kw_test_event();
  kw_tensor *tensor = kw_test_bytes_on(stream, SIZE);
  KW_CHECK_OK(kw_tensor_write_async(tensor, bytes, stream));
  KW_CHECK_OK(kw_event_record(event, stream));
  KW_CHECK_OK(kw_stream_wait_event(kw_stream_default(kw_contract.device), event));
  KW_CHECK_OK(kw_tensor_read_async(tensor, bytes, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK_OK(kw_event_synchronize(event));
  if (kw_test_has("add.Tensor")) {
    kw_tensor *a = kw_test_f32(1000, 1), *b = kw_test_f32(1000, 2), *sum = NULL;
    kw_test_add(stream, a, b, &sum);
    KW_CHECK_OK(kw_stream_synchronize(stream));
    kw_tensor_release(a);
    kw_tensor_release(b);
    kw_tensor_release(sum);
  }
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(stream));
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  free(bytes);
}

/* Loading the library (its constructors, query and probe) changed nothing of the process. Keyway compares before and
 * after in the helper process that opens a plugin first, and remarks on a difference in the load report. */
void kw_contract_abi_loading_changes_nothing(void **state) {
  (void)state;
  kw_plugin_report report = {.struct_size = sizeof report};
  KW_CHECK_OK(kw_plugin_get_report(kw_test_entry().plugin, &report));
  KW_CHECK(!strstr(report.reason, "loading it changes"), "%s: %s", report.path, report.reason);
}

/* Rounding, flushing and trapping; not the exception flags, which arithmetic raises. */
static uint64_t float_control(void) {
  fenv_t environment;
  fegetenv(&environment);
#if defined(__x86_64__)
  return (environment.__mxcsr & ~0x3fu) | (uint64_t)environment.__control_word << 32;
#elif defined(__aarch64__)
  return environment.__fpcr;
#else
  return (uint64_t)fegetround();
#endif
}

static bool keeps_subnormals(void) {
  volatile float smallest = FLT_MIN, two = 2.0f;
  volatile float half = smallest / two;
  return half > 0 && half * two == smallest;
}

/* Loading changed nothing about floating point in this process, and neither does work, on a fresh thread either. */
static int float_body(int index, void *user, char *text, size_t size) {
  (void)index;
  uint64_t want = *(const uint64_t *)user;
  if (float_control() == want && keeps_subnormals()) return 0;
  snprintf(text, size, "a thread started after the device worked has another floating-point environment");
  return 1;
}

void kw_contract_abi_floating_point_kept(void **state) {
  (void)state;
  KW_CHECK(keeps_subnormals(),
           "a plugin that this process loaded has turned on flush-to-zero: is it linked with -ffast-math?");
  KW_CHECK(fegetround() == FE_TONEAREST, "a plugin that this process loaded has changed the rounding mode");
  static uint64_t before;
  before = float_control();
  use_device();
  KW_CHECK(float_control() == before, "using the device changed the floating-point control state from 0x%llx to 0x%llx",
           (unsigned long long)before, (unsigned long long)float_control());
  kw_test_run_threads(float_body, &before);
}

typedef struct process_state {
  struct sigaction handlers[65];
  sigset_t blocked;
  char locale[512];
  locale_t thread_locale;
  char directory[4096];
  char *environment; /* all variables, NUL between them */
  size_t environment_size;
  mode_t mask;
} process_state;

static process_state take_state(void) {
  extern char **environ;
  process_state state;
  memset(&state, 0, sizeof state);
  for (int i = 1; i <= 64; i++) sigaction(i, NULL, &state.handlers[i]);
  pthread_sigmask(SIG_SETMASK, NULL, &state.blocked);
  snprintf(state.locale, sizeof state.locale, "%s", setlocale(LC_ALL, NULL));
  state.thread_locale = uselocale((locale_t)0);
  KW_CHECK(getcwd(state.directory, sizeof state.directory), "no working directory");
  for (char **variable = environ; *variable; variable++) state.environment_size += strlen(*variable) + 1;
  char *end = state.environment = kw_test_memory(state.environment_size);
  for (char **variable = environ; *variable; variable++) end = stpcpy(end, *variable) + 1;
  state.mask = umask(0);
  umask(state.mask);
  return state;
}

/* Work changes none of: signal handlers and mask, locale, working directory, environment variables, umask. */
void kw_contract_abi_process_kept(void **state) {
  (void)state;
  process_state before = take_state();
  use_device();
  process_state after = take_state();
  for (int i = 1; i <= 64; i++) {
    KW_CHECK(before.handlers[i].sa_handler == after.handlers[i].sa_handler &&
                 before.handlers[i].sa_flags == after.handlers[i].sa_flags,
             "the handler of signal %d (%s) changed", i, strsignal(i));
    KW_CHECK(sigismember(&before.blocked, i) == sigismember(&after.blocked, i), "signal %d was blocked or unblocked",
             i);
  }
  KW_CHECK(strcmp(before.locale, after.locale) == 0 && before.thread_locale == after.thread_locale,
           "the locale changed from %s to %s", before.locale, after.locale);
  KW_CHECK(strcmp(before.directory, after.directory) == 0, "the working directory changed from %s to %s",
           before.directory, after.directory);
  KW_CHECK(before.environment_size == after.environment_size &&
               memcmp(before.environment, after.environment, before.environment_size) == 0,
           "an environment variable was set, changed or removed");
  KW_CHECK(before.mask == after.mask, "the umask changed from %03o to %03o", (unsigned)before.mask,
           (unsigned)after.mask);
  free(before.environment);
  free(after.environment);
}

/* A plugin does not write to stdout; it logs through the host. */
void kw_contract_abi_stdout_untouched(void **state) {
  (void)state;
  use_device(); /* a failure shows here, with stdout as it was */
  fflush(stdout);
  int saved = dup(STDOUT_FILENO), file = memfd_create("stdout", MFD_CLOEXEC);
  KW_CHECK(saved >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0, "stdout cannot be redirected");
  use_device();
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  char text[200] = "";
  ssize_t size = pread(file, text, sizeof text - 1, 0);
  close(file);
  KW_CHECK(size == 0, "the device wrote to stdout: \"%.200s\"; use host->log", text);
}
