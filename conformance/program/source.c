/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as C: what a vendor can compile, run under a debugger, and send to somebody else.
 */
#include "base/need.h"
#include "program/order.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char head[] =
    "#include <keyway/keyway.h>\n"
    "#include <math.h>\n"
    "#include <sched.h>\n"
    "#include <stdatomic.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n\n"
    "static atomic_int open_now[4];\n\n"
    "static void check(kw_status status, const char *call) {\n"
    "  if (status == KW_OK) return;\n"
    "  fprintf(stderr, \"%s: %s: %s\\n\", call, kw_status_name(status), kw_error_message());\n"
    "  exit(2);\n"
    "}\n"
    "#define OK(call) check(call, #call)\n\n"
    "static kw_device *device, *second;\n\n"
    "static void wait_for_all(void) {\n"
    "  OK(kw_device_synchronize(device));\n"
    "  if (second) OK(kw_device_synchronize(second));\n"
    "}\n\n"
    "/* Gives work a chance to run that should not yet. */\n"
    "static void linger(kw_stream *stream) {\n"
    "  kw_tensor *tensor = NULL;\n"
    "  unsigned char bytes[64] = {0};\n"
    "  OK(kw_tensor_create_on(stream, KW_U8, 1, (int64_t[]){64}, &tensor));\n"
    "  for (int i = 0; i < 24; i++) {\n"
    "    OK(kw_tensor_write_async(tensor, bytes, stream));\n"
    "    OK(kw_stream_synchronize(stream));\n"
    "    sched_yield();\n"
    "  }\n"
    "  kw_tensor_release(tensor);\n"
    "}\n\n";

static const char hold[] =
    "static void KW_CALL hold(void *flag) {\n"
    "  while (!atomic_load((atomic_int *)flag)) sched_yield();\n"
    "}\n\n";

/* By device. */
static const char *const devices[] = {"device", "second"};
static const char *const generators[] = {"generator", "generator_of_second"};
static const char *const defaults[] = {"kw_generator_default(device)", "kw_generator_default(second)"};

static void put_dtype(FILE *out, kw_dtype dtype) {
  fputs("KW_", out);
  for (const char *name = kw_element_name(dtype); *name; name++) fputc(toupper((unsigned char)*name), out);
}

/* (int64_t[]){2, 3}; of none one that nobody reads, for C has no empty arrays. */
static void put_ints(FILE *out, const int64_t *ints, uint32_t count) {
  fputs("(int64_t[]){", out);
  for (uint32_t i = 0; i < count; i++) fprintf(out, "%s%" PRId64, i ? ", " : "", ints[i]);
  fputs(count ? "}" : "0}", out);
}

static void put_bytes(FILE *out, const char *name, uint32_t number, const unsigned char *bytes, uint64_t size) {
  fprintf(out, "static const unsigned char %s%u[] = {", name, number);
  for (uint64_t i = 0; i < size; i++) fprintf(out, i % 24 ? "%u," : "\n    %u,", bytes[i]);
  fputs(size ? "\n};\n" : "0};\n", out);
}

static void put_double(FILE *out, double value) {
  if (isfinite(value)) {
    fprintf(out, "%.17g", value);
  } else {
    fputs(isnan(value) ? "(double)NAN" : value > 0 ? "(double)INFINITY" : "(double)-INFINITY", out);
  }
}

/* -2^63 has no literal. */
static void put_int(FILE *out, int64_t value) {
  if (value == INT64_MIN) {
    fputs("INT64_MIN", out);
  } else {
    fprintf(out, "INT64_C(%" PRId64 ")", value);
  }
}

static void put_scalar(FILE *out, const kw_value *value) {
  if (value->kind == KW_SCALAR_F64) {
    fputs("kw_arg_scalar_f64(", out);
    put_double(out, value->u.f);
  } else if (value->kind == KW_SCALAR_I64) {
    fputs("kw_arg_scalar_i64(", out);
    put_int(out, value->u.i);
  } else {
    fprintf(out, "kw_arg_scalar_bool(%s", value->u.b ? "true" : "false");
  }
  fputc(')', out);
}

