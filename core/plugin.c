/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin.h"

#include "device.h"
#include "discover.h"
#include "error.h"
#include "host.h"
#include "kernel.h"
#include "log.h"
#include "parallel.h"
#include "probe.h"
#include "trace.h"
#include "verdict.h"

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
  uint64_t device; /* of the file system; with inode the file's identity */
  uint64_t inode;
  kw_plugin *plugin; /* once init was called; in use when report.reached == KW_STAGE_INIT */
} record;

typedef enum runtime_state { RUNTIME_NEW, RUNTIME_STARTED, RUNTIME_FORKED, RUNTIME_EXITING } runtime_state;

static atomic_int state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while plugins are loaded */
static record **records;
static uint32_t record_count;

/* ---- Texts of reports: kept for ever, each once ------------------------------------------------------------------- */

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

/* ---- Ending -------------------------------------------------------------------------------------------------------- */

/* Ends the plugins whose devices are all closed. A plugin with open devices is left alone: its memory may still be in
 * use by threads that go on until the process is gone. */
static void shut_down(void) {
  int expected = RUNTIME_STARTED;
  if (!atomic_compare_exchange_strong(&state, &expected, RUNTIME_EXITING)) return;
  kw_device_close_fallback();
  if (pthread_mutex_trylock(&lock) != 0) return; /* somebody is loading: nothing can be said about the plugins */
  for (uint32_t i = record_count; i-- > 0;) {
    const record *r = records[i];
    if (r->report.reached != KW_STAGE_INIT || kw_device_is_open(r->plugin)) continue;
    if (r->plugin->desc.shutdown(r->plugin->state) != KW_OK) {
      kw_log(KW_LOG_WARN, "%s.%s: shutdown failed", r->plugin->vendor, r->plugin->key);
    }
  }
  pthread_mutex_unlock(&lock);
}

void kw_runtime_end_before_plugins(void) {
  /* Handlers run in reverse order: after each load and first open there may be new ones of drivers, which must run after
   * ours. The first call of shut_down does the work. */
  if (atexit(shut_down) != 0) kw_log(KW_LOG_WARN, "plugins will not be shut down at exit: atexit is full");
}

static void after_fork_in_child(void) {
  atomic_store(&state, RUNTIME_FORKED);
  kw_parallel_forked();
}

/* ---- Loading one ---------------------------------------------------------------------------------------------------- */

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
      .index = r->report.index_,
  };
  return status;
}
