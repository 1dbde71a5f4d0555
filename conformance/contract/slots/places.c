/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: memory that a call brings with it besides its tensors, a workspace and a word for errors, at any place
 * of a larger piece. Keyway gives each workspace memory of its own, and puts error words where they suit it.
 */
#include "bench.h"

#include "contract/kernel_trial.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

#include <stdio.h>

enum { WORDS = 4096, CODE = 0x4000, LONG = 5000, SHORT = 40, LINES = 12, UNTOUCHED = 0xa5, MOST_BYTES = 1 << 17 };

/* One call of a kernel with all that it needs. Holds pointers into itself. */
typedef struct placed {
  kw_kernel_trial trial;
  kw_mem inputs[KW_MAX_ARGS], results[KW_MAX_RESULTS];
  uint64_t workspace_size;
  kw_call made;
  kw_call_extra extra;
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref tensors[KW_MAX_ARGS], outs[KW_MAX_RESULTS];
  const kw_tensor_ref *out_list[KW_MAX_RESULTS];
} placed;

/* The call with what memory there is so far. */
static void make(placed *p, void *stream) {
  const kw_test_call *call = &p->trial.call;
  void *prepared = p->made.prepared;
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    p->args[i] = call->args[i].value;
    if (p->args[i].tag != KW_TAG_META) continue;
    p->tensors[i] = kw_bench_place(kw_kernel_trial_tensor(&p->trial, i, 0), p->inputs[i]);
    p->args[i].tag = KW_TAG_TENSOR;
    p->args[i].u.tensor = &p->tensors[i];
  }
  for (uint32_t r = 0; r < call->info.result_count; r++) {
    const int32_t alias = kw_op_result_alias(call->op, r);
    p->outs[r] = alias >= 0 ? p->tensors[alias] : kw_bench_place(p->trial.results[r], p->results[r]);
    p->out_list[r] = &p->outs[r];
  }
  p->made = (kw_call){.struct_size = sizeof p->made,
                      .arg_count = call->info.arg_count,
                      .out_count = call->info.result_count,
                      .device = kw_bench.device,
                      .stream = stream,
                      .op = p->trial.kernel->op,
                      .args = p->args,
                      .outs = p->out_list,
                      .user = p->trial.kernel->user,
                      .prepared = prepared,
                      .workspace_size = p->workspace_size};
}

/* Whether this suite knows what the arguments have to hold, and no tensor is large. */
static bool is_plain(const kw_kernel_trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_test_arg *arg = &t->call.args[i];
    if (arg->value.tag == KW_TAG_META_LIST || arg->role == KW_ROLE_COUNT) return false;
    if (arg->value.tag == KW_TAG_META && kw_kernel_trial_bytes(&t->forms[i].refs[0]) > MOST_BYTES) return false;
  }
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    if (kw_kernel_trial_bytes(&t->results[r]) > MOST_BYTES) return false;
  }
  return !t->has_generator && !t->call.info.counted;
}

/* The kernel's call of `edge`, by attempt `number`, where it takes that. */
static bool try_call(placed *p, const kw_kernel_desc *kernel, const kw_op *op, int64_t edge, uint32_t number) {
  kw_op_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_op_get_info(op, &info));
  const kw_dtype dtype = kw_kernel_trial_dtype(kernel, &info);
  memset(p, 0, sizeof *p);
  p->trial.kernel = kernel;
  if (dtype == KW_DTYPE_NONE || !kw_kernel_trial_describe(&p->trial, op, dtype, edge, number)) return false;
  if (!is_plain(&p->trial)) return false;
  make(p, NULL);
  if (kernel->can_implement && kernel->can_implement(&p->made) != KW_OK) return false;
  return !kernel->workspace_size || kernel->workspace_size(&p->made, &p->workspace_size) == KW_OK;
}

static int64_t index_of(const placed *p, int64_t i) {
  return i % p->trial.call.edge;
}

static void write(void *stream, kw_mem mem, const void *bytes, uint64_t size) {
  if (size == 0) return;
  kw_bench_write(stream, mem, bytes, size);
  kw_bench_wait(stream);
}

