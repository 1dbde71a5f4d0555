/* SPDX-License-Identifier: Apache-2.0
 *
 * Each thread's chain of error texts, in memory that the thread gets at its first error.
 */
#include "base/error.h"

#include "base/thread_own.h"
#include "base/utf8.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KW_ERROR_SIZE 4096

/* The thread's text, KW_ERROR_SIZE bytes, and an error_detail; NULL before its first failure. Not in place: little
 * static thread-local memory is left for a library that a running program opens, as interpreters do. */
static _Thread_local char *chain;
static kw_thread_key chain_key;

/* A failure's text is lost, for want of that memory. */
static _Thread_local bool lost;
static const char lost_text[] = "the host is out of memory, also for the text of what failed";

/* Behind the text in the same memory: what kw_error_detail gives. */
typedef struct error_detail {
  kw_status status;
  char plugin[KW_PLUGIN_NAME_SIZE];
} error_detail;

/* Whether the chain is a plugin's last text, which no failure has used yet, and its status: see kw_error_offer. */
static _Thread_local bool offered;
static _Thread_local kw_status offered_status;

static const char *const status_names[] = {
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

static const struct {
  const char *name;
  kw_status canonical;
} classes[] = {
    [KW_CLASS_BUG] = {"bug", KW_ERR_INTERNAL},
    [KW_CLASS_RESOURCE] = {"out of a resource", KW_ERR_OUT_OF_MEMORY},
    [KW_CLASS_LOST] = {"device lost", KW_ERR_DEVICE_LOST},
    [KW_CLASS_RETRY] = {"try again later", KW_ERR_BUSY},
    [KW_CLASS_REFUSED] = {"refused", KW_ERR_UNSUPPORTED},
};
#define KW_LENGTH(array) (sizeof(array) / sizeof(array)[0])

static bool status_has_name(kw_status status) {
  return (size_t)(uint32_t)status < KW_LENGTH(status_names);
}

static bool status_has_class(kw_status status) {
  return KW_STATUS_CLASS(status) != 0 && KW_STATUS_CLASS(status) < KW_LENGTH(classes);
}

kw_status kw_status_canonical(kw_status status) {
  if (status_has_name(status) || status == KW_ERR_CANCELLED) return status;
  return status_has_class(status) ? classes[KW_STATUS_CLASS(status)].canonical : KW_ERR_INTERNAL;
}

const char *kw_status_name(kw_status status) {
  static _Thread_local char text[48];
  if (status_has_name(status)) return status_names[status];
  if (status == KW_ERR_CANCELLED) return "cancelled";
  const uint32_t own = KW_STATUS_OF_PLUGIN(0, 0), code = (uint32_t)status & 0xffffffu;
  if (!status_has_class(status)) {
    snprintf(text, sizeof text, "status %d", status);
  } else if (code & own) {
    snprintf(text, sizeof text, "%s (the plugin's %u)", classes[KW_STATUS_CLASS(status)].name, code - own);
  } else {
    snprintf(text, sizeof text, "%s (code %u)", classes[KW_STATUS_CLASS(status)].name, code);
  }
  return text;
}

const char *kw_version(void) {
  return KEYWAY_VERSION;
}

uint32_t kw_abi_version(void) {
  return KW_ABI_VERSION;
}

const char *kw_error_message(void) {
  return chain != NULL ? chain : lost ? lost_text : "";
}

static error_detail *detail_of_chain(void) {
  return (error_detail *)(void *)(chain + KW_ERROR_SIZE);
}

static void forget_detail(void) {
  if (chain != NULL) *detail_of_chain() = (error_detail){0};
}

void kw_error_clear(void) {
  if (chain != NULL) chain[0] = '\0';
  lost = false;
  forget_detail();
  offered = false;
}

kw_status kw_error_detail(const char **out_plugin) {
  if (out_plugin != NULL) *out_plugin = chain != NULL ? detail_of_chain()->plugin : "";
  return chain != NULL ? detail_of_chain()->status : KW_OK;
}

/* The text was cut; its end says so. */
static void mark_cut(char text[KW_ERROR_SIZE]) {
  memcpy(text + kw_utf8_fit(text, KW_ERROR_SIZE - 4), "...", 4);
}

static void free_chain(void *text) {
  free(text);
  chain = NULL;
}

/* Without memory the text is lost, and kw_error_message says that; the status is not. */
static bool have_chain(void) {
  if (chain != NULL) return true;
  chain = kw_thread_own(&chain_key, free_chain, calloc(1, KW_ERROR_SIZE + sizeof(error_detail)));
  return chain != NULL;
}

static void set_chain(const char *context, const char *separator, const char *cause) {
  char text[KW_ERROR_SIZE]; /* context or cause may lie in the chain itself */
  const bool cut = snprintf(text, sizeof text, "%s%s%s", context, separator, cause) >= KW_ERROR_SIZE;
  if (cut) mark_cut(text);
  lost = !have_chain();
  if (!lost && !kw_utf8_mend(chain, KW_ERROR_SIZE, text)) mark_cut(chain);
  offered = false;
}

static void format_text(char text[KW_ERROR_SIZE], const char *format, va_list arguments) {
  if (vsnprintf(text, KW_ERROR_SIZE, format, arguments) >= KW_ERROR_SIZE) mark_cut(text);
}

kw_status kw_fail(kw_status status, const char *format, ...) {
  char text[KW_ERROR_SIZE];
  va_list arguments;
  va_start(arguments, format);
  format_text(text, format, arguments);
  va_end(arguments);
  set_chain(text, "", "");
  forget_detail();
  return status;
}

static void wrap(const char *context, const char *otherwise) {
  if (kw_error_message()[0] == '\0') {
    set_chain(context, ": ", otherwise);
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
  wrap(text, kw_status_name(status));
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
  text[kw_utf8_fit(text, length)] = '\0';
  return text;
}

bool kw_error_offered(kw_status status) {
  return offered && offered_status == status;
}

void kw_error_drop_older(kw_status status) {
  if (!kw_error_offered(status)) kw_error_clear();
}

void kw_error_set_detail(kw_status status, const char *plugin) {
  if (!have_chain()) return;
  error_detail *detail = detail_of_chain();
  detail->status = status;
  snprintf(detail->plugin, sizeof detail->plugin, "%s", plugin);
}

kw_status kw_error_translate(kw_status status, const char *plugin) {
  kw_status canonical = kw_status_canonical(status);
  if (canonical == status) return status;
  kw_error_drop_older(status);
  char text[200];
  snprintf(text, sizeof text, "%s returned %s%s", *plugin != '\0' ? plugin : "the plugin",
           status_has_class(status) ? "" : "the unknown ", kw_status_name(status));
  set_chain(text, kw_error_message()[0] != '\0' ? "\n  because: " : "", kw_error_message());
  kw_error_set_detail(status, plugin);
  return kw_error_offer(canonical);
}

kw_status kw_from_plugin(kw_status status, const char *format, ...) {
  char text[KW_ERROR_SIZE];
  va_list arguments;
  va_start(arguments, format);
  format_text(text, format, arguments);
  va_end(arguments);
  status = kw_error_translate(status, "");
  kw_error_drop_older(status);
  char otherwise[128];
  snprintf(otherwise, sizeof otherwise, "%s%s", kw_status_name(status),
           status != KW_ERR_TIMEOUT ? " (the plugin gave no text: host->set_error)" : "");
  wrap(text, otherwise);
  return status;
}
