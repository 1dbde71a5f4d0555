/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs without a device: the same from the same id, any acts left out, ordered where they have to be.
 */
#include "program/model_text.h"
#include "program/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <keyway/keyway.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 60 };

/* A device that has every op in every dtype, and promises the same bits for half of them. */
static kw_device_facts facts;

static int claim_all(void **state) {
  (void)state;
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  facts.ops = calloc(count, sizeof *facts.ops);
  facts.op_count = count;
  facts.native = KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS;
  for (uint32_t i = 0; i < count; i++) {
    facts.ops[i] = (kw_op_facts){.op = ops[i], .kernels = kw_suite_op_keys(&ops[i])};
    facts.ops[i].repeats = i % 2 ? facts.ops[i].kernels : 0;
  }
  return 0;
}

static int forget_all(void **state) {
  (void)state;
  free(facts.ops);
  return 0;
}

static void make(kw_program *program, unsigned number, const char *selection) {
  char id[KW_PROGRAM_ID];
  snprintf(id, sizeof id, "programs/%u%s", number, selection);
  if (!kw_program_make(id, 1, &facts, program)) fail_msg("there is no %s", id);
}

/* The same id gives the same program, another number or seed another one. */
static void an_id_is_a_program(void **state) {
  (void)state;
  kw_program a, b, c;
  make(&a, 17, "");
  make(&b, 17, "");
  make(&c, 18, "");
  char *texts[] = {kw_program_text(&a), kw_program_text(&b), kw_program_text(&c)};
  assert_string_equal(texts[0], texts[1]);
  assert_string_not_equal(strchr(texts[0], '\n'), strchr(texts[2], '\n'));
  for (int i = 0; i < 3; i++) free(texts[i]);
  kw_program_free(&a);
  kw_program_free(&b);
  kw_program_free(&c);
}

static void wrong_ids_are_refused(void **state) {
  (void)state;
  static const char *const ids[] = {
      "programs",       "programs/",       "programs/x",       "programs/1@",     "programs/1@3-",     "programs/1@5-3",
      "programs/1@1s0", "programs/1@1s9",  "programs/01",      "program/1",       "programs/1@1,2",    "programs/1 ",
      "programs/-1",    "programs/minilm", "programs/minilm/", "programs/nolm/0", "programs/minilm/00"};
  kw_program program;
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
    if (kw_program_make(ids[i], 1, &facts, &program)) fail_msg("%s is taken for a program", ids[i]);
  }
}

/* Ids of parts are written as they are read. */
static void ids_are_written(void **state) {
  (void)state;
  bool kept[KW_PROGRAM_ACTS] = {false};
  char id[KW_PROGRAM_ID];
  kw_program program;
  assert_false(kw_program_id("programs/17", kept, 4, id));
  kept[1] = kept[3] = kept[4] = kept[5] = true;
  assert_true(kw_program_id("programs/17", kept, 4, id));
  assert_string_equal(id, "programs/17@1.3-5");
  assert_true(kw_program_id("programs/17", kept, 1, id));
  assert_string_equal(id, "programs/17@1.3-5s1");
  assert_true(kw_program_make(id, 1, &facts, &program));
  assert_true(program.act_count > 0);
  for (uint32_t a = 0; a < program.act_count; a++) assert_true(kept[program.acts[a].number]);
  kw_program_free(&program);
  for (uint32_t a = 0; a < KW_PROGRAM_ACTS; a++) kept[a] = a % 2;
  assert_false(kw_program_id("programs/17", kept, 1, id));
}

/* A device that claims nothing has no programs. */
static void nothing_claimed(void **state) {
  (void)state;
  kw_program program;
  const kw_device_facts none = {.native = 0};
  assert_false(kw_program_make("programs/1", 1, &none, &program));
}

/* Every tensor lies inside its storage, and is made of elements that the storage may hold. */
static void check_places(const kw_program *p) {
  for (uint32_t i = 0; i < p->call_count; i++) {
    const kw_program_call *call = &p->calls[i];
    for (uint32_t t = 0; t < KW_CASE_TENSORS + KW_SUITE_RESULTS; t++) {
      const bool out = t >= KW_CASE_TENSORS;
      const int place = out ? call->outs[t - KW_CASE_TENSORS] : call->places[t];
      const kw_case_tensor *laid = out ? &call->c.outs[t - KW_CASE_TENSORS] : &call->c.tensors[t];
      if (place < 0 || laid->numel == 0) continue;
      int64_t last = laid->offset;
      for (uint32_t d = 0; d < laid->rank; d++) last += (laid->shape[d] - 1) * laid->strides[d];
      assert_true((uint64_t)(last + 1) * kw_element_size(laid->dtype) <= p->storages[place].size);
      if (!out) assert_false(p->storages[place].leaf); /* nothing reads what has no defined bits */
    }
  }
}

