/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin with options, which tells by attributes what it was handed: "init" at its start, "open" at the last open.
 */
#define FIXTURE_KEY "options"
#include "fixture.h"

static const kw_option_desc width = {sizeof width, KW_OPTION_OPEN, "width", "8", "how wide: 1 to 64"};
static const kw_option_desc colour = {sizeof colour, KW_OPTION_OPEN, "colour", "", "any text"};
static const kw_option_desc mode = {sizeof mode, KW_OPTION_INIT, "mode", "plain", "plain or fast"};
static const kw_option_desc later = {sizeof later, 7, "later", "", "for a place that hosts may come to have"};
static const kw_option_desc *const options[] = {&width, &colour, &mode, &later};

static char at_init[2048], at_open[2048];

static void note(char text[2048], const kw_option *given, uint32_t count) {
  text[0] = '\0';
  for (uint32_t i = 0; i < count; i++) {
    size_t used = strlen(text);
    snprintf(text + used, 2048 - used, "%s=%s;", given[i].key, given[i].value);
  }
}

static kw_status start(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  const char *value = kw_option_value(info->options, info->option_count, &mode);
  note(at_init, info->options, info->option_count);
  fixture_host = host;
  *out_plugin = &fixture_state;
  if (strcmp(value, "plain") == 0 || strcmp(value, "fast") == 0) return KW_OK;
  return host->set_error(host->ctx, KW_ERR_INVALID_ARGUMENT, "the option mode is plain or fast");
}

static kw_status open_with(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  uint64_t number;
  note(at_open, info->options, info->option_count);
  if (kw_option_number(kw_option_value(info->options, info->option_count, &width), 1, 64, &number))
    return fixture_open(plugin, index, info, out_device);
  return fixture_host->set_error(fixture_host->ctx, KW_ERR_INVALID_ARGUMENT, "the option width is 1 to 64");
}

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  (void)plugin;
  (void)index;
  out_value->type = KW_ATTRIBUTE_STRING;
  out_value->u.s = strcmp(key, "init") == 0 ? at_init : strcmp(key, "open") == 0 ? at_open : NULL;
  return out_value->u.s != NULL ? KW_OK : KW_ERR_NOT_FOUND;
}

#define FIXTURE_INIT start
#define FIXTURE_OPEN open_with
#define FIXTURE_ATTRIBUTE attribute
#define FIXTURE_OPTIONS options
#define FIXTURE_OPTION_COUNT (sizeof options / sizeof options[0])
#include "fixture_plugin.h"
