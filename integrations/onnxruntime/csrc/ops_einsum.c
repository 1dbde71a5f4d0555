/* SPDX-License-Identifier: Apache-2.0
 *
 * Einsum: a sum of products as its equation says, operand after operand. Every operand becomes a tensor with a
 * dimension for each label of the equation, of size 1 where it has none; two of them are one product of matrices.
 */
#include <ctype.h>
#include <string.h>

#include "ops.h"

#define OPERANDS_AT_MOST 16

/* The equation: labels are letters, and digits for the dimensions of an ellipsis, counted from its end. */
typedef struct equation {
  char operands[OPERANDS_AT_MOST][KW_MAX_RANK + 1];
  char result[KW_MAX_RANK + 1];
  char labels[KW_MAX_RANK + 1]; /* all that there are */
  unsigned count;               /* of operands */
} equation;

typedef struct term {
  const value *x; /* of rank strlen(labels) */
  uint32_t has;   /* labels, as bits */
} term;

static unsigned place_of(const equation *e, char label) {
  return (unsigned)(strchr(e->labels, label) - e->labels);
}

/* One part of the text; of `rank` dimensions those that no letter names are the ellipsis's, and the last of these is
 * '0'. With rank -1 there are `dots` of them. */
static const char *read_part(run *run, const char *at, int rank, unsigned dots, char *out_labels) {
  unsigned letters = 0, length = 0;
  for (const char *c = at; *c && *c != ',' && *c != '-'; ++c) letters += isalpha((unsigned char)*c) != 0;
  if (rank >= 0 && letters > (unsigned)rank) return run_refuse(run, "an operand of rank %d", rank), NULL;
  if (rank >= 0) dots = (unsigned)rank - letters;
  if (letters + dots > KW_MAX_RANK) return run_refuse(run, "rank %u", letters + dots), NULL;
  for (; *at && *at != ',' && *at != '-'; ++at) {
    if (isalpha((unsigned char)*at)) out_labels[length++] = *at;
    for (; strncmp(at, "...", 3) == 0; at += 2) {
      while (dots > 0) out_labels[length++] = (char)('0' + --dots);
    }
  }
  out_labels[length] = '\0';
  if (rank >= 0 && length != (unsigned)rank) return run_refuse(run, "an operand of rank %d", rank), NULL;
  return at;
}

static bool add_labels(run *run, equation *e, const char *of) {
  for (; *of; ++of) {
    const size_t length = strlen(e->labels);
    if (strchr(e->labels, *of)) continue;
    if (length == KW_MAX_RANK) return run_refuse(run, "more than %d labels", KW_MAX_RANK);
    e->labels[length] = *of;
    e->labels[length + 1] = '\0';
  }
  return true;
}

/* Without an arrow: the ellipsis, then the letters that stand once, in the alphabet's order. */
static void imply(equation *e, unsigned dots) {
  unsigned length = 0;
  while (dots > 0) e->result[length++] = (char)('0' + --dots);
  for (char label = 'A'; label <= 'z'; ++label) {
    unsigned times = 0;
    for (unsigned i = 0; i < e->count; ++i)
      for (const char *c = e->operands[i]; *c; ++c) times += *c == label;
    if (times == 1 && length < KW_MAX_RANK) e->result[length++] = label;
  }
  e->result[length] = '\0';
}

static bool read_equation(run *run, equation *e) {
  const char *at = node_text(run->node, "equation", "");
  unsigned dots = 0;
  memset(e, 0, sizeof *e);
  if (run->input_count > OPERANDS_AT_MOST) return run_refuse(run, "%u operands", run->input_count);
  for (; e->count < run->input_count; ++e->count) {
    const value *x = run_input(run, e->count);
    if (!x || (e->count > 0 && *at++ != ',')) return run_refuse(run, "an equation of other operands");
    at = read_part(run, at, (int)x->ref.rank, 0, e->operands[e->count]);
    if (!at || !add_labels(run, e, e->operands[e->count])) return false;
    for (const char *c = e->operands[e->count]; *c; ++c)
      if (isdigit((unsigned char)*c) && dots < (unsigned)(*c - '0') + 1) dots = (unsigned)(*c - '0') + 1;
  }
  if (!*at) return imply(e, dots), true;
  if (strncmp(at, "->", 2) != 0 || !read_part(run, at + 2, -1, dots, e->result))
    return run_refuse(run, "an equation of other operands");
  for (const char *c = e->result; *c; ++c)
    if (!strchr(e->labels, *c)) return run_refuse(run, "a label '%c' that no operand has", *c);
  return true;
}

/* The operand with a dimension for each label: a label that it has twice is a diagonal. Sizes of 1 are spread. */
static term spread(run *run, const equation *e, unsigned operand, const int64_t *sizes) {
  const value *x = run_input(run, operand);
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK] = {0};
  const unsigned rank = (unsigned)strlen(e->labels);
  term made = {NULL, 0};
  for (unsigned d = 0; d < rank; ++d) shape[d] = 1;
  for (unsigned d = 0; x && d < x->ref.rank; ++d) {
    const unsigned place = place_of(e, e->operands[operand][d]);
    made.has |= 1u << place;
    shape[place] = sizes[place];
    if (x->ref.shape[d] != 1) strides[place] += x->ref.strides[d];
    if (x->ref.shape[d] != 1 && x->ref.shape[d] != sizes[place]) {
      run_refuse(run, "sizes %lld and %lld of one label", (long long)x->ref.shape[d], (long long)sizes[place]);
      return made;
    }
  }
  made.x = run_view(run, x, rank, shape, strides, 0);
  return made;
}

