/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages of opening a plugin: constructors, symbol, version, probe, init.
 */
#include "plugin/start.h"

#include "base/error.h"
#include "base/log.h"
#include "isolate/isolate.h"
#include "plugin/facts.h"
#include "plugin/kernel.h"
#include "plugin/negotiate.h"
#include "plugin/option.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static kw_status count_devices(kw_plugin *plugin, uint32_t least) {
  uint32_t count = 0;
  kw_status status = KW_ASK(plugin, device.count, plugin->state, &count);
  if (status != KW_OK) return kw_from_plugin(status, "device.count failed");
  if (count > KW_DEVICE_LIMIT) return kw_fail(KW_ERR_INTERNAL, "device.count says %u devices, which cannot be", count);
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

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

/* One start of a plugin. */
typedef struct attempt {
  kw_plugin *plugin;
  const char *path;
  bool apart; /* in a process of its own */
  kw_stage_fn reached;
  void *user;
  bool starved; /* the host is short of something; the error says of what */
} attempt;

static kw_status starve(attempt *try, kw_status status) {
  try->starved = true;
  return status;
}

/* The library stays open for ever: code of it may be running any time. */
static kw_status open_library(attempt *try, void **out_library) {
  *out_library = dlopen(try->path, RTLD_NOW | RTLD_LOCAL);
  if (*out_library != NULL) return KW_OK;
  const char *reason = dlerror();
  if (reason == NULL) reason = "out of memory"; /* not even for the reason */
  const bool memory = strstr(reason, strerror(ENOMEM)) != NULL || strcmp(reason, "out of memory") == 0;
  return kw_fail(memory ? KW_ERR_OUT_OF_MEMORY : KW_ERR_IO, "%s", reason);
}

/* A plugin that was listed has to be what its helper said. */
static kw_status check_identity(const kw_plugin *plugin, const kw_plugin_desc *desc) {
  if (plugin->key == NULL) return KW_OK;
  if (strcmp(plugin->key, desc->key) == 0 && strcmp(plugin->vendor, desc->vendor) == 0) return KW_OK;
  return kw_fail(KW_ERR_ABI_MISMATCH, "it is %s.%s here and was %s.%s when it was looked at in a process of its own",
                 desc->vendor, desc->key, plugin->vendor, plugin->key);
}

/* Makes the answer the plugin's; of a negotiation that failed, what it says of itself. */
static kw_status take_answer(kw_plugin *plugin, kw_status status, const kw_plugin_answer *answer) {
  if (status == KW_OK) status = check_identity(plugin, &answer->desc);
  plugin->desc = answer->desc;
  if (status != KW_OK) return status;
  if (plugin->key == NULL) {
    plugin->key = answer->desc.key;
    plugin->vendor = answer->desc.vendor;
  }
  plugin->native = answer->native;
#define KW_SLOT_GROUP(group, NAME, required, native, text) plugin->group = answer->group;
#include "slots.def"
  plugin->host.ctx = plugin;
  plugin->host.abi_version = answer->abi_version;
  return KW_OK;
}

static kw_status probe(kw_plugin *plugin) {
  const char *reason = NULL;
  kw_status status = plugin->desc.probe(&reason);
  return status == KW_OK ? KW_OK : kw_reason_refuse(status, reason, "its probe says no");
}

/* A failure of the plugin's is its own, unless a service of the host failed it for want of memory. */
static kw_status init(attempt *try) {
  kw_plugin *plugin = try->plugin;
  kw_status status = kw_kernels_open(plugin);
  if (status == KW_OK && kw_plugin_wrap != NULL) status = kw_plugin_wrap(plugin);
  if (status != KW_OK) return starve(try, status);
  kw_chosen_options chosen;
  kw_options_choose(&plugin->desc, KW_OPTION_INIT, NULL, &chosen);
  const kw_init_info info = {.struct_size = sizeof info, .option_count = chosen.count, .options = chosen.items};
  status = KW_ASK(plugin, desc.init, &plugin->host, &info, &plugin->state);
  const bool starved = atomic_load(&plugin->starved);
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

static void tell(const attempt *try, kw_stage reached) {
  if (try->reached != NULL) try->reached(try->user, try->plugin, reached);
}

/* Everything before init, in this process. */
static kw_status open_here(attempt *try) {
  void *library;
  kw_status status = open_library(try, &library);
  if (status != KW_OK) return status;
  tell(try, KW_STAGE_OPENED);
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  if (query == NULL) return kw_fail(KW_ERR_ABI_MISMATCH, "it does not export " KW_QUERY_SYMBOL ": not a Keyway plugin");
  tell(try, KW_STAGE_SYMBOL);
  kw_plugin_answer answer;
  status = kw_negotiate(query, &answer);
  status = take_answer(try->plugin, status, &answer);
  if (status != KW_OK) return status;
  tell(try, KW_STAGE_VERSION);
  status = probe(try->plugin);
  if (status == KW_OK) tell(try, KW_STAGE_PROBE);
  return status;
}

/* The same in a process of its own. */
static kw_status open_apart(attempt *try) {
  kw_plugin_answer answer;
  kw_stage reached = KW_STAGE_FOUND;
  kw_status status = kw_isolate_open(try->path, &answer, &reached);
  if (reached != KW_STAGE_FOUND) tell(try, reached);
  if (status == KW_ERR_OUT_OF_MEMORY) return starve(try, status);
  return take_answer(try->plugin, status, &answer);
}

static kw_status run(attempt *try) {
  kw_status status = try->apart ? open_apart(try) : open_here(try);
  if (status != KW_OK) return status;
  status = init(try);
  if (status == KW_OK) tell(try, KW_STAGE_INIT);
  return status;
}

kw_status kw_plugin_start(kw_plugin *plugin, const char *path, bool apart, kw_stage_fn reached, void *user,
                          bool *out_starved) {
  attempt try = {.plugin = plugin, .path = path, .apart = apart, .reached = reached, .user = user};
  kw_plugin_set_starting_here(true);
  atomic_store(&plugin->starved, false);
  atomic_store(&plugin->ended, false);
  kw_status status = run(&try);
  kw_plugin_set_starting_here(false);
  *out_starved = try.starved;
  return status;
}
