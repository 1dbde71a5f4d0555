/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that is another plugin in another process: every slot travels to it by value, through a socket. It is there
 * to find what in the ABI is not flat, and for tests only: nobody installs it, and it is slow. PIPE_PLUGIN names the
 * file of the real plugin; pipe_server, beside this library, loads it.
 *
 * Left out: memory.alloc_host and map, which give pointers; interop's native_handle, and import and export by anything
 * but bytes (KW_HANDLE_IPC); vendors' own groups, whose tables only they know.
 */
#include "calls.h"

#include <dlfcn.h>
#include <fenv.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

/* ---- Slots and kernels: what follows from the types -------------------------------------------------------------- */

#define KW_SLOT(group, name, since, required, parameters, arguments) \
  PIPE_UNLESS_BY_HAND(PIPE_CALLER, group, name, parameters, arguments)
#include "slots.def"
PIPE_PLUGIN_CALLS(PIPE_CALLER)

/* ---- By hand ----------------------------------------------------------------------------------------------------- */

static kw_status call_memory_copy(void *device, void *stream, const kw_copy_info *copy) {
  parcel in = {0}, out;
  carry_token(&in, &device);
  carry_token(&in, &stream);
  carry_copy_info(&in, &copy);
  return end_call(&in, &out, pipe_finish(CALL_memory_copy, &in, &out));
}

static kw_status call_memory_fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size,
                                  const void *pattern, uint32_t pattern_size) {
  parcel in = {0}, out;
  carry_token(&in, &device);
  carry_token(&in, &stream);
  carry_token(&in, &mem);
  CARRY(&in, offset);
  CARRY(&in, size);
  CARRY(&in, pattern_size);
  parcel_carry(&in, (void *)(uintptr_t)pattern, pattern_size);
  return end_call(&in, &out, pipe_finish(CALL_memory_fill, &in, &out));
}

static kw_status call_stream_call_host(void *device, void *stream, uint64_t callback_token) {
  parcel in = {0}, out;
  carry_token(&in, &device);
  carry_token(&in, &stream);
  CARRY(&in, callback_token);
  return end_call(&in, &out, pipe_finish(CALL_stream_call_host, &in, &out));
}

static kw_status call_activity_drain(void *device, void *records, uint32_t record_size, uint32_t capacity,
                                     uint32_t *out_count, uint64_t *out_dropped) {
  parcel in = {0}, out;
  carry_token(&in, &device);
  CARRY(&in, record_size);
  CARRY(&in, capacity);
  kw_status status = pipe_finish(CALL_activity_drain, &in, &out);
  uint32_t count = 0;
  uint64_t dropped = 0;
  if (status == KW_OK) {
    CARRY(&out, count);
    CARRY(&out, dropped);
    if (count > capacity) out.bad = true;
    if (!out.bad) parcel_carry(&out, records, (size_t)count * record_size);
    *out_count = count;
    *out_dropped = dropped;
  }
  return end_call(&in, &out, status);
}

static kw_status import_bytes(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  return info->kind == KW_HANDLE_IPC ? call_interop_import_memory(device, info, out_mem, out_alignment)
                                     : KW_ERR_UNSUPPORTED;
}

static kw_status export_bytes(void *device, kw_mem mem, kw_external_memory *inout_info) {
  return inout_info->kind == KW_HANDLE_IPC ? call_interop_export_memory(device, mem, inout_info) : KW_ERR_UNSUPPORTED;
}

static kw_status call_infer(void *user, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                            uint32_t out_count) {
  parcel in = {0}, out;
  carry_token(&in, &user);
  CARRY(&in, arg_count);
  carry_values(&in, &args, arg_count);
  CARRY(&in, out_count);
  kw_status status = pipe_finish(CALL_infer, &in, &out);
  for (uint32_t i = 0; i < out_count && status == KW_OK; i++) {
    CARRY(&out, outs[i]->dtype);
    CARRY(&out, outs[i]->rank);
    CARRY(&out, outs[i]->shape);
  }
  return end_call(&in, &out, status);
}

static kw_status call_reference(const kw_call *call) {
  parcel in = {0}, out;
  carry_call(&in, &call);
  carry_memories(&in, call);
  kw_status status = pipe_finish(CALL_reference, &in, &out);
  if (status == KW_OK) carry_memories(&out, call);
  return end_call(&in, &out, status);
}

