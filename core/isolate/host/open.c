/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin's life in its process: opened, queried and probed, started, shut down.
 */
#include "base/error.h"
#include "isolate/host/host.h"
#include "isolate/wire/slot_codec.h"

#include <dlfcn.h>

kw_hosted kw_hosted_plugin;
const char *kw_host_missing = "";

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static kw_status open_file(const char *path, kw_stage *reached) {
  kw_plugin_answer *answer = &kw_hosted_plugin.answer;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return kw_fail(KW_ERR_IO, "%s", dlerror());
  *reached = KW_STAGE_OPENED;
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  if (query == NULL) return kw_fail(KW_ERR_ABI_MISMATCH, "it does not export " KW_QUERY_SYMBOL ": not a Keyway plugin");
  *reached = KW_STAGE_SYMBOL;
  kw_status status = kw_negotiate(query, answer);
  if (status != KW_OK) return status;
  *reached = KW_STAGE_VERSION;
  const char *reason = NULL;
  status = answer->desc.probe(&reason);
  if (status != KW_OK) return kw_reason_refuse(status, reason, "its probe says no");
  *reached = KW_STAGE_PROBE;
  kw_hosted_plugin.open = true;
  return KW_OK;
}

static void say_answer(kw_message *out) {
  const kw_plugin_answer *answer = &kw_hosted_plugin.answer;
  const kw_plugin_desc *desc = &answer->desc;
  kw_put_u64(out, answer->abi_version);
  kw_put_u64(out, desc->abi_version);
  kw_put_u64(out, answer->native);
  const char *const texts[] = {desc->key, desc->vendor, desc->version, desc->description, desc->build, desc->sanitizer};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) kw_put_text(out, texts[i]);
  kw_put_u64(out, desc->option_count);
  for (uint32_t i = 0; i < desc->option_count; i++) {
    kw_put_u64(out, desc->options[i]->place);
    kw_put_text(out, desc->options[i]->key);
    kw_put_text(out, desc->options[i]->value);
    kw_put_text(out, desc->options[i]->text);
  }
  kw_put_u64(out, kw_answer_slots(answer));
}

/* The status of the file is a part of the answer. */
kw_status kw_host_open(kw_question *q) {
  const char *path;
  kw_stage reached = KW_STAGE_FOUND;
  char reason[1024] = "";
  kw_take_string(&q->in, q->arena, &path);
  if (kw_hosted_plugin.open || q->in.broken) return KW_ERR_INVALID_ARGUMENT;
  const kw_status status = open_file(path, &reached);
  if (status != KW_OK) kw_error_sentence(reason, sizeof reason);
  kw_put_u64(&q->out, (uint32_t)status);
  kw_put_u64(&q->out, reached);
  kw_put_text(&q->out, reason);
  kw_put_text(&q->out, kw_host_missing);
  if (reached >= KW_STAGE_VERSION) say_answer(&q->out);
  return KW_OK;
}

/* ---- Starting and ending ----------------------------------------------------------------------------------------- */

kw_status kw_host_init(kw_question *q) {
  kw_init_info info = {.struct_size = sizeof info};
  info.options = kw_take_options(&q->in, q->arena, &info.option_count);
  if (q->in.broken) return KW_ERR_INVALID_ARGUMENT;
  kw_host_table.abi_version = kw_hosted_plugin.answer.abi_version;
  return kw_hosted_plugin.answer.desc.init(&kw_host_table, &info, &kw_hosted_plugin.state);
}

kw_status kw_host_shutdown(kw_question *q) {
  (void)q;
  return kw_hosted_plugin.answer.desc.shutdown(kw_hosted_plugin.state);
}
