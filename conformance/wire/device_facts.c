/* SPDX-License-Identifier: Apache-2.0
 *
 * What a worker tells about the device, as a message.
 */
#include "wire/device_facts.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES 100000u /* more than any plugin has: a larger count is garbage */

void kw_device_facts_write(const kw_device_facts *facts, kw_message *message) {
  kw_message_put_u32(message, (uint32_t)facts->status);
  kw_message_put_string(message, facts->text ? facts->text : "");
  kw_message_put_string(message, facts->device ? facts->device : "");
  kw_message_put_string(message, facts->product ? facts->product : "");
  kw_message_put_string(message, facts->driver ? facts->driver : "");
  kw_message_put_string(message, facts->plugin_path ? facts->plugin_path : "");
  kw_message_put_string(message, facts->second ? facts->second : "");
  kw_message_put_u32(message, facts->emulated);
  kw_message_put_u64(message, facts->native);
  kw_message_put_u64(message, facts->flush);
  kw_message_put_u32(message, facts->op_count);
  for (uint32_t i = 0; i < facts->op_count; i++) {
    const kw_op_facts *op = &facts->ops[i];
    kw_message_put_bytes(message, &op->op, sizeof op->op); /* both sides are one program; pointers are set anew */
    kw_message_put_u64(message, op->kernels);
    kw_message_put_u64(message, op->decomposed);
    kw_message_put_u64(message, op->repeats);
  }
  kw_message_put_u32(message, facts->contract_count);
  for (uint32_t i = 0; i < facts->contract_count; i++) {
    kw_message_put_string(message, facts->contracts[i]);
    kw_message_put_u32(message, facts->contract_efforts[i]);
  }
}

/* The row of an op of the table comes from the reader's own table, never from the worker. */
static bool read_op(kw_message *message, kw_op_facts *out) {
  size_t length;
  const void *bytes = kw_message_get_bytes(message, &length);
  if (!bytes || length != sizeof out->op) return false;
  memcpy(&out->op, bytes, length);
  out->kernels = kw_message_get_u64(message);
  out->decomposed = kw_message_get_u64(message);
  out->repeats = kw_message_get_u64(message);
  kw_suite_op *op = &out->op;
  op->name[sizeof op->name - 1] = op->base[sizeof op->base - 1] = 0;
  op->row.schema = NULL;
  op->row.magnitude = "";
  for (uint32_t i = 0; i < KW_MAX_ARGS; i++) {
    kw_suite_arg *arg = &op->args[i];
    arg->name[sizeof arg->name - 1] = arg->default_text[sizeof arg->default_text - 1] = 0;
    if (arg->text_count > KW_SUITE_TEXTS) return false;
    for (uint32_t t = 0; t < KW_SUITE_TEXTS; t++) arg->texts[t][KW_SUITE_TEXT - 1] = 0;
  }
  if (op->vendor) return op->arg_count <= KW_MAX_ARGS && op->result_count <= KW_SUITE_RESULTS;
  uint32_t count;
  const kw_suite_op *table = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(table[i].name, op->name) != 0) continue;
    *op = table[i];
    return true;
  }
  return false;
}

bool kw_device_facts_read(kw_message *message, kw_device_facts *out_facts) {
  memset(out_facts, 0, sizeof *out_facts);
  out_facts->status = (kw_status)kw_message_get_u32(message);
  out_facts->text = strdup(kw_message_get_string(message));
  out_facts->device = strdup(kw_message_get_string(message));
  out_facts->product = strdup(kw_message_get_string(message));
  out_facts->driver = strdup(kw_message_get_string(message));
  out_facts->plugin_path = strdup(kw_message_get_string(message));
  out_facts->second = strdup(kw_message_get_string(message));
  out_facts->emulated = kw_message_get_u32(message) != 0;
  out_facts->native = kw_message_get_u64(message);
  out_facts->flush = kw_message_get_u64(message);
  uint32_t ops = kw_message_get_u32(message);
  bool good = !message->bad && ops <= MAX_ENTRIES;
  if (good) out_facts->ops = calloc(ops + 1u, sizeof *out_facts->ops);
  for (uint32_t i = 0; i < ops && good && out_facts->ops; i++) {
    good = read_op(message, &out_facts->ops[i]);
    out_facts->op_count += good;
  }
  uint32_t contracts = good ? kw_message_get_u32(message) : 0;
  good = good && !message->bad && contracts <= MAX_ENTRIES;
  if (good) out_facts->contracts = calloc(contracts + 1u, sizeof *out_facts->contracts);
  if (good) out_facts->contract_efforts = calloc(contracts + 1u, sizeof *out_facts->contract_efforts);
  const bool room = out_facts->ops && out_facts->contracts && out_facts->contract_efforts;
  for (uint32_t i = 0; i < contracts && good && room; i++) {
    out_facts->contracts[i] = strdup(kw_message_get_string(message));
    out_facts->contract_count++;
    const uint32_t effort = kw_message_get_u32(message);
    good = effort <= KW_EFFORT_THOROUGH;
    out_facts->contract_efforts[i] = good ? (kw_effort)effort : KW_EFFORT_QUICK;
  }
  if (good && !message->bad && room) return true;
  kw_device_facts_free(out_facts);
  return false;
}

const kw_op_facts *kw_device_facts_op(const kw_device_facts *facts, const char *name) {
  for (uint32_t i = 0; i < facts->op_count; i++) {
    if (strcmp(facts->ops[i].op.name, name) == 0) return &facts->ops[i];
  }
  return NULL;
}

void kw_device_facts_free(kw_device_facts *facts) {
  free(facts->text);
  free(facts->device);
  free(facts->product);
  free(facts->driver);
  free(facts->plugin_path);
  free(facts->second);
  free(facts->ops);
  for (uint32_t i = 0; i < facts->contract_count; i++) free(facts->contracts[i]);
  free(facts->contracts);
  free(facts->contract_efforts);
  memset(facts, 0, sizeof *facts);
}
