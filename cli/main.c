/* SPDX-License-Identifier: Apache-2.0
 *
 * The `keyway` program: finds the command and hands over.
 */
#include "commands.h"
#include "complete.h"
#include "interrupt.h"

#include <keyway/keyway.h>

#include <string.h>

static int run_help(const kw_cli_args *args);
static int run_version(const kw_cli_args *args);
static int run_completion(const kw_cli_args *args);

static const kw_cli_command help_command = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .summary = "Explain the program, or one command",
    .details = "",
    .positional_max = 1,
    .main = run_help,
};

static const kw_cli_option version_options[] = {KW_CLI_OPTION_JSON};
static const kw_cli_command version_command = {
    .name = "version",
    .synopsis = "[--json]",
    .summary = "Print the version of the library and of the plugin ABI",
    .details = "",
    .options = version_options,
    .option_count = 1,
    .main = run_version,
};

static const kw_cli_command completion_command = {
    .name = "completion",
    .synopsis = "bash|zsh|fish",
    .summary = "Print the completion script of a shell",
    .details = "For the running shell:  source <(keyway completion bash), or zsh; keyway completion fish | source\n",
    .positional_max = 1,
    .main = run_completion,
};

static const kw_cli_command *const commands[] = {
    &kw_cli_list, &kw_cli_doctor,   &kw_cli_ops,   &kw_cli_conform,     &kw_cli_report, &kw_cli_verify,
    &kw_cli_eval, &kw_cli_bench,    &kw_cli_warm,  &kw_cli_trace,       &kw_cli_top,    &kw_cli_replay,
    &kw_cli_new,  &version_command, &help_command, &completion_command,
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_overview(FILE *out) {
  fprintf(out,
          "usage: keyway COMMAND [OPTIONS]\n\n"
          "Keyway %s runs ops on hardware that plugins bring. This program lists devices and ops, finds out why a\n"
          "plugin does not load, runs single ops on files, checks devices for conformance, and measures "
          "them.\n\nCommands:\n",
          kw_version());
  for (uint32_t i = 0; i < COMMAND_COUNT; ++i) fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
  fputs(
      "\n'keyway help COMMAND' and 'keyway COMMAND --help' explain a command.\n\n"
      "Exit status: 0 done, 1 the operation failed, 2 wrong usage or nothing could be run, 130 and 143 ended by\n"
      "SIGINT (Ctrl-C) and SIGTERM.\n",
      out);
}

/* NULL, said on stderr, when there is no such command. */
static const kw_cli_command *find_command(const char *name) {
  const char *names[COMMAND_COUNT];
  for (uint32_t i = 0; i < COMMAND_COUNT; ++i) {
    names[i] = commands[i]->name;
    if (strcmp(name, names[i]) == 0) return commands[i];
  }
  const char *near = kw_cli_nearest(name, names, COMMAND_COUNT, sizeof names[0]);
  fprintf(stderr, "keyway: unknown command '%s'%s%s%s; 'keyway help' lists the commands\n", name,
          near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return NULL;
}

static int print_help(const kw_cli_command *command) {
  kw_cli_help(stdout, command);
  return KW_CLI_OK;
}

static int run_help(const kw_cli_args *args) {
  const char *name = kw_cli_args_positional(args, 0);
  if (!name) {
    print_overview(stdout);
    return KW_CLI_OK;
  }
  const kw_cli_command *command = find_command(name);
  return command ? print_help(command) : KW_CLI_USAGE;
}

static int run_version(const kw_cli_args *args) {
  uint32_t abi = kw_abi_version();
  const char *format =
      kw_cli_args_has(args, "--json") ? "{\"version\": \"%s\", \"abi\": \"%u.%u\"}\n" : "keyway %s, plugin ABI %u.%u\n";
  printf(format, kw_version(), KW_ABI_MAJOR(abi), KW_ABI_MINOR(abi));
  return KW_CLI_OK;
}

static int run_completion(const kw_cli_args *args) {
  static const struct {
    const char *shell;
    const char *const *lines;
  } scripts[] = {{"bash", kw_cli_bash_completion}, {"zsh", kw_cli_zsh_completion}, {"fish", kw_cli_fish_completion}};
  const char *shell = kw_cli_args_positional(args, 0);
  for (size_t i = 0; shell && i < sizeof scripts / sizeof scripts[0]; ++i) {
    if (strcmp(shell, scripts[i].shell) != 0) continue;
    for (const char *const *line = scripts[i].lines; *line; ++line) fputs(*line, stdout);
    return KW_CLI_OK;
  }
  kw_cli_complain(&completion_command, "%s%s; there are bash, zsh and fish: keyway completion bash",
                  shell ? "there is none for " : "needs the shell's name", shell ? shell : "");
  return KW_CLI_USAGE;
}

static bool is_help_option(const char *text) {
  return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

static int run_command(const kw_cli_command *command, int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    if (is_help_option(argv[i])) return print_help(command);
  }
  kw_cli_args *args = kw_cli_args_parse(command, argc - 1, argv + 1);
  if (!args) return KW_CLI_USAGE;
  kw_cli_interrupt_listen();
  int code = command->main(args);
  kw_cli_args_free(args);
  return code;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    print_overview(stderr);
    return KW_CLI_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "__complete") == 0) { /* for the completion scripts */
    kw_cli_complete(commands, COMMAND_COUNT, argc - 2, argv + 2);
    return KW_CLI_OK;
  }
  if (is_help_option(name)) name = "help";
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
  const kw_cli_command *command = find_command(name);
  int code = command ? run_command(command, argc - 1, argv + 1) : KW_CLI_USAGE;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "keyway %s: writing the output failed; is the disk full?\n", name);
    if (code == KW_CLI_OK) code = KW_CLI_FAILED;
  }
  return code;
}
