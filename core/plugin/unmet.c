/* SPDX-License-Identifier: Apache-2.0
 *
 * Each name held against the reports about all plugins that were found, also those that cannot be used.
 */
#include "plugin/unmet.h"

#include "base/log.h"
#include "plugin/named.h"
#include "plugin/option.h"
#include "plugin/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool names_a_plugin(const char *element) {
  kw_plugin_report report;
  for (uint32_t i = 0; kw_plugin_report_at(i, &report); i++) {
    if (kw_list_names_file(element, "", report.path) || kw_list_names_key(element, "", report.vendor, report.key))
      return true;
  }
  return false;
}

static void judge_isolated(const char *list) {
  while (list != NULL && *list != '\0') {
    char element[256];
    const size_t length = strcspn(list, ",");
    snprintf(element, sizeof element, "%.*s", (int)length, list);
    if (length > 0 && strcmp(element, "*") != 0 && !names_a_plugin(element)) {
      kw_log(KW_LOG_WARN,
             "KEYWAY_ISOLATE: '%s' means no plugin that was found: a plugin is named by its file, key or vendor.key",
             element);
    }
    list += length + (list[length] == ',');
  }
}

static bool is_some_plugins(const char *key) {
  kw_plugin_report report;
  for (uint32_t i = 0; kw_plugin_report_at(i, &report); i++) {
    const kw_plugin_desc desc = {.vendor = report.vendor, .key = report.key};
    if (kw_option_name_in(&desc, key) != NULL) return true;
  }
  return false;
}

void kw_names_judge(void) {
  static atomic_flag judged = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&judged)) return;
  judge_isolated(secure_getenv("KEYWAY_ISOLATE"));
  const kw_options *options = kw_options_from_environment();
  for (uint32_t i = 0; i < options->count; i++) {
    if (is_some_plugins(options->items[i].key)) continue;
    kw_log(KW_LOG_WARN, "KEYWAY_OPTIONS: '%s' is no option of a plugin that was found: keys are VENDOR.KEY.OPTION",
           options->items[i].key);
  }
}
