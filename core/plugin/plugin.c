/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry: an entry for every candidate that was tried. It grows only, so that an index stays good.
 */
#include "plugin/plugin.h"

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/quarantine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static kw_plugin_entry **entries;
static uint32_t entry_count;
static kw_plugin *last_open; /* of the open ones; each leads to the one before it */
static uint32_t open_count;

kw_wrap_fn kw_plugin_wrap;

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

void kw_plugins_wait(void) {
  pthread_cond_wait(&changed, &lock);
}

void kw_plugins_wake(void) {
  pthread_cond_broadcast(&changed);
}

/* The entry keeps the candidate as it is now, with its own copy of the path. */
static bool keep_candidate(kw_plugin_entry *entry, const kw_candidate *candidate) {
  char *path = strdup(candidate->path);
  if (path == NULL) return false;
  free(entry->candidate.path);
  entry->candidate = *candidate;
  entry->candidate.path = path;
  return true;
}

/* The same file, by whatever name; of a place without a file the name counts. */
static bool is_same(const kw_candidate *a, const kw_candidate *b) {
  if (a->inode == 0 && b->inode == 0) return strcmp(a->path, b->path) == 0;
  return a->inode == b->inode && a->device == b->device;
}

kw_plugin_entry *kw_plugin_entry_of(const kw_candidate *candidate) {
  for (uint32_t i = 0; i < entry_count; i++)
    if (is_same(&entries[i]->candidate, candidate)) return entries[i];
  return NULL;
}

kw_plugin_entry *kw_plugin_entry_obtain(const kw_candidate *candidate) {
  kw_plugin_entry *entry = kw_plugin_entry_of(candidate);
  if (entry != NULL && entry->report.reached == KW_STAGE_INIT) {
    entry->candidate.vouched |= candidate->vouched; /* found first, named then */
    return entry;
  }
  kw_plugin_entry **grown = entry == NULL ? kw_array_grow(entries, entry_count, sizeof *grown) : entries;
  if (grown != NULL) entries = grown;
  const bool is_new = entry == NULL;
  if (is_new && grown != NULL) entry = calloc(1, sizeof *entry);
  if (entry == NULL || !keep_candidate(entry, candidate)) {
    if (is_new) free(entry);
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the report about %s", candidate->path);
    return NULL;
  }
  if (!is_new) return entry;
  entry->index = entry_count;
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

uint32_t kw_plugin_open_count(void) {
  pthread_mutex_lock(&lock);
  const uint32_t count = open_count;
  pthread_mutex_unlock(&lock);
  return count;
}

kw_plugin *kw_plugin_open_at(uint32_t index) {
  pthread_mutex_lock(&lock);
  kw_plugin *plugin = index < open_count ? last_open : NULL;
  for (uint32_t i = open_count; plugin != NULL && --i > index;) plugin = plugin->opened_before;
  pthread_mutex_unlock(&lock);
  return plugin;
}

void kw_plugin_open_add(kw_plugin *plugin) {
  plugin->opened_before = last_open;
  last_open = plugin;
  open_count++;
}

static _Thread_local bool starting_here;

bool kw_plugin_is_starting_here(void) {
  return starting_here;
}

void kw_plugin_set_starting_here(bool starting) {
  starting_here = starting;
}

void kw_plugins_shut_down(void) {
  if (!kw_plugin_is_starting_here()) kw_quarantine_forgive(); /* no plugin's init has called exit */
  if (pthread_mutex_trylock(&lock) != 0) return; /* helpers are at work: nothing can be said about any plugin */
  for (kw_plugin *plugin = last_open; plugin != NULL; plugin = plugin->opened_before) {
    if (atomic_load(&plugin->open_devices) != 0) continue;
    if (plugin->desc.shutdown(plugin->state) != KW_OK) {
      kw_log(KW_LOG_WARN, "%s.%s: shutdown failed", plugin->vendor, plugin->key);
    }
    atomic_store(&plugin->ended, true);
  }
  pthread_mutex_unlock(&lock);
}
