/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins that do harm, one for each stage of a plugin's life and each kind of harm: compiled once for each pair of
 * HOSTILE_STAGE (a word of the list below) and HOSTILE_HARM (crash, hang, exit, wild), with the key STAGE_HARM.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)
#define JOINED_OF(a, b) a##b
#define JOINED(a, b) JOINED_OF(a, b)

enum {
  in_constructor,
  in_query,
  in_probe,
  in_init,
  in_count,
  in_info,
  in_open,
  in_alloc,
  in_copy,
  in_launch,
  in_thread,
  in_close,
  in_shutdown,
  in_exit
};
enum { by_crash, by_hang, by_exit, by_wild };

#define STAGE JOINED(in_, HOSTILE_STAGE)
#define HARM JOINED(by_, HOSTILE_HARM)

#define FIXTURE_KEY TEXT(HOSTILE_STAGE) "_" TEXT(HOSTILE_HARM)
#include "fixture.h"

/* A pointer that nobody has memory at: outside of what a process can map. */
#define WILD ((void *)(uintptr_t)0x5a5a5a5a5a5a5a58)

static void strike(void) {
  switch (HARM) {
    case by_crash:
      raise(SIGSEGV);
      break;
    case by_hang:
      for (;;) pause();
    case by_exit:
      exit(7);
    default:
      *(volatile uint64_t *)WILD = 1;
  }
}

/* Where a stage gives something back, a wild plugin gives what leads nowhere. */
static bool gives_wild(int stage) {
  return STAGE == stage && HARM == by_wild;
}

static void come_to(int stage) {
  if (STAGE == stage) strike();
}

__attribute__((constructor)) static void construct(void) {
  come_to(in_constructor);
}

/* Of a process that has opened a device. */
static atomic_bool used;

__attribute__((destructor)) static void destruct(void) {
  if (atomic_load(&used)) come_to(in_exit);
}

static kw_status hostile_count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = gives_wild(in_count) ? UINT32_MAX : 1;
  if (!gives_wild(in_count)) come_to(in_count);
  return KW_OK;
}

static kw_status hostile_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin, (void)index;
  if (gives_wild(in_info)) {
    memset(out_info, 0xa5, sizeof *out_info);
    return KW_OK;
  }
  come_to(in_info);
  snprintf(out_info->name, sizeof out_info->name, "hostile");
  out_info->mem_alignment = out_info->offset_alignment = 64;
  return KW_OK;
}

/* A thread of the plugin's own, which a launch waits for. */
static pthread_t thread;

static void *late(void *none) {
  (void)none;
  come_to(in_thread);
  return NULL;
}

static kw_status hostile_open(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  if (gives_wild(in_open)) {
    *out_device = WILD;
    return KW_OK;
  }
  come_to(in_open);
  atomic_store(&used, true);
  return fixture_open(plugin, index, info, out_device);
}

static kw_status hostile_close(void *device) {
  come_to(in_close);
  return fixture_close(device);
}

static kw_status hostile_alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (gives_wild(in_alloc)) {
    *out_mem = WILD;
    return KW_OK;
  }
  come_to(in_alloc);
  if (gives_wild(in_open)) *(volatile int *)device = 1; /* a handle that leads nowhere is used at last */
  return fixture_alloc(device, info, out_mem);
}

static kw_status hostile_copy(void *device, void *stream, const kw_copy_info *copy) {
  come_to(in_copy);
  return fixture_copy(device, stream, copy);
}

static kw_status hostile_launch(const kw_call *call) {
  come_to(in_launch);
  if (STAGE == in_thread && pthread_create(&thread, NULL, late, NULL) == 0) pthread_join(thread, NULL);
  return fixture_add(call);
}

static kw_status hostile_probe(const char **out_reason) {
  if (gives_wild(in_probe)) {
    *out_reason = WILD;
    return KW_ERR_NOT_FOUND;
  }
  come_to(in_probe);
  return KW_OK;
}

static void come_to_init(void) {
  come_to(in_init);
}

static kw_status hostile_shutdown(void *plugin) {
  (void)plugin;
  come_to(in_shutdown);
  return KW_OK;
}

#define FIXTURE_COUNT hostile_count
#define FIXTURE_INFO hostile_info
#define FIXTURE_OPEN hostile_open
#define FIXTURE_CLOSE hostile_close
#define FIXTURE_ALLOC hostile_alloc
#define FIXTURE_COPY hostile_copy
#define FIXTURE_LAUNCH hostile_launch
#define FIXTURE_PROBE hostile_probe
#define FIXTURE_INIT_START come_to_init();
#define FIXTURE_SHUTDOWN hostile_shutdown
#define FIXTURE_QUERY_START                     \
  if (gives_wild(in_query)) {                   \
    *out_plugin = (const kw_plugin_desc *)WILD; \
    return KW_OK;                               \
  }                                             \
  come_to(in_query);
#include "fixture_plugin.h"
