/* SPDX-License-Identifier: Apache-2.0
 *
 * What may stand where somebody types: commands, their options, and devices, ops and whatever else has names.
 */
#include "complete.h"

#include "contract/contract_suites.h"

#include <keyway/keyway.h>

#include <string.h>

/* What is being typed; `before` of it stands in front of what is looked for: "--device=" of "--device=cp". */
typedef struct typing {
  const char *word;
  size_t before;
} typing;

/* A word that fits is offered; of `about` the first line. */
static void offer_part(const typing *typed, const char *text, size_t length, const char *about) {
  const char *wanted = typed->word + typed->before;
  if (strlen(wanted) > length || strncmp(text, wanted, strlen(wanted)) != 0) return;
  printf("%.*s%.*s\t%.*s\n", (int)typed->before, typed->word, (int)length, text, (int)strcspn(about, "\n"), about);
}

static void offer(const typing *typed, const char *text, const char *about) {
  offer_part(typed, text, strlen(text), about);
}

/* Words with bars between them. */
static void offer_words(const typing *typed, const char *words) {
  for (size_t length; *words; words += length + (words[length] == '|')) {
    length = strcspn(words, "|");
    offer_part(typed, words, length, "");
  }
}

/* ---- What has names ---------------------------------------------------------------------------------------------- */

static void offer_ops(const typing *typed) {
  uint32_t devices = 0;
  kw_device_count(&devices); /* starts the library: plugins add ops */
  for (uint32_t i = 0; i < kw_op_count(); ++i) {
    kw_op_info info = {.struct_size = sizeof info};
    if (kw_op_get_info(kw_op_at(i), &info) == KW_OK) offer(typed, info.name, info.schema);
  }
}

static void offer_devices(const typing *typed) {
  uint32_t count = 0;
  kw_device_count(&count);
  for (uint32_t i = 0; i < count; ++i) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    if (kw_device_get_entry(i, &entry) == KW_OK) offer(typed, entry.name, entry.info->name);
  }
}

/* Whether the device in "npu:0/...", "acme.npu@id/..." or "auto/..." is of this plugin. */
static bool is_of_plugin(const char *device, const kw_plugin_report *plugin) {
  char name[256];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(device, ":@/"), device);
  const char *dot = strrchr(name, '.'), *key = dot ? dot + 1 : name;
  return strcmp(key, plugin->key) == 0 || strcmp(key, "auto") == 0;
}

/* Behind the name of a device: the options of its plugin, of all plugins behind "auto". */
static void offer_device_options(typing typed) {
  const char *device = typed.word + typed.before;
  typed.before = (size_t)(strchr(device, '/') + 1 - typed.word);
  kw_plugin_report plugin = {.struct_size = sizeof plugin};
  uint32_t devices = 0;
  kw_device_count(&devices); /* starts the library */
  for (uint32_t i = 0; kw_plugin_get_report(i, &plugin) == KW_OK; ++i) {
    for (uint32_t k = 0; is_of_plugin(device, &plugin) && k < plugin.option_count; ++k) {
      const kw_option_desc *option = plugin.options[k];
      char text[512];
      snprintf(text, sizeof text, "%s.%s.%s=", plugin.vendor, plugin.key, option->key);
      offer(&typed, text, option->text);
    }
  }
}

/* The last of a list with commas. */
static void offer_suites(typing typed) {
  const char *comma = strrchr(typed.word + typed.before, ',');
  if (comma) typed.before = (size_t)(comma + 1 - typed.word);
#define BARRED(suite) "|" #suite
  offer_words(&typed, "ops|programs" KW_CONTRACT_SUITES(BARRED));
#undef BARRED
}

/* ---- Places on the command line ---------------------------------------------------------------------------------- */

static const kw_cli_option *option_of(const kw_cli_command *command, const char *word) {
  for (uint32_t i = 0; i < command->option_count; ++i) {
    const size_t length = strlen(command->options[i].name);
    if (strncmp(word, command->options[i].name, length) == 0 && (word[length] == '\0' || word[length] == '='))
      return &command->options[i];
  }
  return NULL;
}

static void offer_value(const kw_cli_command *command, const kw_cli_option *option, const typing *typed) {
  const char *name = option->name, *value = option->value;
  const bool device = strcmp(name, "--device") == 0 || (strcmp(name, "--against") == 0 && strcmp(value, "NAME") == 0);
  if (device && strchr(typed->word + typed->before, '/')) {
    offer_device_options(*typed);
  } else if (device) {
    offer_devices(typed);
  } else if (strcmp(name, "--op") == 0) {
    offer_ops(typed);
  } else if (strcmp(name, "--suite") == 0) {
    offer_suites(*typed);
  } else if (strcmp(value, "LEVEL") == 0) {
    offer_words(typed, "core|inference|training");
  } else if (strcmp(value, "DTYPE") == 0) {
    offer_words(typed, strcmp(command->name, "eval") == 0 ? "bf16|f8e4m3fn|f8e5m2" : "f32|f64|f16|bf16");
  } else if (strchr(value, '|')) {
    offer_words(typed, value);
  }
}

static void offer_commands(const kw_cli_command *const *commands, uint32_t count, const typing *typed) {
  for (uint32_t i = 0; i < count; ++i) offer(typed, commands[i]->name, commands[i]->summary);
}

static void offer_options(const kw_cli_command *command, const typing *typed) {
  for (uint32_t i = 0; i < command->option_count; ++i) offer(typed, command->options[i].name, command->options[i].help);
  offer(typed, "--help", "explain the command");
}

void kw_cli_complete(const kw_cli_command *const *commands, uint32_t command_count, int count, char **words) {
  const typing typed = {count > 0 ? words[count - 1] : "", 0};
  if (count < 2) {
    offer_commands(commands, command_count, &typed);
    return;
  }
  const kw_cli_command *command = NULL;
  for (uint32_t i = 0; i < command_count; ++i)
    if (strcmp(commands[i]->name, words[0]) == 0) command = commands[i];
  if (!command) return;
  const kw_cli_option *awaits = NULL; /* its value */
  uint32_t positionals = 0;
  for (int i = 1; i + 1 < count; ++i) {
    const kw_cli_option *option = awaits ? NULL : option_of(command, words[i]);
    if (!awaits && words[i][0] != '-') positionals++;
    awaits = option && option->value && !strchr(words[i], '=') ? option : NULL;
  }
  const kw_cli_option *own = option_of(command, typed.word);
  const char *equals = strchr(typed.word, '=');
  if (awaits) {
    offer_value(command, awaits, &typed);
  } else if (own && own->value && equals) {
    offer_value(command, own, &(typing){typed.word, (size_t)(equals + 1 - typed.word)});
  } else if (typed.word[0] == '-') {
    offer_options(command, &typed);
  } else if (positionals > 0) {
    return;
  } else if (strcmp(command->name, "help") == 0) {
    offer_commands(commands, command_count, &typed);
  } else if (strcmp(command->name, "eval") == 0 || strcmp(command->name, "ops") == 0) {
    offer_ops(&typed);
  } else if (strcmp(command->name, "report") == 0) {
    offer_words(&typed, "show|diff|merge");
  } else if (strcmp(command->name, "completion") == 0) {
    offer_words(&typed, "bash|zsh|fish");
  }
}
