/* SPDX-License-Identifier: Apache-2.0
 *
 * Peers of `keyway bench`: found beside libkeyway's plugins, opened or started, and told what to run.
 */
#include "bench_peer.h"

#include "interrupt.h"

#include <bench/peer.h>

#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define KEY_SIZE 64

struct kw_bench_peer {
  char device[KEY_SIZE]; /* what Keyway calls it */
  char title[PATH_MAX];
  /* A library, */
  const kw_bench_peer_api *api; /* NULL for a program */
  void *library, *state, *job;
  /* or a program. */
  pid_t process;
  FILE *requests, *answers;
};

double kw_bench_now(kw_bench_clock clock) {
  struct timespec now;
  clock_gettime(clock == KW_BENCH_PROCESSOR ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const char *const names[] = {"raw", "onednn", "openblas", "clblast", "numpy", "torch", "bridge"};

bool kw_bench_peer_is_known(const char *name) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

const char *kw_bench_peer_names(void) {
  return "raw, onednn, openblas, clblast, numpy, torch, bridge";
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* Sends a request, unless it is NULL, frees it, and returns the answer; NULL, and `why`, when there is none or when it
 * says why not. */
static cJSON *ask(kw_bench_peer *peer, cJSON *request, char *why, size_t size) {
  char *text = request ? cJSON_PrintUnformatted(request) : NULL, *line = NULL;
  size_t capacity = 0;
  cJSON *answer = NULL;
  if (text) fprintf(peer->requests, "%s\n", text);
  if (fflush(peer->requests) == 0 && getline(&line, &capacity, peer->answers) > 0) answer = cJSON_Parse(line);
  const char *reason = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "why"));
  if (!answer) reason = "it ended, or answered what is no JSON; what it said of that is on stderr";
  if (reason) snprintf(why, size, "%s", reason);
  free(line);
  cJSON_free(text);
  cJSON_Delete(request);
  if (!reason) return answer;
  cJSON_Delete(answer);
  return NULL;
}

static bool start_program(kw_bench_peer *peer, const char *path, char *why, size_t size) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return false; /* a later program does not keep it open */
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  char *const arguments[] = {(char *)path, NULL};
  const int error = posix_spawn(&peer->process, path, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  peer->requests = fdopen(in[1], "w");
  peer->answers = fdopen(out[0], "r");
  if (error != 0) {
    peer->process = 0;
    snprintf(why, size, "%s does not start: %s", path, strerror(error));
    return false;
  }
  kw_cli_interrupt_child_begin(peer->process);
  cJSON *hello = ask(peer, NULL, why, size);
  const char *title = cJSON_GetStringValue(cJSON_GetObjectItem(hello, "title"));
  if (hello) snprintf(peer->title, sizeof peer->title, "%s", title ? title : "a program");
  cJSON_Delete(hello);
  return hello != NULL;
}

static cJSON *integers(const int64_t *items, uint32_t count) {
  cJSON *list = cJSON_CreateArray();
  for (uint32_t i = 0; i < count; ++i) cJSON_AddItemToArray(list, cJSON_CreateNumber((double)items[i]));
  return list;
}

static cJSON *tensor_as_json(const kw_bench_call *call, const kw_tensor_ref *ref) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "dtype", kw_dtype_name(ref->dtype));
  cJSON_AddItemToObject(json, "shape", integers(ref->shape, ref->rank));
  cJSON_AddItemToObject(json, "strides", integers(ref->strides, ref->rank));
  for (uint32_t i = 0; i < call->tensor_count; ++i) {
    if (kw_tensor_describe(call->tensors[i]) != ref) continue;
    cJSON_AddNumberToObject(json, "below", (double)call->below[i]);
    cJSON_AddNumberToObject(json, "step", (double)call->steps[i]);
  }
  return json;
}

static cJSON *scalar_as_json(const kw_value *value) {
  if (value->kind == KW_SCALAR_BOOL) return cJSON_CreateBool(value->u.b);
  return cJSON_CreateNumber(value->kind == KW_SCALAR_I64 ? (double)value->u.i : value->u.f);
}

