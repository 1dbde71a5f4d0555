/* SPDX-License-Identifier: Apache-2.0
 *
 * For bench.py under callgrind, which it tells what to count: from a start to what comes next, a start or a stop.
 */
#include <valgrind/callgrind.h>

void count_start(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

/* Writes down what was counted, under this name. */
void count_stop(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
