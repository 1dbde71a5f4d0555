/* SPDX-License-Identifier: Apache-2.0
 *
 * An input of a fuzzer as what the readers of the tree take: a text, or a file.
 */
#ifndef KEYWAY_ATTACK_INPUT_H
#define KEYWAY_ATTACK_INPUT_H

#include <stddef.h>
#include <stdint.h>

/* What each target defines: one input, tried. It returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes with a NUL behind them; to be freed. */
char *input_text(const uint8_t *data, size_t size);

/* The path of a file that holds the bytes, until the next call. The directory, this process's own, goes at exit. */
const char *input_file(const uint8_t *data, size_t size);
/* The same under this name. */
const char *input_file_named(const char *name, const uint8_t *data, size_t size);
const char *input_directory(void);

/* Ends the process with what was found: for results that are wrong without being a fault of memory. */
#define INPUT_CHECK(condition) input_check(condition, #condition, __FILE__, __LINE__)
void input_check(int holds, const char *text, const char *file, int line);

#endif /* KEYWAY_ATTACK_INPUT_H */
