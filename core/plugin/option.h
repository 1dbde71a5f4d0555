/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of plugins: read from device names, the application and KEYWAY_OPTIONS, held against what a plugin says it
 * has, and chosen for its init and its open. keyway.h says which comes first.
 */
#ifndef KEYWAY_CORE_OPTION_H
#define KEYWAY_CORE_OPTION_H

#include <keyway/keyway.h>
#include <keyway/plugin.h>

/* Settings with texts of their own, no key twice. */
typedef struct kw_options {
  kw_option *items;
  uint32_t count;
} kw_options;

/* Those that a plugin is handed; the texts are others'. */
typedef struct kw_chosen_options {
  uint32_t count;
  kw_option items[KW_OPTION_LIMIT];
} kw_chosen_options;

/* Adds copies of what was given, or of what "KEY=VALUE;KEY=VALUE" says. `where` stands before the texts of failures:
 * KW_ERR_INVALID_ARGUMENT for what cannot be an option and for a key that is there already. What was added before a
 * failure stays. */
kw_status kw_options_add(kw_options *options, const char *where, const kw_option *given, uint32_t count);
kw_status kw_options_parse(kw_options *options, const char *where, const char *text);
void kw_options_free(kw_options *options);

/* Makes what kw_init was given, and KEYWAY_OPTIONS, the options of all plugins from now on. While the library starts.
 * KEYWAY_OPTIONS it reads as far as it makes sense, and logs that. */
kw_status kw_options_start(const kw_option *given, uint32_t count);

/* What kw_init was given. */
const kw_options *kw_options_given_at_start(void);

/* What KEYWAY_OPTIONS says. */
const kw_options *kw_options_from_environment(void);

/* The option's name in a whole key, "queue_depth" in "acme.npu.queue_depth"; NULL when the key is another plugin's. */
const char *kw_option_name_in(const kw_plugin_desc *desc, const char *key);

/* Holds them against a plugin's: KW_ERR_INVALID_ARGUMENT for a key with its prefix that is none of them. */
kw_status kw_options_check_all(const kw_plugin_desc *desc);

#define KW_OPTION_ISOLATE "isolate" /* 1: the plugin runs in a process of its own (isolate/isolate.h) */

/* What was given for the library itself about a plugin, by the plugin's prefix: "acme.npu.isolate". NULL when nothing
 * was, or the plugin has an option of that name. Which names there are kw_options_check_all knows. */
const char *kw_options_of_host(const kw_plugin_desc *desc, const char *name);

/* The same of what was given for one device, where a key may be the option's alone: also an option that the plugin
 * takes elsewhere is refused. What is none of its own is logged. `device` is the name to tell. */
kw_status kw_options_check_device(const kw_plugin_desc *desc, const kw_options *given, const char *device);

/* What the plugin is handed at `place`: of its options those that were given for a device (`given`, NULL for none) or
 * for all. */
void kw_options_choose(const kw_plugin_desc *desc, kw_option_place place, const kw_options *given,
                       kw_chosen_options *out_chosen);

/* Of what was given for a device that is open with the options `in_use`, the first that is otherwise there; NULL when
 * all is as given. */
const kw_option_desc *kw_options_differ(const kw_plugin_desc *desc, const kw_options *in_use, const kw_options *given);

#endif /* KEYWAY_CORE_OPTION_H */