static void put_argument(FILE *out, const kw_program_call *call, uint32_t index) {
  const kw_value value = kw_case_arg_value(&call->c, index);
  switch (value.tag) {
    case KW_TAG_TENSOR:
      fprintf(out, "kw_arg_tensor(a[%u])", index);
      break;
    case KW_TAG_TENSOR_LIST:
      fprintf(out, "kw_arg_tensor_list(&a[%u], %u)", call->c.args[index].first, value.count);
      break;
    case KW_TAG_INT:
      fputs("kw_arg_int(", out);
      put_int(out, value.u.i);
      fputc(')', out);
      break;
    case KW_TAG_INT_LIST:
      fputs("kw_arg_int_list(", out);
      put_ints(out, value.u.ints, value.count);
      fprintf(out, ", %u)", value.count);
      break;
    case KW_TAG_FLOAT:
      fputs("kw_arg_float(", out);
      put_double(out, value.u.f);
      fputc(')', out);
      break;
    case KW_TAG_BOOL:
      fprintf(out, "kw_arg_bool(%s)", value.u.b ? "true" : "false");
      break;
    case KW_TAG_STRING:
      fprintf(out, "kw_arg_string(\"%s\")", value.u.s);
      break;
    case KW_TAG_DTYPE:
      fputs("kw_arg_dtype(", out);
      put_dtype(out, value.u.dtype);
      fputc(')', out);
      break;
    case KW_TAG_GENERATOR:
      fprintf(out, "kw_arg_generator(%s)", generators[call->device]);
      break;
    case KW_TAG_SCALAR:
      put_scalar(out, &value);
      break;
    default:
      fputs("kw_arg_none()", out);
      break;
  }
}

static void put_view(FILE *out, const char *name, uint32_t number, int storage, const kw_case_tensor *t) {
  fprintf(out, "    OK(kw_tensor_reinterpret(t[%d], ", storage);
  put_dtype(out, t->dtype);
  fprintf(out, ", %u, ", t->rank);
  put_ints(out, t->shape, t->rank);
  fputs(", ", out);
  put_ints(out, t->strides, t->rank);
  fprintf(out, ", %" PRIu64 ", &%s[%u]));\n", (uint64_t)t->offset * kw_element_size(t->dtype), name, number);
}

/* In a graph the state is that of its launch. */
static void put_generator(FILE *out, const kw_program_call *call, bool in_graph) {
  const int index = kw_suite_op_generator(call->c.op);
  if (index < 0 || in_graph) return;
  const bool named = kw_case_arg_value(&call->c, (uint32_t)index).tag == KW_TAG_GENERATOR;
  const kw_rng rng = kw_case_rng(&call->c, call->seed, 0);
  fprintf(out,
          "    OK(kw_generator_set_state(%s, &(kw_generator_state){.struct_size = sizeof(kw_generator_state), .seed = "
          "UINT64_C(%" PRIu64 "), .offset = UINT64_C(%" PRIu64 ")}));\n",
          named ? generators[call->device] : defaults[call->device], rng.seed, rng.offset);
}

/* Of a call that is made under autocast: sets it. */
static void put_autocast(FILE *out, const kw_program_call *call, kw_dtype dtype) {
  if (call->autocast == KW_DTYPE_NONE) return;
  fputs("    OK(kw_autocast_set(", out);
  if (dtype == KW_DTYPE_NONE) {
    fputs("KW_DTYPE_NONE", out);
  } else {
    put_dtype(out, dtype);
  }
  fputs(", NULL));\n", out);
}

/* The call of the op; in the free run by a plan, where the program says so. */
static void put_making(FILE *out, const kw_program_call *call, uint32_t number, uint32_t stream) {
  const char *name = call->c.op->name;
  const uint32_t given = call->c.arg_count, count = call->c.op->result_count;
  if (call->form == KW_FORM_PLAN) {
    fprintf(out,
            "    if (!waited) OK(kw_plan_make(kw_op_find(\"%s\"), s[%u], args, %u, outs, %u, NULL, &p[%u]));\n"
            "    if (!waited) OK(kw_plan_run(p[%u], s[%u], args, %u, outs, %u));\n"
            "    if (waited)\n  ",
            name, stream, given, count, number, number, stream, given, count);
  }
  fprintf(out, "    OK(kw_op_call(kw_op_find(\"%s\"), s[%u], args, %u, outs, %u));\n", name, stream, given, count);
}

