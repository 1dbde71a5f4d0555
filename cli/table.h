/* SPDX-License-Identifier: Apache-2.0
 *
 * What commands print: aligned tables for people, JSON for programs.
 */
#ifndef KEYWAY_CLI_TABLE_H
#define KEYWAY_CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

typedef struct kw_cli_table kw_cli_table;

/* A table with these headings, NULL-terminated; a heading that starts with '>' (not printed) aligns right. NULL when
 * there is no memory; the functions below put up with that. */
kw_cli_table *kw_cli_table_create(const char *const *headings);
/* Sets the next cell of the current row, printf-like; control characters are shown as '?'. A full row starts the next.
 */
void kw_cli_table_add(kw_cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of its own below the current row, indented. */
void kw_cli_table_note(kw_cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints to stdout and frees. */
void kw_cli_table_print(kw_cli_table *table);

/* Prints to stdout and frees. False, and said on stderr, when there is no memory. */
bool kw_cli_json_print(cJSON *json);

/* Whether stdout gets colours: a terminal that is not dumb, and NO_COLOR is not set. */
bool kw_cli_colour(void);
/* An ANSI sequence such as "\033[1m" when colours are on, else "". */
const char *kw_cli_style(const char *sequence);

/* "512 B", "1.5 GiB" into text; returns text. */
char *kw_cli_bytes(uint64_t bytes, char text[24]);

#endif /* KEYWAY_CLI_TABLE_H */
