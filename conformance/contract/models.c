/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite "models": what comes of many calls one after the other. The example models (examples/models) run on the device,
 * and their results are held against what an independent library has recorded: each may be off by MODEL_FACTOR times
 * what a device is that rounds honestly. Errors that add up, or go one way in call after call, show here, though each
 * call is within its bound; and so does what one call leaves behind for another.
 */
#include "contract_helpers.h"

#include "base/worker_note.h"
#include "model.h"

/* A form of a model, as examples/models/record.py has written it. */
typedef struct record {
  const char *bytes;
  const size_t *size;
} record;

#define DECLARE(name)                  \
  extern const char kw_model_##name[]; \
  extern const size_t kw_model_##name##_size;
DECLARE(gpt2)
DECLARE(llama)
DECLARE(bottleneck)
DECLARE(minilm)
DECLARE(gpt2_true)
DECLARE(bottleneck_true)
DECLARE(minilm_true)

static const struct {
  const char *name;
  record small;
  record true_size; /* NULL: there is none */
} models[] = {
    {"gpt2", {kw_model_gpt2, &kw_model_gpt2_size}, {kw_model_gpt2_true, &kw_model_gpt2_true_size}},
    {"llama", {kw_model_llama, &kw_model_llama_size}, {NULL, NULL}},
    {"bottleneck",
     {kw_model_bottleneck, &kw_model_bottleneck_size},
     {kw_model_bottleneck_true, &kw_model_bottleneck_true_size}},
    {"minilm", {kw_model_minilm, &kw_model_minilm_size}, {kw_model_minilm_true, &kw_model_minilm_true_size}},
};

/* A test runs one model at a time. What leaves it by a jump frees the model first. */
static struct model model;
static const char *form; /* "" or " in its true size" */

/* Ends the test unless the model came to its end. */
static void check_status(kw_status status) {
  if (status == KW_OK) return;
  model_close(&model);
  if (status == KW_ERR_OUT_OF_MEMORY) {
    kw_contract_not_tried("models need more memory; %s%s: %s", model.name, form, model.error);
  }
  if (status == KW_ERR_NOT_IMPLEMENTED) {
    kw_contract_not_tried("models make calls that no kernel takes; %s%s: %s", model.name, form, model.error);
  }
  KW_FAIL("%s%s in %s: %s", model.name, form, kw_dtype_name(model.dtype), model.error);
}

/* Ends the test where the device lacks an op. In f32 every op of a model can be asked for; other dtypes are optional.
 */
static void check_ops(void) {
  model.dry = true;
  check_status(model_run(&model));
  model_forget(&model);
  model.dry = false;
  if (!model.lacking[0]) return;
  model_close(&model);
  if (model.dtype != KW_F32)
    kw_test_skip("%s is not claimed in %s: %s", model.name, kw_dtype_name(model.dtype), model.lacking);
  kw_contract_not_tried("models need ops that are not there; %s lacks %s", model.name, model.lacking);
}

/* Fails at the first tensor that is too far off. */
static void check_results(void) {
  struct model_result wrong = {.error = -1};
  for (size_t i = 0; i < model.checked && wrong.error < 0; i++) {
    if (!(model.results[i].error <= model.results[i].bound)) wrong = model.results[i];
  }
  model_close(&model);
  KW_CHECK(model.wrong == 0,
           "%s%s in %s%s: %s is off by %.2e of its norm, and may be off by %.2e (%zu of %zu tensors are"
           " too far off)",
           model.name, form, kw_dtype_name(model.dtype), model.train ? ", trained" : "", wrong.name, wrong.error,
           wrong.bound, model.wrong, model.checked);
}

static void run_form(const char *name, const record *recorded, kw_dtype dtype, bool train) {
  model = (struct model){.name = name, .device = kw_contract.device, .dtype = dtype, .train = train};
  check_status(model_read(&model, recorded->bytes, *recorded->size));
  check_ops();
  check_status(model_run(&model));
  check_results();
}

static void run_model(const char *name, kw_dtype dtype, bool train) {
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    if (strcmp(models[i].name, name) != 0) continue;
    form = "";
    run_form(name, &models[i].small, dtype, train);
    form = " in its true size";
    kw_worker_note_step(); /* the time limit begins anew */
    if (kw_contract.effort == KW_EFFORT_THOROUGH && models[i].true_size.bytes) {
      run_form(name, &models[i].true_size, dtype, train);
    }
  }
}

#define IN_DTYPE(name, suffix, dtype, train)             \
  void kw_contract_models_##name##suffix(void **state) { \
    (void)state;                                         \
    run_model(#name, dtype, train);                      \
  }
#define IN_DTYPES(name, suffix, train)        \
  IN_DTYPE(name, suffix, KW_F32, train)       \
  IN_DTYPE(name, suffix##_f16, KW_F16, train) \
  IN_DTYPE(name, suffix##_bf16, KW_BF16, train)

/* A pass forward. */
IN_DTYPES(gpt2, , false)
IN_DTYPES(llama, , false)
IN_DTYPES(bottleneck, , false)
IN_DTYPES(minilm, , false)

/* Two steps of training (forward, loss, backward, optimizer), and a pass with what has been learnt. */
IN_DTYPES(gpt2, _training, true)
IN_DTYPES(llama, _training, true)
IN_DTYPES(bottleneck, _training, true)
