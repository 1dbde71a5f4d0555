/* SPDX-License-Identifier: Apache-2.0
 *
 * The options and arguments of a command line, held against the table of the command.
 */
#include "args.h"

#include "base/nearest.h"

#include <keyway/keyway.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct given {
  const kw_cli_option *option; /* NULL: positional */
  const char *value;
} given;

struct kw_cli_args {
  const kw_cli_command *command;
  uint32_t count;
  given items[];
};

void kw_cli_complain(const kw_cli_command *command, const char *format, ...) {
  va_list list;
  va_start(list, format);
  fflush(stdout);
  fprintf(stderr, "keyway %s: ", command->name);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
}

const char *kw_cli_nearest(const char *name, const void *names, uint32_t count, size_t stride) {
  kw_nearest nearest;
  kw_nearest_begin(&nearest, name);
  for (uint32_t i = 0; i < count; ++i) {
    kw_nearest_try(&nearest, *(const char *const *)(const void *)((const char *)names + i * stride));
  }
  return nearest.best;
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

static const kw_cli_option *find_option(const kw_cli_command *command, const char *name, size_t length) {
  for (uint32_t i = 0; i < command->option_count; ++i) {
    const char *known = command->options[i].name;
    if (strlen(known) == length && strncmp(known, name, length) == 0) return &command->options[i];
  }
  return NULL;
}

static bool complain_unknown(const kw_cli_command *command, const char *name) {
  const char *near = kw_cli_nearest(name, command->options, command->option_count, sizeof command->options[0]);
  kw_cli_complain(command, "unknown option '%s'%s%s%s; see 'keyway help %s'", name, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "", command->name);
  return false;
}

/* Takes the option at argv[*at], and its value. */
static bool take_option(kw_cli_args *args, int argc, char **argv, int *at) {
  const kw_cli_command *command = args->command;
  const char *text = argv[*at], *equals = strchr(text, '=');
  const kw_cli_option *option = find_option(command, text, equals ? (size_t)(equals - text) : strlen(text));
  if (!option) return complain_unknown(command, text);
  const char *value = equals ? equals + 1 : NULL;
  if (option->value && !value && ++*at < argc) value = argv[*at];
  if (option->value && !value) {
    kw_cli_complain(command, "option %s needs a value: %s %s", option->name, option->name, option->value);
    return false;
  }
  if (!option->value && value) {
    kw_cli_complain(command, "option %s takes no value, but got '%s'", option->name, value);
    return false;
  }
  args->items[args->count++] = (given){option, value};
  return true;
}

static bool parse_all(kw_cli_args *args, int argc, char **argv) {
  bool options_end = false;
  uint32_t positionals = 0;
  for (int i = 0; i < argc; ++i) {
    if (!options_end && strcmp(argv[i], "--") == 0) {
      options_end = true;
    } else if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0') {
      if (!take_option(args, argc, argv, &i)) return false;
    } else if (positionals++ < args->command->positional_max) {
      args->items[args->count++] = (given){NULL, argv[i]};
    } else {
      kw_cli_complain(args->command, "does not know what to do with '%s'; usage: keyway %s %s", argv[i],
                      args->command->name, args->command->synopsis);
      return false;
    }
  }
  return true;
}

kw_cli_args *kw_cli_args_parse(const kw_cli_command *command, int argc, char **argv) {
  kw_cli_args *args = calloc(1, sizeof *args + (size_t)argc * sizeof(given));
  if (!args) {
    kw_cli_complain(command, "no memory");
    return NULL;
  }
  args->command = command;
  if (parse_all(args, argc, argv)) return args;
  kw_cli_args_free(args);
  return NULL;
}

void kw_cli_args_free(kw_cli_args *args) {
  free(args);
}

const kw_cli_command *kw_cli_args_command(const kw_cli_args *args) {
  return args->command;
}

const char *kw_cli_args_next(const kw_cli_args *args, const char *option, uint32_t *cursor) {
  while (*cursor < args->count) {
    const given *item = &args->items[(*cursor)++];
    if (item->option && strcmp(item->option->name, option) == 0) return item->value ? item->value : "";
  }
  return NULL;
}

bool kw_cli_args_want(const kw_cli_args *args, const char *option, const char *name) {
  uint32_t cursor = 0, given = 0;
  for (const char *value; (value = kw_cli_args_next(args, option, &cursor)) != NULL; ++given)
    if (strcmp(value, name) == 0) return true;
  return given == 0;
}

const char *kw_cli_args_value(const kw_cli_args *args, const char *option) {
  const char *last = NULL, *value;
  for (uint32_t cursor = 0; (value = kw_cli_args_next(args, option, &cursor));) last = value;
  return last;
}

bool kw_cli_args_has(const kw_cli_args *args, const char *option) {
  return kw_cli_args_value(args, option) != NULL;
}

const char *kw_cli_args_positional(const kw_cli_args *args, uint32_t index) {
  for (uint32_t i = 0; i < args->count; ++i) {
    if (!args->items[i].option && index-- == 0) return args->items[i].value;
  }
  return NULL;
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

/* The option, and its help beside it: further lines are indented as far as the first. */
static void put_lines(FILE *out, const char *left, const char *help) {
  for (const char *line = help; *line; left = "") {
    const int length = (int)strcspn(line, "\n");
    fprintf(out, "  %-22s %.*s\n", left, length, line);
    line += length + (line[length] == '\n');
  }
}

void kw_cli_help(FILE *out, const kw_cli_command *command) {
  fprintf(out, "usage: keyway %s %s\n\n%s.\n\n%s", command->name, command->synopsis, command->summary,
          command->details);
  if (command->option_count) fprintf(out, "\nOptions:\n");
  for (uint32_t i = 0; i < command->option_count; ++i) {
    const kw_cli_option *option = &command->options[i];
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
    put_lines(out, left, option->help);
  }
}

bool kw_cli_load_plugins(const kw_cli_args *args) {
  const char *path;
  for (uint32_t cursor = 0; (path = kw_cli_args_next(args, "--plugin", &cursor));) {
    if (kw_plugin_load(path) == KW_OK) continue;
    kw_cli_complain(args->command, "%s\nsee 'keyway doctor --plugin %s'", kw_error_message(), path);
    return false;
  }
  return true;
}