static void tensors_lie_in_storages(void **state) {
  (void)state;
  for (unsigned n = 0; n < PROGRAMS; n++) {
    kw_program p;
    make(&p, n, "");
    check_places(&p);
    kw_program_free(&p);
  }
}

/* For every two acts on different streams that use one storage, one of them changing it: a chain of events leads from
 * the first to the second. Found by following the steps, not by the clocks that made them. A copy between devices is an
 * act of two streams. */
static void conflicts_are_ordered(const kw_program *p, const kw_program_order *order) {
  static bool before[KW_PROGRAM_STREAMS][KW_PROGRAM_ACTS], recorded[KW_PROGRAM_STEPS][KW_PROGRAM_ACTS];
  memset(before, 0, sizeof before);
  for (uint32_t i = 0; i < order->step_count; i++) {
    const kw_program_step *step = &order->steps[i];
    if (step->kind == KW_STEP_RECORD) memcpy(recorded[step->event], before[step->stream], sizeof *before);
    for (uint32_t a = 0; step->kind == KW_STEP_WAIT && a < p->act_count; a++)
      before[step->stream][a] |= recorded[step->event][a];
    if (step->kind != KW_STEP_ACT) continue;
    kw_program_use mine[KW_PROGRAM_USES], theirs[KW_PROGRAM_USES];
    const uint32_t count = kw_program_uses(p, &p->acts[step->act], mine);
    for (uint32_t a = 0; a < step->act; a++) {
      const uint32_t others = kw_program_uses(p, &p->acts[a], theirs);
      for (uint32_t u = 0; u < count * others; u++) {
        const kw_program_use *x = &mine[u % count], *y = &theirs[u / count];
        if (x->storage != y->storage || (!x->changes && !y->changes)) continue;
        if (!before[x->stream][a]) fail_msg("%s: act %u does not wait for act %u", p->id, step->act, a);
      }
    }
    before[step->stream][step->act] = true;
    for (uint32_t u = 0; u < count; u++) before[mine[u].stream][step->act] = true;
  }
}

/* The calls of a graph follow each other, on one stream: while it records, nothing may come between. */
static void graphs_are_whole(const kw_program *p, const kw_program_order *order) {
  for (uint32_t i = 1; i < order->step_count; i++) {
    const kw_program_step *step = &order->steps[i], *before = &order->steps[i - 1];
    const kw_program_act *act = &p->acts[step->act];
    if (step->kind != KW_STEP_ACT || !act->graph || step->act == 0 || act[-1].graph != act->graph) continue;
    if (before->kind != KW_STEP_ACT || act[-1].stream != act->stream)
      fail_msg("%s: something comes between the calls of graph %u", p->id, act->graph);
  }
}

/* Program `n`, and an order for it that holds. */
static void make_ordered(kw_program *p, unsigned n, kw_program_order *order) {
  make(p, n, "");
  kw_program_order_make(p, order);
  conflicts_are_ordered(p, order);
  graphs_are_whole(p, order);
}

static void order_is_complete(void **state) {
  (void)state;
  kw_program_order *order = malloc(sizeof *order);
  uint32_t waits = 0;
  for (unsigned n = 0; n < PROGRAMS; n++) {
    kw_program p;
    make_ordered(&p, n, order);
    for (uint32_t i = 0; i < order->step_count; i++) waits += order->steps[i].kind == KW_STEP_WAIT;
    kw_program_free(&p);
  }
  assert_true(waits > PROGRAMS);
  free(order);
}

/* The same of programs that copy between two devices. */
static void order_holds_for_two_devices(void **state) {
  (void)state;
  kw_program_order *order = malloc(sizeof *order);
  uint32_t copies = 0;
  facts.second = (char[]){"other:1"};
  for (unsigned n = 0; n < PROGRAMS; n++) {
    kw_program p;
    make_ordered(&p, n, order);
    check_places(&p);
    for (uint32_t a = 0; a < p.act_count; a++) {
      const kw_program_act *act = &p.acts[a];
      if (act->kind != KW_ACT_COPY) continue;
      copies++;
      assert_int_equal(p.storages[act->index].device, kw_program_device_of(&p, act->from));
      assert_int_equal(p.storages[act->to].device, kw_program_device_of(&p, act->stream));
      assert_int_not_equal(p.storages[act->index].device, p.storages[act->to].device);
    }
    kw_program_free(&p);
  }
  facts.second = NULL;
  assert_true(copies > PROGRAMS / 2);
  free(order);
}