/* `again`: into the results that core has allocated the first time. */
static void put_call(FILE *out, const kw_program *p, const kw_program_act *act, bool again) {
  const kw_program_call *call = &p->calls[act->index];
  const kw_case *c = &call->c;
  const uint32_t count = c->op->result_count;
  fprintf(out, "  { /* %s */\n    kw_tensor *a[%d] = {NULL}, *r[%d] = {NULL}, *outs[%d] = {NULL};\n", c->id,
          KW_CASE_TENSORS, KW_SUITE_RESULTS, KW_SUITE_RESULTS);
  for (uint32_t r = 0; r < c->result_count; r++) {
    if (call->outs[r] < 0 || (call->allocated[r] && !again)) continue;
    put_view(out, "r", r, call->outs[r], &c->outs[r]);
    bool argument = false;
    for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
      if (!c->tensors[i].given || !c->tensors[i].output || c->tensors[i].result != r) continue;
      fprintf(out, "    a[%u] = r[%u];\n    kw_tensor_retain(r[%u]);\n", i, r, r);
      argument = true;
    }
    if (r < count && !argument) fprintf(out, "    outs[%u] = r[%u];\n", r, r);
  }
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (call->places[i] >= 0) put_view(out, "a", i, call->places[i], &c->tensors[i]);
  }
  put_generator(out, call, act->graph > 0);
  if (call->mode != KW_MATH_HIGHEST) fputs("    OK(kw_math_mode_set(KW_MATH_TF32));\n", out);
  put_autocast(out, call, call->autocast);
  fputs("    const kw_value args[] = {", out);
  for (uint32_t i = 0; i < c->arg_count; i++) {
    if (i) fputs(", ", out);
    put_argument(out, call, i);
  }
  fputs(c->arg_count ? "};\n" : "kw_arg_none()};\n", out);
  put_making(out, call, act->index, act->stream);
  if (call->mode != KW_MATH_HIGHEST) fputs("    OK(kw_math_mode_set(KW_MATH_HIGHEST));\n", out);
  put_autocast(out, call, KW_DTYPE_NONE);
  for (uint32_t r = 0; r < count; r++) {
    if (call->allocated[r] && !again) fprintf(out, "    t[%d] = outs[%u];\n", call->outs[r], r);
  }
  fprintf(out,
          "    for (int i = 0; i < %d; i++) kw_tensor_release(a[i]);\n    for (int i = 0; i < %d; i++) "
          "kw_tensor_release(r[i]);\n  }\n",
          KW_CASE_TENSORS, KW_SUITE_RESULTS);
}

/* What the random ops of a graph draw from at its launch. */
static void put_generators(FILE *out, const kw_program *p, uint32_t graph, uint32_t launch) {
  bool random = false;
  for (uint32_t a = 0; a < p->act_count; a++) {
    const kw_program_act *act = &p->acts[a];
    const bool mine = act->kind == KW_ACT_CALL && act->graph == graph;
    random |= mine && kw_suite_op_generator(p->calls[act->index].c.op) >= 0;
  }
  const char *const names[] = {generators[0], defaults[0], generators[1], defaults[1]};
  for (uint32_t i = 0; i < (p->two ? 4 : 2) && random; i++) {
    fprintf(out,
            "  OK(kw_generator_set_state(%s, &(kw_generator_state){.struct_size = sizeof(kw_generator_state), .seed = "
            "UINT64_C(%" PRIu64 "), .offset = %" PRIu64 "}));\n",
            names[i], kw_program_launch_seed(p, graph, launch), (uint64_t)launch);
  }
}

/* The calls of a graph once more, for the waited run. */
static void put_again(FILE *out, const kw_program *p, uint32_t graph) {
  fputs("  if (waited) {\n", out);
  for (uint32_t a = 0; a < p->act_count; a++) {
    if (p->acts[a].kind != KW_ACT_CALL || p->acts[a].graph != graph) continue;
    put_call(out, p, &p->acts[a], true);
    fputs("  wait_for_all();\n", out);
  }
  fputs("  }\n", out);
}

