/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs by id, whole or with acts left out, and what their storages hold before all acts.
 */
#include "program/program.h"

#include "base/need.h"
#include "program/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an id leaves of a program. */
typedef struct selection {
  bool all;
  uint32_t streams;
  bool kept[KW_PROGRAM_ACTS];
} selection;

static bool read_number(const char **io_text, uint64_t most, uint64_t *out_number) {
  uint64_t number = 0;
  const char *p = *io_text;
  for (; *p >= '0' && *p <= '9' && number <= most; p++) number = 10 * number + (uint64_t)(*p - '0');
  if (p == *io_text || number > most || (**io_text == '0' && p - *io_text > 1)) return false;
  *io_text = p;
  *out_number = number;
  return true;
}

/* "", or "@3-5.9s1". */
static bool read_selection(const char *text, selection *out) {
  *out = (selection){.all = *text == 0, .streams = KW_PROGRAM_STREAMS};
  if (out->all) return true;
  for (char mark = '@'; *text == mark; mark = '.') {
    uint64_t first, last;
    text++;
    if (!read_number(&text, KW_PROGRAM_ACTS - 1, &first)) return false;
    last = first;
    if (*text == '-') {
      text++;
      if (!read_number(&text, KW_PROGRAM_ACTS - 1, &last) || last < first) return false;
    }
    for (uint64_t i = first; i <= last; i++) out->kept[i] = true;
  }
  uint64_t streams = KW_PROGRAM_STREAMS;
  if (*text == 's') {
    text++;
    if (!read_number(&text, KW_PROGRAM_STREAMS, &streams) || streams == 0) return false;
  }
  out->streams = (uint32_t)streams;
  return *text == 0;
}

static void note_uses(kw_program *program, const kw_program_act *act) {
  kw_program_use uses[KW_PROGRAM_USES];
  const uint32_t count = kw_program_uses(program, act, uses);
  for (uint32_t u = 0; u < count; u++) program->storages[uses[u].storage].used = true;
  if (act->kind == KW_ACT_CALL) program->calls[act->index].made = true;
}

/* Whether an act that is kept still means something. */
static bool has_sense(const kw_program_act *act, const bool *held, const bool *recorded) {
  if (act->kind == KW_ACT_HOLD) return act->stream > 0 && !held[act->stream];
  if (act->kind == KW_ACT_OPEN) return held[act->stream];
  if (act->kind == KW_ACT_LAUNCH) return recorded[act->index];
  return true;
}

/* A device may run the work of its default stream at once, on the thread that calls (plugin.h). Where streams are held
 * up, that thread is the one to open them again: nothing on the default stream may have to wait for them then. */
static void leave_default_stream(kw_program *program) {
  bool held = false;
  for (uint32_t i = 0; i < program->act_count; i++) held |= program->acts[i].kind == KW_ACT_HOLD;
  for (uint32_t i = 0; i < program->act_count && held && !program->two; i++) {
    kw_program_act *act = &program->acts[i];
    const bool first = act->graph == 0 || i == 0 || act[-1].graph != act->graph; /* a graph is recorded on one stream */
    if (act->stream == 0) act->stream = first ? 1 + act->number % (program->stream_count - 1) : act[-1].stream;
  }
}

/* Puts launches that stay on the stream of their graph there. */
static void follow_graphs(kw_program *program) {
  uint32_t streams[KW_PROGRAM_GRAPHS + 1] = {0};
  for (uint32_t i = 0; i < program->act_count; i++) {
    kw_program_act *act = &program->acts[i];
    if (act->kind == KW_ACT_CALL) streams[act->graph] = act->stream;
    if (act->stream == KW_STREAM_OF_GRAPH) act->stream = streams[act->index];
  }
}

/* Leaves the acts of the selection; storages whose maker is none of them are the host's. */
static void keep(kw_program *program, const selection *wanted) {
  bool held[KW_PROGRAM_STREAMS] = {false}, recorded[KW_PROGRAM_GRAPHS + 1] = {false};
  uint32_t kept = 0;
  if (wanted->streams < program->stream_count) program->stream_count = program->two ? 2 : wanted->streams;
  for (uint32_t i = 0; i < program->act_count; i++) {
    kw_program_act act = program->acts[i];
    if (act.stream != KW_STREAM_OF_GRAPH) act.stream %= program->stream_count;
    act.from %= program->stream_count;
    if ((!wanted->all && !wanted->kept[act.number]) || !has_sense(&act, held, recorded)) continue;
    if (act.kind == KW_ACT_HOLD || act.kind == KW_ACT_OPEN) held[act.stream] = act.kind == KW_ACT_HOLD;
    if (act.kind == KW_ACT_CALL) recorded[act.graph] = true;
    program->acts[kept++] = act;
  }
  program->act_count = kept;
  leave_default_stream(program);
  follow_graphs(program);
  for (uint32_t i = 0; i < kept; i++) note_uses(program, &program->acts[i]);
  for (uint32_t s = 0; s < program->storage_count; s++) {
    kw_program_storage *storage = &program->storages[s];
    const int first = storage->maker >= 0 ? storage->maker : storage->relay;
    if (first < 0 || program->calls[first].made) continue;
    storage->maker = -1;
    storage->fill = storage->instead;
  }
}

