/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands and their options: described as data, parsed and printed from it.
 */
#ifndef KEYWAY_CLI_ARGS_H
#define KEYWAY_CLI_ARGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes of the program. */
enum {
  KW_CLI_OK = 0,
  KW_CLI_FAILED = 1, /* the operation was tried and failed */
  KW_CLI_USAGE = 2   /* wrong usage, or nothing could be run: unknown device, op, plugin, unreadable input */
};

typedef struct kw_cli_option {
  const char *name;  /* "--plugin" */
  const char *value; /* "FILE"; NULL: takes none */
  const char *help;  /* a line, or several with '\n' between them */
} kw_cli_option;

#define KW_CLI_OPTION_JSON \
  { "--json", NULL, "print JSON instead of a table" }
#define KW_CLI_OPTION_PLUGIN \
  { "--plugin", "FILE", "load this plugin too; may be repeated" }

typedef struct kw_cli_args kw_cli_args;

typedef struct kw_cli_command {
  const char *name;
  const char *synopsis; /* what follows the name: "[--json] [--plugin FILE]..." */
  const char *summary;  /* one line */
  const char *details;  /* paragraphs, wrapped; each line ends with a newline */
  const kw_cli_option *options;
  uint32_t option_count;
  uint32_t positional_max;
  int (*main)(const kw_cli_args *args); /* returns an exit code */
} kw_cli_command;

/* Parses what follows the command's name. NULL when it makes no sense; that has been said on stderr then. Options may
 * stand anywhere, as "--name value" or "--name=value"; "--" ends them. Strings point into argv. */
kw_cli_args *kw_cli_args_parse(const kw_cli_command *command, int argc, char **argv);
void kw_cli_args_free(kw_cli_args *args);

const kw_cli_command *kw_cli_args_command(const kw_cli_args *args);
bool kw_cli_args_has(const kw_cli_args *args, const char *option);
/* The last value given, or NULL. */
const char *kw_cli_args_value(const kw_cli_args *args, const char *option);
/* The values of an option that may be repeated: *cursor starts at 0; NULL at the end. */
const char *kw_cli_args_next(const kw_cli_args *args, const char *option, uint32_t *cursor);
/* Whether a name is among the values of such an option, or there is none. */
bool kw_cli_args_want(const kw_cli_args *args, const char *option, const char *name);
/* NULL past the end. */
const char *kw_cli_args_positional(const kw_cli_args *args, uint32_t index);

void kw_cli_help(FILE *out, const kw_cli_command *command);

/* "keyway list: ..." to stderr, as one line or more. */
void kw_cli_complain(const kw_cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The nearest of `count` names, read from an array of structs whose first member is the name, `stride` bytes apart;
 * NULL when none is near. */
const char *kw_cli_nearest(const char *name, const void *names, uint32_t count, size_t stride);

/* Loads every --plugin FILE. False, and said on stderr, when one is unusable. */
bool kw_cli_load_plugins(const kw_cli_args *args);

#endif /* KEYWAY_CLI_ARGS_H */
