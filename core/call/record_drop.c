/* SPDX-License-Identifier: Apache-2.0
 *
 * The way back from a record: plans, buffers and generators that it holds.
 */
#include "call/record_drop.h"

#include "call/plan_cache.h"

#include <stdlib.h>

void kw_record_rewind(kw_record *record, uint32_t count) {
  while (record->node_count > count) {
    const kw_record_node *node = &record->nodes[--record->node_count];
    if (node->plan) record->launch_count--;
    kw_plan_unref(node->plan);
    free(node->call);
  }
}

void kw_record_free(kw_record *record) {
  kw_record_rewind(record, 0);
  for (uint32_t i = 0; i < record->recording.kept_count; ++i) kw_buffer_release(record->recording.kept[i]);
  for (uint32_t i = 0; i < record->numbers_count; ++i) {
    kw_buffer_release(record->numbers[i].state);
    kw_generator_unref(record->numbers[i].generator);
  }
  kw_error_word_unref(record->word);
  free(record->nodes);
  free(record->recording.kept);
  free(record->numbers);
}
