/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway-probe FILE`: takes a plugin from its constructors to its shutdown, and writes what came of it
 * (plugin/probe.h). Whatever the plugin's code does here happens to this process only.
 */
#include "base/error.h"
#include "base/math_mode.h"
#include "base/process_state.h"
#include "base/utf8.h"
#include "call/dispatch.h"
#include "op/op.h"
#include "plugin/option.h"
#include "plugin/probe.h"
#include "plugin/start.h"
#include "probe/facts_write.h"
#include "probe/watch.h"
#include "runtime/host_table.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

/* ---- What is told ------------------------------------------------------------------------------------------------ */

static void write_all(const char *text, size_t size) {
  while (size > 0) {
    const ssize_t count = write(KW_PROBE_FD, text, size);
    if (count < 0) _exit(EXIT_FAILURE); /* the reader has gone */
    text += count;
    size -= (size_t)count;
  }
}

static void say(const char *word, const char *text) {
  write_all(word, strlen(word));
  write_all(text, strlen(text));
  write_all("\n", 1);
}

static void say_facts(cJSON *facts) {
  char *text = cJSON_PrintUnformatted(facts);
  if (text == NULL) _exit(EXIT_FAILURE);
  say("facts ", text);
  cJSON_free(text);
  cJSON_Delete(facts);
}

/* After each stage: what is known, and what comes next. */
static void tell(void *user, const kw_plugin *plugin, kw_stage reached) {
  static const char *const next[] = {"",
                                     "while its query symbol was looked up",
                                     "in its query",
                                     "in its probe",
                                     "in its init",
                                     "while its devices were asked for what they are"};
  kw_stage *stage = user;
  *stage = reached;
  say_facts(kw_facts_write(plugin, reached < KW_STAGE_INIT ? reached : KW_STAGE_PROBE, KW_ERR_INTERNAL, "", NULL));
  say("doing ", next[reached]);
}

/* Ends without running destructors: they are the plugin's code too. */
static void end(void) {
  say("end", "");
  _exit(EXIT_SUCCESS);
}

/* ---- What the plugin says ---------------------------------------------------------------------------------------- */

static char said[512]; /* its first warning or error, such as why it has no device */

/* The host service of that name. */
static kw_status hear(void *ctx, kw_log_level level, const char *message) {
  if (level <= KW_LOG_WARN && message != NULL && said[0] == '\0') kw_utf8_mend(said, sizeof said, message);
  return kw_host_services.log(ctx, level, message);
}

/* A remark on a plugin that works: what it changed, what it said. */
static void write_remark(kw_process_part changed, char *text, size_t size) {
  const bool same = changed == KW_PROCESS_SAME;
  snprintf(text, size, "%s%s%s%s", same ? "" : "loading it changes ", same ? "" : kw_process_part_text(changed),
           same || said[0] == '\0' ? "" : "; ", said);
}

/* ---- The process ------------------------------------------------------------------------------------------------- */

/* A crash is a crash, whatever handlers a sanitizer installed; no core file of it; no life after the host's. */
static void prepare_process(void) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGCHLD, SIGPIPE};
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) signal(crashes[i], SIG_DFL);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* kw_init's options, as the library handed them on. */
static void take_options(void) {
  kw_options given = {0};
  const size_t length = strlen(KW_PROBE_OPTION_VARIABLE);
  for (char **variable = environ; *variable != NULL; variable++) {
    const char *number_end = strncmp(*variable, KW_PROBE_OPTION_VARIABLE, length) == 0 ? strchr(*variable, '=') : NULL;
    char *value = number_end != NULL ? strchr(number_end + 1, '=') : NULL;
    if (value == NULL) continue;
    char *key = strndup(number_end + 1, (size_t)(value - number_end - 1));
    if (key != NULL) kw_options_add(&given, "kw_init", &(kw_option){.key = key, .value = value + 1}, 1);
    free(key);
  }
  kw_options_start(given.items, given.count);
}

/* All stages, the devices and the end. */
static kw_status go_through(kw_plugin *plugin, const char *path, kw_stage *reached, cJSON **out_devices) {
  bool starved;
  say("doing ", "while its constructors ran (dlopen)");
  kw_status status = kw_plugin_start(plugin, path, false, tell, reached, &starved);
  if (status != KW_OK) return status;
  atomic_store(&plugin->phase, KW_PLUGIN_OPEN);
  *out_devices = kw_facts_ask_devices(plugin);
  say("doing ", "in its shutdown");
  status = plugin->desc.shutdown(plugin->state);
  if (status == KW_OK) return KW_OK;
  *reached = KW_STAGE_PROBE;
  return kw_from_plugin(status, "its shutdown failed");
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr,
            "usage: %s FILE\nOpens a Keyway plugin for the library, which reads the result from descriptor %d.\n",
            KW_PROBE_PROGRAM, KW_PROBE_FD);
    return 2;
  }
  prepare_process();
  take_options();
  kw_math_start();
  kw_dispatch_start();
  static kw_plugin plugin;
  kw_stage reached = KW_STAGE_FOUND;
  cJSON *devices = NULL;
  char text[1024] = "";
  kw_status status = kw_op_table_build();
  plugin.host = kw_host_services;
  plugin.host.log = hear;
  kw_process_state before, after;
  kw_process_state_take(&before, true);
  kw_watch_begin();
  if (status == KW_OK) status = go_through(&plugin, argv[1], &reached, &devices);
  kw_watch_end();
  kw_process_state_take(&after, true);
  const kw_process_part changed = kw_process_state_change(&before, &after);
  if (status != KW_OK) {
    kw_error_sentence(text, sizeof text);
  } else {
    write_remark(changed, text, sizeof text);
  }
  if (devices == NULL) devices = cJSON_CreateArray();
  say_facts(kw_facts_write(&plugin, reached, status, text, devices));
  end();
}
