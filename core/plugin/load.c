/* SPDX-License-Identifier: Apache-2.0
 *
 * Listing plugins by what helpers say, and opening them here.
 */
#include "plugin/load.h"

#include "base/error.h"
#include "base/log.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "isolate/isolate.h"
#include "plugin/left_out.h"
#include "plugin/option.h"
#include "plugin/probe.h"
#include "plugin/probe_cache.h"
#include "plugin/quarantine.h"
#include "plugin/start.h"

#include <fenv.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Texts of reports -------------------------------------------------------------------------------------------- */

typedef struct text_node {
  struct text_node *next;
  char text[];
} text_node;

static text_node *texts; /* under the registry's lock */

/* A copy that lives as long as the process, one for all equal texts, clean. "" when memory is out, and *starved. */
static const char *intern(const char *foreign, bool *starved) {
  char text[2048];
  kw_utf8_mend(text, sizeof text, foreign);
  for (text_node *node = texts; node != NULL; node = node->next) {
    if (strcmp(node->text, text) == 0) return node->text;
  }
  size_t size = strlen(text) + 1;
  text_node *node = malloc(sizeof *node + size);
  if (node == NULL) {
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the reports about plugins");
    *starved = true;
    return "";
  }
  memcpy(node->text, text, size);
  node->next = texts;
  texts = node;
  return node->text;
}

/* ---- Listing: one candidate ---------------------------------------------------------------------------------------
 */

/* One candidate of a call of kw_plugins_list. */
typedef struct listing {
  const kw_candidate *candidate;
  kw_plugin_entry *entry; /* NULL: nothing is to be done */
  kw_plugin_facts *facts; /* of the cache or of a helper; the registry's once the plugin is listed */
  bool starved;
} listing;

static void refuse(listing *l, kw_status status, const char *reason) {
  kw_plugin_report *report = &l->entry->report;
  report->status = status;
  report->reason = intern(reason, &l->starved);
}

static void begin_report(listing *l) {
  const kw_candidate *candidate = l->candidate;
  l->entry->report = (kw_plugin_report){
      .struct_size = sizeof(kw_plugin_report), .reached = KW_STAGE_FOUND, .status = candidate->status};
  kw_plugin_report *report = &l->entry->report;
  report->key = report->vendor = report->version = report->description = report->build = report->sanitizer = "";
  report->path = intern(candidate->path, &l->starved);
  report->reason = intern(candidate->reason, &l->starved);
  report->trust = intern(candidate->status == KW_OK ? candidate->trust : "", &l->starved);
}

/* Two plugins of one vendor and key cannot both be named. The first one stays. */
static const kw_plugin_report *find_same(const listing *l) {
  const kw_plugin_entry *entry;
  for (uint32_t i = 0; (entry = kw_plugin_entry_at(i)) != NULL; i++) {
    const kw_plugin_report *report = &entry->report;
    if (entry != l->entry && report->reached == KW_STAGE_INIT && strcmp(report->key, l->facts->key) == 0 &&
        strcmp(report->vendor, l->facts->vendor) == 0) {
      return report;
    }
  }
  return NULL;
}

/* Why a plugin that its helper is content with is not listed; false when it can be. */
static bool is_refused(listing *l, const kw_plugin_desc *desc) {
  char reason[1024];
  const kw_plugin_report *other = find_same(l);
  if (kw_plugin_key_is_left_out(desc->vendor, desc->key)) {
    l->entry->report.reached = KW_STAGE_PROBE;
    refuse(l, KW_ERR_UNSUPPORTED, "left out by KEYWAY_PLUGINS");
  } else if (other != NULL) {
    snprintf(reason, sizeof reason, "%s.%s is already loaded from %s: this one is left out", desc->vendor, desc->key,
             other->path);
    l->entry->report.reached = KW_STAGE_PROBE;
    refuse(l, KW_ERR_BUSY, reason);
  } else if (kw_options_check_all(desc) != KW_OK) {
    l->entry->report.reached = KW_STAGE_PROBE;
    refuse(l, KW_ERR_INVALID_ARGUMENT, kw_error_sentence(reason, sizeof reason));
  } else {
    return false;
  }
  return true;
}

