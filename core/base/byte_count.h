/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of bytes as a person writes them: "4096", "64KiB", "512MiB", "1GiB".
 */
#ifndef KEYWAY_CORE_BYTE_COUNT_H
#define KEYWAY_CORE_BYTE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* The whole text: digits, and KiB, MiB, GiB or nothing behind them. False, and nothing written, for anything else. */
bool kw_byte_count_parse(const char *text, uint64_t *out_bytes);

/* A variable of the environment that names one, from `least` on; `otherwise` without it, or with a word in the log when
 * it is not understood. */
uint64_t kw_byte_count_from_environment(const char *variable, uint64_t least, uint64_t otherwise);

#endif /* KEYWAY_CORE_BYTE_COUNT_H */
