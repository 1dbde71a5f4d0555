/* SPDX-License-Identifier: Apache-2.0
 *
 * What may stand where somebody types, for the completion scripts of shells: keyway.bash, keyway.zsh and keyway.fish
 * ask `keyway __complete WORD...`, so that all shells offer the same.
 */
#ifndef KEYWAY_CLI_COMPLETE_H
#define KEYWAY_CLI_COMPLETE_H

#include "args.h"

/* `words` follow the program's name, the last is being typed and may be "". Prints what it can be, a line each: the
 * word, a tab, and what it is. Nothing: the name of a file, or anything. */
void kw_cli_complete(const kw_cli_command *const *commands, uint32_t command_count, int count, char **words);

#endif /* KEYWAY_CLI_COMPLETE_H */
