/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway doctor`: every candidate plugin, how far it came and why, what Keyway was told by its surroundings, and
 * which optional programs are there.
 */
#include "certify/minisign.h"
#include "commands.h"
#include "device_trial.h"
#include "environment.h"
#include "table.h"

#include <keyway/keyway.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Surroundings ------------------------------------------------------------------------------------------------ */

/* Programs that Keyway calls where they are installed. */
static const struct {
  const char *name, *package, *meaning;
  bool (*find)(char *out_path, size_t size);
} tools[] = {{"minisign", "minisign", "signatures of certification packages", kw_minisign_find}};
enum { TOOL_COUNT = sizeof tools / sizeof tools[0] };

static const char *or_dash(const char *text) {
  return *text ? text : "-";
}

static const char *state_name(kw_directory_state state) {
  static const char *const names[] = {"searched", "absent", "refused"};
  return state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

static void add_folders_json(cJSON *array) {
  kw_plugin_directory folder = {.struct_size = sizeof folder};
  for (uint32_t i = 0; kw_plugin_get_directory(i, &folder) == KW_OK; ++i) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "path", folder.path);
    cJSON_AddStringToObject(json, "state", state_name(folder.state));
    cJSON_AddStringToObject(json, "reason", folder.reason);
    cJSON_AddStringToObject(json, "origin", folder.origin);
    cJSON_AddItemToArray(array, json);
  }
}

static void add_trust_json(cJSON *array) {
  kw_trust_file file = {.struct_size = sizeof file};
  for (uint32_t i = 0; kw_plugin_get_trust_file(i, &file) == KW_OK; ++i) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "path", file.path);
    cJSON_AddNumberToObject(json, "rules", file.rule_count);
    cJSON_AddStringToObject(json, "reason", file.reason);
    cJSON_AddItemToArray(array, json);
  }
}

/* Paths may come from the environment: the table leaves no control characters in them. */
static void print_trust(void) {
  kw_trust_file file = {.struct_size = sizeof file};
  if (kw_plugin_get_trust_file(0, &file) != KW_OK) {
    printf("\nNo list says which plugins may be opened (/etc/keyway/trust, KEYWAY_TRUST): all may.\n");
    return;
  }
  kw_cli_table *table = kw_cli_table_create((const char *[]){"PLUGINS THAT MAY BE OPENED", ">RULES", NULL});
  for (uint32_t i = 0; kw_plugin_get_trust_file(i, &file) == KW_OK; ++i) {
    kw_cli_table_add(table, "%s", file.path);
    kw_cli_table_add(table, "%u", file.rule_count);
    if (*file.reason) kw_cli_table_note(table, "allows none at all: %s", file.reason);
  }
  putchar('\n');
  kw_cli_table_print(table);
}

static void add_environment_json(cJSON *array) {
  char text[256];
  for (uint32_t i = 0; i < kw_environment_variable_count; ++i) {
    const kw_environment_variable *variable = &kw_environment_variables[i];
    const char *value = getenv(variable->name);
    kw_environment_judge(variable, value ? value : "", text, sizeof text);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", variable->name);
    cJSON_AddItemToObject(json, "value", value ? cJSON_CreateString(value) : cJSON_CreateNull());
    cJSON_AddBoolToObject(json, "understood", text[0] == '\0');
    cJSON_AddStringToObject(json, "reason", text);
    cJSON_AddStringToObject(json, "meaning", variable->meaning);
    cJSON_AddItemToArray(array, json);
  }
  for (uint32_t i = 0; kw_environment_unknown(i, text, sizeof text); ++i) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", text);
    cJSON_AddStringToObject(json, "value", getenv(text));
    cJSON_AddBoolToObject(json, "understood", false);
    cJSON_AddStringToObject(json, "reason", "no such variable");
    cJSON_AddStringToObject(json, "meaning", "");
    cJSON_AddItemToArray(array, json);
  }
}

/* Names and values are whoever's started the program: no control characters of theirs. */
static void print_environment(void) {
  char text[256];
  kw_cli_table *table = kw_cli_table_create((const char *[]){"VARIABLE", "VALUE", "MEANING", NULL});
  for (uint32_t i = 0; i < kw_environment_variable_count; ++i) {
    const kw_environment_variable *variable = &kw_environment_variables[i];
    const char *value = getenv(variable->name);
    kw_environment_judge(variable, value ? value : "", text, sizeof text);
    kw_cli_table_add(table, "%s", variable->name);
    kw_cli_table_add(table, "%s", value ? value : "-");
    kw_cli_table_add(table, "%s", text[0] ? "NOT UNDERSTOOD" : variable->meaning);
    if (text[0]) kw_cli_table_note(table, "%s", text);
  }
  for (uint32_t i = 0; kw_environment_unknown(i, text, sizeof text); ++i) {
    kw_cli_table_add(table, "%s", text);
    kw_cli_table_add(table, "%s", getenv(text));
    kw_cli_table_add(table, "UNKNOWN: no such variable; is it misspelt?");
  }
  putchar('\n');
  kw_cli_table_print(table);
}

static void add_tools_json(cJSON *array) {
  char path[PATH_MAX];
  for (uint32_t i = 0; i < TOOL_COUNT; ++i) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", tools[i].name);
    cJSON_AddItemToObject(json, "path",
                          tools[i].find(path, sizeof path) ? cJSON_CreateString(path) : cJSON_CreateNull());
    cJSON_AddStringToObject(json, "package", tools[i].package);
    cJSON_AddStringToObject(json, "meaning", tools[i].meaning);
    cJSON_AddItemToArray(array, json);
  }
}

static void print_tools(void) {
  char path[PATH_MAX];
  kw_cli_table *table = kw_cli_table_create((const char *[]){"TOOL", "FOUND", "MEANING", NULL});
  for (uint32_t i = 0; i < TOOL_COUNT; ++i) {
    const bool found = tools[i].find(path, sizeof path);
    kw_cli_table_add(table, "%s", tools[i].name);
    kw_cli_table_add(table, "%s", found ? path : "-");
    kw_cli_table_add(table, "%s", tools[i].meaning);
    if (!found) kw_cli_table_note(table, "optional: Debian package %s", tools[i].package);
  }
  putchar('\n');
  kw_cli_table_print(table);
}

static void print_surroundings(void) {
  kw_cli_table *folders = kw_cli_table_create((const char *[]){"FOLDER", "PATH", "NAMED BY", NULL});
  kw_plugin_directory folder = {.struct_size = sizeof folder};
  for (uint32_t i = 0; kw_plugin_get_directory(i, &folder) == KW_OK; ++i) {
    kw_cli_table_add(folders, "%s", state_name(folder.state));
    kw_cli_table_add(folders, "%s", or_dash(folder.path));
    kw_cli_table_add(folders, "%s", folder.origin);
    if (folder.state == KW_DIRECTORY_REFUSED) kw_cli_table_note(folders, "%s", folder.reason);
  }
  putchar('\n');
  kw_cli_table_print(folders);
  print_trust();
  print_environment();
  print_tools();
}

/* ---- Plugins ----------------------------------------------------------------------------------------------------- */

/* "ready", "absent" (no driver or hardware for it here), "left out" (no plugin, or KEYWAY_PLUGINS says so) or "failed".
 */
static const char *verdict(const kw_plugin_report *report) {
  if (report->status == KW_OK) return "ready";
  if (report->status == KW_ERR_UNSUPPORTED && report->reached != KW_STAGE_VERSION) return "left out";
  bool no_hardware = report->reached == KW_STAGE_VERSION &&
                     (report->status == KW_ERR_NOT_FOUND || report->status == KW_ERR_UNSUPPORTED);
  return no_hardware ? "absent" : "failed";
}

static void format_abi(uint32_t version, char text[24]) {
  snprintf(text, 24, version ? "%u.%u" : "-", KW_ABI_MAJOR(version), KW_ABI_MINOR(version));
}

/* What plugins may do themselves; one bit may stand in several rows, with one text. */
static const struct {
  uint64_t bit;
  const char *name;
} natives[] = {
#define KW_SLOT_GROUP(group, NAME, required, native, text) {native, text},
#define KW_NATIVE_SLOT(native, group, slot, text) {native, text},
#include "slots.def"
};
enum { NATIVE_COUNT = sizeof natives / sizeof natives[0] };

/* Whether row i is the first of a bit that is set. */
static bool shows(uint64_t native, uint32_t i) {
  for (uint32_t k = 0; k < i; ++k) {
    if (natives[k].bit == natives[i].bit) return false;
  }
  return native & natives[i].bit;
}

static cJSON *natives_as_json(uint64_t native) {
  cJSON *array = cJSON_CreateArray();
  for (uint32_t i = 0; i < NATIVE_COUNT; ++i) {
    if (shows(native, i)) cJSON_AddItemToArray(array, cJSON_CreateString(natives[i].name));
  }
  return array;
}

/* "native: events, fill" */
static void note_natives(kw_cli_table *table, uint64_t native) {
  char text[256];
  size_t used = 0;
  for (uint32_t i = 0; i < NATIVE_COUNT; ++i) {
    if (!shows(native, i)) continue;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "native: ", natives[i].name);
  }
  if (used > 0) kw_cli_table_note(table, "%s", text);
}

static cJSON *options_as_json(const kw_plugin_report *report) {
  cJSON *array = cJSON_CreateArray();
  for (uint32_t i = 0; i < report->option_count; ++i) {
    const kw_option_desc *option = report->options[i];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "key", option->key);
    cJSON_AddStringToObject(json, "place", option->place == KW_OPTION_INIT ? "init" : "open");
    cJSON_AddStringToObject(json, "value", option->value);
    cJSON_AddStringToObject(json, "meaning", option->text);
    cJSON_AddItemToArray(array, json);
  }
  return array;
}

/* "option acme.npu.queue_depth=64: ..." */
static void note_options(kw_cli_table *table, const kw_plugin_report *report) {
  for (uint32_t i = 0; i < report->option_count; ++i) {
    const kw_option_desc *option = report->options[i];
    kw_cli_table_note(table, "option %s.%s.%s=%s: %s", report->vendor, report->key, option->key, option->value,
                      option->text);
  }
}

static cJSON *report_as_json(const kw_plugin_report *report) {
  char abi[24];
  format_abi(report->abi_version, abi);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "path", report->path);
  cJSON_AddStringToObject(json, "verdict", verdict(report));
  cJSON_AddStringToObject(json, "stage", kw_stage_name(report->reached));
  cJSON_AddStringToObject(json, "status", kw_status_name(report->status));
  cJSON_AddStringToObject(json, "reason", report->reason);
  cJSON_AddStringToObject(json, "allowed_by", report->trust);
  cJSON_AddStringToObject(json, "key", report->key);
  cJSON_AddStringToObject(json, "vendor", report->vendor);
  cJSON_AddStringToObject(json, "version", report->version);
  cJSON_AddStringToObject(json, "description", report->description);
  cJSON_AddStringToObject(json, "build", report->build);
  cJSON_AddStringToObject(json, "sanitizer", report->sanitizer);
  cJSON_AddItemToObject(json, "abi", report->abi_version ? cJSON_CreateString(abi) : cJSON_CreateNull());
  cJSON_AddNumberToObject(json, "devices", report->device_count);
  cJSON_AddNumberToObject(json, "kernels", report->kernel_count);
  cJSON_AddBoolToObject(json, "isolated", report->isolated != 0);
  cJSON_AddItemToObject(json, "native", natives_as_json(report->native));
  cJSON_AddItemToObject(json, "options", options_as_json(report));
  cJSON_AddNumberToObject(json, "load_ns", (double)report->load_ns);
  return json;
}

static void add_report_row(kw_cli_table *table, const kw_plugin_report *report) {
  char abi[24];
  format_abi(report->abi_version, abi);
  const char *slash = strrchr(report->path, '/');
  kw_cli_table_add(table, "%s", verdict(report));
  kw_cli_table_add(table, "%s", slash && slash[1] ? slash + 1 : report->path);
  kw_cli_table_add(table, "%s", kw_stage_name(report->reached));
  kw_cli_table_add(table, "%s%s%s", report->vendor, *report->vendor ? "." : "", or_dash(report->key));
  kw_cli_table_add(table, "%s", or_dash(report->version));
  kw_cli_table_add(table, "%s", abi);
  kw_cli_table_add(table, "%u", report->device_count);
  kw_cli_table_add(table, "%u", report->kernel_count);
  kw_cli_table_add(table, "%.1f ms", (double)report->load_ns / 1e6);
  if (report->status != KW_OK) {
    kw_cli_table_note(table, "%s: %s", kw_status_name(report->status),
                      *report->reason ? report->reason : "no reason given");
  } else if (*report->reason) {
    kw_cli_table_note(table, "note: %s", report->reason);
  }
  if (*report->description || *report->build) {
    kw_cli_table_note(table, "%s%s%s%s%s", report->description, *report->build ? ", built with " : "", report->build,
                      *report->sanitizer ? ", sanitizer " : "", report->sanitizer);
  }
  if (report->isolated) kw_cli_table_note(table, "runs in a process of its own");
  note_natives(table, report->native);
  note_options(table, report);
  if (*report->trust) kw_cli_table_note(table, "allowed by %s", report->trust);
  kw_cli_table_note(table, "%s", report->path);
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* Those that exist, tried each in a process of its own; for free(). */
static kw_device_trial *try_devices(const kw_cli_args *args, uint32_t *out_count) {
  enum { PLUGINS = 16 };
  const char *plugins[PLUGINS + 1] = {NULL};
  uint32_t cursor = 0, used = 0, count = 0;
  for (const char *path; used < PLUGINS && (path = kw_cli_args_next(args, "--plugin", &cursor));)
    plugins[used++] = path;
  kw_device_count(&count);
  kw_device_trial *trials = calloc(count + 1u, sizeof *trials);
  *out_count = 0;
  for (uint32_t i = 0; trials && i < count; ++i) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    kw_device_trial *trial = &trials[(*out_count)++];
    if (kw_device_get_entry(i, &entry) == KW_OK) {
      snprintf(trial->name, sizeof trial->name, "%s", entry.qualified_name);
    } else {
      snprintf(trial->name, sizeof trial->name, "number %u", i);
      snprintf(trial->text, sizeof trial->text, "%s", kw_error_message());
    }
  }
  if (trials) kw_device_trials_run(trials, *out_count, plugins);
  return trials;
}

static void add_trials_json(cJSON *array, const kw_device_trial *trials, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "device", trials[i].name);
    cJSON_AddBoolToObject(json, "works", trials[i].passed);
    cJSON_AddStringToObject(json, "text", trials[i].text);
    cJSON_AddItemToArray(array, json);
  }
}

static void print_trials(const kw_device_trial *trials, uint32_t count) {
  if (count == 0) return;
  kw_cli_table *table = kw_cli_table_create((const char *[]){"DEVICE", "TRIED (OPEN, COPY, COMPUTE, CLOSE)", NULL});
  for (uint32_t i = 0; i < count; ++i) {
    kw_cli_table_add(table, "%s", trials[i].name);
    kw_cli_table_add(table, "%s", trials[i].passed ? "works" : "FAILED");
    if (*trials[i].text) kw_cli_table_note(table, "%s", trials[i].text);
  }
  putchar('\n');
  kw_cli_table_print(table);
}

static int print_all(const kw_cli_args *args, uint32_t count) {
  const bool as_json = kw_cli_args_has(args, "--json");
  cJSON *json = cJSON_CreateObject(), *plugins = cJSON_AddArrayToObject(json, "plugins");
  static const char *const headings[] = {"VERDICT", "PLUGIN",   "REACHED",  "KEY",   "VERSION",
                                         "ABI",     ">DEVICES", ">KERNELS", ">TIME", NULL};
  kw_cli_table *table = as_json || count == 0 ? NULL : kw_cli_table_create(headings);
  uint32_t ready = 0, devices = 0;
  kw_device_count(&devices);
  for (uint32_t i = 0; i < count; ++i) {
    kw_plugin_report report = {.struct_size = sizeof report};
    if (kw_plugin_get_report(i, &report) != KW_OK) continue;
    ready += report.status == KW_OK;
    add_report_row(table, &report);
    cJSON_AddItemToArray(plugins, report_as_json(&report));
  }
  char abi[24];
  format_abi(kw_abi_version(), abi);
  uint32_t tried = 0;
  kw_device_trial *trials = try_devices(args, &tried);
  if (as_json) {
    cJSON_AddStringToObject(json, "version", kw_version());
    cJSON_AddStringToObject(json, "abi", abi);
    cJSON_AddNumberToObject(json, "devices", devices);
    add_trials_json(cJSON_AddArrayToObject(json, "trials"), trials, tried);
    free(trials);
    add_folders_json(cJSON_AddArrayToObject(json, "folders"));
    add_trust_json(cJSON_AddArrayToObject(json, "trust"));
    add_environment_json(cJSON_AddArrayToObject(json, "environment"));
    add_tools_json(cJSON_AddArrayToObject(json, "tools"));
    return kw_cli_json_print(json) ? KW_CLI_OK : KW_CLI_FAILED;
  }
  printf("keyway %s, plugin ABI %s\n%u of %u plugins ready, %u devices\n\n", kw_version(), abi, ready, count, devices);
  cJSON_Delete(json);
  if (count) {
    kw_cli_table_print(table);
  } else {
    printf("No plugins were found in the folders below. Put them there, or name one with --plugin FILE.\n");
  }
  print_trials(trials, tried);
  free(trials);
  print_surroundings();
  return KW_CLI_OK;
}

static int run(const kw_cli_args *args) {
  uint32_t before = 0, count = 0;
  const kw_init_options retry = {.struct_size = sizeof retry, .flags = KW_INIT_RETRY};
  if (kw_cli_args_has(args, "--retry")) kw_init(&retry); /* where it fails, so does what follows */
  if (kw_plugin_count(&before) != KW_OK) {
    kw_cli_complain(&kw_cli_doctor, "%s", kw_error_message());
    return KW_CLI_FAILED;
  }
  const char *path;
  int code = KW_CLI_OK;
  for (uint32_t cursor = 0; (path = kw_cli_args_next(args, "--plugin", &cursor)); before = count) {
    kw_status status = kw_plugin_load(path);
    kw_plugin_count(&count);
    if (status == KW_OK || count > before) continue; /* its report says all there is to say */
    kw_cli_complain(&kw_cli_doctor, "%s", kw_error_message());
    code = KW_CLI_USAGE;
  }
  if ((path = kw_cli_args_value(args, "--device"))) return kw_device_trial_run_here(path);
  kw_plugin_count(&count);
  const int printed = print_all(args, count);
  return printed == KW_CLI_OK ? code : printed;
}

static const kw_cli_option options[] = {
    KW_CLI_OPTION_JSON,
    KW_CLI_OPTION_PLUGIN,
    {"--device", "NAME", "only try this device, here: open it, copy, compute, close, and say each step"},
    {"--retry", NULL, "forget what is kept about plugins, quarantine included, and try all anew"}};
const kw_cli_command kw_cli_doctor = {
    .name = "doctor",
    .synopsis = "[--json] [--retry] [--device NAME] [--plugin FILE]...",
    .summary = "Show every plugin that was found, how far it came, and why",
    .details =
        "A plugin is found, opened (dlopen), asked for its symbol, its version and whether its hardware is there\n"
        "(probe), and then started (init), in a process of its own; a program repeats that in its own process when\n"
        "one of the devices is asked for. REACHED is the last of these stages that succeeded; the line below says\n"
        "why the next one did not. 'absent' means that the plugin is fine but its driver or hardware is not here,\n"
        "'left out' that KEYWAY_PLUGINS says so, or that the file is no plugin. What the processes saw is kept for\n"
        "a while; a plugin that took a program down while it was opened is in quarantine. --retry ends both.\n"
        "Each device is then tried in a process of its own: opened, copied to, computed on, closed.\n"
        "An option of a plugin is given where a device is named, npu:0/queue_depth=128, or by its whole key in\n"
        "KEYWAY_OPTIONS. Exit status: 0 whenever the report could be made; 2 when a FILE is none; with --device 0\n"
        "if it works, otherwise 1.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .main = run,
};
