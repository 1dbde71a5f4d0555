/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the suite's worker: before each call that the suite makes, copies of it are made with some arguments
 * changed. Whatever comes of those, the suite's own calls go on to give what they should: it judges that.
 *
 *   KEYWAY_MUTATE=SEED     the seed; without it nothing is changed
 *   KEYWAY_MUTATE_LOG=FILE gets a line for a status that is not documented, and at the end how many calls there were
 */
#include "random.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPIES 3 /* of each call */
#define ARGS_MOST 65
#define RESULTS_MOST 16
#define LIST_MOST 16

static atomic_ulong made, accepted;
static atomic_uint_fast64_t next_seed;
static _Thread_local bool busy;

/* What one changed call made, to be released. */
typedef struct copy {
  kw_value args[ARGS_MOST];
  int64_t ints[ARGS_MOST][LIST_MOST];
  kw_tensor *entries[ARGS_MOST][LIST_MOST];
  kw_tensor *own[4 * ARGS_MOST];
  uint32_t own_count;
} copy;

static void tell(const char *format, const char *op, unsigned long number, unsigned long other) {
  const char *path = getenv("KEYWAY_MUTATE_LOG");
  FILE *file = path != NULL ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  fprintf(file, format, op, number, other);
  fclose(file);
}

static const kw_tensor *as_tensor(const kw_tensor_ref *ref) {
  return (const kw_tensor *)(const void *)ref;
}

/* The device of the call, from its tensors or its stream; NULL: it has none. */
static kw_device *device_of(kw_stream *stream, const kw_value *args, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (args[i].tag == KW_TAG_TENSOR && args[i].u.tensor != NULL) return kw_tensor_device(as_tensor(args[i].u.tensor));
    for (uint32_t k = 0; args[i].tag == KW_TAG_TENSOR_LIST && k < args[i].count; k++) {
      if (args[i].u.tensors[k] != NULL) return kw_tensor_device(as_tensor(args[i].u.tensors[k]));
    }
  }
  return stream != NULL ? kw_stream_device(stream) : NULL;
}

static kw_tensor *own(copy *c, kw_tensor *tensor) {
  if (tensor != NULL && c->own_count < sizeof c->own / sizeof c->own[0]) {
    c->own[c->own_count++] = tensor;
    return tensor;
  }
  kw_tensor_release(tensor);
  return NULL;
}

/* A tensor like this one, with other contents; now and then of another dtype or size. NULL without memory. */
static kw_tensor *make_like(copy *c, const kw_tensor *tensor, kw_device *device, bool just_so) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  int64_t shape[KW_MAX_RANK];
  memcpy(shape, ref->shape, sizeof shape);
  if (!just_so && ref->rank > 0 && random_chance(30)) shape[random_below(ref->rank)] = random_size();
  const kw_dtype dtype = !just_so && random_chance(30) ? random_dtype() : ref->dtype;
  kw_tensor *made_tensor = NULL;
  if (random_tensor(device, dtype, ref->rank, shape, &made_tensor) != KW_OK) return NULL;
  if (random_fill(made_tensor) != KW_OK) kw_error_clear();
  return own(c, made_tensor);
}

static kw_tensor *vary(copy *c, const kw_tensor *tensor, kw_device *device) {
  if (random_chance(30)) return own(c, random_layout(tensor));
  if (random_chance(50)) return own(c, random_view(tensor));
  return make_like(c, tensor, device, false);
}

static int64_t vary_int(int64_t was) {
  switch (random_below(5)) {
    case 0:
      return (int64_t)((uint64_t)was + 1);
    case 1:
      return (int64_t)((uint64_t)was - 1);
    case 2:
      return (int64_t) - (uint64_t)was;
    case 3:
      return random_limit();
    default:
      return random_int();
  }
}

static void vary_list(copy *c, uint32_t i, kw_value *value, kw_device *device) {
  uint32_t count = value->count < LIST_MOST ? value->count : LIST_MOST;
  for (uint32_t k = 0; k < count; k++) c->entries[i][k] = (kw_tensor *)(uintptr_t)value->u.tensors[k];
  const uint32_t entry = random_below(count);
  if (count > 0 && random_chance(50) && c->entries[i][entry] != NULL) {
    c->entries[i][entry] = random_chance(90) ? vary(c, c->entries[i][entry], device) : NULL;
  } else if (count > 0 && random_chance(50)) {
    count--;
  } else if (count > 0 && count < LIST_MOST) {
    c->entries[i][count] = c->entries[i][0];
    count++;
  }
  *value = kw_arg_tensor_list(c->entries[i], count);
}

static void vary_ints(copy *c, uint32_t i, kw_value *value) {
  uint32_t count = value->count < LIST_MOST ? value->count : LIST_MOST;
  memcpy(c->ints[i], value->u.ints, count * sizeof(int64_t));
  if (count > 0 && random_chance(75)) {
    const uint32_t entry = random_below(count);
    c->ints[i][entry] = vary_int(c->ints[i][entry]);
  } else if (count > 0 && random_chance(50)) {
    count--;
  } else if (count < LIST_MOST) {
    c->ints[i][count++] = random_int();
  }
  *value = kw_arg_int_list(c->ints[i], count);
}

