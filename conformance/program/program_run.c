/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a program, packed and unpacked.
 */
#include "program/program_run.h"

#include <stdlib.h>
#include <string.h>

static void put(kw_message *message, const kw_program_bytes *bytes) {
  kw_message_put_u32(message, bytes->data != NULL);
  if (bytes->data) kw_message_put_bytes(message, bytes->data, bytes->size);
}

static kw_program_bytes get(kw_message *message) {
  kw_program_bytes bytes = {NULL, 0};
  if (kw_message_get_u32(message)) bytes.data = kw_message_get_bytes(message, &bytes.size);
  return bytes;
}

void kw_program_run_write(const kw_program_run *run, kw_message *message) {
  kw_message_put_string(message, run->id);
  kw_message_put_string(message, run->failure);
  kw_message_put_u32(message, run->refused);
  kw_message_put_f64(message, run->seconds);
  kw_message_put_u32(message, run->seen_count);
  for (uint32_t i = 0; i < run->seen_count; i++) {
    const kw_program_seen *seen = &run->seen[i];
    kw_message_put_u32(message, seen->act);
    kw_message_put_u32(message, seen->storage);
    put(message, &seen->free);
    put(message, &seen->waited);
  }
  kw_message_put_u32(message, run->leaf_count);
  for (uint32_t i = 0; i < run->leaf_count; i++) {
    const kw_program_leaf *leaf = &run->leaves[i];
    kw_message_put_u32(message, leaf->call);
    for (uint32_t t = 0; t < KW_CASE_TENSORS; t++) put(message, &leaf->inputs[t]);
    for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) {
      put(message, &leaf->free[r]);
      put(message, &leaf->waited[r]);
    }
  }
}

static void read_leaf(kw_message *message, kw_program_leaf *leaf) {
  leaf->call = kw_message_get_u32(message);
  for (uint32_t t = 0; t < KW_CASE_TENSORS; t++) leaf->inputs[t] = get(message);
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) {
    leaf->free[r] = get(message);
    leaf->waited[r] = get(message);
  }
}

bool kw_program_run_read(kw_message *message, kw_program_run *out) {
  memset(out, 0, sizeof *out);
  out->id = kw_message_get_string(message);
  out->failure = kw_message_get_string(message);
  out->refused = kw_message_get_u32(message);
  out->seconds = kw_message_get_f64(message);
  out->seen_count = kw_message_get_u32(message);
  bool good = !message->bad && out->seen_count <= KW_PROGRAM_ACTS + KW_PROGRAM_STORAGES;
  out->seen = good ? calloc(out->seen_count + 1u, sizeof *out->seen) : NULL;
  for (uint32_t i = 0; out->seen && i < out->seen_count; i++) {
    kw_program_seen *seen = &out->seen[i];
    seen->act = kw_message_get_u32(message);
    seen->storage = kw_message_get_u32(message);
    seen->free = get(message);
    seen->waited = get(message);
  }
  out->leaf_count = kw_message_get_u32(message);
  good = good && !message->bad && out->leaf_count <= KW_PROGRAM_CALLS;
  out->leaves = good ? calloc(out->leaf_count + 1u, sizeof *out->leaves) : NULL;
  for (uint32_t i = 0; out->leaves && i < out->leaf_count; i++) read_leaf(message, &out->leaves[i]);
  if (out->seen && out->leaves && !message->bad && message->at == message->length) return true;
  kw_program_run_free(out);
  return false;
}

void kw_program_run_free(kw_program_run *run) {
  free(run->seen);
  free(run->leaves);
  run->seen = NULL;
  run->leaves = NULL;
  run->seen_count = run->leaf_count = 0;
}
