/* SPDX-License-Identifier: Apache-2.0
 *
 * Error texts of a driver's functions.
 */
#include <keyway/gpu.h>
#include <stdarg.h>
#include <stdio.h>

kw_status kw_gpu_error(const kw_host_api *host, kw_status status, const char *format, ...) {
  char text[2500];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return host->set_error(host->ctx, status, text);
}

kw_status kw_gpu_check_critical(const kw_host_api *host, uint64_t flags, const kw_ext *next) {
  if ((flags & KW_FLAGS_CRITICAL) == 0 && kw_ext_check(next, NULL, 0) == KW_OK) return KW_OK;
  return kw_gpu_error(host, KW_ERR_UNSUPPORTED,
                      "the call has a critical extension or flag that this plugin does not know");
}
