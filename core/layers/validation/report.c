/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports as lines of the log, as many as a person may read; and the names of places, by the dynamic linker.
 */
#include "layers/validation/report.h"

#include "base/error.h"
#include "base/log.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 1000u /* of the log */
#define TEXT_SIZE 1536

static bool aborts;
static atomic_uint reported;

void kw_report_start(void) {
  const char *text = secure_getenv("KEYWAY_VALIDATION");
  if (text == NULL || strcmp(text, "report") == 0) return;
  aborts = strcmp(text, "abort") == 0;
  if (!aborts) kw_log(KW_LOG_ERROR, "KEYWAY_VALIDATION: '%s' is neither report nor abort: it reports", text);
}

const char *kw_place(const void *address, char text[KW_PLACE_SIZE]) {
  Dl_info info;
  if (address == NULL) return "nowhere known";
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
    snprintf(text, KW_PLACE_SIZE, "%p", address);
    return text;
  }
  const char *slash = strrchr(info.dli_fname, '/'), *file = slash != NULL ? slash + 1 : info.dli_fname;
  const unsigned long in_file = (unsigned long)((uintptr_t)address - (uintptr_t)info.dli_fbase);
  if (info.dli_sname != NULL) {
    snprintf(text, KW_PLACE_SIZE, "%.160s+0x%lx (%.120s+0x%lx)", info.dli_sname,
             (unsigned long)((uintptr_t)address - (uintptr_t)info.dli_saddr), file, in_file);
  } else {
    snprintf(text, KW_PLACE_SIZE, "%.240s+0x%lx", file, in_file);
  }
  return text;
}

static void tell(const char *id, const char *text) {
  const unsigned before = atomic_fetch_add(&reported, 1);
  if (before < LINES) kw_log(KW_LOG_ERROR, "validation: %s: %s", id, text);
  if (before == LINES) kw_log(KW_LOG_ERROR, "validation: there is more, which is not told any more");
  if (aborts) abort();
}

kw_status kw_misuse(const char *id, const char *format, ...) {
  char text[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tell(id, text);
  return kw_error_offer(kw_fail(KW_ERR_INVALID_ARGUMENT, "%s (validation: %s)", text, id));
}

void kw_misuse_note(const char *id, const char *format, ...) {
  char text[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tell(id, text);
}