/* Changes one argument. What the call writes to stays its own: a view of that at most. */
static void vary_arg(copy *c, const kw_op *op, uint32_t i, uint32_t count, kw_device *device) {
  kw_value *value = &c->args[i];
  kw_arg_info arg = {.struct_size = sizeof arg};
  const bool written = kw_op_get_arg(op, i, &arg) == KW_OK && (arg.flags & KW_ARG_MUTATED) != 0;
  const kw_value *other = &c->args[written ? i : random_below(count)];
  if (value->tag == KW_TAG_TENSOR && random_chance(15)) {
    if (other->tag == KW_TAG_TENSOR) *value = *other;
  } else if (value->tag == KW_TAG_TENSOR && value->u.tensor != NULL) {
    *value = kw_arg_tensor(random_chance(92) ? vary(c, as_tensor(value->u.tensor), device) : NULL);
  } else if (value->tag == KW_TAG_TENSOR_LIST) {
    vary_list(c, i, value, device);
  } else if (value->tag == KW_TAG_INT) {
    value->u.i = vary_int(value->u.i);
  } else if (value->tag == KW_TAG_INT_LIST) {
    vary_ints(c, i, value);
  } else if (value->tag == KW_TAG_FLOAT) {
    value->u.f = random_float();
  } else if (value->tag == KW_TAG_BOOL) {
    value->u.b = !value->u.b;
  } else if (value->tag == KW_TAG_STRING) {
    *value = kw_arg_string(random_text());
  } else if (value->tag == KW_TAG_SCALAR) {
    *value = random_chance(50) ? kw_arg_scalar_f64(random_float()) : kw_arg_scalar_i64(random_int());
  } else if (value->tag == KW_TAG_DTYPE) {
    value->u.dtype = random_dtype();
  } else if (value->tag == KW_TAG_NONE && other->tag == KW_TAG_TENSOR) {
    *value = *other;
  }
}

/* What the call writes to are no tensors and no generator of the suite's. Whether that could be done. */
static bool own_what_is_written(copy *c, const kw_op *op, uint32_t count, kw_device *device) {
  kw_arg_info arg = {.struct_size = sizeof arg};
  for (uint32_t i = 0; kw_op_get_arg(op, i, &arg) == KW_OK; i++) {
    if (arg.tag == KW_TAG_GENERATOR) return false;
    if ((arg.flags & KW_ARG_MUTATED) == 0) continue;
    if (i >= count || c->args[i].tag != KW_TAG_TENSOR || c->args[i].u.tensor == NULL) return false;
    c->args[i] = kw_arg_tensor(make_like(c, as_tensor(c->args[i].u.tensor), device, true));
  }
  return true;
}

static void call_changed(copy *c, const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t count,
                         kw_device *device) {
  kw_op_info info = {.struct_size = sizeof info};
  kw_tensor *outs[RESULTS_MOST] = {NULL};
  kw_op_get_info(op, &info);
  memcpy(c->args, args, count * sizeof *args);
  c->own_count = 0;
  random_seed(next_seed++);
  if (own_what_is_written(c, op, count, device)) {
    for (uint32_t n = 1 + random_below(3); n > 0 && count > 0; n--) vary_arg(c, op, random_below(count), count, device);
    const uint32_t given = random_chance(96) ? count : random_below(count);
    const kw_status status = kw_op_call(op, random_chance(66) ? stream : NULL, c->args, given, outs, info.result_count);
    made++;
    accepted += status == KW_OK;
    if (status == KW_ERR_INTERNAL || status == KW_ERR_DEVICE_LOST || (status != KW_OK && !kw_error_message()[0])) {
      tell("%s: status %lu (seed %lu)\n", info.name, (unsigned long)status, (unsigned long)next_seed - 1);
    }
    if (stream != NULL) kw_stream_synchronize(stream); /* late errors of its own */
    kw_stream_synchronize(kw_stream_default(device));
    kw_device_synchronize(device);
    for (uint32_t i = 0; status == KW_OK && i < info.result_count; i++) {
      if (kw_op_result_alias(op, i) < 0) kw_tensor_release(outs[i]);
    }
  }
  for (uint32_t i = 0; i < c->own_count; i++) kw_tensor_release(c->own[i]);
  kw_error_clear();
}

static void mutate(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t count) {
  const char *seed = getenv("KEYWAY_MUTATE");
  if (busy || seed == NULL || op == NULL || count > ARGS_MOST || args == NULL) return;
  kw_device *device = device_of(stream, args, count);
  copy *c = device != NULL ? calloc(1, sizeof *c) : NULL;
  if (c == NULL) return;
  uint_fast64_t none = 0;
  atomic_compare_exchange_strong(&next_seed, &none, strtoull(seed, NULL, 10) << 32 | 1);
  busy = true;
  for (int i = 0; i < COPIES; i++) call_changed(c, op, stream, args, count, device);
  busy = false;
  free(c);
}

__attribute__((visibility("default"))) kw_status kw_plan_make(const kw_op *op, kw_stream *stream, const kw_value *args,
                                                              uint32_t arg_count, kw_tensor **outs, uint32_t out_count,
                                                              const char *kernel, kw_plan **out_plan) {
  static kw_status (*real)(const kw_op *, kw_stream *, const kw_value *, uint32_t, kw_tensor **, uint32_t, const char *,
                           kw_plan **);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "kw_plan_make");
  mutate(op, stream, args, arg_count);
  return real(op, stream, args, arg_count, outs, out_count, kernel, out_plan);
}

__attribute__((destructor)) static void tell_how_many(void) {
  if (made > 0) tell("%s made %lu changed calls, of which %lu were accepted\n", "the worker", made, accepted);
}
