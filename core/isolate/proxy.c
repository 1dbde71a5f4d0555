/* SPDX-License-Identifier: Apache-2.0
 *
 * A proxy's processes: the first one, which core starts as it starts any plugin, and those after it, which have to be
 * the same once more.
 */
#include "isolate/proxy.h"

#include "base/error.h"
#include "base/log.h"
#include "isolate/objects.h"
#include "isolate/pending.h"
#include "plugin/discover.h"
#include "plugin/plugin.h"

#include "isolate/wire/slot_codec.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT_SIZE 1024u /* a description's texts are shorter */

void kw_proxy_explain(const kw_proxy *proxy, kw_status status, const char *text) {
  if (proxy->host != NULL) {
    proxy->host->set_error(proxy->host->ctx, status, text);
  } else {
    kw_error_offer(kw_fail(status, "%s", text));
  }
}

/* A link with all that hangs on it; NULL with an error. */
static kw_link *make_link(kw_proxy *proxy) {
  kw_link *link = kw_link_make(proxy->owner, proxy);
  if (link == NULL) return NULL;
  link->blocks = kw_blocks_make();
  link->pending = kw_pending_make();
  link->objects = kw_objects_make();
  if (link->blocks != NULL && link->pending != NULL && link->objects != NULL) return link;
  kw_link_unref(link);
  kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the process of a plugin");
  return NULL;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static const char none[] = ""; /* in place of a text that nobody has to free */

static const char *keep_text(kw_message *m) {
  char text[TEXT_SIZE];
  kw_take_text(m, text, sizeof text);
  const char *copy = strdup(text);
  if (copy == NULL) m->broken = true;
  return copy != NULL ? copy : none;
}

static void free_text(const char *text) {
  if (text != none) free((char *)text);
}

/* Of an answer that core does not have. */
static void free_answer(kw_plugin_answer *answer) {
  const kw_plugin_desc *desc = &answer->desc;
  const char *const texts[] = {desc->key, desc->vendor, desc->version, desc->description, desc->build, desc->sanitizer};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free_text(texts[i]);
  for (uint32_t i = 0; i < desc->option_count; i++) {
    free_text(desc->options[i]->key);
    free_text(desc->options[i]->value);
    free_text(desc->options[i]->text);
  }
  if (desc->option_count > 0) free((kw_option_desc *)desc->options[0]);
  free((void *)desc->options);
}

static void take_options(kw_message *m, kw_plugin_desc *desc) {
  const uint32_t count = kw_take_u32(m);
  if (count == 0 || count > KW_OPTION_LIMIT) {
    m->broken = m->broken || count != 0;
    return;
  }
  kw_option_desc *options = calloc(count, sizeof *options);
  const kw_option_desc **list = calloc(count, sizeof *list);
  if (options == NULL || list == NULL) {
    m->broken = true;
    free(options);
    free(list);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    list[i] = &options[i];
    options[i] = (kw_option_desc){.struct_size = sizeof options[i], .place = kw_take_u32(m)};
    options[i].key = keep_text(m);
    options[i].value = keep_text(m);
    options[i].text = keep_text(m);
  }
  desc->options = list;
  desc->option_count = count;
}

/* The texts stay: a description lives as long as its plugin. */
static void take_answer(kw_message *m, kw_plugin_answer *answer, uint64_t *out_slots) {
  kw_plugin_desc *desc = &answer->desc;
  desc->struct_size = sizeof *desc;
  answer->abi_version = kw_take_u32(m);
  desc->abi_version = kw_take_u32(m);
  answer->native = kw_take_u64(m);
  const char **const texts[] = {&desc->key,         &desc->vendor, &desc->version,
                                &desc->description, &desc->build,  &desc->sanitizer};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) *texts[i] = keep_text(m);
  take_options(m, desc);
  *out_slots = kw_take_u64(m);
  if (!kw_word_is_valid(desc->key) || !kw_word_is_valid(desc->vendor)) m->broken = true;
}

static kw_status always_ok(const char **out_reason) {
  (void)out_reason;
  return KW_OK;
}

/* What the manifest allows, for the process's command line. */
static void list_words(const kw_manifest *manifest, const char *words[KW_LINK_WORDS + 1]) {
  uint32_t count = 0;
  if (manifest->execute) words[count++] = "execute";
  if (manifest->network) words[count++] = "network";
  for (uint32_t i = 0; i < manifest->device_count; i++) words[count++] = manifest->devices[i];
  words[count] = NULL;
}
_Static_assert(KW_MANIFEST_DEVICES + 2 <= KW_LINK_WORDS, "a manifest fits the command line");

