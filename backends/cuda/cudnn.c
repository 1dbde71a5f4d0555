/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution and its gradients by cuDNN. They have not run on hardware yet and are off (docs/hardware-pending.md):
 * KEYWAY_KERNELS=convolution=cudnn. Sums are taken in f32, without TF32, which is a kernel of its own (cudnn_tf32 where
 * KEYWAY_MATH allows it), and by products as the op means them: of cuDNN's algorithms neither those that transform
 * first (Winograd, FFT) nor those whose sums depend on the order in which things happen.
 *
 * `places` has an element for each place of the window, `field` is what the window moves over: a convolution goes from
 * the field to the places, a transposed one from the places to the field, which to cuDNN is a gradient.
 */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- The library ------------------------------------------------------------------------------------------------- */

enum { FIELD, WEIGHT, PLACES, ROLES };
enum { TYPE_F32 = 0, TYPE_F16 = 2, TYPE_BF16 = 9, CROSS_CORRELATION = 1 };
enum { CHANNELS_FIRST = 0, CHANNELS_LAST = 1 };
enum { MATH_DEFAULT = 0, MATH_TENSOR_CORES = 1, MATH_EXACT = 3 }; /* of f32 the default is TF32 */

typedef int size_fn(void *handle, void *left, void *right, void *convolution, void *out, int algorithm, size_t *size);
typedef int run_fn(void *handle, const void *alpha, void *left, const void *left_data, void *right,
                   const void *right_data, void *convolution, int algorithm, void *workspace, size_t workspace_size,
                   const void *beta, void *out, void *out_data);

static struct {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*set_stream)(void *handle, void *stream);
  const char *(*error_text)(int error);
  int (*tensor_create)(void **tensor);
  int (*tensor_set)(void *tensor, int type, int rank, const int *shape, const int *strides);
  int (*tensor_destroy)(void *tensor);
  int (*filter_create)(void **filter);
  int (*filter_set)(void *filter, int type, int format, int rank, const int *shape);
  int (*filter_destroy)(void *filter);
  int (*convolution_create)(void **convolution);
  int (*convolution_set)(void *convolution, int dims, const int *padding, const int *stride, const int *dilation,
                         int mode, int compute_type);
  int (*convolution_groups)(void *convolution, int groups);
  int (*convolution_math)(void *convolution, int math);
  int (*convolution_destroy)(void *convolution);
  size_fn *size[ROLES]; /* by what comes out */
  run_fn *run[ROLES];
  int (*add)(void *handle, const void *alpha, void *tensor, const void *data, const void *beta, void *out,
             void *out_data);
  int (*sum_channels)(void *handle, const void *alpha, void *tensor, const void *data, const void *beta, void *out,
                      void *out_data);
} dnn;

static const kw_rt_own_call calls[] = {
    {"cudnnCreate", &dnn.create},
    {"cudnnDestroy", &dnn.destroy},
    {"cudnnSetStream", &dnn.set_stream},
    {"cudnnGetErrorString", &dnn.error_text},
    {"cudnnCreateTensorDescriptor", &dnn.tensor_create},
    {"cudnnSetTensorNdDescriptor", &dnn.tensor_set},
    {"cudnnDestroyTensorDescriptor", &dnn.tensor_destroy},
    {"cudnnCreateFilterDescriptor", &dnn.filter_create},
    {"cudnnSetFilterNdDescriptor", &dnn.filter_set},
    {"cudnnDestroyFilterDescriptor", &dnn.filter_destroy},
    {"cudnnCreateConvolutionDescriptor", &dnn.convolution_create},
    {"cudnnSetConvolutionNdDescriptor", &dnn.convolution_set},
    {"cudnnSetConvolutionGroupCount", &dnn.convolution_groups},
    {"cudnnSetConvolutionMathType", &dnn.convolution_math},
    {"cudnnDestroyConvolutionDescriptor", &dnn.convolution_destroy},
    {"cudnnGetConvolutionBackwardDataWorkspaceSize", &dnn.size[FIELD]},
    {"cudnnGetConvolutionBackwardFilterWorkspaceSize", &dnn.size[WEIGHT]},
    {"cudnnGetConvolutionForwardWorkspaceSize", &dnn.size[PLACES]},
    {"cudnnConvolutionBackwardData", &dnn.run[FIELD]},
    {"cudnnConvolutionBackwardFilter", &dnn.run[WEIGHT]},
    {"cudnnConvolutionForward", &dnn.run[PLACES]},
    {"cudnnAddTensor", &dnn.add},
    {"cudnnConvolutionBackwardBias", &dnn.sum_channels},
    {NULL, NULL},
};