static void put_copy(FILE *out, const kw_program *p, const kw_program_act *act) {
  const uint64_t count = kw_program_elements(&p->storages[act->index]);
  fputs("  {\n    kw_tensor *from = NULL, *to = NULL;\n", out);
  fprintf(out, "    OK(kw_tensor_as_strided(t[%u], 1, (int64_t[]){%" PRIu64 "}, (int64_t[]){1}, 0, &from));\n",
          act->index, count);
  fprintf(out, "    OK(kw_tensor_as_strided(t[%u], 1, (int64_t[]){%" PRIu64 "}, (int64_t[]){1}, 0, &to));\n", act->to,
          count);
  fprintf(out, "    OK(kw_tensor_copy_async(to, s[%u], from, s[%u]));\n", act->stream, act->from);
  fputs("    kw_tensor_release(from);\n    kw_tensor_release(to);\n  }\n", out);
}

static void put_act(FILE *out, const kw_program *p, uint32_t index) {
  const kw_program_act *act = &p->acts[index];
  const bool first = act->graph && (index == 0 || p->acts[index - 1].graph != act->graph);
  const bool last = act->graph && (index + 1 == p->act_count || p->acts[index + 1].graph != act->graph);
  if (first) put_generators(out, p, act->graph, 0);
  if (first) fprintf(out, "  if (!waited) OK(kw_graph_begin(s[%u]));\n", act->stream);
  switch (act->kind) {
    case KW_ACT_CALL:
      put_call(out, p, act, false);
      break;
    case KW_ACT_READ: /* what is left at the end is compared */
      break;
    case KW_ACT_WRITE:
      fprintf(out,
              "  {\n    kw_tensor *part = NULL;\n    OK(kw_tensor_as_strided(t[%u], 1, (int64_t[]){%" PRIu64
              "}, (int64_t[]){1}, %" PRIu64
              ", &part));\n    OK(kw_tensor_write_async(part, w%u, s[%u]));\n    kw_tensor_release(part);\n  }\n",
              act->index, act->count, act->first, index, act->stream);
      break;
    case KW_ACT_RELEASE:
      fprintf(out, "  kw_tensor_release(t[%u]);\n  t[%u] = NULL;\n", act->index, act->index);
      break;
    case KW_ACT_HOLD:
      fprintf(out, "  if (!waited) OK(kw_stream_call_host(s[%u], hold, &open_now[%u]));\n", act->stream, act->stream);
      break;
    case KW_ACT_LAUNCH:
      put_generators(out, p, act->index, 1 + act->number);
      fprintf(out, "  if (!waited) OK(kw_graph_launch(g[%u], s[%u]));\n", act->index, act->stream);
      put_again(out, p, act->index);
      break;
    case KW_ACT_COPY:
      put_copy(out, p, act);
      break;
    case KW_ACT_OPEN:
      fprintf(out, "  if (!waited) linger(beside);\n  atomic_store(&open_now[%u], 1);\n", act->stream);
      break;
  }
  if (last) {
    fprintf(out, "  if (!waited) OK(kw_graph_end(s[%u], &g[%u]));\n", act->stream, act->graph);
    put_generators(out, p, act->graph, 0);
    fprintf(out, "  if (!waited) OK(kw_graph_launch(g[%u], s[%u]));\n", act->graph, act->stream);
  }
  fputs("  if (waited) wait_for_all();\n", out);
}

static void put_data(FILE *out, const kw_program *p) {
  for (uint32_t s = 0; s < p->storage_count; s++) {
    const kw_program_storage *storage = &p->storages[s];
    if (!storage->used || storage->maker >= 0) continue;
    unsigned char *bytes = malloc(storage->size + 1);
    if (!bytes) kw_out_of_memory();
    kw_program_fill(p, s, storage->fill, bytes);
    put_bytes(out, "i", s, bytes, storage->size);
    free(bytes);
  }
  for (uint32_t a = 0; a < p->act_count; a++) {
    if (p->acts[a].kind != KW_ACT_WRITE) continue;
    const uint64_t size = p->acts[a].count * kw_element_size(p->storages[p->acts[a].index].dtype);
    unsigned char *bytes = malloc(size + 1);
    if (!bytes) kw_out_of_memory();
    kw_program_written(p, a, bytes);
    put_bytes(out, "w", a, bytes, size);
    free(bytes);
  }
}