static void note_remark(listing *l) {
  char reason[2048];
  if (l->facts->reason[0] == '\0') return;
  const char *first = l->candidate->reason;
  snprintf(reason, sizeof reason, "%s%s%s", first, first[0] != '\0' ? "; " : "", l->facts->reason);
  l->entry->report.reason = intern(reason, &l->starved);
}

/* Makes the entry's plugin one that is listed, of what its helper said. */
static void list(listing *l, const kw_plugin_desc *desc, const kw_host_api *services) {
  kw_plugin *plugin = l->entry->plugin; /* never freed: the plugin of an earlier try may have kept its host table */
  if (plugin == NULL) plugin = l->entry->plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) {
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the plugin's tables");
    l->starved = true;
    return;
  }
  l->facts->former = plugin->facts;
  *plugin = (kw_plugin){.index = l->entry->index,
                        .facts = l->facts,
                        .key = l->facts->key,
                        .vendor = l->facts->vendor,
                        .desc = *desc,
                        .host = *services,
                        .native = l->facts->native,
                        .device_count = l->facts->device_count};
  note_remark(l);
  l->entry->report.reached = KW_STAGE_INIT;
  l->entry->report.status = KW_OK;
  l->facts = NULL; /* the plugin's */
}

/* Enters what the facts say into the report, and the plugin into the list if they are good. */
static void take_facts(listing *l, const kw_host_api *services) {
  const kw_plugin_facts *facts = l->facts;
  kw_plugin_report *report = &l->entry->report;
  const kw_plugin_desc desc = {.abi_version = facts->abi_version,
                               .key = facts->key,
                               .vendor = facts->vendor,
                               .version = facts->version,
                               .description = facts->description,
                               .build = facts->build,
                               .sanitizer = facts->sanitizer,
                               .options = facts->options,
                               .option_count = facts->option_count};
  report->abi_version = facts->abi_version;
  report->key = intern(facts->key, &l->starved);
  report->vendor = intern(facts->vendor, &l->starved);
  report->version = intern(facts->version, &l->starved);
  report->description = intern(facts->description, &l->starved);
  report->build = intern(facts->build, &l->starved);
  report->sanitizer = intern(facts->sanitizer, &l->starved);
  if (facts->status != KW_OK) {
    report->reached = facts->reached;
    refuse(l, facts->status, facts->reason);
    return;
  }
  if (is_refused(l, &desc) || l->starved) return;
  report->device_count = facts->device_count;
  report->kernel_count = facts->kernel_count;
  report->native = facts->native;
  report->options = facts->options;
  report->option_count = facts->option_count;
  list(l, &desc, services);
}

static void end_listing(listing *l, uint64_t begin) {
  kw_plugin_report *report = &l->entry->report;
  report->load_ns = kw_trace_now() - begin;
  kw_facts_free(l->facts);
  if (l->starved) { /* the entry then tells why it is not loaded */
    report->status = KW_ERR_OUT_OF_MEMORY;
    report->reached = report->reached == KW_STAGE_INIT ? KW_STAGE_PROBE : report->reached;
    report->reason = "the host was short of memory";
  }
  if (kw_trace_on()) kw_trace_span("load", report->path, report->reason, begin);
  kw_log(KW_LOG_INFO, "plugin %s: reached %s%s%s", report->path, kw_stage_name(report->reached),
         report->reason[0] != '\0' ? ": " : "", report->reason);
}

/* ---- Listing: all candidates --------------------------------------------------------------------------------------
 */

/* Whether the candidate needs no helper: it is refused as it is, or known. */
static bool is_settled(listing *l, const char *helper) {
  char reason[512];
  if (l->starved || l->entry->report.status != KW_OK) return true;
  if (kw_plugin_file_is_left_out(l->candidate->path)) {
    refuse(l, KW_ERR_UNSUPPORTED, "left out by KEYWAY_PLUGINS");
    return true;
  }
  if (!l->candidate->vouched && kw_quarantine_find(l->candidate, reason, sizeof reason)) {
    refuse(l, KW_ERR_PERMISSION, reason);
    return true;
  }
  l->facts = kw_probe_cache_find(l->candidate, helper);
  return l->facts != NULL;
}

