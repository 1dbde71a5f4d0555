/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ops serve another one on a device: the table of decompositions, and what of it the device's kernels allow.
 */
#include "call/decompose.h"

#include "base/dtype.h"
#include "call/has_kernel.h"
#include "op/op.h"

#include <pthread.h>
#include <string.h>

static const kw_decomposition rows[] = {
#define KW_DECOMPOSITION(op, needs, function, how) {op, needs, kw_decompose_##function, how},
#include "op/decompositions.def"
};
#define ROWS (sizeof rows / sizeof rows[0])
#define MAX_NEEDS 12

/* The row with its ops looked up. */
typedef struct parsed_need {
  kw_dtype dtype; /* KW_DTYPE_NONE: that of the composition */
  bool kernel;    /* only a kernel of it will do */
  bool converts;  /* that takes another dtype for its result */
} parsed_need;
typedef struct parsed_row {
  const kw_op *op;
  const kw_op *ops[MAX_NEEDS + 1]; /* that it needs, ended by NULL, */
  parsed_need needs[MAX_NEEDS];    /* and how */
  uint32_t next;                   /* the op's next row, from 1; 0: none */
} parsed_row;
static parsed_row parsed[ROWS];
static uint32_t first_row[1u << KW_OP_ID_BITS]; /* by the op's id; from 1 */
static pthread_once_t parsed_once = PTHREAD_ONCE_INIT;

/* "!add.Tensor/i64" */
static parsed_need parse_need(char *word, const kw_op **out_op) {
  parsed_need need = {.dtype = KW_DTYPE_NONE, .kernel = word[0] == '!'};
  char *slash = strchr(word, '/');
  if (slash) {
    need.dtype = kw_dtype_from_name(slash + 1);
    *slash = '\0';
    need.converts = strcmp(word, "copy_") == 0;
  }
  *out_op = kw_op_lookup(word + need.kernel);
  return need;
}

static void parse_rows(void) {
  for (uint32_t i = ROWS; i-- > 0;) { /* from the last: each goes before those of its op that follow it */
    parsed_row *row = &parsed[i];
    row->op = kw_op_lookup(rows[i].op);
    char text[256], *rest = NULL;
    strncpy(text, rows[i].needs, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    uint32_t count = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest), count++) {
      row->needs[count] = parse_need(word, &row->ops[count]);
    }
    row->next = first_row[row->op->id];
    first_row[row->op->id] = i + 1;
  }
}

/* What the parts of a row compute on. */
static kw_dtype dtype_of(const kw_decomposition *row, kw_dtype key) {
  return row->how & KW_WIDE && (key == KW_F16 || key == KW_BF16) ? KW_F32 : key;
}

/* An op is served by a kernel, or by a row whose needs are: no op comes back to itself that way, which a test looks
 * for (decompose_test.c). */
static bool row_serves(uint32_t number, const kw_device *device, kw_dtype key, kw_math math) {
  const parsed_row *row = &parsed[number];
  const kw_dtype dtype = dtype_of(&rows[number], key);
  if (rows[number].how & KW_NOT_F64 && key == KW_F64) return false;
  if (dtype != key && !(kw_can_cast_from(device, key, math) && kw_can_cast_from(device, dtype, math))) return false;
  for (uint32_t i = 0; row->ops[i]; ++i) {
    const kw_op *op = row->ops[i];
    const parsed_need *need = &row->needs[i];
    const kw_dtype of = need->dtype == KW_DTYPE_NONE ? dtype : need->dtype;
    if (!kw_dtype_is_among(of, op->row.dtypes)) return false;
    if (need->converts && !kw_can_cast_from(device, of, math)) return false;
    if (kw_has_kernel(op, device, of, math)) continue;
    if (need->kernel || !kw_decompose_find(op, device, of, math)) return false;
  }
  return true;
}

const kw_decomposition *kw_decompose_find(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math) {
  pthread_once(&parsed_once, parse_rows);
  for (uint32_t i = first_row[op->id]; i != 0; i = parsed[i - 1].next) {
    if (row_serves(i - 1, device, key, math)) return &rows[i - 1];
  }
  return NULL;
}

kw_status kw_decompose_serve(const kw_decomposition *by, kw_stream *stream, kw_dtype key, uint32_t cast,
                             const kw_value *args, kw_tensor **outs) {
  kw_composition c = {.stream = stream,
                      .key = key,
                      .dtype = dtype_of(by, key),
                      .args = args,
                      .cast = cast,
                      .ops = parsed[by - rows].ops,
                      .status = KW_OK};
  kw_status status = by->serve(&c, args, outs);
  if (c.status == KW_OK) c.status = status;
  return kw_compose_end(&c);
}
