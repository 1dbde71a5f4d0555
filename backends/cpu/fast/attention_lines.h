/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention of few rows, line by line of the keys and values.
 */
#ifndef KEYWAY_CPU_FAST_ATTENTION_LINES_H
#define KEYWAY_CPU_FAST_ATTENTION_LINES_H

#include "attention_part.h"

#define KW_ATTENTION_LINE_ROWS 16 /* of a part, at most */

/* Computes parts [begin, end) of a kw_attention_run, for parallel_for. */
void kw_attention_run_lines(void *run, int64_t begin, int64_t end);

#endif /* KEYWAY_CPU_FAST_ATTENTION_LINES_H */
