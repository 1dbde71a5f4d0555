/* SPDX-License-Identifier: Apache-2.0
 *
 * The variables as a table, held against the environment of this process.
 */
#include "environment.h"

#include "base/word.h"
#include "plugin/named.h"

#include <keyway/keyway.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

#define NUMBER "[1-9][0-9]{0,8}"
#define BYTES "[0-9]+([KMG]iB)?"
#define LAYER "[a-z_]+"
#define MINUS_NAME "-[a-z0-9_.]+"
#define SETTING "[a-z0-9_.]+=[^;]*"

const kw_environment_variable kw_environment_variables[] = {
    {"KEYWAY_PLUGIN_PATH", "directories searched first, separated by ':'", "/[^:]*(:/[^:]*)*"},
    {"KEYWAY_PLUGINS", "-NAME[,-NAME]: goes without these plugins, by file, key or vendor.key",
     MINUS_NAME "(," MINUS_NAME ")*"},
    {"KEYWAY_VISIBLE_DEVICES", "only these devices exist; default: all", NULL},
    {"KEYWAY_FALLBACK", "off (default), warn or allow: what happens when a device lacks a kernel", "off|warn|allow"},
    {"KEYWAY_KERNELS", "op=name[,op=name], globs both: these kernels before all others",
     "[^=,]+=[^=,]+(,[^=,]+=[^=,]+)*"},
    {"KEYWAY_MATH", "highest (default), tf32 or fast: how exactly calls have to compute", "highest|tf32|fast"},
    {"KEYWAY_DETERMINISTIC", "1: only kernels that give the same bits every time; default: 0", "[01]"},
    {"KEYWAY_LOG", "error, warn (default), info or debug", "error|warn|info|debug"},
    {"KEYWAY_TRACE", "a file that gets a trace, for viewers and keyway trace: Perfetto's if .pftrace, else Chrome's",
     NULL},
    {"KEYWAY_TRACE_LIMIT", "bytes, as 512MiB, at which the trace ends; default: 1GiB", BYTES},
    {"KEYWAY_TOP", "1: keyway top shows what this process does; default: 0", "[01]"},
    {"KEYWAY_THREADS", "threads of the host's loops; default: the CPUs this process may use, by mask and quota",
     NUMBER},
    {"KEYWAY_CPU_CAPABILITY",
     "reference, baseline, avx2, avx512 or avx512_fp16: what cpu's kernels use; default: the best here",
     "reference|baseline|avx2|avx512|avx512_fp16"},
    {"KEYWAY_OPTIONS", "VENDOR.KEY.OPTION=VALUE[;...]: options of plugins, as listed with them above",
     SETTING "(;" SETTING ")*"},
    {"KEYWAY_TRUST", "a file that lists the plugins that may be opened, beside the machine's /etc/keyway/trust", "/.*"},
    {"KEYWAY_ISOLATE", "NAME[,NAME] or *: these plugins run in processes of their own",
     "[*]|[a-z0-9_.]+(,[a-z0-9_.]+)*"},
    {"KEYWAY_ISOLATE_TIMEOUT_MS",
     "how long such a process may take to answer, ten times that where it computes; default: 60000; 0: for ever",
     "[0-9]{1,9}"},
    {"KEYWAY_LAYERS", "NAME[,NAME]: layers that see every call, the first nearest to the application; there are:"
#define KW_LAYER(name, text) " " #name
#include "core/layers/layers.def"
     ,
     LAYER "(," LAYER ")*"},
    {"KEYWAY_FAULT", "WHERE[@N[+]]:WHAT[,...]: what the layer fault does, as memory.alloc@5:out_of_memory", NULL},
    {"KEYWAY_CAPTURE", "the file of the layer capture, for keyway replay; default: keyway.kwcapture", NULL},
    {"KEYWAY_CAPTURE_LIMIT", "bytes, as 512MiB, at which the capture ends; default: 4GiB", BYTES},
    {"KEYWAY_VALIDATION", "report (default) or abort: what the layer validation does about a misuse", "report|abort"},
    {"KEYWAY_VALIDATION_SLOW_MS", "from when on a slot that has no reason to wait is told of; default: 1000", NUMBER},
    {"KEYWAY_MODULE_CACHE", "a folder for compiled kernels; off: none are kept; default: ~/.cache/keyway/modules",
     NULL},
    {"KEYWAY_PROBE_TIMEOUT_MS",
     "how long to wait for processes that look at plugins and come no further; default: 10000", NUMBER},
};
const uint32_t kw_environment_variable_count = sizeof kw_environment_variables / sizeof kw_environment_variables[0];

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Whether a name, after `sign`, is of a plugin that was found. */
static bool is_a_plugin(const char *name, const char *sign) {
  kw_plugin_report report = {.struct_size = sizeof report};
  for (uint32_t i = 0; kw_plugin_get_report(i, &report) == KW_OK; ++i) {
    if (kw_list_names_file(name, sign, report.path) || kw_list_names_key(name, sign, report.vendor, report.key))
      return true;
  }
  return false;
}