/* ---- The host's services, for the child -------------------------------------------------------------------------- */

/* To the child the host is a number: the address of its table. */
#define ANSWER_HOST(name, parameters, arguments) \
  PIPE_ANSWER(name, parameters, arguments, const kw_host_api *host = ctx; ctx = host->ctx, host->name arguments)
PIPE_HOST_CALLS(ANSWER_HOST)

static void answer_register_kernel(parcel *in, parcel *out) {
  kw_kernel_desc desc = {.struct_size = sizeof desc, .launch = call_launch};
  void *ctx;
  carry_token(in, &ctx);
  const uint32_t has = carry_kernel_desc(in, &desc);
  if (has & HAS_CAN_IMPLEMENT) desc.can_implement = call_can_implement;
  if (has & HAS_WORKSPACE_SIZE) desc.workspace_size = call_workspace_size;
  if (has & HAS_PREPARE) desc.prepare = call_prepare;
  if (has & HAS_RELEASE) desc.release = call_release;
  const kw_host_api *host = ctx;
  kw_status status = in->bad ? KW_ERR_INTERNAL : host->register_kernel(host->ctx, &desc);
  CARRY(out, status);
}

static void answer_define_op(parcel *in, parcel *out) {
  kw_op_desc desc = {.struct_size = sizeof desc};
  void *ctx;
  carry_token(in, &ctx);
  const uint32_t has = carry_op_desc(in, &desc);
  if (has & HAS_INFER) desc.infer = call_infer;
  if (has & HAS_REFERENCE) desc.reference = call_reference;
  const kw_host_api *host = ctx;
  kw_status status = in->bad ? KW_ERR_INTERNAL : host->define_op(host->ctx, &desc);
  CARRY(out, status);
}

static void answer_fetch(parcel *in, parcel *out) {
  void *from = NULL;
  uint64_t size = 0;
  carry_token(in, &from);
  CARRY(in, size);
  if (!in->bad) parcel_carry(out, from, size);
}

static void answer_store(parcel *in, parcel *out) {
  (void)out;
  void *to = NULL;
  uint64_t size = 0;
  carry_token(in, &to);
  CARRY(in, size);
  if (!in->bad) parcel_carry(in, to, size);
}

static void answer(uint32_t what, parcel *in, parcel *out) {
  switch (what) {
#define CASE(name, parameters, arguments) \
  case CALL_##name:                       \
    answer_##name(in, out);               \
    break;
    PIPE_HOST_CALLS(CASE)
    CASE(register_kernel, , )
    CASE(define_op, , )
    CASE(fetch, , )
    CASE(store, , )
    default:
      break;
  }
}

/* ---- The child --------------------------------------------------------------------------------------------------- */

/* Starts pipe_server with the other end of `control` as its CONTROL_FD and no others. */
static bool start_child(int *control) {
  Dl_info self;
  char program[4096];
  const char *plugin = getenv("PIPE_PLUGIN");
  if (!plugin || !dladdr((void *)(uintptr_t)keyway_plugin_query, &self)) return false;
  const char *slash = strrchr(self.dli_fname, '/');
  snprintf(program, sizeof program, "%.*spipe_server", slash ? (int)(slash - self.dli_fname) + 1 : 0, self.dli_fname);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], CONTROL_FD);
  posix_spawn_file_actions_addclosefrom_np(&actions, CONTROL_FD + 1);
  char *const arguments[] = {program, (char *)(uintptr_t)plugin, NULL};
  pid_t pid;
  int error = posix_spawn(&pid, program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) close(ends[0]);
  *control = ends[0];
  return error == 0;
}

static void *listen_to_child(void *unused) {
  (void)unused;
  fesetenv(FE_DFL_ENV);
  pipe_listen();
  return NULL;
}

/* The child calls from threads of its own once it has a host. */
static bool listen_once(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool listening;
  pthread_mutex_lock(&lock);
  if (!listening) listening = pipe_thread(listen_to_child, NULL);
  pthread_mutex_unlock(&lock);
  return listening;
}