/* Each of the three is made of the other two, in cuDNN's order; by the first algorithm that takes them. */
static const struct {
  int left, right;
  int algorithms[2];
} products[ROLES] = {
    [FIELD] = {WEIGHT, PLACES, {1, 1}},
    [WEIGHT] = {FIELD, PLACES, {1, 1}},
    [PLACES] = {FIELD, WEIGHT, {1, 0}}, /* indices into the field computed ahead, or on the way */
};

static const char *const files[] = {"libcudnn.so.9", "libcudnn.so", "/usr/local/cuda/lib64/libcudnn.so", NULL};
static kw_rt_library library = {.name = "cuDNN",
                                .files = files,
                                .calls = calls,
                                .create = &dnn.create,
                                .destroy = &dnn.destroy,
                                .error_text = &dnn.error_text};

static bool is_not_supported(int error) {
  return error / 1000 == 3; /* for one reason or another */
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

#define SPATIAL 3
#define RANK (2 + SPATIAL)

typedef struct convolution {
  const kw_tensor_ref *in[ROLES], *out[ROLES]; /* NULL where there is none; alike but for what they hold */
  int result;                                  /* whether the op's result is FIELD or PLACES */
  const kw_tensor_ref *bias, *bias_gradient;   /* or NULL */
  int type, math;
  int format, rank; /* of a single spatial dimension there is a second, of size 1 */
  int shape[ROLES][RANK], strides[ROLES][RANK];
  int padding[SPATIAL], stride[SPATIAL], dilation[SPATIAL], groups;
} convolution;

/* What is left out stands before the spatial dimensions that there are. */
static bool read_shape(convolution *c, int role, const kw_tensor_ref *ref) {
  int *shape = c->shape[role], *strides = c->strides[role];
  int64_t step = 1;
  if (ref->numel == 0 || ref->numel > INT32_MAX) return false;
  for (int d = 0; d < c->rank; ++d) {
    const int from = d < 2 ? d : d - c->rank + ref->rank;
    shape[d] = d >= 2 && from < 2 ? 1 : (int)ref->shape[from];
  }
  for (int i = c->rank - 1; i >= 0; --i) {
    const int d = c->format == CHANNELS_FIRST || i == 0 ? i : i == c->rank - 1 ? 1 : i + 1;
    const int from = d < 2 ? d : d - c->rank + ref->rank;
    if (shape[d] > 1 && ref->strides[from] != step) return false;
    strides[d] = (int)step;
    step *= shape[d];
  }
  return true;
}

static bool read_shapes(convolution *c, int format) {
  c->format = format;
  for (int role = 0; role < ROLES; ++role) {
    if (c->in[role] && !read_shape(c, role, c->in[role])) return false;
    if (c->out[role] && !read_shape(c, role, c->out[role])) return false;
  }
  return true;
}

/* One number for each spatial dimension of the call, or one for all. */
static bool read_list(const convolution *c, const kw_value *list, int given, int missing, int *out) {
  for (int d = 0; d < c->rank - 2; ++d) {
    const int at = d - (c->rank - 2 - given);
    const int64_t number = at < 0 ? missing : list->u.ints[list->count == 1 ? 0 : at];
    if (number < 0 || number > INT32_MAX) return false;
    out[d] = (int)number;
  }
  return true;
}

/* cuDNN counts the places by itself, and output_padding may have made the field so large that there is another. */
static bool counts_agree(const convolution *c) {
  for (int d = 0; d < c->rank - 2; ++d) {
    const int64_t window = 1 + (int64_t)c->dilation[d] * (c->shape[WEIGHT][2 + d] - 1);
    const int64_t room = c->shape[FIELD][2 + d] + 2 * (int64_t)c->padding[d] - window;
    if (room < 0 || room / c->stride[d] + 1 != c->shape[PLACES][2 + d]) return false;
  }
  return true;
}

static bool is_dense(const kw_tensor_ref *vector) {
  return !vector || vector->numel == 1 || vector->strides[0] == 1;
}

static const char tf32_name[] = "cudnn_tf32"; /* of the kernel, and its user */

static void read_type(const kw_call *call, kw_dtype dtype, convolution *c) {
  c->type = dtype == KW_F16 ? TYPE_F16 : dtype == KW_BF16 ? TYPE_BF16 : TYPE_F32;
  c->math = dtype != KW_F32 ? MATH_TENSOR_CORES : call->user == tf32_name ? MATH_DEFAULT : MATH_EXACT;
}

/* False when cuDNN has no words for it. */
static bool read_convolution(const kw_call *call, convolution *c) {
  const bool backward = strcmp(call->op, "convolution_backward") == 0;
  const kw_value *tensors = call->args + (backward ? 1 : 0), *numbers = call->args + (backward ? 4 : 3);
  const kw_tensor_ref *input = tensors[0].u.tensor, *weight = tensors[1].u.tensor;
  const bool transposed = numbers[3].u.b;
  const int from = transposed ? PLACES : FIELD, to = transposed ? FIELD : PLACES, given = input->rank - 2;
  *c = (convolution){.result = to, .rank = input->rank < 4 ? 4 : input->rank};
  read_type(call, input->dtype, c);
  c->in[from] = input;
  c->in[WEIGHT] = weight;
  if (backward) {
    c->in[to] = call->args[0].u.tensor;
    c->out[from] = call->outs[0];
    c->out[WEIGHT] = call->outs[1];
    c->bias_gradient = call->outs[2];
  } else {
    c->out[to] = call->outs[0];
    c->bias = tensors[2].tag == KW_TAG_TENSOR ? tensors[2].u.tensor : NULL;
  }
  const int64_t groups = numbers[5].u.i;
  c->groups = (int)groups;
  return groups <= INT32_MAX && read_list(c, &numbers[0], given, 1, c->stride) &&
         read_list(c, &numbers[1], given, 0, c->padding) && read_list(c, &numbers[2], given, 1, c->dilation) &&
         is_dense(c->bias) && is_dense(c->bias_gradient) &&
         (read_shapes(c, CHANNELS_FIRST) || read_shapes(c, CHANNELS_LAST)) && counts_agree(c);
}

static kw_status can_implement(const kw_call *call) {
  convolution c;
  kw_status status = kw_rt_library_find(&library, call);
  if (status != KW_OK) return status;
  return read_convolution(call, &c)
             ? KW_OK
             : kw_rt_library_refuse(&library, call,
                                    "wants dense tensors, all with channels first or all with channels last, of less "
                                    "than 2^31 elements");
}

/* ---- Ahead of the launch ----------------------------------------------------------------------------------------- */

typedef struct prepared {
  void *handle;
  void *described[ROLES], *bias, *convolution;
  int algorithm[ROLES]; /* by what comes out */
  size_t workspace[ROLES];
} prepared;

static void discard(prepared *p) {
  for (int role = 0; role < ROLES; ++role)
    if (p->described[role]) (role == WEIGHT ? dnn.filter_destroy : dnn.tensor_destroy)(p->described[role]);
  if (p->bias) dnn.tensor_destroy(p->bias);
  if (p->convolution) dnn.convolution_destroy(p->convolution);
  free(p);
}

static int describe(prepared *p, const convolution *c) {
  const int channels = c->shape[c->result][1], bias_shape[RANK] = {1, channels, 1, 1, 1};
  const int bias_strides[RANK] = {channels, 1, 1, 1, 1};
  int error = 0;
  for (int role = 0; role < ROLES && !error; ++role) {
    error = (role == WEIGHT ? dnn.filter_create : dnn.tensor_create)(&p->described[role]);
    if (error) return error;
    error = role == WEIGHT ? dnn.filter_set(p->described[role], c->type, c->format, c->rank, c->shape[role])
                           : dnn.tensor_set(p->described[role], c->type, c->rank, c->shape[role], c->strides[role]);
  }
  if (!error) error = dnn.tensor_create(&p->bias);
  if (!error) error = dnn.tensor_set(p->bias, c->type, c->rank, bias_shape, bias_strides);
  if (!error) error = dnn.convolution_create(&p->convolution);
  if (!error)
    error = dnn.convolution_set(p->convolution, c->rank - 2, c->padding, c->stride, c->dilation, CROSS_CORRELATION,
                                TYPE_F32);
  if (!error) error = dnn.convolution_groups(p->convolution, c->groups);
  if (!error) error = dnn.convolution_math(p->convolution, c->math);
  return error;
}

static int choose(prepared *p, int role) {
  void *const *described = p->described;
  int error = 0;
  for (int i = 0; i < 2; ++i) {
    p->algorithm[role] = products[role].algorithms[i];
    error = dnn.size[role](p->handle, described[products[role].left], described[products[role].right], p->convolution,
                           described[role], p->algorithm[role], &p->workspace[role]);
    if (!is_not_supported(error)) break;
  }
  return error;
}

static int fill(prepared *p, const convolution *c) {
  int error = describe(p, c);
  for (int role = 0; role < ROLES && !error; ++role)
    if (c->out[role]) error = choose(p, role);
  return error;
}

static kw_status make(const kw_call *call, prepared **out) {
  const kw_rt_device *device = call->device;
  convolution c;
  prepared *p = calloc(1, sizeof *p);
  if (!p) return kw_rt_no_memory(device->base.host, "a convolution");
  read_convolution(call, &c); /* can_implement has seen it */
  kw_status status = kw_rt_library_handle(&library, call, &p->handle);
  if (status == KW_OK) {
    void *before = kw_rt_backend_runtime.enter(device);
    const int error = fill(p, &c);
    kw_rt_backend_runtime.leave(before);
    if (is_not_supported(error)) {
      status = kw_rt_library_refuse(&library, call, "has no algorithm for this convolution");
    } else if (error) {
      status = kw_rt_library_fail(&library, call, "making a convolution", error);
    }
  }
  if (status == KW_OK) {
    *out = p;
  } else {
    discard(p);
  }
  return status;
}

/* Products run one behind the other, in the same workspace. */
static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  prepared *p;
  kw_status status = make(call, &p);
  if (status != KW_OK) return status;
  uint64_t most = 0;
  for (int role = 0; role < ROLES; ++role)
    if (p->workspace[role] > most) most = p->workspace[role];
  discard(p);
  *out_size = most > 0 ? most + KW_RT_WORKSPACE_ALIGNMENT : 0;
  return KW_OK;
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  prepared *p;
  kw_status status = make(call, &p);
  if (status == KW_OK) *out_prepared = p;
  return status;
}