/* Indices that are places, but for one. */
static void write_indices(const placed *p, void *stream, uint32_t argument, int64_t wrong_at) {
  const int64_t count = kw_kernel_trial_numel(&p->tensors[argument]);
  int64_t *indices = kw_test_memory((size_t)count * sizeof *indices);
  for (int64_t i = 0; i < count; i++) indices[i] = i == wrong_at ? p->trial.call.places : index_of(p, i);
  write(stream, p->inputs[argument], indices, (uint64_t)count * sizeof *indices);
  free(indices);
}

static void begin(placed *p, void *stream) {
  const kw_kernel_desc *kernel = p->trial.kernel;
  const kw_test_call *call = &p->trial.call;
  if (kernel->prepare) KW_SLOT_EXPECT(KW_OK, "a kernel's prepare", kernel->prepare(&p->made, &p->made.prepared));
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    const kw_tensor_ref *tensor = &p->tensors[i];
    if (p->args[i].tag != KW_TAG_TENSOR) continue;
    p->inputs[i] = kw_bench_memory(kw_kernel_trial_bytes(tensor) + 1);
    if (call->args[i].role == KW_ROLE_INDEX) {
      write_indices(p, stream, i, -1);
    } else {
      void *bytes = kw_test_memory(kw_kernel_trial_bytes(tensor) + 1);
      kw_test_fill(tensor->dtype, bytes, (size_t)kw_kernel_trial_numel(tensor), i);
      write(stream, p->inputs[i], bytes, kw_kernel_trial_bytes(tensor));
      free(bytes);
    }
  }
  for (uint32_t r = 0; r < call->info.result_count; r++) {
    if (kw_op_result_alias(call->op, r) < 0) p->results[r] = kw_bench_memory(kw_kernel_trial_bytes(&p->outs[r]) + 1);
  }
}

static void end(placed *p) {
  const kw_kernel_desc *kernel = p->trial.kernel;
  for (uint32_t i = 0; i < KW_MAX_ARGS; i++) {
    if (p->inputs[i]) kw_bench_free(p->inputs[i]);
  }
  for (uint32_t r = 0; r < KW_MAX_RESULTS; r++) {
    if (p->results[r]) kw_bench_free(p->results[r]);
  }
  if (kernel->release) {
    KW_SLOT_EXPECT(KW_OK, "a kernel's release", kernel->release(kernel->user, p->made.prepared));
  }
}

/* With the workspace at `offset` of `workspace`, and the error word at `word` of `words`. */
static void launch(placed *p, void *stream, kw_mem workspace, uint64_t offset, kw_mem words, uint64_t word) {
  const kw_kernel_desc *kernel = p->trial.kernel;
  make(p, stream);
  p->made.workspace = p->workspace_size > 0 ? workspace : NULL;
  p->made.workspace_offset = p->workspace_size > 0 ? offset : 0;
  if (kernel->flags & KW_KERNEL_DATA_ERRORS) {
    p->extra =
        (kw_call_extra){.struct_size = sizeof p->extra, .error_code = CODE, .error_mem = words, .error_offset = word};
    p->made.extra = &p->extra;
  }
  KW_SLOT_EXPECT(KW_OK, "a kernel's launch", kernel->launch(&p->made));
  kw_bench_wait(stream);
}

/* ---- Words for errors -------------------------------------------------------------------------------------------- */

static kw_mem words, workspace;

/* What the launch left in the words: one, of this argument, at this place; none where there is no argument. */
static bool told(void *stream, uint64_t word, int32_t argument, char *text, size_t size) {
  static uint32_t found[WORDS / sizeof(uint32_t)];
  kw_bench_read(stream, words, found, WORDS);
  kw_bench_wait(stream);
  for (uint32_t i = 0; i < WORDS / sizeof *found; i++) {
    const uint32_t want = argument >= 0 && i == word / sizeof *found ? CODE + (uint32_t)argument : 0;
    if (found[i] == want) continue;
    snprintf(text, size, "the u32 at byte %u of the memory for errors is 0x%x, not 0x%x", 4 * i, found[i], want);
    return false;
  }
  return true;
}

static void clear_words(void *stream) {
  static const unsigned char zeroes[WORDS];
  write(stream, words, zeroes, WORDS);
}