static kw_status open_there(kw_proxy *proxy, kw_link *link, kw_plugin_answer *answer, uint64_t *out_slots,
                            kw_stage *out_reached) {
  kw_exchange x;
  kw_status status = kw_exchange_begin(&x, link, KW_CODE_OPEN, KW_PACE_WORK, "its constructors, query or probe");
  if (status != KW_OK) return status;
  kw_put_text(&x.out, proxy->path);
  status = kw_exchange_run(&x);
  if (!x.in.broken && !kw_link_is_dead(link)) {
    const kw_status verdict = (kw_status)kw_take_u32(&x.in); /* no slot's: it comes with texts in any case */
    const uint32_t reached = kw_take_u32(&x.in);
    char reason[TEXT_SIZE], missing[TEXT_SIZE];
    kw_take_text(&x.in, reason, sizeof reason);
    kw_take_text(&x.in, missing, sizeof missing);
    if (missing[0] != '\0') kw_log(KW_LOG_INFO, "the process of %s: %s", proxy->path, missing);
    if (reached > KW_STAGE_PROBE) x.in.broken = true;
    *out_reached = (kw_stage)reached;
    if (!x.in.broken && reached >= KW_STAGE_VERSION) take_answer(&x.in, answer, out_slots);
    if (status == KW_OK && verdict != KW_OK) status = kw_fail(kw_status_canonical(verdict), "%s", reason);
  }
  return kw_exchange_end(&x, status);
}

kw_status kw_proxy_open(kw_proxy *proxy, kw_link **out_link, kw_plugin_answer *out_answer, uint64_t *out_slots,
                        kw_stage *out_reached) {
  memset(out_answer, 0, sizeof *out_answer);
  kw_plugin_desc *desc = &out_answer->desc;
  desc->key = desc->vendor = desc->version = desc->description = desc->build = desc->sanitizer = none;
  *out_reached = KW_STAGE_FOUND;
  *out_slots = 0;
  kw_link *link = make_link(proxy);
  if (link == NULL) return KW_ERR_OUT_OF_MEMORY;
  const char *words[KW_LINK_WORDS + 1];
  list_words(&proxy->manifest, words);
  kw_status status = kw_link_start(link, proxy->program, proxy->path, words);
  if (status == KW_OK) status = open_there(proxy, link, out_answer, out_slots, out_reached);
  if (status != KW_OK) {
    kw_link_end(link);
    kw_link_unref(link);
    return status;
  }
  desc->probe = always_ok; /* it has been asked there */
  desc->init = kw_proxy_init;
  desc->shutdown = kw_proxy_shutdown;
  desc->groups = proxy->self;
  desc->group_count = 1;
  *out_link = link;
  return KW_OK;
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

static kw_status send_init(kw_proxy *proxy, kw_link *link) {
  kw_exchange x;
  kw_status status = kw_exchange_begin(&x, link, KW_CODE_INIT, KW_PACE_WORK, "init");
  if (status != KW_OK) return status;
  kw_put_options(&x.out, proxy->init_options, proxy->init_option_count);
  return kw_exchange_end(&x, kw_exchange_run(&x));
}

static bool keep_options(kw_proxy *proxy, const kw_init_info *info) {
  proxy->init_option_count = 0;
  if (info->option_count == 0) return true;
  proxy->init_options = calloc(info->option_count, sizeof *proxy->init_options);
  if (proxy->init_options == NULL) return false;
  for (uint32_t i = 0; i < info->option_count; i++) {
    const kw_option kept = {strdup(info->options[i].key), strdup(info->options[i].value)};
    if (kept.key == NULL || kept.value == NULL) return false;
    proxy->init_options[proxy->init_option_count++] = kept;
  }
  return true;
}

/* The proxy that a host table was made for: core keeps the description, whose one group is the proxy. */
static kw_proxy *proxy_of(const kw_host_api *host) {
  const kw_plugin *plugin = host->ctx;
  return (kw_proxy *)(uintptr_t)plugin->desc.groups[0].table;
}

kw_status KW_CALL kw_proxy_init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  kw_proxy *proxy = proxy_of(host);
  kw_link *link;
  proxy->host = host;
  if (!keep_options(proxy, info)) return kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for options"));
  kw_status status = kw_proxy_link(&proxy->target, false, &link);
  if (status != KW_OK) return status;
  status = send_init(proxy, link);
  kw_link_unref(link);
  if (status == KW_OK) *out_plugin = &proxy->target;
  return status;
}

