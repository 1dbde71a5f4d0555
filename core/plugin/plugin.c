/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry: an entry for every candidate that was tried. It grows only, so that an index stays good.
 */
#include "plugin/plugin.h"

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kw_plugin_entry **entries;
static uint32_t entry_count;

const char *kw_stage_name(kw_stage stage) {
  static const char *const names[] = {"found", "opened", "symbol", "version", "probe", "init"};
  return stage < sizeof names / sizeof names[0] ? names[stage] : "unknown";
}

const char *kw_plugin_name(const kw_plugin *plugin, char name[KW_PLUGIN_NAME_SIZE]) {
  snprintf(name, KW_PLUGIN_NAME_SIZE, "%s.%s", plugin->vendor, plugin->key);
  return name;
}

kw_status kw_plugin_translate(const kw_plugin *plugin, kw_status status) {
  char name[KW_PLUGIN_NAME_SIZE];
  return kw_error_translate(status, kw_plugin_name(plugin, name));
}

void kw_plugins_lock(void) {
  pthread_mutex_lock(&lock);
}

void kw_plugins_unlock(void) {
  pthread_mutex_unlock(&lock);
}

kw_plugin_entry *kw_plugin_entry_obtain(const char *path, uint64_t device, uint64_t inode) {
  for (uint32_t i = 0; i < entry_count && inode != 0; i++) {
    if (entries[i]->inode == inode && entries[i]->device == device) return entries[i];
  }
  kw_plugin_entry **grown = kw_array_grow(entries, entry_count, sizeof *grown);
  if (grown != NULL) entries = grown;
  kw_plugin_entry *entry = grown != NULL ? calloc(1, sizeof *entry) : NULL;
  if (entry == NULL) {
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the report about %s", path);
    return NULL;
  }
  entry->index = entry_count;
  entry->device = device;
  entry->inode = inode;
  entries[entry_count++] = entry;
  return entry;
}

kw_plugin_entry *kw_plugin_entry_at(uint32_t index) {
  return index < entry_count ? entries[index] : NULL;
}

uint32_t kw_plugin_entry_count(void) {
  pthread_mutex_lock(&lock);
  uint32_t count = entry_count;
  pthread_mutex_unlock(&lock);
  return count;
}

bool kw_plugin_report_at(uint32_t index, kw_plugin_report *out_report) {
  pthread_mutex_lock(&lock);
  const kw_plugin_entry *entry = kw_plugin_entry_at(index);
  if (entry != NULL) *out_report = entry->report;
  if (entry != NULL && entry->report.reached == KW_STAGE_INIT) out_report->device_count = entry->plugin->device_count;
  pthread_mutex_unlock(&lock);
  return entry != NULL;
}

kw_plugin *kw_plugin_at(uint32_t index) {
  pthread_mutex_lock(&lock);
  const kw_plugin_entry *entry = kw_plugin_entry_at(index);
  kw_plugin *plugin = entry != NULL && entry->report.reached == KW_STAGE_INIT ? entry->plugin : NULL;
  pthread_mutex_unlock(&lock);
  return plugin;
}

void kw_plugins_shut_down(void) {
  if (pthread_mutex_trylock(&lock) != 0) return; /* a plugin is being loaded: nothing can be said about any of them */
  for (uint32_t i = entry_count; i-- > 0;) {
    const kw_plugin_entry *entry = entries[i];
    if (entry->report.reached != KW_STAGE_INIT || atomic_load(&entry->plugin->open_devices) != 0) continue;
    if (entry->plugin->desc.shutdown(entry->plugin->state) != KW_OK) {
      kw_log(KW_LOG_WARN, "%s.%s: shutdown failed", entry->plugin->vendor, entry->plugin->key);
    }
    atomic_store(&entry->plugin->ended, true);
  }
  pthread_mutex_unlock(&lock);
}