/* An index out of range at each of some places, and each time the word somewhere else. */
static void check_indices(placed *p, void *stream, uint32_t argument) {
  static const int64_t places[] = {0, 1, 63, 64, 255, 256, 257, 511, 1023, 1024, 4095, 4096, INT64_MAX};
  static const uint64_t at[] = {4, 64, 60, 8, 100, 252, 256, 1020, 4092, 12, 0, 2052, 68};
  const int64_t count = kw_kernel_trial_numel(&p->tensors[argument]);
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    char text[160];
    const int64_t place = places[i] == INT64_MAX ? count - 1 : places[i];
    if (place >= count) continue;
    write_indices(p, stream, argument, place);
    clear_words(stream);
    launch(p, stream, workspace, 0, words, at[i]);
    KW_CHECK(told(stream, at[i], (int32_t)argument, text, sizeof text),
             "%s with index %lld, which is none, at place %lld of %lld in '%s', told at byte %llu: %s",
             p->trial.kernel->op, (long long)p->trial.call.places, (long long)place, (long long)count,
             p->trial.call.args[argument].info.name, (unsigned long long)at[i], text);
  }
  write_indices(p, stream, argument, -1);
}

static void check_words(placed *p, void *stream) {
  char text[160];
  workspace = p->workspace_size > 0 ? kw_bench_memory(p->workspace_size) : NULL;
  begin(p, stream);
  clear_words(stream);
  launch(p, stream, workspace, 0, words, 0);
  const bool content = told(stream, 0, -1, text, sizeof text); /* otherwise its data are not what this suite thinks */
  for (uint32_t i = 0; i < p->trial.call.info.arg_count && content; i++) {
    if (p->trial.call.args[i].role == KW_ROLE_INDEX) check_indices(p, stream, i);
  }
  end(p);
  if (workspace) kw_bench_free(workspace);
}

static bool has_indices(const kw_kernel_trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    if (t->call.args[i].role == KW_ROLE_INDEX && t->forms[i].refs[0].dtype == KW_I64) return true;
  }
  return false;
}

static bool make_indexed(placed *p, const kw_kernel_desc *kernel, const kw_op *op) {
  if (!(kernel->flags & KW_KERNEL_DATA_ERRORS)) return false;
  for (uint32_t k = 0; k < KW_TEST_ATTEMPTS; k++) {
    const uint32_t number = (k + LINES) % KW_TEST_ATTEMPTS; /* tensors of rank 1 first, which are long */
    if (try_call(p, kernel, op, number >= LINES && number < LINES + 4 ? LONG : SHORT, number) && has_indices(&p->trial))
      return true;
  }
  return false;
}

/* ---- Workspaces -------------------------------------------------------------------------------------------------- */

enum { PLACES = 4 };

/* The results, and a failure where anything beside the workspace has changed. */
static void run_at(placed *p, void *stream, uint64_t offset, uint64_t room, unsigned char *results) {
  unsigned char *bytes = kw_test_memory(room);
  uint64_t at = 0;
  memset(bytes, UNTOUCHED, room);
  write(stream, workspace, bytes, room);
  clear_words(stream);
  launch(p, stream, workspace, offset, words, 0);
  kw_bench_read(stream, workspace, bytes, room);
  kw_bench_wait(stream);
  for (uint64_t i = 0; i < room; i++) {
    KW_CHECK((i >= offset && i < offset + p->workspace_size) || bytes[i] == UNTOUCHED,
             "%s with a workspace of %llu bytes, %llu bytes into its memory, wrote %s it, to byte %llu",
             p->trial.kernel->op, (unsigned long long)p->workspace_size, (unsigned long long)offset,
             i < offset ? "before" : "behind", (unsigned long long)i);
  }
  for (uint32_t r = 0; r < p->trial.call.info.result_count; r++) {
    const uint64_t size = kw_kernel_trial_bytes(&p->outs[r]);
    if (size > 0) kw_bench_read(stream, p->results[r], results + at, size);
    at += size;
  }
  kw_bench_wait(stream);
  free(bytes);
}