kw_status KW_CALL kw_proxy_shutdown(void *plugin) {
  kw_proxy *proxy = ((kw_target *)plugin)->proxy;
  pthread_mutex_lock(&proxy->lock);
  kw_link *link = proxy->link;
  proxy->link = NULL;
  proxy->shut_down = true;
  pthread_mutex_unlock(&proxy->lock);
  if (link == NULL) return KW_OK;
  kw_exchange x;
  kw_status status = KW_OK;
  if (!kw_link_is_dead(link)) {
    status = kw_exchange_begin(&x, link, KW_CODE_SHUTDOWN, KW_PACE_WORK, "shutdown");
    if (status == KW_OK) status = kw_exchange_end(&x, kw_exchange_run(&x));
  }
  kw_link_end(link);
  kw_link_unref(link);
  return status;
}

/* ---- Again ------------------------------------------------------------------------------------------------------- */

static bool is_same(const kw_plugin_desc *a, const kw_plugin_desc *b) {
  return strcmp(a->key, b->key) == 0 && strcmp(a->vendor, b->vendor) == 0 && strcmp(a->version, b->version) == 0;
}

/* Under proxy->starting. A process that registers what the first one did. */
static kw_status start_again(kw_proxy *proxy, kw_link **out_link) {
  kw_plugin_answer answer;
  kw_stage reached;
  uint64_t slots;
  kw_link *link;
  kw_status status = kw_candidate_confirm(proxy->path);
  if (status != KW_OK) return kw_error_offer(status);
  status = kw_proxy_open(proxy, &link, &answer, &slots, &reached);
  if (status != KW_OK) {
    free_answer(&answer);
    return status;
  }
  proxy->again = true;
  if (!is_same(&answer.desc, &proxy->answer.desc)) {
    status = kw_error_offer(
        kw_fail(KW_ERR_BUSY, "%s is another plugin now: restart the application to use it", proxy->path));
  } else {
    status = send_init(proxy, link);
  }
  if (status == KW_OK) {
    kw_log(KW_LOG_INFO, "%s.%s: a new process has taken the place of the one that ended", answer.desc.vendor,
           answer.desc.key);
    free_answer(&answer);
    *out_link = link;
    return KW_OK;
  }
  free_answer(&answer);
  kw_link_end(link);
  kw_link_unref(link);
  return status;
}

/* The process of now with a reference; NULL when there is none or it has ended. */
static kw_link *link_of_now(kw_proxy *proxy) {
  pthread_mutex_lock(&proxy->lock);
  kw_link *link = proxy->link;
  if (link != NULL && kw_link_is_dead(link)) link = NULL;
  if (link != NULL) kw_link_ref(link);
  pthread_mutex_unlock(&proxy->lock);
  return link;
}

void kw_proxy_forget(kw_link *link) {
  kw_proxy *proxy = link->user;
  pthread_mutex_lock(&proxy->lock);
  const bool is_it = proxy->link == link;
  if (is_it) {
    memcpy(proxy->cause, link->cause, sizeof proxy->cause);
    proxy->link = NULL;
  }
  pthread_mutex_unlock(&proxy->lock);
  if (is_it) kw_link_unref(link);
}

static kw_status lost_or_ended(kw_proxy *proxy) {
  char text[sizeof proxy->cause + 64] = "the plugin is shut down";
  pthread_mutex_lock(&proxy->lock);
  const kw_status status = proxy->shut_down ? KW_ERR_UNSUPPORTED : KW_ERR_DEVICE_LOST;
  if (!proxy->shut_down) snprintf(text, sizeof text, "the plugin's process %s", proxy->cause);
  pthread_mutex_unlock(&proxy->lock);
  kw_proxy_explain(proxy, status, text);
  return status;
}

/* Under proxy->starting. */
static kw_status take_place(kw_proxy *proxy, kw_link **out_link) {
  kw_status status = proxy->shut_down ? lost_or_ended(proxy) : start_again(proxy, out_link);
  if (status != KW_OK) return status;
  kw_link_ref(*out_link);
  pthread_mutex_lock(&proxy->lock);
  kw_link *before = proxy->link; /* one that has ended, and whose watcher has not come that far */
  proxy->link = *out_link;
  pthread_mutex_unlock(&proxy->lock);
  kw_link_unref(before);
  return KW_OK;
}

kw_status kw_proxy_link(const kw_target *target, bool start, kw_link **out_link) {
  kw_proxy *proxy = target->proxy;
  if (target->link != NULL) {
    kw_link_ref(target->link);
    *out_link = target->link;
    return KW_OK;
  }
  if ((*out_link = link_of_now(proxy)) != NULL) return KW_OK;
  if (!start) return lost_or_ended(proxy);
  pthread_mutex_lock(&proxy->starting);
  *out_link = link_of_now(proxy); /* somebody else may have started it meanwhile */
  const kw_status status = *out_link != NULL ? KW_OK : take_place(proxy, out_link);
  pthread_mutex_unlock(&proxy->starting);
  return status;
}
