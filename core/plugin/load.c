/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages of loading: probed in a helper process first, then opened, asked and initialised here.
 */
#include "plugin/load.h"

#include "base/error.h"
#include "base/log.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "plugin/kernel.h"
#include "plugin/negotiate.h"
#include "plugin/option.h"
#include "plugin/probe.h"
#include "plugin/probe_cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_LIMIT 4096u /* more devices than any plugin has: a count that is garbage */

/* One try. The entry gets the report when it ends, unless it ends for want of memory. */
typedef struct attempt {
  const kw_candidate *candidate;
  const kw_host_api *services;
  kw_plugin_entry *entry;
  kw_plugin_report report;
  bool starved; /* the host is short of memory, files or processes; the error says of what */
} attempt;

static kw_status starve(attempt *try, kw_status status) {
  try->starved = true;
  return status;
}

/* ---- Texts of reports -------------------------------------------------------------------------------------------- */

typedef struct text_node {
  struct text_node *next;
  char text[];
} text_node;

static text_node *texts; /* under the registry's lock */

/* A copy that lives as long as the process, one for all equal texts. "" when memory is out: the try is starved then. */
static const char *intern(attempt *try, const char *text) {
  for (text_node *node = texts; node != NULL; node = node->next) {
    if (strcmp(node->text, text) == 0) return node->text;
  }
  size_t size = strlen(text) + 1;
  text_node *node = malloc(sizeof *node + size);
  if (node == NULL) {
    starve(try, kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the report about %s", try->candidate->path));
    return "";
  }
  memcpy(node->text, text, size);
  node->next = texts;
  texts = node;
  return node->text;
}

/* The same of a plugin's own text, as UTF-8. */
static const char *intern_foreign(attempt *try, const char *foreign) {
  char text[1024];
  kw_utf8_mend(text, sizeof text, foreign);
  return intern(try, text);
}

static void set_failed(attempt *try, kw_status status) {
  char reason[1024];
  try->report.status = status;
  try->report.reason = intern(try, kw_error_sentence(reason, sizeof reason));
}

static void set_identity(attempt *try, const kw_plugin_desc *desc) {
  kw_plugin_report *report = &try->report;
  report->abi_version = desc->abi_version;
  report->key = intern(try, desc->key);
  report->vendor = intern(try, desc->vendor);
  report->version = intern_foreign(try, desc->version);
  report->description = intern_foreign(try, desc->description);
  report->build = intern_foreign(try, desc->build);
  report->sanitizer = intern_foreign(try, desc->sanitizer);
  report->options = desc->options; /* the plugin's own: its library stays open */
  report->option_count = desc->option_count;
}

/* ---- In this process --------------------------------------------------------------------------------------------- */

/* Two plugins of one vendor and key cannot both be named. The first one stays. */
static kw_status check_unique(const kw_plugin_desc *desc) {
  const kw_plugin_entry *entry;
  for (uint32_t i = 0; (entry = kw_plugin_entry_at(i)) != NULL; i++) {
    const kw_plugin_report *report = &entry->report;
    if (report->reached == KW_STAGE_INIT && strcmp(report->key, desc->key) == 0 &&
        strcmp(report->vendor, desc->vendor) == 0) {
      return kw_fail(KW_ERR_BUSY, "%s.%s is already loaded from %s: this one is left out", desc->vendor, desc->key,
                     report->path);
    }
  }
  return KW_OK;
}

static kw_status count_devices(kw_plugin *plugin, uint32_t least) {
  uint32_t count = 0;
  kw_status status = KW_ASK(plugin, device.count, plugin->state, &count);
  if (status != KW_OK) return kw_from_plugin(status, "device.count failed");
  if (count > DEVICE_LIMIT) return kw_fail(KW_ERR_INTERNAL, "device.count says %u devices, which cannot be", count);
  if (count < least) {
    return kw_fail(KW_ERR_INTERNAL, "device.count says %u devices after %u: it may only grow", count, least);
  }
  atomic_store(&plugin->device_count, count);
  return KW_OK;
}

void kw_plugin_look_again(kw_plugin *plugin) {
  if (!atomic_exchange(&plugin->devices_changed, false)) return;
  if (count_devices(plugin, atomic_load(&plugin->device_count)) == KW_OK) return;
  kw_log(KW_LOG_ERROR, "%s.%s: %s", plugin->vendor, plugin->key, kw_error_message());
}

/* Runs init. A failure of the plugin's is its own, unless a service of the host failed it for want of memory. */
static kw_status run_init(attempt *try, kw_plugin *plugin) {
  kw_status status = kw_options_check_all(&plugin->desc);
  if (status != KW_OK) return status;
  status = kw_kernels_open(plugin);
  if (status != KW_OK) return starve(try, status);
  kw_chosen_options chosen;
  kw_options_choose(&plugin->desc, KW_OPTION_INIT, NULL, &chosen);
  const kw_init_info info = {.struct_size = sizeof info, .option_count = chosen.count, .options = chosen.items};
  status = KW_ASK(plugin, desc.init, &plugin->host, &info, &plugin->state);
  bool starved = atomic_load(&plugin->starved);
  if (status != KW_OK) {
    kw_kernels_clear(plugin);
    status = kw_from_plugin(status, "its init failed");
    return starved ? starve(try, status) : status;
  }
  status = count_devices(plugin, 0);
  if (status != KW_OK) {
    plugin->desc.shutdown(plugin->state);
    atomic_store(&plugin->ended, true);
    kw_kernels_clear(plugin);
    return status;
  }
  kw_kernels_sort(plugin);
  return KW_OK;
}

static kw_status initialize(attempt *try, const kw_plugin_answer *answer) {
  kw_status status = check_unique(&answer->desc);
  if (status != KW_OK) return status;
  /* Never freed, even when init fails: the plugin may have kept the host table. */
  if (try->entry->plugin == NULL) try->entry->plugin = malloc(sizeof(kw_plugin));
  kw_plugin *plugin = try->entry->plugin;
  if (plugin == NULL) return starve(try, kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the plugin's tables"));
  *plugin = (kw_plugin){
      .index = try->entry->index,
      .key = try->report.key,
      .vendor = try->report.vendor,
      .desc = answer->desc,
      .host = *try->services,
      .native = answer->native,
#define KW_SLOT_GROUP(group, NAME, required, native, text) .group = answer->group,
#include "slots.def"
  };
  plugin->host.ctx = plugin;
  plugin->host.abi_version = answer->abi_version;
  status = run_init(try, plugin);
  if (status != KW_OK) return status;
  try->report.device_count = plugin->device_count;
  try->report.kernel_count = plugin->kernel_count;
  try->report.native = plugin->native;
  return KW_OK;
}

/* The library stays open for ever: code of it may be running any time. */
static kw_status open_library(const char *path, void **out_library) {
  *out_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*out_library != NULL) return KW_OK;
  const char *reason = dlerror();
  if (reason == NULL) reason = "out of memory"; /* not even for the reason */
  bool memory = strstr(reason, strerror(ENOMEM)) != NULL || strcmp(reason, "out of memory") == 0;
  return kw_fail(memory ? KW_ERR_OUT_OF_MEMORY : KW_ERR_IO, "%s", reason);
}

/* What the helper did, once more in this process; every stage can still fail, because the helper may have said so some
 * time ago (probe_cache.h). */
static kw_status open_here(attempt *try) {
  kw_plugin_report *report = &try->report;
  void *library;
  kw_status status = open_library(report->path, &library);
  if (status != KW_OK) return status;
  report->reached = KW_STAGE_OPENED;
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  if (query == NULL) return kw_fail(KW_ERR_ABI_MISMATCH, "it does not export " KW_QUERY_SYMBOL ": not a Keyway plugin");
  report->reached = KW_STAGE_SYMBOL;

  kw_plugin_answer answer;
  status = kw_negotiate(query, &answer);
  set_identity(try, &answer.desc);
  if (status != KW_OK) return status;
  if (try->starved) return KW_ERR_OUT_OF_MEMORY;
  report->reached = KW_STAGE_VERSION;

  const char *reason = NULL;
  status = answer.desc.probe(&reason);
  if (status != KW_OK) {
    if (reason != NULL) kw_error_offer(kw_fail(status, "%s", reason));
    return kw_from_plugin(status, "its probe says no");
  }
  report->reached = KW_STAGE_PROBE;
  status = initialize(try, &answer);
  if (status == KW_OK) report->reached = KW_STAGE_INIT;
  return status;
}

/* ---- In the helper ----------------------------------------------------------------------------------------------- */

/* False when the helper says that the file must not be opened here, and the report has it all, or when the try is
 * starved. */
static bool passes_probe(attempt *try, char *remark, size_t size) {
  const char *directory = kw_library_directory();
  if (directory == NULL) {
    starve(try, KW_ERR_OUT_OF_MEMORY);
    return false;
  }
  char helper[PATH_MAX + 64];
  snprintf(helper, sizeof helper, "%s/keyway/" KW_PROBE_PROGRAM, directory);
  if (kw_probe_cache_find(try->candidate, helper, remark, size)) return true;
  kw_probe_result result;
  kw_probe_run(helper, try->candidate->path, &result);
  if (result.starved) {
    starve(try, kw_fail(KW_ERR_OUT_OF_MEMORY, "%s", result.reason));
    return false;
  }
  if (result.status == KW_OK) {
    kw_probe_cache_add(try->candidate, helper, result.reason);
    snprintf(remark, size, "%s", result.reason);
    return true;
  }
  const kw_plugin_desc desc = {.abi_version = result.abi_version,
                               .key = result.key,
                               .vendor = result.vendor,
                               .version = result.version,
                               .description = result.description,
                               .build = result.build,
                               .sanitizer = result.sanitizer};
  set_identity(try, &desc);
  try->report.reached = result.reached;
  try->report.status = result.status;
  try->report.reason = intern(try, result.reason);
  return false;
}

/* ---- One try ----------------------------------------------------------------------------------------------------- */

static void load(attempt *try) {
  const kw_candidate *candidate = try->candidate;
  char remark[1024] = "", reason[2048];
  if (!passes_probe(try, remark, sizeof remark)) return;
  if (remark[0] != '\0') {
    snprintf(reason, sizeof reason, "%s%s%s", candidate->reason, candidate->reason[0] != '\0' ? "; " : "", remark);
    try->report.reason = intern(try, reason);
    if (try->starved) return;
  }
  fenv_t environment; /* a library linked with -ffast-math flushes subnormals in the thread that opens it */
  fegetenv(&environment);
  kw_status status = open_here(try);
  fesetenv(&environment);
  if (status != KW_OK && !try->starved) set_failed(try, status);
}

static void run(attempt *try) {
  uint64_t begin = kw_trace_now();
  const kw_candidate *candidate = try->candidate;
  kw_plugin_report *report = &try->report;
  *report = (kw_plugin_report){.struct_size = sizeof *report, .reached = KW_STAGE_FOUND, .status = candidate->status};
  report->path = intern(try, candidate->path);
  report->reason = intern(try, candidate->reason);
  report->key = report->vendor = report->version = report->description = report->build = report->sanitizer = "";
  if (try->starved) return;
  try->entry = kw_plugin_entry_obtain(candidate->path, candidate->device, candidate->inode);
  if (try->entry == NULL) {
    starve(try, KW_ERR_OUT_OF_MEMORY);
    return;
  }
  if (try->entry->report.reached == KW_STAGE_INIT) {
    *report = try->entry->report;
    return;
  }
  if (report->status == KW_OK) load(try);
  report->load_ns = kw_trace_now() - begin;
  /* Also after a starved try: the entry then tells why it is not loaded. */
  if (try->starved) {
    report->status = KW_ERR_OUT_OF_MEMORY;
    report->reason = "the host was short of memory";
  }
  try->entry->report = *report;
  if (kw_trace_on()) kw_trace_span("load", report->path, report->reason, begin);
  kw_log(KW_LOG_INFO, "plugin %s: reached %s%s%s", report->path, kw_stage_name(report->reached),
         report->reason[0] != '\0' ? ": " : "", report->reason);
}

kw_status kw_plugin_try(const kw_candidate *candidate, const kw_host_api *services, kw_plugin_report *out_report) {
  attempt try = {.candidate = candidate, .services = services};
  kw_plugins_lock();
  run(&try);
  kw_plugins_unlock();
  *out_report = try.report;
  if (!try.starved) return KW_OK;
  return kw_wrap(KW_ERR_OUT_OF_MEMORY, "plugin %s was not tried to the end: free some, and try again", candidate->path);
}

void kw_plugins_tried(void) {
  kw_plugins_lock();
  kw_probe_cache_save();
  kw_plugins_unlock();
}

bool kw_plugins_try_again(const kw_host_api *services) {
  bool any = false;
  kw_plugin_report report;
  for (uint32_t i = 0; kw_plugin_report_at(i, &report); i++) {
    kw_candidate candidate;
    if (report.status != KW_ERR_OUT_OF_MEMORY) continue;
    if (kw_candidate_examine(report.path, false, &candidate) != KW_OK) continue;
    any = any || candidate.status == KW_OK;
    if (candidate.status == KW_OK) kw_plugin_try(&candidate, services, &report);
    free(candidate.path);
  }
  return any;
}