static kw_status call_init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  parcel in = {0}, out;
  uint32_t version = host->abi_version;
  if (!listen_once()) return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "init: no thread for the pipe");
  carry_token(&in, (void *)&host);
  CARRY(&in, version);
  carry_init_info(&in, &info);
  kw_status status = pipe_finish(CALL_init, &in, &out);
  if (status == KW_OK) carry_token(&out, out_plugin);
  return end_call(&in, &out, status);
}

/* ---- What the plugin is ------------------------------------------------------------------------------------------ */

#define GROUPS 32
static kw_plugin_desc described;
static kw_group groups[GROUPS];
static kw_option_desc options[KW_OPTION_LIMIT];
static const kw_option_desc *option_list[KW_OPTION_LIMIT];

#define KW_SLOT_GROUP(group, NAME, required, native, text) \
  static kw_##group##_api group##_table = {.struct_size = sizeof group##_table};
#include "slots.def"

static void take_text(parcel *p, const char **text) {
  carry_text(p, (void *)text);
  if (*text) *text = carry_kept_text(*text);
}

/* Which slots there are, in the order of slots.def; a group with none is left out. */
static void take_tables(parcel *p) {
  uint8_t there = 0;
  described.group_count = 0;
#define call_memory_alloc_host NULL
#define call_memory_free_host NULL
#define call_memory_map NULL
#define call_memory_unmap NULL
#define call_interop_native_handle NULL
#define KW_SLOT_GROUP(group, NAME, required, native, text) \
  there = 0;                                               \
  CARRY(p, there);                                         \
  if (there) groups[described.group_count++] = (kw_group){KW_GROUP_##NAME, &group##_table};
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  there = 0;                                                         \
  CARRY(p, there);                                                   \
  if (there) group##_table.name = call_##group##_##name;
#include "slots.def"
  if (interop_table.import_memory) interop_table.import_memory = import_bytes;
  if (interop_table.export_memory) interop_table.export_memory = export_bytes;
}

static void take_description(parcel *p) {
  described = (kw_plugin_desc){.struct_size = sizeof described,
                               .probe = call_probe,
                               .init = call_init,
                               .shutdown = call_shutdown,
                               .groups = groups,
                               .options = option_list};
  CARRY(p, described.abi_version);
  take_text(p, &described.key);
  take_text(p, &described.vendor);
  take_text(p, &described.version);
  take_text(p, &described.description);
  take_text(p, &described.build);
  take_text(p, &described.sanitizer);
  CARRY(p, described.option_count);
  for (uint32_t i = 0; i < described.option_count && i < KW_OPTION_LIMIT; i++) {
    options[i].struct_size = sizeof options[i];
    CARRY(p, options[i].place);
    take_text(p, &options[i].key);
    take_text(p, &options[i].value);
    take_text(p, &options[i].text);
    option_list[i] = &options[i];
  }
  take_tables(p);
}

/* Every query goes to the child, who may know an extension of this one; the description is taken once. */
static kw_status query_child(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  parcel in = {0}, out;
  uint32_t abi_min = host->abi_min, abi_max = host->abi_max;
  const char *host_version = KW_HAS_FIELD(host, host_version) ? host->host_version : NULL;
  const kw_ext *next = KW_HAS_FIELD(host, next) ? host->next : NULL;
  CARRY(&in, abi_min);
  CARRY(&in, abi_max);
  carry_text(&in, &host_version);
  carry_chain(&in, &next);
  kw_status status = pipe_finish(CALL_query, &in, &out);
  if (status != KW_OK) {
    carry_out_text(&out, &out_reason);
  } else {
    if (!described.struct_size) take_description(&out);
    if (!out.bad) *out_plugin = &described;
  }
  return end_call(&in, &out, status);
}

KW_PLUGIN_EXPORT kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin,
                                               const char **out_reason) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool started;
  pthread_mutex_lock(&lock);
  if (!started) {
    int control;
    started = start_child(&control);
    if (started) pipe_start(control, answer);
  }
  kw_status status = KW_ERR_NOT_FOUND;
  if (started) {
    status = query_child(host, out_plugin, out_reason);
  } else {
    *out_reason = "the other end of the pipe does not start; set PIPE_PLUGIN to the file of a plugin";
  }
  pthread_mutex_unlock(&lock);
  return status;
}
