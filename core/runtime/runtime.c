/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting the library, and the public functions about plugins: they start it and then ask the registry.
 */
#include "runtime/runtime.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/math_mode.h"
#include "base/parallel.h"
#include "base/struct.h"
#include "base/trace.h"
#include "call/dispatch.h"
#include "device/exit.h"
#include "device/fault.h"
#include "device/open.h"
#include "isolate/isolate.h"
#include "op/op.h"
#include "plugin/discover.h"
#include "plugin/kernel.h"
#include "plugin/load.h"
#include "plugin/option.h"
#include "plugin/probe.h"
#include "plugin/start.h"
#include "runtime/host_table.h"
#include "runtime/live.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while the library starts */

/* What a start that failed has done already; the next one goes on from there. Under the lock. */
static bool watches_forks;
static bool discovered;
static kw_candidates candidates;

static void after_fork_in_child(void) {
  kw_fork_mark_child();
  kw_device_forked();
}

/* Under the lock. */
static kw_status discover(void) {
  kw_status status = KW_OK;
  if (!discovered) status = kw_discover(&candidates);
  discovered = status == KW_OK;
  if (status == KW_OK) status = kw_plugins_list(candidates.items, candidates.count, &kw_host_services);
  if (status != KW_OK) return status;
  kw_candidates_free(&candidates);
  kw_error_clear(); /* what failed is in the reports, and the caller's call did not fail */
  return KW_OK;
}

/* Under the lock. */
static kw_status start(const kw_init_options *options) {
  if ((options->flags & KW_INIT_TEST) != 0) kw_faults_allow();
  kw_log_start();
  kw_parallel_start();
  kw_trace_start();
  kw_math_start();
  kw_dispatch_start();
  kw_status status = kw_options_start(options->options, options->option_count);
  if (status == KW_OK) status = kw_op_table_build();
  if (status == KW_OK) kw_kernels_start();
  if (status == KW_OK && !watches_forks) {
    watches_forks = pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
    if (!watches_forks) status = kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for a fork handler");
  }
  if (status == KW_OK && (options->flags & KW_INIT_RETRY) != 0) kw_plugins_forget();
  if (status == KW_OK && (options->flags & KW_INIT_NO_DISCOVERY) == 0) status = discover();
  if (status != KW_OK) return kw_wrap(status, "Keyway did not start; the next call tries again");
  kw_exit_register();
  kw_live_start();
  atomic_store_explicit(&started, true, memory_order_release);
  return KW_OK;
}

/* KW_OK while new or started. */
static kw_status check_state(void) {
  kw_status status = kw_fork_check();
  if (status == KW_OK && (kw_plugin_is_starting_here() || secure_getenv(KW_PROBE_VARIABLE) != NULL)) {
    status =
        kw_fail(KW_ERR_BUSY, "a plugin cannot call Keyway while it is being opened: it has the host table for that");
  }
  return status == KW_OK ? kw_exit_check() : status;
}

kw_status kw_runtime_start(void) {
  kw_status status = check_state();
  if (status != KW_OK || atomic_load_explicit(&started, memory_order_acquire)) return status;
  pthread_mutex_lock(&lock);
  if (!atomic_load(&started)) status = start(&(kw_init_options){.struct_size = sizeof(kw_init_options)});
  pthread_mutex_unlock(&lock);
  return status == KW_OK ? kw_exit_check() : status;
}

bool kw_runtime_try_again(void) {
  return kw_plugins_try_again(&kw_host_services);
}

kw_status kw_runtime_open_plugin(kw_plugin *plugin) {
  const bool first = !kw_plugin_is_open(plugin);
  kw_status status = kw_plugin_open(plugin);
  if (first) kw_exit_register();
  return status;
}