static kw_status release(void *user, void *state) {
  (void)user;
  discard(state);
  return KW_OK;
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

static const float zero = 0, one = 1;

static int run(const prepared *p, const convolution *c, const kw_call *call) {
  void *const *described = p->described;
  void *workspace = kw_rt_workspace(call);
  int error = dnn.set_stream(p->handle, ((kw_gpu_stream *)call->stream)->handle);
  /* The bias first, so that the sum with it is rounded once. */
  if (!error && c->bias)
    error = dnn.add(p->handle, &one, p->bias, kw_rt_address(c->bias), &zero, described[c->result],
                    kw_rt_address(c->out[c->result]));
  for (int role = 0; role < ROLES && !error; ++role) {
    const int left = products[role].left, right = products[role].right;
    if (!c->out[role]) continue;
    error = dnn.run[role](p->handle, &one, described[left], kw_rt_address(c->in[left]), described[right],
                          kw_rt_address(c->in[right]), p->convolution, p->algorithm[role], workspace,
                          p->workspace[role], c->bias ? &one : &zero, described[role], kw_rt_address(c->out[role]));
  }
  if (!error && c->bias_gradient)
    error = dnn.sum_channels(p->handle, &one, described[c->result], kw_rt_address(c->in[c->result]), &zero, p->bias,
                             kw_rt_address(c->bias_gradient));
  return error;
}

/* A handle has one stream at a time. */
static kw_status launch(const kw_call *call) {
  kw_rt_device *device = call->device;
  convolution c;
  read_convolution(call, &c);
  void *before = kw_rt_backend_runtime.enter(device);
  const kw_rt_span span = kw_rt_span_begin(call->stream);
  pthread_mutex_lock(&device->base.lock);
  const int error = run(call->prepared, &c, call);
  pthread_mutex_unlock(&device->base.lock);
  kw_rt_span_end(&span, KW_ACTIVITY_LAUNCH, call->call_id, error);
  kw_rt_backend_runtime.leave(before);
  if (error) return kw_rt_library_fail(&library, call, "running a convolution", error);
  atomic_store(&((kw_rt_stream *)call->stream)->last_call, call->call_id);
  return KW_OK;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static kw_status register_kernel(const kw_host_api *host, const char *op, uint32_t known_args, const char *name,
                                 uint64_t dtypes, kw_math_mode needs) {
  const kw_kernel_desc desc = {.math_needs = needs,
                               .flags = KW_KERNEL_DETERMINISTIC,
                               .op = op,
                               .name = name,
                               .dtypes = {{dtypes, 0}},
                               .known_args = known_args,
                               .user = (void *)(uintptr_t)name,
                               .can_implement = can_implement,
                               .workspace_size = workspace_size,
                               .prepare = prepare,
                               .launch = launch,
                               .release = release};
  return kw_rt_library_register(host, desc);
}

kw_status cuda_cudnn_register(const kw_host_api *host) {
  static const struct {
    const char *op;
    uint32_t known_args;
  } ops[] = {{"convolution", 9}, {"convolution_backward", 11}};
  const uint64_t f32 = KW_DTYPES_F32, all = KW_DTYPES_FLOAT32;
  kw_status status = KW_OK;
  for (size_t i = 0; i < sizeof ops / sizeof ops[0] && status == KW_OK; ++i) {
    status = register_kernel(host, ops[i].op, ops[i].known_args, "cudnn", all, KW_MATH_HIGHEST);
    if (status == KW_OK) status = register_kernel(host, ops[i].op, ops[i].known_args, tf32_name, f32, KW_MATH_TF32);
  }
  return status;
}