/* What a device has of its own: streams, events, a generator. */
static void put_objects(FILE *out, const kw_program *p, const kw_program_order *order) {
  for (uint32_t d = 0; d < (p->two ? 2 : 1); d++) {
    fprintf(out, "  kw_generator *%s = NULL;\n  OK(kw_generator_create(%s, 0, &%s));\n", generators[d], devices[d],
            generators[d]);
  }
  for (uint32_t s = 0; s < p->stream_count; s++) {
    const char *device = devices[kw_program_device_of(p, s)];
    if (kw_program_is_default(p, s)) {
      fprintf(out, "  s[%u] = kw_stream_default(%s);\n", s, device);
    } else {
      fprintf(out, "  OK(kw_stream_create(%s, &s[%u]));\n", device, s);
    }
  }
  for (uint32_t i = 0; i < order->step_count; i++) {
    const kw_program_step *step = &order->steps[i];
    if (step->kind != KW_STEP_RECORD) continue;
    fprintf(out, "  OK(kw_event_create(%s, &e[%u]));\n", devices[kw_program_device_of(p, step->stream)], step->event);
  }
}

static void put_begin(FILE *out, const kw_program *p, const kw_program_order *order, const char *second) {
  fprintf(
      out,
      "/* Runs the program; `waited`: with a wait for the device after each act, and without events. What it leaves "
      "is in out. */\n"
      "static void run(int waited, unsigned char **out) {\n"
      "  kw_stream *s[%d] = {NULL}, *beside = NULL;\n"
      "  kw_event *e[%u] = {NULL};\n"
      "  kw_tensor *t[%u] = {NULL};\n"
      "  kw_graph *g[%u] = {NULL};\n"
      "  kw_plan *p[%u] = {NULL};\n"
      "  OK(kw_stream_create(device, &beside));\n"
      "  for (int i = 0; i < 4; i++) atomic_store(&open_now[i], 0);\n",
      KW_PROGRAM_STREAMS, order->event_count + 1, p->storage_count + 1, KW_PROGRAM_GRAPHS + 1, p->call_count + 1);
  if (p->two) fprintf(out, "  OK(kw_device_open(\"%s\", &second));\n", second);
  put_objects(out, p, order);
  for (uint32_t s = 0; s < p->storage_count; s++) {
    const kw_program_storage *storage = &p->storages[s];
    if (!storage->used || storage->maker >= 0) continue;
    fprintf(out, "  OK(kw_tensor_create(%s, ", devices[storage->device]);
    put_dtype(out, storage->dtype);
    fprintf(out, ", 1, (int64_t[]){%" PRIu64 "}, &t[%u]));\n  OK(kw_tensor_write(t[%u], i%u));\n",
            kw_program_elements(storage), s, s, s);
  }
}

static void put_end(FILE *out, const kw_program *p, const kw_program_order *order) {
  fputs("  if (!waited) linger(beside);\n  for (int i = 0; i < 4; i++) atomic_store(&open_now[i], 1);\n", out);
  uint32_t last[KW_PROGRAM_STREAMS];
  const uint32_t used = kw_program_last_streams(p, last);
  for (uint32_t s = 0; s < used; s++) fprintf(out, "  OK(kw_stream_synchronize(s[%u]));\n", last[s]);
  fputs("  wait_for_all();\n", out);
  for (uint32_t s = 0; s < p->storage_count; s++) {
    if (!p->storages[s].used || p->storages[s].leaf) continue;
    fprintf(out, "  out[%u] = calloc(%" PRIu64 ", 1);\n  if (t[%u]) OK(kw_tensor_read(t[%u], out[%u]));\n", s,
            p->storages[s].size + 1, s, s, s);
  }
  const int made = p->defaults ? KW_PROGRAM_STREAMS : p->two ? 0 : 1; /* the first stream that is no default one */
  fprintf(out,
          "  for (int i = 0; i < %u; i++) kw_tensor_release(t[i]);\n"
          "  for (int i = 0; i < %u; i++) kw_graph_destroy(g[i]);\n"
          "  for (int i = 0; i < %u; i++) kw_plan_destroy(p[i]);\n"
          "  for (int i = 0; i < %u; i++) kw_event_destroy(e[i]);\n"
          "  for (int i = %d; i < 4; i++) kw_stream_destroy(s[i]);\n"
          "  kw_stream_destroy(beside);\n  kw_generator_destroy(generator);\n",
          p->storage_count + 1, KW_PROGRAM_GRAPHS + 1, p->call_count + 1, order->event_count + 1, made);
  if (p->two) fputs("  kw_generator_destroy(generator_of_second);\n  OK(kw_device_close(second));\n", out);
  fputs("}\n\n", out);
}

