/* SPDX-License-Identifier: Apache-2.0
 *
 * Each message formatted into one line, which a single write puts to stderr, and the limit that KEYWAY_LOG sets.
 */
#include "base/log.h"

#include "base/utf8.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static kw_log_level limit = KW_LOG_WARN;
static pthread_once_t limit_once = PTHREAD_ONCE_INIT;

static void read_limit(void) {
  const char *text = secure_getenv("KEYWAY_LOG");
  if (text == NULL) return;
  for (kw_log_level level = KW_LOG_ERROR; level <= KW_LOG_DEBUG; level++) {
    if (strcmp(text, level_names[level]) == 0) limit = level;
  }
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