static cJSON *value_as_json(const kw_bench_call *call, const kw_value *value) {
  cJSON *list;
  switch (value->tag) {
    case KW_TAG_TENSOR:
      return tensor_as_json(call, value->u.tensor);
    case KW_TAG_TENSOR_LIST:
      list = cJSON_CreateArray();
      for (uint32_t i = 0; i < value->count; ++i) cJSON_AddItemToArray(list, tensor_as_json(call, value->u.tensors[i]));
      return list;
    case KW_TAG_INT:
      return cJSON_CreateNumber((double)value->u.i);
    case KW_TAG_INT_LIST:
      return integers(value->u.ints, value->count);
    case KW_TAG_FLOAT:
      return cJSON_CreateNumber(value->u.f);
    case KW_TAG_BOOL:
      return cJSON_CreateBool(value->u.b);
    case KW_TAG_STRING:
      return cJSON_CreateString(value->u.s);
    case KW_TAG_SCALAR:
      return scalar_as_json(value);
    case KW_TAG_DTYPE:
      list = cJSON_CreateObject();
      cJSON_AddStringToObject(list, "dtype", kw_dtype_name(value->u.dtype));
      return list;
    default:
      return cJSON_CreateNull();
  }
}

static bool prepare_in_program(kw_bench_peer *peer, const kw_bench_call *call, char *why, size_t size) {
  cJSON *request = cJSON_CreateObject(), *args = cJSON_AddArrayToObject(request, "args");
  cJSON_AddStringToObject(request, "prepare", call->work->name);
  for (uint32_t i = 0; i < call->arg_count; ++i) cJSON_AddItemToArray(args, value_as_json(call, &call->args[i]));
  cJSON_AddNumberToObject(request, "size", (double)call->size);
  cJSON_AddStringToObject(request, "device", peer->device);
  cJSON *answer = ask(peer, request, why, size);
  cJSON_Delete(answer);
  return answer != NULL;
}

static double time_in_program(kw_bench_peer *peer, uint32_t runs, kw_bench_clock clock) {
  char why[300];
  cJSON *request = cJSON_CreateObject();
  cJSON_AddNumberToObject(request, "run", runs);
  cJSON *answer = ask(peer, request, why, sizeof why);
  const cJSON *ns = cJSON_GetObjectItem(answer, clock == KW_BENCH_PROCESSOR ? "processor_ns" : "ns");
  const double time = cJSON_IsNumber(ns) ? ns->valuedouble : -1;
  cJSON_Delete(answer);
  return time;
}

/* ---- Libraries --------------------------------------------------------------------------------------------------- */

static bool open_library(kw_bench_peer *peer, kw_device *device, const char *path, char *why, size_t size) {
  kw_device_info info = {.struct_size = sizeof info};
  peer->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!peer->library) {
    snprintf(why, size, "it does not load: %s", dlerror());
    return false;
  }
  const kw_bench_peer_api *(*query)(void);
  *(void **)&query = dlsym(peer->library, "kw_bench_peer_query");
  if (!query) {
    snprintf(why, size, "%s is no peer: it lacks kw_bench_peer_query", path);
    return false;
  }
  const kw_bench_peer_api *api = query();
  if (kw_device_get_info(device, &info) != KW_OK || !api->open(info.name, &peer->state, why, size)) return false;
  peer->api = api;
  snprintf(peer->title, sizeof peer->title, "%s", api->title);
  return true;
}

/* What a tensor is, and not where. */
static kw_tensor_ref without_place(const kw_tensor_ref *tensor) {
  kw_tensor_ref ref = *tensor;
  ref.mem = NULL;
  ref.offset = 0;
  return ref;
}

