/* SPDX-License-Identifier: Apache-2.0
 *
 * What validation tells: misuses by a short name that stays the same, with the places in the application.
 */
#ifndef KEYWAY_CORE_VALIDATION_REPORT_H
#define KEYWAY_CORE_VALIDATION_REPORT_H

#include <keyway/keyway.h>

/* A place in code as text, "main+0x1a (prog+0x11d3)"; "nowhere known" for NULL. */
#define KW_PLACE_SIZE 320
const char *kw_place(const void *address, char text[KW_PLACE_SIZE]);

/* Tells of a misuse: in the log, and as the calling thread's error; with KEYWAY_VALIDATION=abort the process ends
 * there. Returns KW_ERR_INVALID_ARGUMENT, with which the call ends. `id` is one of those in docs/layers.md. */
kw_status kw_misuse(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same of what no call can be refused for. */
void kw_misuse_note(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads KEYWAY_VALIDATION. */
void kw_report_start(void);

#endif /* KEYWAY_CORE_VALIDATION_REPORT_H */
