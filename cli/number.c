/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads numbers in options.
 */
#include "number.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

bool kw_cli_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out_number) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno || end == text || *end || *text == '-' || value < min || value > max) return false;
  *out_number = value;
  return true;
}

bool kw_cli_parse_scale(const char *text, double *out_scale) {
  char *end;
  *out_scale = strtod(text, &end);
  return end != text && !*end && *out_scale > 0 && *out_scale <= 10000;
}

uint32_t kw_cli_jobs(void) {
  cpu_set_t set;
  long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > KW_CLI_JOBS_MOST ? KW_CLI_JOBS_MOST : (uint32_t)count;
}