/* Whether the key of an option is one of a plugin that was found. */
static bool is_of_a_plugin(const char *option) {
  kw_plugin_report report = {.struct_size = sizeof report};
  for (uint32_t i = 0; kw_plugin_get_report(i, &report) == KW_OK; ++i) {
    char prefix[2 * KW_KEY_SIZE];
    snprintf(prefix, sizeof prefix, "%s.%s.", report.vendor, report.key);
    if (strncmp(option, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

/* One element of a list, without what follows in it. */
static void judge_plugin(const char *element, char *text, size_t size) {
  const char *sign = element[0] == '-' ? "-" : "";
  if (strcmp(element, "*") == 0 || is_a_plugin(element, sign)) return;
  snprintf(text, size, "'%s' is none of the plugins above, by file, key or vendor.key", element);
}

static void judge_setting(const char *element, char *text, size_t size) {
  if (!is_of_a_plugin(element)) snprintf(text, size, "'%s' is no option of the plugins above", element);
}

/* Of a glob, or a vendor's op, it is not told here. */
static void judge_preference(const char *element, char *text, size_t size) {
  char op[256];
  snprintf(op, sizeof op, "%.*s", (int)strcspn(element, "="), element);
  if (strpbrk(op, "*?[\\") != NULL || strstr(op, "::") != NULL || kw_op_find(op) != NULL) return;
  snprintf(text, size, "%s", kw_error_message());
}

static const struct {
  const char *variable, *separator;
  void (*judge)(const char *element, char *text, size_t size);
} lists[] = {{"KEYWAY_PLUGINS", ",", judge_plugin},
             {"KEYWAY_ISOLATE", ",", judge_plugin},
             {"KEYWAY_OPTIONS", ";", judge_setting},
             {"KEYWAY_KERNELS", ",", judge_preference}};

/* What is wrong with the first name that is wrong. */
static void judge_names(const char *variable, const char *value, char *text, size_t size) {
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
    if (strcmp(lists[i].variable, variable) != 0) continue;
    while (*value != '\0' && text[0] == '\0') {
      char element[256];
      const size_t length = strcspn(value, lists[i].separator);
      snprintf(element, sizeof element, "%.*s", (int)length, value);
      lists[i].judge(element, text, size);
      value += length + (value[length] != '\0');
    }
  }
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

void kw_environment_judge(const kw_environment_variable *variable, const char *value, char *text, size_t size) {
  char whole[512];
  regex_t form;
  text[0] = '\0';
  if (variable->form == NULL || value[0] == '\0') return; /* empty is as unset */
  snprintf(whole, sizeof whole, "^(%s)$", variable->form);
  if (regcomp(&form, whole, REG_EXTENDED | REG_NOSUB) != 0) return;
  if (regexec(&form, value, 0, NULL, 0) != 0) {
    snprintf(text, size, "this value is not understood; what is: %s", variable->meaning);
  }
  regfree(&form);
  if (text[0] == '\0') judge_names(variable->name, value, text, size);
}

/* Of tests, integrations, and what Keyway's programs tell each other. */
static bool is_for_others(const char *name) {
  static const char *const beginnings[] = {"KEYWAY_ENGINE_", "KEYWAY_TEST_", "KEYWAY_IN_PROBE", "KEYWAY_UPSTREAM_",
                                           "KEYWAY_COLLECTIVES"};
  for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; ++i)
    if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
  return false;
}

static bool is_known(const char *variable) {
  const size_t length = strcspn(variable, "=");
  for (uint32_t i = 0; i < kw_environment_variable_count; ++i) {
    const char *name = kw_environment_variables[i].name;
    if (strlen(name) == length && strncmp(variable, name, length) == 0) return true;
  }
  return false;
}

const char *kw_environment_unknown(uint32_t index, char *name, size_t size) {
  static const char prefix[] = "KEYWAY_";
  for (char **variable = environ; *variable != NULL; ++variable) {
    if (strncmp(*variable, prefix, sizeof prefix - 1) != 0 || is_known(*variable) || is_for_others(*variable)) continue;
    if (index-- > 0) continue;
    snprintf(name, size, "%.*s", (int)strcspn(*variable, "="), *variable);
    return name;
  }
  return NULL;
}
