/* SPDX-License-Identifier: Apache-2.0
 *
 * Each thread's chain of error texts, in memory that the thread gets at its first error.
 */
#include "base/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KW_ERROR_SIZE 4096

/* The thread's text, KW_ERROR_SIZE bytes, NULL before its first failure. Not in place: little static thread-local
 * memory is left for a library that a running program opens, as interpreters do. */
static _Thread_local char *chain;
static pthread_key_t chain_key;
static pthread_once_t chain_once = PTHREAD_ONCE_INIT;

/* Whether the chain is a plugin's last text, which no failure has used yet, and its status: see kw_error_offer. */
static _Thread_local bool offered;
static _Thread_local kw_status offered_status;

static const char *const status_names[KW_STATUS_COUNT] = {
    [KW_OK] = "ok",
    [KW_ERR_INVALID_ARGUMENT] = "invalid argument",
    [KW_ERR_NOT_IMPLEMENTED] = "not implemented",
    [KW_ERR_UNSUPPORTED] = "unsupported",
    [KW_ERR_FALLBACK] = "fallback requested",
    [KW_ERR_OUT_OF_MEMORY] = "out of memory",
    [KW_ERR_DEVICE_LOST] = "device lost",
    [KW_ERR_TIMEOUT] = "timeout",
    [KW_ERR_BUSY] = "busy",
    [KW_ERR_ABI_MISMATCH] = "ABI mismatch",
    [KW_ERR_NOT_FOUND] = "not found",
    [KW_ERR_NOT_READY] = "not ready",
    [KW_ERR_IO] = "input or output failed",
    [KW_ERR_PERMISSION] = "refused for safety",
    [KW_ERR_INTERNAL] = "internal error",
};

static bool status_is_known(kw_status status) {
  return status >= 0 && status < KW_STATUS_COUNT;
}

const char *kw_status_name(kw_status status) {
  static _Thread_local char text[24];
  if (status_is_known(status)) return status_names[status];
  snprintf(text, sizeof text, "status %d", status);
  return text;
}

const char *kw_version(void) {
  return KEYWAY_VERSION;
}

uint32_t kw_abi_version(void) {
  return KW_ABI_VERSION;
}

const char *kw_error_message(void) {
  return chain != NULL ? chain : "";
}

void kw_error_clear(void) {
  if (chain != NULL) chain[0] = '\0';
  offered = false;
}

/* The text may be cut; its end says so. */
static void mark_cut(char text[KW_ERROR_SIZE], int length) {
  if (length >= KW_ERROR_SIZE) memcpy(text + KW_ERROR_SIZE - 4, "...", 4);
}

static void free_chain(void *text) {
  free(text);
  chain = NULL;
}

static void make_chain_key(void) {
  pthread_key_create(&chain_key, free_chain);
}

/* Without memory the text is lost; the status is not. */
static bool have_chain(void) {
  if (chain != NULL) return true;
  pthread_once(&chain_once, make_chain_key);
  chain = calloc(1, KW_ERROR_SIZE);
  if (chain != NULL) pthread_setspecific(chain_key, chain);
  return chain != NULL;
}

static void set_chain(const char *context, const char *separator, const char *cause) {
  char text[KW_ERROR_SIZE]; /* context or cause may lie in the chain itself */
  mark_cut(text, snprintf(text, sizeof text, "%s%s%s", context, separator, cause));
  if (have_chain()) memcpy(chain, text, sizeof text);
  offered = false;
}

static void format_text(char text[KW_ERROR_SIZE], const char *format, va_list arguments) {
  mark_cut(text, vsnprintf(text, KW_ERROR_SIZE, format, arguments));
}

kw_status kw_fail(kw_status status, const char *format, ...) {
  char text[KW_ERROR_SIZE];
  va_list arguments;
  va_start(arguments, format);
  format_text(text, format, arguments);
  va_end(arguments);
  set_chain(text, "", "");
  return status;
}

static void wrap(kw_status status, const char *context) {
  if (kw_error_message()[0] == '\0') {
    set_chain(context, ": ", kw_status_name(status));
  } else {
    set_chain(context, "\n  because: ", kw_error_message());
  }
}

kw_status kw_wrap(kw_status status, const char *format, ...) {
  char text[KW_ERROR_SIZE];
  va_list arguments;
  va_start(arguments, format);
  format_text(text, format, arguments);
  va_end(arguments);
  wrap(status, text);
  return status;
}

kw_status kw_error_offer(kw_status status) {
  offered = status != KW_OK;
  offered_status = status;
  return status;
}

char *kw_error_sentence(char *text, size_t size) {
  static const char link[] = "\n  because: ";
  size_t length = 0;
  for (const char *c = kw_error_message(); *c != '\0' && length + 3 < size;) {
    if (strncmp(c, link, sizeof link - 1) == 0) {
      text[length++] = ':';
      text[length++] = ' ';
      c += sizeof link - 1;
    } else {
      text[length++] = *c == '\n' ? ' ' : *c;
      c++;
    }
  }
  text[length] = '\0';
  return text;
}

bool kw_error_offered(kw_status status) {
  return offered && offered_status == status;
}

kw_status kw_from_plugin(kw_status status, const char *format, ...) {
  char text[KW_ERROR_SIZE];
  va_list arguments;
  va_start(arguments, format);
  format_text(text, format, arguments);
  va_end(arguments);
  if (!kw_error_offered(status)) kw_error_clear(); /* an older failure's text */
  if (!status_is_known(status)) {
    char context[64];
    snprintf(context, sizeof context, "the plugin returned the unknown status %d", status);
    set_chain(context, kw_error_message()[0] != '\0' ? "\n  because: " : "", kw_error_message());
    status = KW_ERR_INTERNAL;
  }
  wrap(status, text);
  return status;
}