/* The model that the text begins with, "minilm/"; NULL: none. */
static const kw_model *read_model(const char **io_text) {
  const size_t length = strcspn(*io_text, "/");
  for (uint32_t i = 0; kw_model_at(i); i++) {
    const kw_model *model = kw_model_at(i);
    if (strlen(model->name) != length || strncmp(model->name, *io_text, length) != 0 || !(*io_text)[length]) continue;
    *io_text += length + 1;
    return model;
  }
  return NULL;
}

static bool generate(const kw_device_facts *facts, bool each, const kw_model *model, kw_program *program) {
  if (each) return kw_program_generate_each(facts, program);
  return model ? kw_program_generate_model(facts, model, program) : kw_program_generate(facts, program);
}

bool kw_program_make(const char *id, uint64_t seed, const kw_device_facts *facts, kw_program *out_program) {
  static const char prefix[] = "programs/", of_each[] = "each/";
  memset(out_program, 0, sizeof *out_program);
  const char *text = id;
  selection wanted;
  if (strncmp(text, prefix, sizeof prefix - 1) != 0 || strlen(id) >= KW_PROGRAM_ID) return false;
  text += sizeof prefix - 1;
  const bool each = strncmp(text, of_each, sizeof of_each - 1) == 0;
  text += each ? sizeof of_each - 1 : 0;
  const kw_model *model = each ? NULL : read_model(&text);
  if (!read_number(&text, UINT32_MAX, &out_program->number) || text - id >= KW_PROGRAM_BASE) return false;
  memcpy(out_program->base, id, (size_t)(text - id));
  if (!read_selection(text, &wanted)) return false;
  strcpy(out_program->id, id);
  out_program->seed = seed;
  out_program->calls = calloc(KW_PROGRAM_CALLS, sizeof *out_program->calls);
  if (!out_program->calls) kw_out_of_memory();
  if (!generate(facts, each, model, out_program)) {
    kw_program_free(out_program);
    return false;
  }
  keep(out_program, &wanted);
  return true;
}

bool kw_program_id(const char *base, const bool kept[KW_PROGRAM_ACTS], uint32_t streams, char out_id[KW_PROGRAM_ID]) {
  size_t used = (size_t)snprintf(out_id, KW_PROGRAM_ID, "%s", base);
  char mark = '@';
  for (uint32_t first = 0; first < KW_PROGRAM_ACTS && used < KW_PROGRAM_ID; first++) {
    if (!kept[first]) continue;
    uint32_t last = first;
    while (last + 1 < KW_PROGRAM_ACTS && kept[last + 1]) last++;
    used += (size_t)snprintf(out_id + used, KW_PROGRAM_ID - used, "%c%u", mark, first);
    if (last > first && used < KW_PROGRAM_ID)
      used += (size_t)snprintf(out_id + used, KW_PROGRAM_ID - used, "-%u", last);
    first = last;
    mark = '.';
  }
  if (streams < KW_PROGRAM_STREAMS && used < KW_PROGRAM_ID)
    used += (size_t)snprintf(out_id + used, KW_PROGRAM_ID - used, "s%u", streams);
  return used < KW_PROGRAM_ID && mark == '.';
}

void kw_program_free(kw_program *program) {
  free(program->calls);
  program->calls = NULL;
  program->call_count = program->act_count = program->storage_count = 0;
}

/* ---- What storages hold ------------------------------------------------------------------------------------------ */

static void fill_values(kw_dtype dtype, uint64_t size, uint64_t seed, uint32_t salt, void *out_bytes) {
  const size_t item = kw_element_size(dtype);
  const kw_value_key key = {.seed = seed,
                            .case_hash = KW_HASH_START,
                            .arg = salt,
                            .domain = dtype == KW_BOOL ? KW_DOMAIN_BOOL : KW_DOMAIN_UNIT,
                            .extent = size / item,
                            .target = dtype};
  kw_values_make(&key, dtype, size / item, out_bytes);
}

void kw_program_fill(const kw_program *program, uint32_t storage, kw_fill fill, void *out_bytes) {
  const kw_program_storage *s = &program->storages[storage];
  memset(out_bytes, fill == KW_FILL_ZERO ? 0 : KW_PROGRAM_POISON, s->size);
  if (fill == KW_FILL_CASE) {
    const kw_program_call *call = &program->calls[s->call];
    kw_case_fill(&call->c, s->tensor, call->seed, 0, false, out_bytes);
  } else if (fill == KW_FILL_VALUES) {
    fill_values(s->dtype, s->size, program->seed ^ program->number, storage, out_bytes);
  }
}

uint64_t kw_program_launch_seed(const kw_program *program, uint32_t graph, uint32_t launch) {
  return program->seed + graph + UINT64_C(1000003) * launch;
}

void kw_program_written(const kw_program *program, uint32_t act, void *out_bytes) {
  const kw_program_act *a = &program->acts[act];
  const kw_program_storage *s = &program->storages[a->index];
  fill_values(s->dtype, a->count * kw_element_size(s->dtype), program->seed ^ program->number,
              KW_PROGRAM_STORAGES + a->number, out_bytes);
}