static void *prepare_in_library(const kw_bench_peer *peer, const kw_bench_call *call, char *why, size_t size) {
  kw_tensor_ref tensors[KW_BENCH_TENSORS], results[KW_BENCH_RESULTS];
  const kw_tensor_ref *entries[KW_BENCH_TENSORS], *outs[KW_BENCH_RESULTS];
  kw_value args[KW_BENCH_ARGS];
  uint32_t used = 0;
  void *job = NULL;
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    args[i] = call->args[i];
    const uint32_t first = used;
    if (args[i].tag == KW_TAG_TENSOR) {
      tensors[used] = without_place(args[i].u.tensor);
      args[i].u.tensor = &tensors[used++];
    } else if (args[i].tag == KW_TAG_TENSOR_LIST) {
      for (uint32_t k = 0; k < args[i].count; ++k, ++used) {
        tensors[used] = without_place(args[i].u.tensors[k]);
        entries[used] = &tensors[used];
      }
      args[i].u.tensors = &entries[first];
    }
  }
  kw_arg_info absent = {.struct_size = sizeof absent}; /* kernels see every argument of the op */
  uint32_t arg_count = call->arg_count;
  while (arg_count < KW_BENCH_ARGS && kw_op_get_arg(call->op, arg_count, &absent) == KW_OK) {
    args[arg_count++] = absent.default_value;
  }
  for (uint32_t i = 0; i < call->out_count; ++i) {
    results[i] = call->outs[i] ? without_place(kw_tensor_describe(call->outs[i])) : tensors[0];
    outs[i] = &results[i];
  }
  const kw_call described = {.struct_size = sizeof described,
                             .arg_count = arg_count,
                             .out_count = call->out_count,
                             .op = call->work->name,
                             .args = args,
                             .outs = outs};
  return peer->api->prepare(peer->state, &described, &job, why, size) ? job : NULL;
}

static void discard(kw_bench_peer *peer) {
  if (peer->job) peer->api->discard(peer->state, peer->job);
  peer->job = NULL;
}

/* ---- Either ------------------------------------------------------------------------------------------------------ */

/* Keyway's own directory of peers, beside libkeyway's plugins. */
static bool find_directory(char *path, size_t size) {
  Dl_info info;
  char library[PATH_MAX];
  if (!dladdr((void *)(uintptr_t)kw_version, &info) || !realpath(info.dli_fname, library)) return false;
  *strrchr(library, '/') = '\0';
  return (size_t)snprintf(path, size, "%s/keyway/peers", library) < size;
}

kw_bench_peer *kw_bench_peer_open(kw_device *device, const char *name, char *why, size_t size) {
  char directory[PATH_MAX], program[PATH_MAX + 2 * KEY_SIZE], library[sizeof program + 8];
  kw_bench_peer *peer = calloc(1, sizeof *peer);
  snprintf(why, size, "no memory or no path");
  if (!peer || !find_directory(directory, sizeof directory)) {
    free(peer);
    return NULL;
  }
  snprintf(peer->device, sizeof peer->device, "%s", kw_device_name(device));
  const int key = (int)strcspn(peer->device, ":");
  snprintf(program, sizeof program, "%s/keyway_peer_%.*s_%s", directory, key, peer->device, name);
  snprintf(library, sizeof library, "%s.so", program);
  bool opened = false;
  if (access(library, R_OK) == 0) {
    opened = open_library(peer, device, library, why, size);
  } else if (access(program, X_OK) == 0) {
    opened = start_program(peer, program, why, size);
  } else {
    snprintf(why, size, "for %.*s devices it is not in %s; scripts/peers.sh brings the peers that come from elsewhere",
             key, peer->device, directory);
  }
  if (opened) return peer;
  kw_bench_peer_close(peer);
  return NULL;
}

void kw_bench_peer_close(kw_bench_peer *peer) {
  if (!peer) return;
  discard(peer);
  if (peer->api) peer->api->close(peer->state);
  if (peer->library) dlclose(peer->library);
  if (peer->requests) fclose(peer->requests);
  if (peer->answers) fclose(peer->answers);
  kw_cli_interrupt_child_end(peer->process); /* while its number is nobody else's */
  if (peer->process > 0) waitpid(peer->process, NULL, 0);
  free(peer);
}

const char *kw_bench_peer_title(const kw_bench_peer *peer) {
  return peer->title;
}

bool kw_bench_peer_prepare(kw_bench_peer *peer, const kw_bench_call *call, char *why, size_t size) {
  if (!peer->api) return prepare_in_program(peer, call, why, size);
  discard(peer);
  snprintf(why, size, "it runs single ops");
  if (call->op) peer->job = prepare_in_library(peer, call, why, size);
  return peer->job != NULL;
}

double kw_bench_peer_time(kw_bench_peer *peer, uint32_t runs, kw_bench_clock clock) {
  if (!peer->api) return time_in_program(peer, runs, clock);
  const double begin = kw_bench_now(clock);
  for (uint32_t i = 0; i < runs; ++i) peer->api->run(peer->state, peer->job);
  peer->api->wait(peer->state);
  return 1e9 * (kw_bench_now(clock) - begin) / runs;
}
