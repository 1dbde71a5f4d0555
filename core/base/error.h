/* SPDX-License-Identifier: Apache-2.0
 *
 * The calling thread's error text: a chain, outermost context first, one cause a line.
 */
#ifndef KEYWAY_CORE_ERROR_H
#define KEYWAY_CORE_ERROR_H

#include <keyway/keyway.h>

#include <errno.h>

/* Starts a new chain with this text and returns status. */
kw_status kw_fail(kw_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts context before the chain ("context: " on a line of its own, the rest below as "  because ...") and returns
 * status. With an empty chain it behaves as kw_fail with the status' name appended. */
kw_status kw_wrap(kw_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the host acts on for a status that a plugin gave: itself where it is one of KW_ERR_, otherwise what its class
 * stands for. */
kw_status kw_status_canonical(kw_status status);

/* For a slot that returned `status`, before anybody looks at it: gives its canonical status. Where that is another, the
 * chain says the number with the plugin's name ("" when unknown), kw_error_detail gives it, and both are offered with
 * the canonical status. */
kw_status kw_error_translate(kw_status status, const char *plugin);

/* A plugin's name, "acme.npu", with the NUL. */
#define KW_PLUGIN_NAME_SIZE 80

/* Remembers what kw_error_detail gives, until the next kw_fail. */
void kw_error_set_detail(kw_status status, const char *plugin);

/* Drops the chain unless it is on offer for `status`, which a plugin has returned: it is of an older failure then. */
void kw_error_drop_older(kw_status status);

/* A status that a plugin returned, made safe: translated, if it was not before; an empty chain gets the status' name,
 * and that the plugin gave no text where waiting too long is not all there is to say. Context is added as by kw_wrap.
 * Use for every failing slot call. */
kw_status kw_from_plugin(kw_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says that the chain as it stands explains `status`, which the running slot is about to return: kw_from_plugin uses
 * the text when the slot does return that status, and otherwise drops it as the text of something older. For host
 * services and stubs. Returns status. */
kw_status kw_error_offer(kw_status status);
/* An offer with this status is waiting. */
bool kw_error_offered(kw_status status);

/* Whether an errno says that the process or the machine is short of something now, so that a later try may do better.
 */
static inline bool kw_errno_is_shortage(int error) {
  return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN;
}

/* What a call that ended with this errno is to say: KW_ERR_OUT_OF_MEMORY where it is a shortage, KW_ERR_IO else. */
static inline kw_status kw_errno_status(int error) {
  return kw_errno_is_shortage(error) ? KW_ERR_OUT_OF_MEMORY : KW_ERR_IO;
}

/* The chain as one line, causes after colons, for a report; at most size bytes with the NUL. Returns text. */
char *kw_error_sentence(char *text, size_t size);

#endif /* KEYWAY_CORE_ERROR_H */