/* A file that was tried before has its entry; one that is listed is left alone. */
static bool begin_listing(listing *l, const kw_candidate *candidate) {
  *l = (listing){.candidate = candidate};
  l->entry = kw_plugin_entry_obtain(candidate);
  if (l->entry == NULL) return false;
  if (l->entry->report.reached == KW_STAGE_INIT) {
    l->entry = NULL;
  } else {
    begin_report(l);
  }
  return true;
}

/* Asks helpers about those that are not settled. */
static void ask_helpers(listing *listings, kw_probe *probes, uint32_t count, const char *helper) {
  uint32_t asked = 0;
  for (uint32_t i = 0; i < count; i++) {
    listing *l = &listings[i];
    if (l->entry != NULL && !is_settled(l, helper)) probes[asked++] = (kw_probe){.path = l->candidate->path};
  }
  if (asked == 0) return;
  kw_probe_run(helper, probes, asked);
  asked = 0;
  for (uint32_t i = 0; i < count; i++) {
    listing *l = &listings[i];
    if (l->entry == NULL || l->starved || l->facts != NULL || l->entry->report.status != KW_OK) continue;
    const kw_probe *probe = &probes[asked++];
    l->facts = probe->facts;
    if (l->facts != NULL) {
      kw_probe_cache_add(l->candidate, helper, l->facts);
      continue;
    }
    kw_fail(KW_ERR_OUT_OF_MEMORY, "%s", probe->starved ? probe->reason : "no memory for what its helper said");
    l->starved = true;
  }
}

static kw_status list_all(const kw_candidate *candidates, uint32_t count, const kw_host_api *services,
                          listing *listings, kw_probe *probes) {
  const uint64_t begin = kw_trace_now();
  char helper[PATH_MAX + 64];
  const char *directory = kw_library_directory();
  if (directory == NULL) return KW_ERR_OUT_OF_MEMORY;
  snprintf(helper, sizeof helper, "%s/keyway/" KW_PROBE_PROGRAM, directory);
  uint32_t begun = 0;
  while (begun < count && begin_listing(&listings[begun], &candidates[begun])) begun++;
  kw_status status = begun == count ? KW_OK : KW_ERR_OUT_OF_MEMORY;
  ask_helpers(listings, probes, begun, helper);
  for (uint32_t i = 0; i < begun; i++) {
    listing *l = &listings[i];
    if (l->entry == NULL) continue;
    if (!l->starved && l->facts != NULL) take_facts(l, services);
    if (l->starved) {
      status = kw_wrap(KW_ERR_OUT_OF_MEMORY, "plugin %s was not tried to the end: free some, and try again",
                       l->candidate->path);
    }
    end_listing(l, begin);
  }
  return status;
}

kw_status kw_plugins_list(const kw_candidate *candidates, uint32_t count, const kw_host_api *services) {
  listing *listings = calloc((size_t)count + 1, sizeof *listings);
  kw_probe *probes = calloc((size_t)count + 1, sizeof *probes);
  kw_status status = KW_OK;
  if (listings != NULL && probes != NULL) {
    kw_plugins_lock();
    status = list_all(candidates, count, services, listings, probes);
    kw_plugins_unlock();
  } else {
    status = kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for looking at plugins");
  }
  free(listings);
  free(probes);
  return status;
}

kw_plugin_report kw_plugin_report_of(const kw_candidate *candidate, kw_plugin **out_plugin) {
  kw_plugin_report report = {.struct_size = sizeof report, .reason = "", .path = ""};
  *out_plugin = NULL;
  kw_plugins_lock();
  const kw_plugin_entry *entry = kw_plugin_entry_of(candidate);
  if (entry != NULL) report = entry->report;
  if (report.reached == KW_STAGE_INIT) *out_plugin = entry->plugin;
  kw_plugins_unlock();
  return report;
}

bool kw_plugins_try_again(const kw_host_api *services) {
  bool any = false;
  kw_plugin_report report;
  for (uint32_t i = 0; kw_plugin_report_at(i, &report); i++) {
    kw_candidate candidate;
    if (report.status != KW_ERR_OUT_OF_MEMORY) continue;
    if (kw_candidate_examine(report.path, false, &candidate) != KW_OK) continue;
    any = any || candidate.status == KW_OK;
    if (candidate.status == KW_OK) kw_plugins_list(&candidate, 1, services);
    free(candidate.path);
  }
  return any;
}

