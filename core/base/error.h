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

/* A status that a plugin returned, made safe: an unknown number becomes KW_ERR_INTERNAL with the number in the text; an
 * empty chain gets the status' name. Context is added as by kw_wrap. Use for every failing slot call. */
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

/* The chain as one line, causes after colons, for a report; at most size bytes with the NUL. Returns text. */
char *kw_error_sentence(char *text, size_t size);

#endif /* KEYWAY_CORE_ERROR_H */
