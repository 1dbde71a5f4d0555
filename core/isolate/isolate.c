/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is isolated, and the making of a proxy.
 */
#include "isolate/isolate.h"

#include "base/error.h"
#include "base/log.h"
#include "isolate/objects.h"
#include "isolate/pending.h"
#include "isolate/proxy.h"
#include "isolate/service.h"
#include "plugin/discover.h"
#include "plugin/named.h"
#include "plugin/option.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

kw_status kw_isolate_wanted(const char *path, const kw_plugin_desc *desc, bool *out_wanted) {
  const char *list = secure_getenv("KEYWAY_ISOLATE"), *option = kw_options_of_host(desc, KW_OPTION_ISOLATE);
  *out_wanted = option != NULL ? strcmp(option, "1") == 0
                               : (list != NULL && strcmp(list, "*") == 0) || kw_list_names_file(list, "", path) ||
                                     kw_list_names_key(list, "", desc->vendor, desc->key);
  if (option != NULL || *out_wanted) return KW_OK;
  kw_manifest manifest;
  kw_status status = kw_manifest_read(path, &manifest);
  *out_wanted = manifest.isolate;
  kw_manifest_free(&manifest);
  return status;
}

/* ---- The links of a proxy ---------------------------------------------------------------------------------------- */

static void explain(void *user, kw_status status, const char *text) {
  kw_proxy_explain(user, status, text);
}

/* The reason comes first: whoever finds the device lost finds that there, too. And nothing of the application's is
 * touched after a call has said that it is lost. */
static void ending(kw_link *link) {
  const kw_host_api *host = ((kw_proxy *)link->user)->host;
  char text[sizeof link->cause + 64];
  snprintf(text, sizeof text, "the plugin's process %s", link->cause);
  if (host != NULL) kw_objects_report_lost(link->objects, host, text);
  kw_pending_stop(link->pending);
}

static void free_parts(kw_link *link) {
  kw_blocks_free(link->blocks);
  kw_pending_free(link->pending);
  kw_objects_free(link->objects);
}

static const kw_link_owner owner = {
    .explain = explain, .serve = kw_service_start, .ending = ending, .ended = kw_proxy_forget, .free = free_parts};

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static kw_proxy *_Atomic proxies; /* all that were made */

/* NULL with an error. It stays, also when its process does not start: who waits for that may look at it. */
static kw_proxy *make_proxy(const char *path, const char *program, const kw_manifest *manifest) {
  kw_proxy *proxy = calloc(1, sizeof *proxy);
  char *own_path = strdup(path), *own_program = strdup(program);
  if (proxy == NULL || own_path == NULL || own_program == NULL) {
    free(proxy);
    free(own_path);
    free(own_program);
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the tables of %s", path);
    return NULL;
  }
  proxy->target.proxy = proxy;
  proxy->self[0] = (kw_group){"org.keyway.isolated/1", proxy};
  proxy->owner = &owner;
  proxy->path = own_path;
  proxy->program = own_program;
  proxy->manifest = *manifest;
  pthread_mutex_init(&proxy->lock, NULL);
  pthread_mutex_init(&proxy->starting, NULL);
  proxy->made_before = atomic_load(&proxies);
  while (!atomic_compare_exchange_weak(&proxies, &proxy->made_before, proxy)) continue;
  return proxy;
}

kw_status kw_isolate_open(const char *path, kw_plugin_answer *out_answer, kw_stage *out_reached) {
  char program[PATH_MAX + 64];
  const char *directory = kw_library_directory();
  memset(out_answer, 0, sizeof *out_answer);
  out_answer->desc.key = out_answer->desc.vendor = "";
  if (directory == NULL) return KW_ERR_OUT_OF_MEMORY;
  snprintf(program, sizeof program, "%s/keyway/" KW_ISOLATE_PROGRAM, directory);
  kw_manifest manifest;
  kw_status status = kw_manifest_read(path, &manifest);
  kw_proxy *proxy = status == KW_OK ? make_proxy(path, program, &manifest) : NULL;
  if (proxy == NULL) {
    kw_manifest_free(&manifest);
    return status != KW_OK ? status : KW_ERR_OUT_OF_MEMORY;
  }
  kw_link *link;
  uint64_t slots;
  status = kw_proxy_open(proxy, &link, &proxy->answer, &slots, out_reached);
  kw_proxy_fill_slots(&proxy->answer);
  kw_proxy_fill_objects(&proxy->answer);
  kw_proxy_fill_memory(&proxy->answer);
  kw_answer_restrict(&proxy->answer, slots);
  *out_answer = proxy->answer;
  if (status != KW_OK) return status;
  pthread_mutex_lock(&proxy->lock);
  proxy->link = link;
  pthread_mutex_unlock(&proxy->lock);
  kw_log(KW_LOG_INFO, "plugin %s runs in a process of its own, %d", path, (int)link->pid);
  if (kw_link_is_dead(link)) kw_proxy_forget(link); /* its watcher came too early for that */
  return KW_OK;
}
