/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose texts for people are Latin-1, or cut within a character; its device 1 has such an id.
 */
#define FIXTURE_KEY "texts"
#include "fixture.h"

#define LATIN "caf\xe9"

static kw_status count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 2;
  return KW_OK;
}

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin;
  out_info->mem_alignment = out_info->offset_alignment = 64;
  memset(out_info->name, 'x', sizeof out_info->name); /* without an end, and its last character is cut there */
  memcpy(out_info->name + sizeof out_info->name - 3, "\xe2\x82\xac", 3);
  snprintf(out_info->vendor, sizeof out_info->vendor, LATIN);
  if (index == 1) snprintf(out_info->stable_id, sizeof out_info->stable_id, "slot/" LATIN);
  return KW_OK;
}

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  (void)plugin;
  (void)index;
  (void)key;
  out_value->type = KW_ATTRIBUTE_STRING;
  out_value->u.s = LATIN;
  return KW_OK;
}

static kw_status no_memory(void *device, const kw_alloc_info *info_of_it, kw_mem *out_mem) {
  (void)device;
  (void)info_of_it;
  (void)out_mem;
  fixture_host->log(fixture_host->ctx, KW_LOG_WARN, "logged " LATIN);
  return fixture_host->set_error(fixture_host->ctx, KW_ERR_OUT_OF_MEMORY, "no more " LATIN);
}

static kw_status launch(const kw_call *call) {
  (void)call;
  return KW_OK;
}

static kw_status start(const kw_host_api *host, const kw_init_info *init, void **out_plugin) {
  (void)init;
  fixture_host = host;
  *out_plugin = &fixture_state;
  const kw_kernel_desc kernel = {.struct_size = sizeof kernel,
                                 .op = "add.Tensor",
                                 .name = LATIN,
                                 .dtypes = {{KW_DTYPES_F32, 0}},
                                 .launch = launch};
  const kw_op_desc op = {.struct_size = sizeof op,
                         .schema = "fixture::one(Tensor self, str how='" LATIN "') -> Tensor"};
  if (host->register_kernel(host->ctx, &kernel) != KW_ERR_INVALID_ARGUMENT) return KW_ERR_INTERNAL;
  return host->define_op(host->ctx, &op) == KW_ERR_INVALID_ARGUMENT ? KW_OK : KW_ERR_INTERNAL;
}

#define FIXTURE_DESCRIPTION "a " LATIN
#define FIXTURE_COUNT count
#define FIXTURE_INFO info
#define FIXTURE_ATTRIBUTE attribute
#define FIXTURE_ALLOC no_memory
#define FIXTURE_INIT start
#include "fixture_plugin.h"