/* Acts left out: the others stay what they are, and what a dropped call would have made is there all the same. */
static void parts_are_programs(void **state) {
  (void)state;
  kw_program whole, part;
  kw_program_order *order = malloc(sizeof *order);
  for (unsigned n = 0; n < PROGRAMS; n++) {
    char selection[64];
    make(&whole, n, "");
    snprintf(selection, sizeof selection, "@%u.%u-%us2", whole.act_count / 4, whole.act_count / 2, whole.act_count - 1);
    make(&part, n, selection);
    assert_true(part.act_count > 0 && part.act_count < whole.act_count && part.stream_count <= 2);
    for (uint32_t s = 0; s < part.storage_count; s++) {
      const kw_program_storage *storage = &part.storages[s];
      assert_true(storage->maker < 0 || part.calls[storage->maker].made);
    }
    kw_program_order_make(&part, order);
    conflicts_are_ordered(&part, order);
    graphs_are_whole(&part, order);
    kw_program_free(&whole);
    kw_program_free(&part);
  }
  free(order);
}

/* The programs of a model have its calls in their order, begin with the first, and lie as others do; another number
 * is another arrangement. */
static void models_are_programs(void **state) {
  (void)state;
  kw_program p, other;
  kw_program_order *order = malloc(sizeof *order);
  char id[KW_PROGRAM_BASE];
  for (uint32_t m = 0; kw_model_at(m); m++) {
    uint32_t graphs = 0, launches = 0, waits = 0;
    for (uint32_t n = 0; n < 20; n++) {
      snprintf(id, sizeof id, "programs/%s/%u", kw_model_at(m)->name, n);
      assert_true(kw_program_make(id, 1, &facts, &p) && kw_program_make(id, 2, &facts, &other));
      assert_string_equal(p.base, id);
      assert_true(p.call_count > 15 && p.act_count > p.call_count);
      for (uint32_t i = 0; i < p.call_count; i++) {
        assert_true(p.calls[i].made);
        const uint32_t number = p.calls[i].c.number; /* of its line: the next one's, or that of another pass */
        if (i > 0 && number > 0) assert_int_equal(number, p.calls[i - 1].c.number + 1);
      }
      check_places(&p);
      kw_program_order_make(&p, order);
      conflicts_are_ordered(&p, order);
      graphs_are_whole(&p, order);
      for (uint32_t i = 0; i < order->step_count; i++) waits += order->steps[i].kind == KW_STEP_WAIT;
      for (uint32_t a = 0; a < p.act_count; a++) {
        graphs += p.acts[a].graph > 0;
        launches += p.acts[a].kind == KW_ACT_LAUNCH;
      }
      char *texts[] = {kw_program_text(&p), kw_program_text(&other)};
      assert_string_not_equal(texts[0], texts[1]);
      for (int i = 0; i < 2; i++) free(texts[i]);
      kw_program_free(&p);
      kw_program_free(&other);
    }
    assert_true(graphs > 20 && launches > 20 && waits > 20);
  }
  free(order);
}

/* An op that is not claimed leaves its calls out, and nobody reads what they would have made. */
static void models_do_without(void **state) {
  (void)state;
  kw_program p;
  for (uint32_t i = 0; i < facts.op_count; i++) {
    kw_op_facts *op = &facts.ops[i];
    if (strcmp(op->op.name, "addmm") == 0) op->kernels &= ~KW_DTYPE_BIT(KW_F32);
  }
  assert_true(kw_program_make("programs/minilm/0", 1, &facts, &p));
  for (uint32_t i = 0; i < p.call_count; i++) assert_string_not_equal(p.calls[i].c.op->name, "addmm");
  assert_true(p.call_count > 20);
  check_places(&p);
  kw_program_free(&p);
  for (uint32_t i = 0; i < facts.op_count; i++) facts.ops[i].kernels = 0;
  assert_true(kw_program_make("programs/minilm/0", 1, &facts, &p)); /* it is there, of all devices alike */
  assert_int_equal(p.call_count, 0);
  kw_program_free(&p);
  for (uint32_t i = 0; i < facts.op_count; i++) facts.ops[i].kernels = kw_suite_op_keys(&facts.ops[i].op);
}

/* Whether the program calls the op, on this device. */
static bool calls(const kw_program *p, const kw_suite_op *op, uint32_t device) {
  for (uint32_t a = 0; a < p->act_count; a++) {
    const kw_program_call *call = &p->calls[p->acts[a].index];
    if (p->acts[a].kind == KW_ACT_CALL && call->c.op == op && call->device == device) return true;
  }
  return false;
}

