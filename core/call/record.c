/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording calls: their nodes, the numbers of random ops among them, and the word for errors in the data.
 */
#include "call/record.h"

#include "base/array.h"
#include "base/error.h"
#include "call/call_copy.h"
#include "device/constant.h"
#include "device/late_error.h"

#include <stdlib.h>
#include <string.h>

static kw_status fail_host_memory(void) {
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "recording a graph: the host is out of memory");
}

static kw_status find_numbers(kw_record *record, kw_generator *generator, kw_record_numbers **out_numbers) {
  for (uint32_t i = 0; i < record->numbers_count; ++i) {
    *out_numbers = &record->numbers[i];
    if ((*out_numbers)->generator == generator) return KW_OK;
  }
  kw_record_numbers *numbers = kw_array_grow(record->numbers, record->numbers_count, sizeof *numbers);
  if (!numbers) return fail_host_memory();
  record->numbers = numbers;
  numbers += record->numbers_count;
  *numbers = (kw_record_numbers){.generator = generator, .algorithm = kw_generator_take(generator, 0).algorithm};
  /* Not of the graph's pool: a launch writes it first, and calls before this one may have used the pool's memory. */
  kw_status status = kw_buffer_create(record->stream, 2 * sizeof(uint64_t), &numbers->state);
  if (status != KW_OK) return status;
  kw_generator_retain(generator);
  record->numbers_count++;
  *out_numbers = numbers;
  return KW_OK;
}

kw_status kw_record_take_numbers(kw_record *record, kw_generator *generator, uint64_t blocks, kw_rng *out_rng) {
  kw_record_numbers *numbers = NULL;
  kw_status status = find_numbers(record, generator, &numbers);
  if (status != KW_OK) return status;
  *out_rng = (kw_rng){.algorithm = numbers->algorithm,
                      .offset = numbers->blocks,
                      .state = numbers->state->mem,
                      .state_offset = numbers->state->offset};
  numbers->blocks += blocks;
  return KW_OK;
}

/* A word is memory beside the allocator's, which may hold what the plugin lacks. */
static bool may_retry(kw_device *device, kw_status status) {
  return status == KW_ERR_OUT_OF_MEMORY && kw_memory_trim(device) == KW_OK;
}

kw_status kw_record_error_word(kw_record *record, kw_error_word **out_word) {
  kw_status status = record->word ? KW_OK : kw_error_word_create(record->stream, &record->word);
  if (may_retry(record->stream->device, status)) status = kw_error_word_create(record->stream, &record->word);
  *out_word = record->word;
  return status;
}

kw_status kw_stream_error_word(kw_stream *stream, kw_error_word **out_word) {
  kw_status status = kw_error_words_own(stream, out_word);
  return may_retry(stream->device, status) ? kw_error_words_own(stream, out_word) : status;
}

static kw_status add_node(kw_record *record, const kw_record_node *node) {
  kw_record_node *nodes = kw_array_grow(record->nodes, record->node_count, sizeof *nodes);
  if (nodes) record->nodes = nodes;
  const bool incomplete = record->recording.incomplete;
  record->recording.incomplete = false;
  if (!nodes || incomplete) return fail_host_memory();
  record->nodes[record->node_count++] = *node;
  return KW_OK;
}

kw_status kw_record_launch(kw_record *record, kw_plan *plan, const kw_call *call) {
  const kw_record_node node = {.plan = plan, .call = kw_call_copy(call)};
  kw_status status = node.call ? add_node(record, &node) : fail_host_memory();
  if (status == KW_OK) {
    node.call->call_id = kw_call_id_make(plan->op->id, 0);
    atomic_fetch_add(&plan->refs, 1);
    record->launch_count++;
  } else {
    free(node.call);
  }
  return status;
}

kw_status kw_record_fill(kw_record *record, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                         uint32_t pattern_size) {
  kw_record_node node = {.mem = mem, .offset = offset, .size = size, .pattern_size = pattern_size};
  memcpy(node.pattern, pattern, pattern_size);
  return add_node(record, &node);
}

kw_status kw_record_or_fill(kw_buffer *buffer, kw_stream *stream, uint64_t offset, uint64_t size, const void *pattern,
                            uint32_t pattern_size) {
  kw_record *record = kw_record_of(stream);
  if (!record) return kw_buffer_fill(buffer, stream, offset, size, pattern, pattern_size);
  kw_status status = kw_buffer_check_fill(buffer, offset, size, pattern_size);
  if (status == KW_OK) status = kw_device_check(buffer->device);
  if (status != KW_OK || size == 0) return status;
  kw_buffer_change(buffer, stream);
  return kw_record_fill(record, buffer->mem, buffer->offset + offset, size, pattern, pattern_size);
}
