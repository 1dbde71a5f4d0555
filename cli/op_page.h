/* SPDX-License-Identifier: Apache-2.0
 *
 * The op reference: one page per base name ("add" for add.Tensor and add.Scalar), made from the op table and its notes.
 * The page of "keyway::rope" is keyway.rope.md.
 */
#ifndef KEYWAY_CLI_OP_PAGE_H
#define KEYWAY_CLI_OP_PAGE_H

#include <keyway/keyway.h>

#include <stdio.h>

/* The base name of op `name`, "add" of "add.Tensor", into text; returns text. */
char *kw_op_page_base(const char *name, char text[64]);

/* What the page of a base name says about a bound of the op's own; "" where it says nothing. */
const char *kw_op_page_bound(const char *base);

/* Writes the page in Markdown. False when no op of the table has that base name. */
bool kw_op_page_print(FILE *out, const char *base);

/* Writes every page and the index (README.md) into a directory, which is made if need be. False with errno set when a
 * file cannot be written. */
bool kw_op_pages_write(const char *directory);

#endif /* KEYWAY_CLI_OP_PAGE_H */
