/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs share: tensors that an independent library has recorded (record.py says how), ops called by name,
 * results compared with those recorded.
 *
 * An error ends the program with exit status 1, or 2 where the command line is wrong or names a device or a file that
 * is not there. Tensors that these functions return belong to the model and live until model_close. Not thread-safe.
 */
#ifndef MODEL_H
#define MODEL_H

#include <keyway/keyway.h>

#include <stdbool.h>
#include <stddef.h>

enum { MODEL_NAME = 64 }; /* bytes of a tensor's name, with its NUL */

struct model_tensor {
  char name[MODEL_NAME];
  kw_dtype dtype;
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  size_t numel;
  void *recorded;      /* dense, on the host */
  kw_tensor *tensor;   /* on the device; NULL until it is asked for */
  kw_tensor *gradient; /* NULL until model_set_gradient */
};

struct model {
  const char *name;
  bool train; /* take a training step; otherwise inference */
  kw_device *device;
  struct model_tensor *tensors;
  size_t tensor_count;
  kw_tensor **owned;
  size_t owned_count;
  unsigned checked, wrong;
};

/* Reads the command line, `[--device NAME] [--plugin FILE]... [--recorded DIR] [--train] [MODEL]`, opens the device and
 * reads DIR/MODEL.tensors. MODEL is one of `names`, which ends with NULL, and need not be given if there is but one.
 * --help prints `usage` and exits. */
void model_open(struct model *model, int argc, char **argv, const char *usage, const char *const *names);
/* Says how many tensors agreed, frees everything. Returns the program's exit status: 1 if any did not. */
int model_close(struct model *model);

/* Whether a tensor of that name is recorded; the name as in printf. */
bool model_has(const struct model *model, const char *name, ...) __attribute__((format(printf, 2, 3)));
/* The recorded tensor of that name, on the device; the same at each call. */
kw_tensor *model_get(struct model *model, const char *name, ...) __attribute__((format(printf, 2, 3)));
/* Compares `tensor` with the recorded one of that name and prints a line. They agree if they have one shape and no
 * element is further off than MODEL_BOUND times the largest magnitude recorded. */
void model_check(struct model *model, const kw_tensor *tensor, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
/* `gradient` is that of the loss by the parameter of that name: compares it with the recorded "grad NAME" and keeps it
 * for the optimizer. */
void model_set_gradient(struct model *model, kw_tensor *gradient, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

/* The parameters that have a gradient, and those gradients: what an optimizer wants. Returns how many, at most
 * MODEL_PARAMETERS. */
enum { MODEL_PARAMETERS = 32 };
uint32_t model_get_parameters(const struct model *model, kw_tensor *out_parameters[MODEL_PARAMETERS],
                              kw_tensor *out_gradients[MODEL_PARAMETERS]);
/* Compares those parameters, changed by the optimizer, with the recorded "next NAME". */
void model_check_parameters(struct model *model);

/* Recorded values were computed in f64. In f32, whose eps is 1.2e-7, these small models lose some units of that in any
 * order of summation; with products in a 10-bit mantissa (5e-4) they do not stay within this. */
#define MODEL_BOUND 1e-5

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
/* A tensor full of one number. */
kw_tensor *model_full(struct model *model, uint32_t rank, const int64_t *shape, double value);
/* An argument that is a list of ints, of bools as 0 and 1. */
#define MODEL_INTS(...) \
  kw_arg_int_list((const int64_t[]){__VA_ARGS__}, (uint32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

/* Views: see kw_tensor_view, kw_tensor_transpose and kw_tensor_slice. */
kw_tensor *model_view(struct model *model, const kw_tensor *tensor, uint32_t rank, const int64_t *shape);
kw_tensor *model_transpose(struct model *model, const kw_tensor *tensor, int64_t dim0, int64_t dim1);
kw_tensor *model_slice(struct model *model, const kw_tensor *tensor, int64_t dim, int64_t start, int64_t end);

#endif /* MODEL_H */