/* The function that prints the first element that differs, by its bits, and main. */
static void put_main(FILE *out, const kw_program *p, const char *device, const char *plugin) {
  fprintf(
      out,
      "static int compare(const unsigned char *got, const unsigned char *want, size_t size, size_t item, int tensor) "
      "{\n"
      "  for (size_t at = 0; at + item <= size; at += item) {\n"
      "    if (memcmp(got + at, want + at, item) == 0) continue;\n"
      "    printf(\"tensor %%d, element %%zu: \", tensor, at / item);\n"
      "    for (size_t i = item; i-- > 0;) printf(\"%%02x\", got[at + i]);\n"
      "    printf(\", and \");\n"
      "    for (size_t i = item; i-- > 0;) printf(\"%%02x\", want[at + i]);\n"
      "    printf(\" where the device is waited for after each call\\n\");\n"
      "    return 1;\n"
      "  }\n"
      "  return 0;\n"
      "}\n\n"
      "int main(void) {\n"
      "  static unsigned char *out[2][%u];\n"
      "  int wrong = 0;\n",
      p->storage_count + 1);
  if (plugin) fprintf(out, "  OK(kw_plugin_load(\"%s\"));\n", plugin);
  fprintf(out, "  OK(kw_device_open(\"%s\", &device));\n  run(0, out[0]);\n  run(1, out[1]);\n", device);
  for (uint32_t s = 0; s < p->storage_count; s++) {
    if (!p->storages[s].used || p->storages[s].leaf) continue;
    fprintf(out, "  wrong += compare(out[0][%u], out[1][%u], %" PRIu64 ", %zu, %u);\n", s, s, p->storages[s].size,
            kw_element_size(p->storages[s].dtype), s);
  }
  fputs("  OK(kw_device_close(device));\n  if (!wrong) printf(\"no difference\\n\");\n  return wrong > 0;\n}\n", out);
}

char *kw_program_source(const kw_program *p, const kw_program_order *order, const char *device, const char *second,
                        const char *plugin) {
  char *source = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&source, &size);
  if (!out) kw_out_of_memory();
  char *text = kw_program_text(p);
  fprintf(out, "/* cc -std=c11 program.c -lkeyway -lm\n *\n");
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) fprintf(out, " * %s\n", line);
  fprintf(out, " */\n%s", head);
  free(text);
  bool holds = false;
  for (uint32_t a = 0; a < p->act_count; a++) holds |= p->acts[a].kind == KW_ACT_HOLD;
  if (holds) fputs(hold, out);
  put_data(out, p);
  put_begin(out, p, order, second);
  for (uint32_t i = 0; i < order->step_count; i++) {
    const kw_program_step *step = &order->steps[i];
    if (step->kind == KW_STEP_ACT) put_act(out, p, step->act);
    if (step->kind == KW_STEP_RECORD)
      fprintf(out, "  if (!waited) OK(kw_event_record(e[%u], s[%u]));\n", step->event, step->stream);
    if (step->kind == KW_STEP_WAIT)
      fprintf(out, "  if (!waited) OK(kw_stream_wait_event(s[%u], e[%u]));\n", step->stream, step->event);
  }
  put_end(out, p, order);
  put_main(out, p, device, plugin);
  fclose(out);
  return source;
}
