/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway-probe FILE`: opens a plugin, asks it, probes it, and writes what came of it (see probe.h). Whatever the
 * plugin's code does here happens to this process only.
 */
#include "base/error.h"
#include "base/utf8.h"
#include "plugin/probe.h"

#include <dlfcn.h>
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* One line, unbuffered. Line breaks inside become spaces. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
  char line[1200];
  va_list arguments;
  va_start(arguments, format);
  size_t length = (size_t)vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (length > sizeof line - 2) length = kw_utf8_fit(line, sizeof line - 2);
  for (size_t i = 0; i < length; i++) {
    if (line[i] == '\n') line[i] = ' ';
  }
  line[length] = '\n';
  if (write(KW_PROBE_FD, line, length + 1) < 0) _exit(EXIT_FAILURE); /* the reader has gone */
}

/* Ends without running destructors: they are the plugin's code too. */
static void verdict(kw_status status) {
  char reason[1024];
  if (status != KW_OK) say("reason %s", kw_error_sentence(reason, sizeof reason));
  say("status %d", status);
  say("end");
  _exit(EXIT_SUCCESS);
}

/* ---- Process state that a plugin must leave alone ---------------------------------------------------------------- */

static const int watched_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGCHLD, SIGPIPE};
#define WATCHED_SIGNALS (sizeof watched_signals / sizeof watched_signals[0])

typedef struct process_state {
  bool subnormals; /* neither flushed nor read as zero */
  int rounding;
  int traps;
  char locale[256];
  char directory[4096];
  void (*handlers[WATCHED_SIGNALS])(int);
  mode_t mask;
  uint64_t environment;
} process_state;

static uint64_t hash_environment(void) {
  uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
  for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
    for (const char *c = *variable; *c != '\0'; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    hash *= UINT64_C(1099511628211);
  }
  return hash;
}

static void take_state(process_state *state) {
  memset(state, 0, sizeof *state);
  volatile double smallest = DBL_MIN;
  volatile double subnormal = smallest / 2;
  volatile double back = subnormal * 2;
  state->subnormals = back == DBL_MIN;
  state->rounding = fegetround();
  state->traps = fegetexcept();
  const char *locale = setlocale(LC_ALL, NULL);
  snprintf(state->locale, sizeof state->locale, "%s", locale != NULL ? locale : "");
  if (getcwd(state->directory, sizeof state->directory) == NULL) state->directory[0] = '\0';
  for (size_t i = 0; i < WATCHED_SIGNALS; i++) {
    struct sigaction action;
    if (sigaction(watched_signals[i], NULL, &action) == 0) state->handlers[i] = action.sa_handler;
  }
  state->mask = umask(0);
  umask(state->mask);
  state->environment = hash_environment();
}

/* What changed, for people; NULL when nothing did. */
static const char *compare_states(const process_state *a, const process_state *b) {
  if (a->subnormals != b->subnormals || a->rounding != b->rounding || a->traps != b->traps) {
    return "the floating-point state (linked with -ffast-math?)";
  }
  if (strcmp(a->locale, b->locale) != 0) return "the locale";
  if (strcmp(a->directory, b->directory) != 0) return "the working directory";
  if (memcmp(a->handlers, b->handlers, sizeof a->handlers) != 0) return "signal handlers";
  if (a->mask != b->mask) return "the umask";
  if (a->environment != b->environment) return "environment variables";
  return NULL;
}

/* ---- The stages -------------------------------------------------------------------------------------------------- */

static kw_query_fn open_plugin(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) verdict(kw_fail(KW_ERR_IO, "%s", dlerror()));
  say("reached %u", KW_STAGE_OPENED);
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  if (query == NULL) {
    verdict(kw_fail(KW_ERR_ABI_MISMATCH, "it does not export " KW_QUERY_SYMBOL ": not a Keyway plugin"));
  };
  say("reached %u", KW_STAGE_SYMBOL);
  return query;
}

static void say_answer(const kw_plugin_desc *desc) {
  say("abi %u", desc->abi_version);
  say("key %s", desc->key);
  say("vendor %s", desc->vendor);
  say("version %s", desc->version);
  say("description %s", desc->description);
  say("build %s", desc->build);
  say("sanitizer %s", desc->sanitizer);
}

static void probe_plugin(const kw_plugin_desc *desc) {
  const char *reason = NULL;
  kw_status status = desc->probe(&reason);
  if (status == KW_OK) {
    say("reached %u", KW_STAGE_PROBE);
    return;
  }
  if (reason != NULL) kw_error_offer(kw_fail(status, "%s", reason));
  status = kw_from_plugin(status, "its probe says no");
  verdict(status);
}

/* A crash is a crash, whatever handlers a sanitizer installed; no core file of it; no life after the host's. */
static void prepare_process(void) {
  for (size_t i = 0; i < WATCHED_SIGNALS; i++) signal(watched_signals[i], SIG_DFL);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr,
            "usage: %s FILE\nOpens a Keyway plugin for the library, which reads the result from descriptor %d.\n",
            KW_PROBE_PROGRAM, KW_PROBE_FD);
    return 2;
  }
  prepare_process();
  process_state before, after;
  take_state(&before);

  kw_query_fn query = open_plugin(argv[1]);
  static kw_plugin_answer answer;
  kw_status status = kw_negotiate(query, &answer);
  say_answer(&answer.desc);
  if (status != KW_OK) verdict(status);
  say("reached %u", KW_STAGE_VERSION);
  probe_plugin(&answer.desc);

  take_state(&after);
  const char *changed = compare_states(&before, &after);
  if (changed != NULL) say("remark warning: loading it changes %s", changed);
  verdict(KW_OK);
}
