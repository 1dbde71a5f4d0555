/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin for tests that does what no plugin may: the cpu plugin under another name, whose process ends or stops in
 * the n-th slot after a device was opened with the option `end`: "crash@17", "hang@17", "exit@17", "wild@17", or
 * "thread@17", where it is not the slot that crashes but a thread of the plugin's. After "scribble@17" a thread writes
 * anything into what the process shares with the application, for as long as it lives. With "fences" the open tries
 * what a plugin in a process of its own may not do, and fails with a text that says what was possible.
 */
#include <keyway/plugin.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
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

/* Where /proc/self/maps says that the segment of lanes lies; NULL: nowhere. */
static unsigned char *find_segment(size_t *out_size) {
  char line[512];
  unsigned long from = 0, to = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  bool found = false;
  while (!found && maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    found = strstr(line, "memfd:keyway-isolate") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2;
  }
  if (maps != NULL) fclose(maps);
  *out_size = to - from;
  return found ? (unsigned char *)from : NULL;
}

/* Words of the first pages of lanes: numbers, small and large, and bits. It races on purpose. */
__attribute__((no_sanitize("thread"))) static void *scribble(void *unused) {
  size_t size;
  unsigned char *segment = find_segment(&size);
  uint64_t seed = (uint64_t)getpid();
  while (segment != NULL) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const size_t lane = (seed >> 33) % (size >> 20), word = (seed >> 43) % 64;
    const uint64_t value = (seed >> 60) < 8 ? (seed >> 50) % 5 : seed;
    volatile uint32_t *at = (volatile uint32_t *)(segment + (lane << 20) + (word << 3));
    at[0] = (uint32_t)value;
    if ((seed & 1) != 0) at[1] = (uint32_t)(value >> 32);
  }
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
  if (strcmp(end, "scribble") == 0) pthread_create(&thread, NULL, scribble, NULL);
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

/* ---- What a plugin may not do ------------------------------------------------------------------------------------ */

static const kw_host_api *host;

static bool can_write(const char *path, int flags) {
  const int file = open(path, flags | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

static bool can_execute(void) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static kw_status try_fences(void) {
  char text[300] = "possible:", memory[64];
  snprintf(memory, sizeof memory, "/proc/%d/mem", (int)getppid());
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) strcat(text, " socket");
  if (can_execute()) strcat(text, " execute");
  if (ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0) strcat(text, " trace");
  if (kill(getppid(), 0) == 0) strcat(text, " signal");
  if (can_write(memory, 0)) strcat(text, " memory");
  if (can_write("keyway-unsteady-was-here", O_CREAT)) strcat(text, " file");
  if (can_write("/tmp/keyway-unsteady-was-here", O_CREAT)) strcat(text, " temporary");
  unlink("/tmp/keyway-unsteady-was-here");
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) strcat(text, " privileges");
  return host->set_error(host->ctx, KW_ERR_BUSY, text);
}

static kw_status (*init_cpu)(const kw_host_api *, const kw_init_info *, void **);

static kw_status init(const kw_host_api *given, const kw_init_info *info, void **out_plugin) {
  host = given;
  return init_cpu(given, info, out_plugin);
}

/* ---- The tables -------------------------------------------------------------------------------------------------- */

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_open_info none = {.struct_size = sizeof none};
  if (info->option_count > 0) {
    unsigned long slot = 0;
    if (strcmp(info->options[0].value, "fences") == 0) return try_fences();
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
  init_cpu = cpu->init;
  desc.init = init;
  desc.key = "unsteady";
  desc.vendor = "test";
  desc.groups = groups;
  desc.group_count = group_count;
  desc.options = options;
  desc.option_count = 1;
  return kw_query_answer(host, &desc, out_plugin, out_reason);
}
