/* SPDX-License-Identifier: Apache-2.0
 *
 * Each message formatted into one line, which a single write puts to stderr, and the limit that KEYWAY_LOG sets.
 */
#include "base/log.h"

#include "base/utf8.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static kw_log_level limit = KW_LOG_WARN;
static pthread_once_t limit_once = PTHREAD_ONCE_INIT;

/* False: it is no level. */
static bool parse_level(const char *text, kw_log_level *out_level) {
  for (kw_log_level level = KW_LOG_ERROR; level <= KW_LOG_DEBUG; level++) {
    if (strcmp(text, level_names[level]) != 0) continue;
    *out_level = level;
    return true;
  }
  return false;
}

static void read_limit(void) {
  const char *text = secure_getenv("KEYWAY_LOG");
  if (text != NULL) parse_level(text, &limit);
}

void kw_log_start(void) {
  const char *text = secure_getenv("KEYWAY_LOG");
  kw_log_level level;
  if (text == NULL || text[0] == '\0' || parse_level(text, &level)) return;
  kw_log_misset("KEYWAY_LOG", text, "warn", "error, warn, info or debug");
}

void kw_log_misset(const char *variable, const char *value, const char *stays, const char *use) {
  kw_log(KW_LOG_WARN, "%s is '%s'; it stays %s. Use %s", variable, value, stays, use);
}

void kw_log(kw_log_level level, const char *format, ...) {
  pthread_once(&limit_once, read_limit);
  if (level > KW_LOG_DEBUG) level = KW_LOG_DEBUG;
  if (level > limit) return;

  char line[2048], text[sizeof line];
  int head = snprintf(line, sizeof line, "keyway: %s: ", level_names[level]);
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) >= (int)sizeof text)
    text[kw_utf8_fit(text, sizeof text - 1)] = '\0';
  va_end(arguments);
  kw_utf8_mend(line + head, sizeof line - 1 - (size_t)head, text);
  for (char *c = line; *c != '\0'; c++) {
    if (*c == '\n') *c = ' ';
  }
  size_t length = strlen(line);
  line[length] = '\n';
  /* One write, so that lines of several threads stay whole; where it fails there is no place left to report that. */
  if (write(STDERR_FILENO, line, length + 1) < 0) return;
}
