/* SPDX-License-Identifier: Apache-2.0
 *
 * The chip's programs: 20 ops, from which the host makes the rest of Core. Any shape, stride and offset; what the host
 * has checked (dtypes, broadcasting, overlap) is not checked again. Floats are computed in double and rounded once.
 */
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* Element number i of a shape, in row-major order, in an array that broadcasts to it. */
static unsigned char *at(const array *of, const array *shape, int64_t i) {
  int64_t place = 0;
  for (uint32_t d = shape->rank; d-- > 0; i /= shape->shape[d]) {
    const uint32_t behind = shape->rank - 1 - d;
    if (behind >= of->rank) continue;
    const uint32_t own = of->rank - 1 - behind;
    if (of->shape[own] != 1) place += i % shape->shape[d] * of->strides[own];
  }
  return of->data + place * (int64_t)number_size(of->dtype);
}

static number load(const array *of, const array *shape, int64_t i) {
  return number_load(of->dtype, at(of, shape, i));
}

/* ---- Element by element ------------------------------------------------------------------------------------------ */

static int64_t wrap(uint64_t bits) {
  int64_t value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  uint64_t result = 1, factor = (uint64_t)base;
  for (; exponent > 0; exponent /= 2, factor *= factor) {
    if (exponent % 2 != 0) result *= factor;
  }
  return wrap(result);
}

