/* SPDX-License-Identifier: Apache-2.0
 *
 * What a slot that fails says.
 */
#include "kit.h"

#include <stdarg.h>
#include <stdio.h>

_Thread_local char kw_queue_said[256];

kw_status kw_queue_fail(const kw_host_api *host, kw_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(kw_queue_said, sizeof kw_queue_said, format, arguments);
  va_end(arguments);
  return host->set_error(host->ctx, status, kw_queue_said);
}

kw_status kw_queue_check_critical(const kw_host_api *host, uint64_t flags, const kw_ext *next) {
  kw_status status = (flags & KW_FLAGS_CRITICAL) != 0 ? KW_ERR_UNSUPPORTED : kw_ext_check(next, NULL, 0);
  return status == KW_OK ? KW_OK : kw_queue_fail(host, status, "a critical extension or flag is not known here");
}