/* Without the labels that are not needed. */
static term reduced(run *run, term of, uint32_t needed, unsigned rank) {
  int64_t dims[KW_MAX_RANK];
  unsigned count = 0;
  for (unsigned d = 0; d < rank; ++d)
    if (of.has & ~needed & 1u << d) dims[count++] = d;
  if (count == 0 || !of.x) return of;
  of.x = CALL(run, "sum.dim_IntList", arg(of.x), kw_arg_int_list(dims, count), kw_arg_bool(true),
              kw_arg_dtype(of.x->ref.dtype));
  of.has &= needed;
  return of;
}

/* The dimensions in an order, and how many elements there are in those of the labels. */
static int64_t gather_dims(const value *x, uint32_t labels, unsigned rank, int64_t *order, unsigned *count) {
  int64_t size = 1;
  for (unsigned d = 0; d < rank; ++d)
    if (labels & 1u << d) size *= x->ref.shape[d], order[(*count)++] = d;
  return size;
}

/* The product, summed over the labels that both have and nobody needs. */
static term product(run *run, term a, term b, uint32_t needed, unsigned rank) {
  const uint32_t both = a.has & b.has, all = (1u << rank) - 1, sum = both & ~needed;
  int64_t left[KW_MAX_RANK], right[KW_MAX_RANK], whole[KW_MAX_RANK], back[KW_MAX_RANK], shape[KW_MAX_RANK];
  unsigned i = 0, j = 0, k = 0;
  term made = {NULL, (a.has | b.has) & ~sum};
  if (!a.x || !b.x) return made;
  const int64_t batch = gather_dims(a.x, both & needed, rank, left, &i),
                rows = gather_dims(a.x, a.has & ~both, rank, left, &i);
  const int64_t inner = gather_dims(a.x, sum, rank, left, &i);
  gather_dims(a.x, all & ~a.has, rank, left, &i);
  gather_dims(b.x, both & needed, rank, right, &j);
  gather_dims(b.x, sum, rank, right, &j);
  const int64_t columns = gather_dims(b.x, b.has & ~both, rank, right, &j);
  gather_dims(b.x, all & ~b.has, rank, right, &j);
  made.x = CALL(run, "bmm", arg(run_reshape(run, run_permute(run, a.x, left), 3, (int64_t[]){batch, rows, inner})),
                arg(run_reshape(run, run_permute(run, b.x, right), 3, (int64_t[]){batch, inner, columns})));
  gather_dims(a.x, both & needed, rank, whole, &k);
  gather_dims(a.x, a.has & ~both, rank, whole, &k);
  gather_dims(a.x, b.has & ~both, rank, whole, &k);
  gather_dims(a.x, all & ~made.has, rank, whole, &k);
  for (unsigned d = 0; d < rank; ++d) {
    const unsigned label = (unsigned)whole[d];
    shape[d] = !(made.has & 1u << label) ? 1 : a.has & 1u << label ? a.x->ref.shape[label] : b.x->ref.shape[label];
    back[label] = d;
  }
  made.x = run_permute(run, run_reshape(run, made.x, rank, shape), back);
  return made;
}

/* The size of each label: 1 only where all operands have 1. */
static void read_sizes(run *run, const equation *e, int64_t *sizes) {
  for (unsigned d = 0; d < KW_MAX_RANK; ++d) sizes[d] = 1;
  for (unsigned i = 0; i < e->count; ++i) {
    const value *x = run_input(run, i);
    for (unsigned d = 0; d < x->ref.rank; ++d)
      if (x->ref.shape[d] != 1) sizes[place_of(e, e->operands[i][d])] = x->ref.shape[d];
  }
}

bool op_einsum(run *run) {
  equation e;
  int64_t sizes[KW_MAX_RANK], shape[KW_MAX_RANK], order[KW_MAX_RANK];
  uint32_t needed[OPERANDS_AT_MOST] = {0}; /* after an operand: by later ones, or the result */
  unsigned rank, length;
  term so_far;
  if (!read_equation(run, &e)) return false;
  rank = (unsigned)strlen(e.labels), length = (unsigned)strlen(e.result);
  read_sizes(run, &e, sizes);
  for (const char *c = e.result; *c; ++c) needed[e.count - 1] |= 1u << place_of(&e, *c);
  for (unsigned i = e.count - 1; i > 0; --i) {
    needed[i - 1] = needed[i];
    for (const char *c = e.operands[i]; *c; ++c) needed[i - 1] |= 1u << place_of(&e, *c);
  }
  so_far = reduced(run, spread(run, &e, 0, sizes), needed[0], rank);
  for (unsigned i = 1; i < e.count; ++i) {
    const term next = spread(run, &e, i, sizes);
    so_far = product(run, so_far, reduced(run, next, needed[i] | so_far.has, rank), needed[i], rank);
    so_far = reduced(run, so_far, needed[i], rank);
  }
  for (unsigned d = 0; d < length; ++d) {
    order[d] = place_of(&e, e.result[d]);
    shape[d] = sizes[order[d]];
    for (unsigned before = 0; before < d; ++before)
      if (order[before] == order[d]) return run_refuse(run, "a label of the result that stands twice");
  }
  for (unsigned label = 0, d = length; label < rank; ++label)
    if (!strchr(e.result, e.labels[label])) order[d++] = label;
  return run_put_as(run, 0, run_permute(run, so_far.x, order), length, shape);
}