static int64_t integer_quotient(int64_t a, int64_t b, char mode) {
  if (b == 0) return 0;
  if (b == -1) return wrap(0 - (uint64_t)a);
  const int64_t quotient = a / b;
  return mode == 'f' && a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* 'floor' takes what fmod leaves off first, as ATen does. */
static double real_quotient(double a, double b, char mode) {
  if (mode == 0 || b == 0) return a / b;
  if (mode == 't') return trunc(a / b);
  const double left = fmod(a, b);
  double quotient = (a - left) / b;
  if (left != 0 && (b < 0) != (left < 0)) quotient -= 1;
  if (quotient == 0) return copysign(0, a / b);
  const double down = floor(quotient);
  return quotient - down > 0.5 ? down + 1 : down;
}

static number compute(const command *c, number a, number b) {
  const bool integral = a.integral && b.integral;
  const double x = number_as_real(a), y = number_as_real(b);
  switch ((program)c->program) {
    case PROGRAM_ADD:
      if (!integral) return number_real(x + number_as_real(c->value) * y);
      return number_integer(wrap((uint64_t)a.i + (uint64_t)c->value.i * (uint64_t)b.i));
    case PROGRAM_MUL:
      return integral ? number_integer(wrap((uint64_t)a.i * (uint64_t)b.i)) : number_real(x * y);
    case PROGRAM_DIV:
      return integral && c->mode != 0 ? number_integer(integer_quotient(a.i, b.i, c->mode))
                                      : number_real(real_quotient(x, y, c->mode));
    case PROGRAM_POW:
      return integral ? number_integer(integer_power(a.i, b.i)) : number_real(pow(x, y));
    case PROGRAM_LE:
      return number_integer(integral ? a.i <= b.i : x <= y);
    case PROGRAM_AND:
      return number_integer(a.i & b.i);
    case PROGRAM_EXP:
      return number_real(exp(x));
    case PROGRAM_LOG:
      return number_real(log(x));
    case PROGRAM_SIN:
      return number_real(sin(x));
    case PROGRAM_COS:
      return number_real(cos(x));
    case PROGRAM_TANH:
      return number_real(tanh(x));
    default:
      return number_real(erf(x));
  }
}

static void run_elements(const command *c) {
  for (int64_t i = 0; i < c->out.numel; i++) {
    const number a = load(&c->inputs[0], &c->out, i);
    const number b = c->input_count > 1 ? load(&c->inputs[1], &c->out, i) : a;
    number_store(c->out.dtype, at(&c->out, &c->out, i), compute(c, a, b));
  }
}

/* Element i of the source: bit for bit, or converted. */
static void move(const array *out, unsigned char *to, const array *in, const unsigned char *from) {
  if (in->dtype == out->dtype) {
    memcpy(to, from, number_size(out->dtype));
  } else {
    number_store(out->dtype, to, number_load(in->dtype, from));
  }
}

static void run_moves(const command *c) {
  for (int64_t i = 0; i < c->out.numel; i++) {
    const array *from = &c->inputs[0];
    if (c->program == PROGRAM_WHERE) from = &c->inputs[load(&c->inputs[0], &c->out, i).i != 0 ? 1 : 2];
    move(&c->out, at(&c->out, &c->out, i), from, at(from, &c->out, i));
  }
}

/* ---- Reductions and products ------------------------------------------------------------------------------------- */

/* An array as one of these dimensions, or of the others. */
static array part(const array *of, uint32_t dims, bool chosen) {
  array part = *of;
  part.rank = 0;
  part.numel = 1;
  for (uint32_t d = 0; d < of->rank; d++) {
    if ((dims >> d & 1) != chosen) continue;
    part.shape[part.rank] = of->shape[d];
    part.strides[part.rank++] = of->strides[d];
    part.numel *= of->shape[d];
  }
  return part;
}

static void run_reduction(const command *c) {
  const array *in = &c->inputs[0];
  array kept = part(in, c->dims, false), inner = part(in, c->dims, true);
  const bool integral = (KW_DTYPE_BIT(c->out.dtype) & CHIP_INTEGERS) != 0, product = c->program == PROGRAM_PROD;
  array out = c->out; /* its dimensions of size 1 change no place */
  for (int64_t i = 0; i < out.numel; i++) {
    uint64_t whole = product;
    double real = product;
    inner.data = at(&kept, &kept, i);
    for (int64_t k = 0; k < inner.numel; k++) {
      const number term = load(&inner, &inner, k);
      if (integral && product) whole *= (uint64_t)term.i;
      if (integral && !product) whole += (uint64_t)term.i;
      if (!integral) real = product ? real * number_as_real(term) : real + number_as_real(term);
    }
    number_store(out.dtype, at(&out, &out, i), integral ? number_integer(wrap(whole)) : number_real(real));
  }
}

static void run_bmm(const command *c) {
  const array *a = &c->inputs[0], *b = &c->inputs[1], *out = &c->out;
  const bool integral = (KW_DTYPE_BIT(out->dtype) & CHIP_INTEGERS) != 0;
  const int64_t rows = out->shape[1], columns = out->shape[2], depth = a->shape[2];
  for (int64_t i = 0; i < out->numel; i++) {
    const int64_t batch = i / columns / rows, row = i / columns % rows, column = i % columns;
    uint64_t whole = 0;
    double real = 0;
    for (int64_t k = 0; k < depth; k++) {
      const number x = load(a, a, (batch * rows + row) * depth + k),
                   y = load(b, b, (batch * depth + k) * columns + column);
      if (integral) whole += (uint64_t)x.i * (uint64_t)y.i;
      if (!integral) real += number_as_real(x) * number_as_real(y);
    }
    number_store(out->dtype, at(out, out, i), integral ? number_integer(wrap(whole)) : number_real(real));
  }
}

/* ---- Indexing ---------------------------------------------------------------------------------------------------- */

/* An index that is out of range: the first one is told, by the number of its argument. */
static void blame(const command *c, uint32_t argument) {
  uint32_t none = 0;
  __atomic_compare_exchange_n(c->error_word, &none, c->error_code + argument, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
}

static void run_gather(const command *c) {
  const array *self = &c->inputs[0], *index = &c->inputs[1];
  for (int64_t i = 0; i < c->out.numel; i++) {
    const int64_t chosen = load(index, &c->out, i).i;
    const int64_t size = self->rank > 0 ? self->shape[c->dim] : 1;
    if (chosen < 0 || chosen >= size) {
      blame(c, 2);
      continue;
    }
    int64_t place = 0, left = i;
    for (uint32_t d = self->rank; d-- > 0; left /= c->out.shape[d]) {
      place += (d == (uint32_t)c->dim ? chosen : left % c->out.shape[d]) * self->strides[d];
    }
    memcpy(at(&c->out, &c->out, i), self->data + place * (int64_t)number_size(self->dtype), number_size(self->dtype));
  }
}

/* inputs: self, values, and an index for each dimension that has one; out is a copy of self to begin with. The
 * selection has the dimensions of the indices, in front or in place of the indexed ones where those are side by side,
 * and the others. */
typedef struct selection {
  array shape, index_shape;
  uint32_t first;            /* dimension of the selection where those of the indices begin */
  uint32_t indexed;          /* bit d: dimension d of self has an index */
  uint32_t own[KW_MAX_RANK]; /* of a dimension of self that has none: which it is of the selection */
} selection;

static void broadcast(array *shape, const array *by) {
  for (uint32_t behind = 0; behind < by->rank; behind++) {
    if (behind >= shape->rank) {
      memmove(shape->shape + 1, shape->shape, shape->rank * sizeof *shape->shape);
      shape->shape[0] = 1;
      shape->rank++;
    }
    int64_t *size = &shape->shape[shape->rank - 1 - behind];
    if (*size == 1) *size = by->shape[by->rank - 1 - behind];
  }
}

static selection select_of(const command *c) {
  const array *self = &c->inputs[0];
  selection s = {.first = self->rank};
  uint32_t last = 0, count = 0;
  for (uint32_t d = 0; d < self->rank; d++) {
    const array *index = &c->inputs[2 + d];
    if (d + 2 >= c->input_count || index->data == NULL) continue;
    s.indexed |= 1u << d;
    if (s.first == self->rank) s.first = d;
    last = d;
    count++;
    broadcast(&s.index_shape, index);
  }
  if (count > 0 && last - s.first + 1 != count) s.first = 0;
  for (uint32_t d = 0; d < self->rank; d++) {
    if (d == s.first) {
      memcpy(s.shape.shape + s.shape.rank, s.index_shape.shape, s.index_shape.rank * sizeof *s.shape.shape);
      s.shape.rank += s.index_shape.rank;
    }
    if (s.indexed >> d & 1) continue;
    s.own[d] = s.shape.rank;
    s.shape.shape[s.shape.rank++] = self->shape[d];
  }
  s.index_shape.numel = s.shape.numel = 1;
  for (uint32_t d = 0; d < s.index_shape.rank; d++) s.index_shape.numel *= s.index_shape.shape[d];
  for (uint32_t d = 0; d < s.shape.rank; d++) s.shape.numel *= s.shape.shape[d];
  return s;
}

/* Where element i of the selection lies in self, row-major; -1, and the blame, where an index is out of range. */
static int64_t selected(const command *c, const selection *s, int64_t i) {
  const array *self = &c->inputs[0];
  int64_t position[KW_MAX_RANK] = {0}, number = 0, place = 0;
  for (uint32_t d = s->shape.rank; d-- > 0; i /= s->shape.shape[d]) position[d] = i % s->shape.shape[d];
  for (uint32_t d = 0; d < s->index_shape.rank; d++) number = number * s->index_shape.shape[d] + position[s->first + d];
  for (uint32_t d = 0; d < self->rank; d++) {
    int64_t chosen = 0;
    if (s->indexed >> d & 1) {
      chosen = load(&c->inputs[2 + d], &s->index_shape, number).i;
      if (chosen < -self->shape[d] || chosen >= self->shape[d]) {
        blame(c, 1);
        return -1;
      }
      if (chosen < 0) chosen += self->shape[d];
    } else {
      chosen = position[s->own[d]];
    }
    place = place * self->shape[d] + chosen;
  }
  return place;
}

/* Sums are kept as they are until the end, so that each is rounded once. */
static bool run_index_put(const command *c, char text[160]) {
  const array *values = &c->inputs[1], *out = &c->out;
  const selection s = select_of(c);
  number *sums = c->mode == 'a' ? malloc((size_t)(out->numel + 1) * sizeof *sums) : NULL;
  if (c->mode == 'a' && sums == NULL) {
    memcpy(text, "no memory for sums", sizeof "no memory for sums");
    return false;
  }
  for (int64_t i = 0; i < out->numel; i++) {
    unsigned char *to = at(out, out, i);
    memmove(to, at(&c->inputs[0], out, i), number_size(out->dtype));
    if (sums != NULL) sums[i] = number_load(out->dtype, to);
  }
  for (int64_t i = 0; i < s.shape.numel; i++) {
    const int64_t place = selected(c, &s, i);
    if (place < 0) continue;
    const unsigned char *from = at(values, &s.shape, i);
    if (sums == NULL) {
      memcpy(at(out, out, place), from, number_size(out->dtype));
      continue;
    }
    const number term = number_load(values->dtype, from);
    sums[place].i = wrap((uint64_t)sums[place].i + (uint64_t)term.i);
    sums[place].f += term.f;
  }
  for (int64_t i = 0; sums != NULL && i < out->numel; i++) number_store(out->dtype, at(out, out, i), sums[i]);
  free(sums);
  return true;
}

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

/* A block of Philox 4x32-10 (Salmon and others, 2011). */
static void philox(uint64_t number, uint32_t part, uint64_t seed, uint32_t x[4]) {
  uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
  x[0] = (uint32_t)number, x[1] = (uint32_t)(number >> 32), x[2] = part, x[3] = 0;
  for (int round = 0; round < 10; round++, low += 0x9E3779B9u, high += 0xBB67AE85u) {
    const uint64_t first = UINT64_C(0xD2511F53) * x[0], second = UINT64_C(0xCD9E8D57) * x[2];
    x[0] = (uint32_t)(second >> 32) ^ x[1] ^ low;
    x[1] = (uint32_t)second;
    x[2] = (uint32_t)(first >> 32) ^ x[3] ^ high;
    x[3] = (uint32_t)first;
  }
}

static void run_random(const command *c) {
  const uint64_t seed = c->state != NULL ? c->state[0] : c->seed,
                 start = c->offset + (c->state != NULL ? c->state[1] : 0);
  for (int64_t i = 0; i < c->out.numel; i++) {
    uint32_t word[4], more[4];
    philox(start + (uint64_t)i / 4, 0, seed, word);
    uint64_t drawn = word[i % 4];
    if (c->range == 0 || c->range > UINT64_C(1) << 32) {
      philox(start + (uint64_t)i / 4, 1, seed, more);
      drawn = drawn << 32 | more[i % 4];
    }
    if (c->range != 0) drawn %= c->range;
    number_store(c->out.dtype, at(&c->out, &c->out, i), number_integer(wrap((uint64_t)c->dim + drawn)));
  }
}

bool command_run(const void *bytes, char text[160]) {
  const command *c = bytes;
  switch ((program)c->program) {
    case PROGRAM_COPY:
    case PROGRAM_WHERE:
      run_moves(c);
      return true;
    case PROGRAM_SUM:
    case PROGRAM_PROD:
      run_reduction(c);
      return true;
    case PROGRAM_BMM:
      run_bmm(c);
      return true;
    case PROGRAM_GATHER:
      run_gather(c);
      return true;
    case PROGRAM_INDEX_PUT:
      return run_index_put(c, text);
    case PROGRAM_RANDOM:
      run_random(c);
      return true;
    default:
      run_elements(c);
      return true;
  }
}
