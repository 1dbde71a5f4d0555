/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's log: one line to stderr, filtered by KEYWAY_LOG (default: warn).
 */
#ifndef KEYWAY_CORE_LOG_H
#define KEYWAY_CORE_LOG_H

#include <keyway/plugin.h>

void kw_log(kw_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Warns of a variable of the environment whose value is none of what it can be: what holds instead, and what to use. */
void kw_log_misset(const char *variable, const char *value, const char *stays, const char *use);

/* Warns of a KEYWAY_LOG that is no level. While the library starts: whatever is logged, it is known from then on. */
void kw_log_start(void);

#endif /* KEYWAY_CORE_LOG_H */
