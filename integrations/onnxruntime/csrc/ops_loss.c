/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses over classes.
 */
#include <string.h>

#include "ops.h"

/* Of log-probabilities [N, C, ...] and classes [N, ...]: rows of all places. */
static bool put_loss(run *run, const value *log, const value *target, const value *weight) {
  const char *name = node_text(run->node, "reduction", "mean");
  const int64_t mode = strcmp(name, "none") == 0 ? 0 : strcmp(name, "sum") == 0 ? 2 : 1;
  const int64_t ignored = node_int(run->node, "ignore_index", -100);
  int64_t order[KW_MAX_RANK], rows = 1;
  value *results[RUN_MAX_RESULTS] = {NULL};
  const int to[RUN_MAX_RESULTS] = {mode == 0 ? -1 : 0, -1, -1, -1};
  if (!log || !target) return run_refuse(run, "an input is missing");
  for (unsigned d = 0; d < log->ref.rank; ++d) order[d] = d == 0 ? 0 : d + 1 < log->ref.rank ? d + 1 : 1;
  rows = run_numel(target);
  log = run_reshape(run, run_permute(run, log, order), 2, (int64_t[]){rows, log->ref.shape[1]});
  if (!run_op(run, "nll_loss_forward",
              (kw_value[]){arg(log), arg(run_reshape(run, run_cast(run, target, KW_I64), 1, &rows)), arg(weight),
                           kw_arg_int(mode), kw_arg_int(ignored)},
              5, results, to))
    return false;
  return mode != 0 || run_put_as(run, 0, results[0], target->ref.rank, target->ref.shape);
}

bool op_nll_loss(run *run) {
  return put_loss(run, run_input(run, 0), run_input(run, 1), run_input(run, 2));
}

bool op_softmax_cross_entropy(run *run) {
  const value *scores = run_input(run, 0);
  const value *log = CALL(run, "_log_softmax", arg(scores), kw_arg_int(1), kw_arg_bool(false));
  if (run_wants(run, 1) && !run_put(run, 1, log)) return false;
  return put_loss(run, log, run_input(run, 1), run_input(run, 2));
}