/* Those programs that together call each op do so on each device, and sums in two sizes. */
static void each_op_is_called(void **state) {
  (void)state;
  char id[KW_PROGRAM_BASE], second[] = "test:1";
  kw_program p;
  bool turned = false;
  facts.second = second;
  for (uint32_t n = 0; n < KW_PROGRAM_EACH; n++) {
    snprintf(id, sizeof id, "programs/each/%u", n);
    assert_true(kw_program_make(id, 1, &facts, &p));
    assert_true(kw_program_is_default(&p, 0) && kw_program_is_default(&p, 1));
    check_places(&p);
    for (uint32_t i = n; i < facts.op_count; i += KW_PROGRAM_EACH) {
      const kw_suite_op *op = &facts.ops[i].op;
      for (uint32_t device = 0; device < 2 && !op->counted; device++) {
        if (!calls(&p, op, device)) fail_msg("%s has no call of %s on device %u", id, op->name, device);
      }
    }
    for (uint32_t i = 1; i < p.call_count; i++) {
      const kw_case *c = &p.calls[i].c, *before = &p.calls[i - 1].c;
      turned |= strcmp(c->op->name, "sum.dim_IntList") == 0 && c->op == before->op && c->number == before->number &&
                c->sizes.dims[0] == before->sizes.dims[1] && c->sizes.dims[1] == before->sizes.dims[0];
    }
    kw_program_free(&p);
  }
  facts.second = NULL;
  assert_true(turned);
  snprintf(id, sizeof id, "programs/each/%d", KW_PROGRAM_EACH);
  assert_false(kw_program_make(id, 1, &facts, &p));
}

/* What a hundred programs have. */
typedef struct sorts {
  uint32_t chained, strided, retyped, in_place, plans, leaves, lowered, autocast, relayed, changed;
  uint32_t acts[KW_ACT_COPY + 1];
} sorts;

static void count_call(const kw_program *p, const kw_program_call *call, sorts *out) {
  out->chained += call->chained;
  out->plans += call->form == KW_FORM_PLAN;
  out->leaves += call->leaf;
  out->lowered += call->mode != KW_MATH_HIGHEST;
  out->autocast += call->autocast != KW_DTYPE_NONE;
  for (uint32_t t = 0; t < KW_MAX_ARGS; t++) {
    if (call->places[t] < 0) continue;
    const kw_case_tensor *laid = &call->c.tensors[t];
    const kw_program_storage *s = &p->storages[call->places[t]];
    out->retyped += s->dtype != laid->dtype;
    out->relayed += s->fixed && s->relay >= 0; /* indices that a call has put there */
    out->strided += laid->rank > 0 && laid->strides[laid->rank - 1] != 1;
    out->in_place += call->outs[0] == call->places[t];
  }
}

/* All that programs are about comes up in a hundred of them. */
static void all_sorts_occur(void **state) {
  (void)state;
  sorts has = {0};
  for (unsigned n = 0; n < 100; n++) {
    kw_program p;
    make(&p, n, "");
    for (uint32_t a = 0; a < p.act_count; a++) has.acts[p.acts[a].kind]++;
    for (uint32_t a = 0; a < p.act_count; a++) has.changed += p.acts[a].kind == KW_ACT_WRITE && p.acts[a].first > 0;
    for (uint32_t i = 0; i < p.call_count; i++) count_call(&p, &p.calls[i], &has);
    kw_program_free(&p);
  }
  const struct {
    const char *what;
    uint32_t count, least;
  } wanted[] = {{"chained inputs", has.chained, 300},
                {"strides", has.strided, 300},
                {"other dtypes", has.retyped, 100},
                {"in place", has.in_place, 15},
                {"plans", has.plans, 50},
                {"leaves", has.leaves, 20},
                {"tf32", has.lowered, 5},
                {"autocast", has.autocast, 3},
                {"relayed indices", has.relayed, 10},
                {"parts written", has.changed, 50},
                {"calls", has.acts[KW_ACT_CALL], 1000}};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    if (wanted[i].count < wanted[i].least) fail_msg("%s: %u, not %u", wanted[i].what, wanted[i].count, wanted[i].least);
  }
  for (int kind = 0; kind <= KW_ACT_LAUNCH; kind++) {
    if (has.acts[kind] <= 10) fail_msg("acts of kind %d: %u", kind, has.acts[kind]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_id_is_a_program),
      cmocka_unit_test(wrong_ids_are_refused),
      cmocka_unit_test(ids_are_written),
      cmocka_unit_test(nothing_claimed),
      cmocka_unit_test(tensors_lie_in_storages),
      cmocka_unit_test(order_is_complete),
      cmocka_unit_test(parts_are_programs),
      cmocka_unit_test(all_sorts_occur),
      cmocka_unit_test(models_are_programs),
      cmocka_unit_test(models_do_without),
      cmocka_unit_test(order_holds_for_two_devices),
      cmocka_unit_test(each_op_is_called),
  };
  return cmocka_run_group_tests_name("program", tests, claim_all, forget_all);
}
