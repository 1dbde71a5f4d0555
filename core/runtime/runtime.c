/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/runtime.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/math_mode.h"
#include "base/struct.h"
#include "base/trace.h"
#include "call/dispatch.h"
#include "device/exit.h"
#include "device/open.h"
#include "plugin/discover.h"
#include "plugin/kernel.h"
#include "plugin/plugin.h"
#include "plugin/probe.h"
#include "plugin/probe_cache.h"
#include "runtime/host_table.h"

#include <dlfcn.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_LIMIT 4096u /* more devices than any plugin has: a count that is garbage */

/* One candidate, tried once or more; lives as long as the process. */
typedef struct record {
  kw_plugin_report report;
  uint32_t index;  /* in records */
  uint64_t device; /* of the file system; with inode the file's identity */
  uint64_t inode;
  kw_plugin *plugin; /* once init was called; in use when report.reached == KW_STAGE_INIT */
} record;

static atomic_bool started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while plugins are loaded */
static record **records;
static uint32_t record_count;

/* ---- Texts of reports: kept for ever, each once ------------------------------------------------------------------ */

typedef struct text_node {
  struct text_node *next;
  char text[];
} text_node;

static text_node *texts;

static const char *keep(const char *text) {
  for (text_node *node = texts; node != NULL; node = node->next) {
    if (strcmp(node->text, text) == 0) return node->text;
  }
  size_t size = strlen(text) + 1;
  text_node *node = malloc(sizeof *node + size);
  if (node == NULL) return "";
  memcpy(node->text, text, size);
  node->next = texts;
  texts = node;
  return node->text;
}

/* ---- Ending ------------------------------------------------------------------------------------------------------ */

void kw_plugins_shut_down(void) {
  if (pthread_mutex_trylock(&lock) != 0) return; /* somebody is loading: nothing can be said about the plugins */
  for (uint32_t i = record_count; i-- > 0;) {
    const record *r = records[i];
    if (r->report.reached != KW_STAGE_INIT || atomic_load(&r->plugin->open_devices) != 0) continue;
    if (r->plugin->desc.shutdown(r->plugin->state) != KW_OK) {
      kw_log(KW_LOG_WARN, "%s.%s: shutdown failed", r->plugin->vendor, r->plugin->key);
    }
  }
  pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void) {
  kw_fork_mark_child();
  kw_device_forked();
}

/* ---- Loading one ------------------------------------------------------------------------------------------------- */

static void set_failed(record *r, kw_status status) {
  char reason[1024];
  r->report.status = status;
  r->report.reason = keep(kw_error_sentence(reason, sizeof reason));
}

static void set_identity(kw_plugin_report *report, const kw_plugin_desc *desc) {
  report->abi_version = desc->abi_version;
  report->key = keep(desc->key);
  report->vendor = keep(desc->vendor);
  report->version = keep(desc->version);
  report->description = keep(desc->description);
  report->build = keep(desc->build);
  report->sanitizer = keep(desc->sanitizer);
}

/* Two plugins of one vendor and key cannot both be named. The first one stays. */
static kw_status check_unique(const kw_plugin_desc *desc) {
  for (uint32_t i = 0; i < record_count; i++) {
    const record *r = records[i];
    if (r->report.reached == KW_STAGE_INIT && strcmp(r->report.key, desc->key) == 0 &&
        strcmp(r->report.vendor, desc->vendor) == 0) {
      return kw_fail(KW_ERR_BUSY, "%s.%s is already loaded from %s: this one is left out", desc->vendor, desc->key,
                     r->report.path);
    }
  }
  return KW_OK;
}

static kw_status count_devices(kw_plugin *plugin) {
  uint32_t count = 0;
  kw_status status = plugin->device.count(plugin->state, &count);
  if (status != KW_OK) return kw_from_plugin(status, "device.count failed");
  if (count > DEVICE_LIMIT) return kw_fail(KW_ERR_INTERNAL, "device.count says %u devices, which cannot be", count);
  plugin->device_count = count;
  return KW_OK;
}