static void check_workspace(placed *p, void *stream) {
  const uint64_t step = kw_bench.info.mem_alignment > 256 ? kw_bench.info.mem_alignment : 256;
  const uint64_t offsets[PLACES] = {0, step, 7 * step, 64 * step}, room = 64 * step + p->workspace_size + 4096;
  char what[160];
  uint64_t size = 0;
  for (uint32_t r = 0; r < p->trial.call.info.result_count; r++) size += kw_kernel_trial_bytes(&p->outs[r]);
  unsigned char *want = kw_test_memory(2 * size + 1), *got = want + size;
  workspace = kw_bench_memory(room);
  begin(p, stream);
  for (int i = 0; i < PLACES; i++) {
    run_at(p, stream, offsets[i], room, i == 0 ? want : got);
    snprintf(what, sizeof what, "the result of %s with its workspace %llu bytes into the memory", p->trial.kernel->op,
             (unsigned long long)offsets[i]);
    if (i > 0) kw_test_same(got, want, size, what);
  }
  end(p);
  kw_bench_free(workspace);
  free(want);
}

static bool make_sized(placed *p, const kw_kernel_desc *kernel, const kw_op *op, int64_t edge) {
  for (uint32_t number = 0; number < LINES; number++) {
    if (!try_call(p, kernel, op, edge, number) || p->workspace_size == 0 || p->trial.call.in_place) continue;
    return true;
  }
  return false;
}

/* Few of their workspaces are multiples of what memory is given in, or have as many parts as blocks have elements. */
static const int64_t sizes[] = {SHORT, 3, 7, 17, 33, 71, 129, LONG};
#define SIZES (sizeof sizes / sizeof *sizes)

static bool make_working(placed *p, const kw_kernel_desc *kernel, const kw_op *op) {
  bool made = false;
  if (!kernel->workspace_size || !(kernel->flags & KW_KERNEL_DETERMINISTIC)) return false;
  for (size_t i = 0; i < SIZES && !made; i++) made = make_sized(p, kernel, op, sizes[i]);
  return made;
}

static void check_workspaces(placed *p, void *stream) {
  const kw_kernel_desc *kernel = p->trial.kernel;
  const kw_op *op = p->trial.call.op;
  for (size_t i = 0; i < SIZES; i++) {
    if (make_sized(p, kernel, op, sizes[i])) check_workspace(p, stream);
  }
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

/* Kernels that `make_call` makes a call of, from where the seed says on; as many as the effort says. */
static int go_through(bool (*make_call)(placed *, const kw_kernel_desc *, const kw_op *),
                      void (*check)(placed *, void *), const char *none) {
  static placed p;
  const uint64_t most = kw_soak_count(2, 8, UINT64_MAX);
  uint64_t first = 0, used = 0;
  kw_bench_open();
  void *stream = kw_bench_stream(1);
  words = kw_bench_memory(WORDS);
  kw_test_pattern(&first, sizeof first, 0x91ace);
  for (uint32_t i = 0; i < kw_guest_kernel_count && used < most; i++) {
    const kw_kernel_desc *kernel = &kw_guest_kernels[(first + i) % kw_guest_kernel_count];
    const kw_op *op = kw_op_find(kernel->op); /* NULL: a vendor's own */
    if (!op || kernel->priority == KW_PRIORITY_OFF || kernel->math_needs != 0 || !make_call(&p, kernel, op)) continue;
    check(&p, stream);
    used++;
  }
  kw_bench_free(words);
  kw_bench_end_stream(stream);
  kw_bench_close();
  if (used == 0) kw_test_skip("%s", none);
  return 0;
}

int kw_child_slots_words(void) {
  return go_through(make_indexed, check_words, "the plugin has no kernel that tells of indices out of range");
}

/* An index out of range is told wherever it stands in a long list, in the word that the host names and in no other. */
void kw_contract_slots_error_words(void **state) {
  (void)state;
  kw_test_child("slots_words");
}

int kw_child_slots_workspace(void) {
  return go_through(make_working, check_workspaces, "the plugin has no kernel with a workspace");
}

/* A workspace begins where the host says, and ends where the kernel has said. */
void kw_contract_slots_workspace_anywhere(void **state) {
  (void)state;
  kw_test_child("slots_workspace");
}
