/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's log: one line to stderr, filtered by KEYWAY_LOG (default: warn).
 */
#ifndef KEYWAY_CORE_LOG_H
#define KEYWAY_CORE_LOG_H

#include <keyway/plugin.h>

void kw_log(kw_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* KEYWAY_CORE_LOG_H */