void kw_plugins_forget(void) {
  kw_plugins_lock();
  kw_probe_cache_clear();
  kw_quarantine_lift();
  kw_plugins_unlock();
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* How far a start has come. */
typedef struct progress {
  kw_open_mark *mark;
  kw_stage reached;
} progress;

static void note_stage(void *user, const kw_plugin *plugin, kw_stage reached) {
  (void)plugin;
  progress *p = user;
  p->reached = reached;
  kw_quarantine_advance(p->mark, reached);
}

/* Under the lock: what a start that failed leaves behind. */
static void end_failed(kw_plugin_entry *entry, kw_stage reached, kw_status status, bool starved) {
  char reason[1024];
  bool ignored = false;
  if (starved) return; /* it stays listed: the next who asks for it tries again */
  entry->report.reached = reached;
  entry->report.status = status;
  entry->report.reason = intern(kw_error_sentence(reason, sizeof reason), &ignored);
  entry->report.device_count = 0;
  if (status == KW_ERR_PERMISSION) entry->report.trust = ""; /* it is another file by now */
}

/* Under the lock. */
static void end_started(kw_plugin_entry *entry, bool apart) {
  kw_plugin *plugin = entry->plugin;
  kw_plugin_open_add(plugin);
  entry->report.device_count = atomic_load(&plugin->device_count);
  entry->report.kernel_count = plugin->kernel_count;
  entry->report.native = plugin->native;
  entry->report.options = plugin->desc.options;
  entry->report.option_count = plugin->desc.option_count;
  entry->report.opened = 1;
  entry->report.isolated = apart;
}

/* Under the lock, which is released meanwhile. */
static kw_status open_here(kw_plugin_entry *entry) {
  kw_plugin *plugin = entry->plugin;
  bool starved = false;
  const uint64_t begin = kw_trace_now();
  atomic_store(&plugin->phase, KW_PLUGIN_OPENING);
  kw_plugins_unlock();
  progress p = {.reached = KW_STAGE_FOUND};
  bool apart = false;
  kw_status status = kw_candidate_confirm(entry->candidate.path);
  if (status == KW_OK) status = kw_isolate_wanted(entry->candidate.path, &plugin->desc, &apart);
  starved = status == KW_ERR_OUT_OF_MEMORY;
  if (!entry->candidate.vouched && !apart) p.mark = kw_quarantine_begin(&entry->candidate);
  fenv_t environment; /* a library linked with -ffast-math flushes subnormals in the thread that opens it */
  fegetenv(&environment);
  if (status == KW_OK) {
    status = kw_plugin_start(plugin, entry->candidate.path, apart, note_stage, &p, &starved);
  }
  fesetenv(&environment);
  kw_quarantine_end(p.mark);
  kw_plugins_lock();
  if (status == KW_OK) {
    end_started(entry, apart);
    if (kw_trace_on()) kw_trace_span("load", entry->report.path, NULL, begin);
  } else {
    end_failed(entry, p.reached, status, starved);
    status = kw_wrap(status, "plugin %s could not be opened", entry->report.path);
  }
  atomic_store_explicit(&plugin->phase, status == KW_OK ? KW_PLUGIN_OPEN : KW_PLUGIN_LISTED, memory_order_release);
  kw_plugins_wake();
  return status;
}

/* Under the lock. */
static kw_status open_listed(kw_plugin_entry *entry) {
  kw_plugin *plugin = entry->plugin;
  while (atomic_load(&plugin->phase) == KW_PLUGIN_OPENING) kw_plugins_wait();
  if (kw_plugin_is_open(plugin)) return KW_OK;
  if (entry->report.reached == KW_STAGE_INIT) return open_here(entry);
  return kw_fail(entry->report.status, "plugin %s could not be opened\n  because: %s", entry->report.path,
                 entry->report.reason);
}

kw_status kw_plugin_open(kw_plugin *plugin) {
  if (kw_plugin_is_open(plugin)) return KW_OK;
  if (kw_plugin_is_starting_here()) {
    return kw_fail(KW_ERR_BUSY, "%s.%s cannot be opened from within another plugin's init", plugin->vendor,
                   plugin->key);
  }
  kw_plugins_lock();
  kw_status status = open_listed(kw_plugin_entry_at(plugin->index));
  kw_plugins_unlock();
  return status;
}