kw_status kw_init(const kw_init_options *options) {
  kw_init_options mine = {0};
  kw_status status = check_state();
  if (status == KW_OK && options != NULL) status = kw_struct_check_given("kw_init", options);
  if (status != KW_OK) return status;
  if (options != NULL) kw_struct_read(&mine, sizeof mine, options);
  if ((mine.flags & KW_FLAGS_CRITICAL) != 0) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "kw_init: flags 0x%" PRIx64 ": this library knows none of the bits 32 to 63; a later one may",
                   mine.flags);
  }
  pthread_mutex_lock(&lock);
  if (atomic_load(&started)) {
    status = kw_fail(KW_ERR_BUSY, "Keyway has already started: call kw_init before anything else");
  } else {
    status = start(&mine);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

/* ---- Plugins ----------------------------------------------------------------------------------------------------- */

/* Lists the plugin in this file. */
static kw_status list(const char *path, kw_plugin **out_plugin, kw_plugin_report *out_report) {
  kw_candidate candidate;
  kw_status status = kw_candidate_examine(path, true, &candidate);
  if (status != KW_OK) return status;
  status = kw_plugins_list(&candidate, 1, &kw_host_services);
  *out_report = kw_plugin_report_of(&candidate, out_plugin);
  free(candidate.path);
  return status == KW_OK && *out_plugin == NULL ? kw_fail(out_report->status, "%s", out_report->reason) : status;
}

kw_status kw_plugin_load(const char *path) {
  if (path == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_plugin_load: argument path is NULL");
  kw_status status = kw_runtime_start();
  if (status != KW_OK) return status;
  kw_plugin *plugin;
  kw_plugin_report report;
  status = list(path, &plugin, &report);
  if (status != KW_OK) return kw_wrap(status, "plugin %s was not loaded", path);
  status = kw_runtime_open_plugin(plugin);
  if (status == KW_OK && report.reason[0] != '\0') kw_log(KW_LOG_WARN, "plugin %s: %s", report.path, report.reason);
  return status;
}

kw_status kw_plugin_count(uint32_t *out_count) {
  if (!out_count) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_plugin_count: out_count is NULL");
  kw_status status = kw_runtime_start();
  if (status == KW_OK) *out_count = kw_plugin_entry_count();
  return status;
}

/* Whether a plugin that is listed would be opened in a process of its own. False, too, where opening it will fail for
 * what is said of that: it says so then. */
static bool would_be_isolated(const kw_plugin_report *report) {
  const kw_plugin_desc desc = {
      .vendor = report->vendor, .key = report->key, .options = report->options, .option_count = report->option_count};
  bool wanted = false;
  return kw_isolate_wanted(report->path, &desc, &wanted) == KW_OK && wanted;
}

kw_status kw_plugin_get_report(uint32_t index, kw_plugin_report *out_report) {
  kw_plugin_report report;
  kw_status status = kw_struct_check_given("kw_plugin_get_report", out_report);
  if (status == KW_OK) status = kw_runtime_start();
  if (status != KW_OK) return status;
  if (!kw_plugin_report_at(index, &report)) {
    return kw_fail(KW_ERR_NOT_FOUND, "there is no plugin report %u: there are %u", index, kw_plugin_entry_count());
  }
  if (!report.opened && report.reached == KW_STAGE_INIT) report.isolated = would_be_isolated(&report);
  kw_struct_write(out_report, &report, sizeof report);
  return KW_OK;
}

kw_status kw_plugin_get_directory(uint32_t index, kw_plugin_directory *out_directory) {
  kw_status status = kw_struct_check_given("kw_plugin_get_directory", out_directory);
  if (status == KW_OK) status = kw_runtime_start();
  if (status != KW_OK) return status;
  const kw_plugin_directory *directory = kw_discover_directory(index);
  if (directory == NULL) {
    return kw_fail(KW_ERR_NOT_FOUND, "%u directories were searched for plugins; there is no number %u",
                   kw_discover_directory_count(), index);
  }
  kw_struct_write(out_directory, directory, sizeof *directory);
  return KW_OK;
}

kw_status kw_plugin_get_trust_file(uint32_t index, kw_trust_file *out_file) {
  kw_status status = kw_struct_check_given("kw_plugin_get_trust_file", out_file);
  if (status == KW_OK) status = kw_runtime_start();
  if (status == KW_OK) status = kw_trust_start();
  if (status != KW_OK) return status;
  const kw_trust_file *file = kw_trust_file_at(index);
  if (file == NULL) {
    return kw_fail(KW_ERR_NOT_FOUND, "%u trust files are in force; there is no number %u", kw_trust_file_count(),
                   index);
  }
  kw_struct_write(out_file, file, sizeof *file);
  return KW_OK;
}
