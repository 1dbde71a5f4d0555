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

kw_status kw_gpu_refuse_extension(const kw_host_api *host) {
  return kw_gpu_error(host, KW_ERR_UNSUPPORTED,
                      "the call has a critical extension or flag that this plugin does not know");
}
