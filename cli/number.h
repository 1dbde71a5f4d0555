/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in options.
 */
#ifndef KEYWAY_CLI_NUMBER_H
#define KEYWAY_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* A whole number from min to max; false for any other text. */
bool kw_cli_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out_number);
/* What --timeout-scale takes: a number above 0, at most 10000. */
bool kw_cli_parse_scale(const char *text, double *out_scale);

#define KW_CLI_JOBS_MOST 64
/* How many processors the program may use, at most KW_CLI_JOBS_MOST. */
uint32_t kw_cli_jobs(void);

#endif /* KEYWAY_CLI_NUMBER_H */