static kw_status initialize(record *r, const kw_negotiated *answer) {
  kw_status status = check_unique(&answer->desc);
  if (status != KW_OK) return status;
  /* Never freed, even when init fails: the plugin may have kept the host table. */
  if (r->plugin == NULL) r->plugin = malloc(sizeof *r->plugin);
  kw_plugin *plugin = r->plugin;
  if (plugin == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the plugin's tables");
  *plugin = (kw_plugin){
      .index = r->index,
      .key = r->report.key,
      .vendor = r->report.vendor,
      .desc = answer->desc,
      .native = answer->native,
#define KW_SLOT_GROUP(group, NAME, required, native, text) .group = answer->group,
#include "slots.def"
  };
  kw_host_fill(plugin, answer->abi_version);

  plugin->initializing = true;
  status = plugin->desc.init(&plugin->host, &plugin->state);
  plugin->initializing = false;
  if (status != KW_OK) {
    kw_kernels_clear(plugin);
    return kw_from_plugin(status, "its init failed");
  }
  status = count_devices(plugin);
  if (status != KW_OK) {
    plugin->desc.shutdown(plugin->state);
    kw_kernels_clear(plugin);
    return status;
  }
  kw_kernels_sort(plugin);
  r->report.device_count = plugin->device_count;
  r->report.kernel_count = plugin->kernel_count;
  r->report.native = plugin->native;
  return KW_OK;
}

/* What the helper did, once more in this process; every stage can still fail, because the verdict may be from a cache.
 */
static kw_status open_here(record *r) {
  kw_plugin_report *report = &r->report;
  void *library = dlopen(report->path, RTLD_NOW | RTLD_LOCAL); /* for ever: code of it may be running any time */
  if (library == NULL) return kw_fail(KW_ERR_IO, "%s", dlerror());
  report->reached = KW_STAGE_OPENED;
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  if (query == NULL) return kw_fail(KW_ERR_ABI_MISMATCH, "it does not export " KW_QUERY_SYMBOL ": not a Keyway plugin");
  report->reached = KW_STAGE_SYMBOL;

  kw_negotiated answer;
  kw_status status = kw_negotiate(query, &answer);
  set_identity(report, &answer.desc);
  if (status != KW_OK) return status;
  report->reached = KW_STAGE_VERSION;

  const char *reason = NULL;
  status = answer.desc.probe(&reason);
  if (status != KW_OK) {
    if (reason != NULL) kw_error_offer(kw_fail(status, "%s", reason));
    return kw_from_plugin(status, "its probe says no");
  }
  report->reached = KW_STAGE_PROBE;
  status = initialize(r, &answer);
  if (status == KW_OK) report->reached = KW_STAGE_INIT;
  return status;
}

/* False when the helper says that the file must not be opened here; the report then has it all. */
static bool passes_probe(record *r, const kw_candidate *candidate, char *remark, size_t size) {
  char helper[PATH_MAX + 64];
  snprintf(helper, sizeof helper, "%s/keyway/" KW_PROBE_PROGRAM, kw_library_directory());
  if (kw_verdict_find(candidate, helper, remark, size)) return true;
  kw_probe_result result;
  kw_probe_run(helper, candidate->path, &result);
  if (result.status == KW_OK) {
    kw_verdict_add(candidate, helper, result.reason);
    snprintf(remark, size, "%s", result.reason);
    return true;
  }
  kw_plugin_report *report = &r->report;
  const kw_plugin_desc desc = {.abi_version = result.abi_version,
                               .key = result.key,
                               .vendor = result.vendor,
                               .version = result.version,
                               .description = result.description,
                               .build = result.build,
                               .sanitizer = result.sanitizer};
  set_identity(report, &desc);
  report->reached = result.reached;
  report->status = result.status;
  report->reason = keep(result.reason);
  return false;
}

static void load(record *r, const kw_candidate *candidate) {
  uint64_t begin = kw_trace_now();
  kw_plugin_report *report = &r->report;
  *report = (kw_plugin_report){.struct_size = sizeof *report,
                               .reached = KW_STAGE_FOUND,
                               .status = candidate->status,
                               .path = keep(candidate->path),
                               .reason = keep(candidate->reason)};
  report->key = report->vendor = report->version = report->description = report->build = report->sanitizer = "";
  r->device = candidate->device;
  r->inode = candidate->inode;
  char remark[1024] = "";
  if (report->status == KW_OK && passes_probe(r, candidate, remark, sizeof remark)) {
    fenv_t environment; /* a library linked with -ffast-math flushes subnormals in whoever opens it */
    fegetenv(&environment);
    kw_status status = open_here(r);
    fesetenv(&environment);
    if (status != KW_OK) {
      set_failed(r, status);
    } else if (remark[0] != '\0') {
      char both[2048];
      snprintf(both, sizeof both, "%s%s%s", candidate->reason, candidate->reason[0] != '\0' ? "; " : "", remark);
      report->reason = keep(both);
    }
    kw_exit_register();
  }
  report->load_ns = kw_trace_now() - begin;
  if (kw_trace_enabled) kw_trace_span("load", report->path, report->reason, begin);
  kw_log(KW_LOG_INFO, "plugin %s: reached %s%s%s", report->path, kw_stage_name(report->reached),
         report->reason[0] != '\0' ? ": " : "", report->reason);
}

/* ---- Loading all ------------------------------------------------------------------------------------------------- */

static record *find_record(const kw_candidate *candidate) {
  for (uint32_t i = 0; i < record_count; i++) {
    record *r = records[i];
    if (candidate->inode != 0 && r->inode == candidate->inode && r->device == candidate->device) return r;
  }
  return NULL;
}

/* The candidate's record, new or from an earlier try; NULL with an error when memory is out. */
static record *obtain_record(const kw_candidate *candidate) {
  record *r = find_record(candidate);
  if (r != NULL) return r;
  record **grown = realloc(records, (record_count + 1) * sizeof *grown);
  if (grown != NULL) records = grown;
  r = grown != NULL ? calloc(1, sizeof *r) : NULL;
  if (r == NULL) {
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the report about %s", candidate->path);
    return NULL;
  }
  r->index = record_count;
  records[record_count++] = r;
  return r;
}

static void discover(void) {
  kw_candidates candidates;
  if (kw_discover(&candidates) != KW_OK) {
    kw_log(KW_LOG_ERROR, "plugins cannot be looked for: %s", kw_error_message());
    return;
  }
  for (uint32_t i = 0; i < candidates.count; i++) {
    record *r = obtain_record(&candidates.items[i]);
    if (r != NULL) load(r, &candidates.items[i]);
  }
  kw_candidates_free(&candidates);
  kw_verdict_finish();
  kw_error_clear(); /* what failed is in the reports, and the caller's call did not fail */
}

/* Under the lock. */
static void start(uint32_t flags) {
  kw_trace_start();
  kw_math_start();
  kw_dispatch_start();
  pthread_atfork(NULL, NULL, after_fork_in_child);
  if ((flags & KW_INIT_NO_DISCOVERY) == 0) discover();
  atomic_store_explicit(&started, true, memory_order_release);
}

/* KW_OK while new or started. */
static kw_status check_state(void) {
  kw_status status = kw_fork_check();
  return status == KW_OK ? kw_exit_check() : status;
}

kw_status kw_runtime_start(void) {
  kw_status status = check_state();
  if (status != KW_OK || atomic_load_explicit(&started, memory_order_acquire)) return status;
  pthread_mutex_lock(&lock);
  if (!atomic_load(&started)) start(0);
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

kw_status kw_init(const kw_init_options *options) {
  kw_init_options mine = {0};
  kw_status status = check_state();
  if (status == KW_OK && options != NULL) status = kw_struct_check_given("kw_init", options);
  if (status != KW_OK) return status;
  if (options != NULL) kw_struct_read(&mine, sizeof mine, options);
  pthread_mutex_lock(&lock);
  if (!atomic_load(&started)) {
    start(mine.flags);
  } else {
    status = kw_fail(KW_ERR_BUSY, "Keyway has already started: call kw_init before anything else");
  }
  pthread_mutex_unlock(&lock);
  return status;
}

kw_status kw_plugin_load(const char *path) {
  if (path == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_plugin_load got no path");
  kw_status status = kw_runtime_start();
  if (status != KW_OK) return status;
  kw_candidate candidate;
  status = kw_candidate_examine(path, true, &candidate);
  if (status != KW_OK) return kw_wrap(status, "plugin %s was not loaded", path);

  pthread_mutex_lock(&lock);
  record *r = obtain_record(&candidate);
  if (r == NULL) {
    status = KW_ERR_OUT_OF_MEMORY;
  } else if (r->report.reached != KW_STAGE_INIT) {
    load(r, &candidate);
    kw_verdict_finish();
    status = r->report.status;
    if (status != KW_OK) {
      kw_fail(status, "plugin %s was not loaded\n  because: %s", path, r->report.reason);
    } else if (r->report.reason[0] != '\0') {
      kw_log(KW_LOG_WARN, "plugin %s: %s", path, r->report.reason);
    }
  }
  pthread_mutex_unlock(&lock);
  free(candidate.path);
  return status;
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

const char *kw_stage_name(kw_stage stage) {
  static const char *const names[] = {"found", "opened", "symbol", "version", "probe", "init"};
  return stage < sizeof names / sizeof names[0] ? names[stage] : "unknown";
}

kw_status kw_plugin_count(uint32_t *out_count) {
  if (!out_count) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_plugin_count: out_count is NULL");
  kw_status status = kw_runtime_start();
  if (status != KW_OK) return status;
  pthread_mutex_lock(&lock);
  *out_count = record_count;
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

kw_status kw_plugin_get_report(uint32_t index, kw_plugin_report *out_report) {
  kw_status status = kw_struct_check_given("kw_plugin_get_report", out_report);
  if (status == KW_OK) status = kw_runtime_start();
  if (status != KW_OK) return status;
  pthread_mutex_lock(&lock);
  if (index < record_count) {
    kw_struct_write(out_report, &records[index]->report, sizeof *out_report);
  } else {
    status = kw_fail(KW_ERR_NOT_FOUND, "there is no plugin report %u: there are %u", index, record_count);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

uint32_t kw_plugin_slots(void) {
  pthread_mutex_lock(&lock);
  uint32_t count = record_count;
  pthread_mutex_unlock(&lock);
  return count;
}

bool kw_plugin_report_at(uint32_t index, kw_plugin_report *out_report) {
  pthread_mutex_lock(&lock);
  bool there = index < record_count;
  if (there) *out_report = records[index]->report;
  pthread_mutex_unlock(&lock);
  return there;
}

kw_plugin *kw_plugin_at(uint32_t index) {
  pthread_mutex_lock(&lock);
  const record *r = index < record_count ? records[index] : NULL;
  kw_plugin *plugin = r != NULL && r->report.reached == KW_STAGE_INIT ? r->plugin : NULL;
  pthread_mutex_unlock(&lock);
  return plugin;
}
