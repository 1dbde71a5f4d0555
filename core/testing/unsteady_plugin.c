/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin for tests that does what no plugin may: the cpu plugin under another name, whose process ends or stops in
 * the n-th slot after a device was opened with the option `end`: "crash@17", "hang@17", "exit@17", "wild@17", or
 * "thread@17", where it is not the slot that crashes but a thread of the plugin's.
 */
#include <keyway/plugin.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long left = -1; /* slots until the end; negative: there is none */
static char end[16];          /* how */

/* The real tables, and those that count. */
typedef struct tables {
#define KW_SLOT_GROUP(group, NAME, required, native, text) kw_##group##_api group;
#include "slots.def"
} tables;
static tables real, counting;
static kw_group groups[16];
static uint32_t group_count;

static void *crash(void *unused) {
  raise(SIGSEGV);
  return unused;
}

static void step(void) {
  if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0) return;
  volatile uintptr_t nowhere = 8;
  pthread_t thread;
  if (strcmp(end, "crash") == 0) crash(NULL);
  if (strcmp(end, "exit") == 0) exit(7);
  if (strcmp(end, "wild") == 0) *(volatile int *)nowhere = 0;
  if (strcmp(end, "thread") == 0) pthread_create(&thread, NULL, crash, NULL);
  if (strcmp(end, "hang") == 0) {
    for (;;) pause();
  }
}

#define KW_SLOT(group, name, since, required, parameters, arguments) \
  static kw_status count_##group##_##name parameters {               \
    step();                                                          \
    return real.group.name arguments;                                \
  }
#include "slots.def"

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_open_info none = {.struct_size = sizeof none};
  if (info->option_count > 0) {
    unsigned long slot = 0;
    if (sscanf(info->options[0].value, "%15[a-z]@%lu", end, &slot) == 2) atomic_store(&left, (long)slot);
  }
  return real.device.open(plugin, index, &none, out_device);
}

static void wrap(const kw_plugin_desc *cpu) {
  for (uint32_t i = 0; i < cpu->group_count; i++) {
#define KW_SLOT_GROUP(group, NAME, required, native, text)                \
  if (strcmp(cpu->groups[i].name, KW_GROUP_##NAME) == 0) {                \
    memcpy(&real.group, cpu->groups[i].table, sizeof real.group);         \
    counting.group.struct_size = sizeof counting.group;                   \
    groups[group_count++] = (kw_group){KW_GROUP_##NAME, &counting.group}; \
  }
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  if (real.group.name != NULL) counting.group.name = count_##group##_##name;
#include "slots.def"
  }
  counting.device.open = open_device;
}

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  static const kw_option_desc option = {.struct_size = sizeof option,
                                        .place = KW_OPTION_OPEN,
                                        .key = "end",
                                        .value = "",
                                        .text = "how it ends, and when"};
  static const kw_option_desc *const options[] = {&option};
  static kw_plugin_desc desc;
  const kw_plugin_desc *cpu = NULL;
  kw_query_fn query = NULL;
  void *library = dlopen(CPU_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  if (query == NULL || query(host, &cpu, out_reason) != KW_OK) return KW_ERR_NOT_FOUND;
  if (group_count == 0) wrap(cpu);
  desc = *cpu;
  desc.struct_size = sizeof desc;
  desc.key = "unsteady";
  desc.vendor = "test";
  desc.groups = groups;
  desc.group_count = group_count;
  desc.options = options;
  desc.option_count = 1;
  return kw_query_answer(host, &desc, out_plugin, out_reason);
}
