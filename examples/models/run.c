/* SPDX-License-Identifier: Apache-2.0
 *
 * The models by name, and a run of one: inference, or some steps of training.
 */
#include "model.h"

#include <string.h>

static const struct kind {
  const char *name;
  void (*pass)(struct model *model); /* forward, and where the model is to be trained backward */
  void (*optimize)(struct model *model);
} kinds[] = {
    {"gpt2", model_pass_gpt2, model_optimize_decoder},
    {"llama", model_pass_llama, model_optimize_decoder},
    {"bottleneck", model_pass_bottleneck, model_optimize_bottleneck},
    {"minilm", model_pass_minilm, NULL},
};

static void run(struct model *model) {
  size_t k = 0;
  while (k < sizeof kinds / sizeof *kinds && strcmp(kinds[k].name, model->name) != 0) {
    ++k;
  }
  if (k == sizeof kinds / sizeof *kinds || (model->train && kinds[k].optimize == NULL)) {
    model_fail(model, KW_ERR_NOT_FOUND, "there is no model '%s'%s", model->name, model->train ? " to train" : "");
  }
  for (model->step = 1; model->train && model->step <= 2; ++model->step) {
    kinds[k].pass(model);
    kinds[k].optimize(model);
    model_release_temporaries(model);
  }
  const bool trained = model->train;
  model->step = trained ? 3 : 0;
  model->train = false;
  kinds[k].pass(model);
  model_release_temporaries(model);
  model->train = trained;
}

kw_status model_run(struct model *model) {
  jmp_buf escape;
  model->escape = &escape;
  model->status = KW_OK;
  if (setjmp(escape) == 0) {
    run(model);
  }
  return model->status;
}
