/* SPDX-License-Identifier: Apache-2.0
 *
 * What the models share: the tensors they compute with, ops called by name, and results compared with what an
 * independent library has recorded (record.py says how).
 *
 * Tensors that these functions return belong to the model and live until model_close, or until model_forget where that
 * is said. Not thread-safe.
 */
#ifndef MODEL_H
#define MODEL_H

#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

enum { MODEL_NAME = 64, MODEL_PARAMETERS = 32, MODEL_RESULTS = 8, MODEL_LACKING = 512, MODEL_ERROR = 1024 };

struct model_tensor {
  char name[MODEL_NAME];
  kw_dtype dtype;
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  size_t numel;
  void *recorded; /* dense, on the host; NULL where elements are drawn */
  int mean, most, exponent;
  kw_tensor *tensor;   /* on the device; NULL until it is asked for */
  kw_tensor *gradient; /* NULL until model_set_gradient */
};

/* A tensor was compared: how far it is off, relative to what is recorded, and how far it may be. */
struct model_result {
  char name[MODEL_NAME];
  double error, bound;
};

struct model {
  const char *name;
  bool train; /* take a training step; otherwise inference */
  bool dry;   /* compute nothing, and find out which ops the device lacks */
  int step;   /* of training, from 1 on; 0: inference */
  kw_device *device;
  kw_dtype dtype; /* of parameters, inputs and results: KW_F32, KW_F16 or KW_BF16 */
  struct model_tensor *tensors;
  size_t tensor_count;
  kw_tensor **owned;
  size_t owned_count;
  kw_tensor *averages[2][MODEL_PARAMETERS]; /* that an optimizer keeps from step to step */
  struct model_result *results;
  size_t checked, wrong;
  char lacking[MODEL_LACKING]; /* the ops that the device lacks, "mm, gelu", where the run is dry */
  kw_status status;            /* of the last model_read or model_run */
  char error[MODEL_ERROR];     /* what went wrong there */
  jmp_buf *escape;             /* out of there */
};

/* ---- Running ---- */

/* Takes the tensors out of what is recorded for the model (a file as record.py writes it). `model` has name, device and
 * dtype; the rest is 0. Other statuses than KW_OK have their text in model->error. */
kw_status model_read(struct model *model, const void *bytes, size_t size);
/* Runs it: a pass; or two training steps and a pass with what has been learnt. The results stand in the model. */
kw_status model_run(struct model *model);
/* Lets go of what the last calls of ops have made; parameters and averages stay. */
void model_release_temporaries(struct model *model);
/* Lets go of the tensors on the device: the model may run again. */
void model_forget(struct model *model);
/* Frees everything but the device. */
void model_close(struct model *model);

/* The models, each called by model_run. */
void model_pass_gpt2(struct model *model);
void model_pass_llama(struct model *model);
void model_optimize_decoder(struct model *model);
void model_pass_bottleneck(struct model *model);
void model_optimize_bottleneck(struct model *model);
void model_pass_minilm(struct model *model);

/* ---- For models ---- */

/* Ends what is under way: a call of Keyway's has failed, or what is recorded is not what the model needs. */
void model_fail(struct model *model, kw_status status, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* Whether a tensor of that name is recorded; the name as in printf. */
bool model_has(const struct model *model, const char *name, ...) __attribute__((format(printf, 2, 3)));
/* The recorded tensor of that name, on the device; the same at each call. */
kw_tensor *model_get(struct model *model, const char *name, ...) __attribute__((format(printf, 2, 3)));
/* A recorded whole number: element `index` of "sizes". */
int64_t model_size(struct model *model, size_t index);
/* Compares `tensor` with the recorded one of that name. They agree if they have one shape and dtype, and the norm of
 * the difference is at most MODEL_FACTOR times what it is after honest rounding, which is recorded, too. In the second
 * step, and the pass behind it, "second NAME" and "third NAME", where they are recorded. */
void model_check(struct model *model, const kw_tensor *tensor, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
/* `gradient` is that of the loss by the parameter of that name: compares it with the recorded "grad NAME" and keeps it
 * for the optimizer. */
void model_set_gradient(struct model *model, kw_tensor *gradient, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

/* The parameters that have a gradient, and those gradients: what an optimizer wants. Returns how many, at most
 * MODEL_PARAMETERS. */
uint32_t model_get_parameters(struct model *model, kw_tensor *out_parameters[MODEL_PARAMETERS],
                              kw_tensor *out_gradients[MODEL_PARAMETERS]);
/* An average of each of these parameters, kept from step to step; full of `value` at first. */
kw_tensor **model_get_averages(struct model *model, int which, kw_tensor *const *parameters, uint32_t count,
                               double value);
/* Compares those parameters, changed by the optimizer, with the recorded "next NAME". */
void model_check_parameters(struct model *model);

/* By how much the error may exceed that of honest rounding: the largest of four million draws of a normal distribution
 * lies within 5 times its deviation, and where errors are not independent a norm is no surer than a single number. */
#define MODEL_FACTOR 5

/* Calls an op on the model's device; outs[0 .. out_count - 1] are its results, NULL where there is none. */
void model_call(struct model *model, const char *op, const kw_value *args, uint32_t arg_count, kw_tensor **outs,
                uint32_t out_count);
kw_tensor *model_call_one(struct model *model, const char *op, const kw_value *args, uint32_t arg_count);

/* The same with the arguments, kw_value each, written one after the other:
 *     kw_tensor *y = MODEL_OP(model, "relu", kw_arg_tensor(x));
 *     kw_tensor *outs[3];
 *     MODEL_OPS(model, outs, "native_layer_norm", kw_arg_tensor(x), ...); */
#define MODEL_OP(model, op, ...) model_call_one(model, op, MODEL_ARGS(__VA_ARGS__))
#define MODEL_OPS(model, outs, op, ...) \
  model_call(model, op, MODEL_ARGS(__VA_ARGS__), outs, (uint32_t)(sizeof(outs) / sizeof *(outs)))
#define MODEL_ARGS(...) \
  (const kw_value[]){__VA_ARGS__}, (uint32_t)(sizeof((const kw_value[]){__VA_ARGS__}) / sizeof(kw_value))
/* A tensor full of one number, of the model's dtype or another. */
kw_tensor *model_full(struct model *model, kw_dtype dtype, uint32_t rank, const int64_t *shape, double value);
/* An argument that is a list of ints, of bools as 0 and 1. */
#define MODEL_INTS(...) \
  kw_arg_int_list((const int64_t[]){__VA_ARGS__}, (uint32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

/* Views: see kw_tensor_view, kw_tensor_transpose and kw_tensor_slice. */
kw_tensor *model_view(struct model *model, const kw_tensor *tensor, uint32_t rank, const int64_t *shape);
kw_tensor *model_transpose(struct model *model, const kw_tensor *tensor, int64_t dim0, int64_t dim1);
kw_tensor *model_slice(struct model *model, const kw_tensor *tensor, int64_t dim, int64_t start, int64_t end);

#endif /* MODEL_H */
