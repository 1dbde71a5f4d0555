/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the fast products and convolutions through the built plugin, as a host drives it: when oneDNN is loaded,
 * what a forked child computes, and that the bits of results do not depend on the number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <keyway/plugin.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A host ------------------------------------------------------------------------------------------------------ */

static kw_kernel_desc kernels[1024];
static uint32_t kernel_count;
static uint32_t thread_count = 1;

static kw_status host_text(void *ctx, kw_status status, const char *message) {
  (void)ctx;
  (void)message;
  return status;
}

static kw_status host_log(void *ctx, kw_log_level level, const char *message) {
  (void)ctx;
  (void)level;
  (void)message;
  return KW_OK;
}

static kw_status host_register(void *ctx, const kw_kernel_desc *kernel) {
  (void)ctx;
  assert_true(kernel_count < sizeof kernels / sizeof *kernels);
  kernels[kernel_count++] = *kernel;
  return KW_OK;
}

static kw_status host_threads(void *ctx, uint32_t *out_count) {
  (void)ctx;
  *out_count = thread_count;
  return KW_OK;
}

/* Every thread_count-th piece of a loop. */
typedef struct share {
  int64_t first, n, piece;
  kw_range_fn body;
  void *user;
} share;

static void *run_share(void *argument) {
  const share *s = argument;
  for (int64_t begin = s->first * s->piece; begin < s->n; begin += thread_count * s->piece) {
    s->body(s->user, begin, s->n - begin < s->piece ? s->n : begin + s->piece);
  }
  return NULL;
}

static kw_status host_parallel_for(void *ctx, int64_t n, int64_t grain, kw_range_fn body, void *user) {
  (void)ctx;
  share shares[8] = {{0}};
  pthread_t threads[8];
  const int64_t even = n / thread_count + 1;
  for (uint32_t i = 0; i < thread_count; i++) {
    shares[i] = (share){.first = i, .n = n, .piece = even > grain ? even : grain, .body = body, .user = user};
    if (i > 0) assert_int_equal(pthread_create(&threads[i], NULL, run_share, &shares[i]), 0);
  }
  run_share(&shares[0]);
  for (uint32_t i = 1; i < thread_count; i++) pthread_join(threads[i], NULL);
  return KW_OK;
}

static const kw_host_api host_api = {.struct_size = sizeof host_api,
                                     .abi_version = KW_ABI_VERSION,
                                     .set_error = host_text,
                                     .log = host_log,
                                     .register_kernel = host_register,
                                     .parallel_for = host_parallel_for,
                                     .thread_count = host_threads};

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

static const kw_plugin_desc *plugin;
static void *plugin_state, *device, *stream;

static const void *group(const char *name) {
  for (uint32_t i = 0; i < plugin->group_count; i++) {
    if (strcmp(plugin->groups[i].name, name) == 0) return plugin->groups[i].table;
  }
  fail_msg("no group %s", name);
  return NULL;
}

static int open_device(void **state) {
  (void)state;
  void *library = dlopen(KEYWAY_CPU_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  kw_query_info info = {
      .struct_size = sizeof info, .abi_min = KW_ABI_VERSION_MIN, .abi_max = KW_ABI_VERSION, .host_version = "test"};
  const char *reason = NULL;
  assert_int_equal(query(&info, &plugin, &reason), KW_OK);
  assert_int_equal(plugin->init(&host_api, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin_state), KW_OK);
  const kw_device_api *devices = group(KW_GROUP_DEVICE);
  const kw_stream_api *streams = group(KW_GROUP_STREAM);
  assert_int_equal(devices->open(plugin_state, 0, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &device),
                   KW_OK);
  kw_stream_info stream_info = {.struct_size = sizeof stream_info, .flags = KW_STREAM_DEFAULT, .token = 1};
  assert_int_equal(streams->create(device, &stream_info, &stream), KW_OK);
  return 0;
}

static int close_device(void **state) {
  (void)state;
  ((const kw_stream_api *)group(KW_GROUP_STREAM))->destroy(device, stream);
  ((const kw_device_api *)group(KW_GROUP_DEVICE))->close(device);
  plugin->shutdown(plugin_state);
  return 0;
}

static bool is_mapped(const char *name) {
  char line[4096];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps)) found = found || strstr(line, name);
  fclose(maps);
  return found;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static kw_tensor_ref tensor(kw_dtype dtype, void *mem, uint32_t rank, const int64_t *shape) {
  kw_tensor_ref t = {.struct_size = sizeof t, .dtype = dtype, .rank = (uint8_t)rank, .numel = 1, .mem = mem};
  for (uint32_t d = rank; d-- > 0;) {
    t.shape[d] = shape[d];
    t.strides[d] = t.numel;
    t.numel *= shape[d];
  }
  return t;
}

static kw_value tensor_arg(const kw_tensor_ref *t) {
  return (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = t};
}

static kw_value number(double value) {
  return (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64, .u.f = value};
}

static kw_value ints(const int64_t *list, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = list};
}

/* By the fast kernel, or where that does not serve the call, and in any case with `name`, another. */
static void call_kernel(const char *op, const char *name, const kw_value *args, uint32_t arg_count,
                        const kw_tensor_ref *out) {
  for (uint32_t i = kernel_count; i-- > 0;) {
    const kw_kernel_desc *kernel = &kernels[i];
    if (strcmp(kernel->op, op) != 0 || !kw_dtype_mask_has(kernel->dtypes, out->dtype)) continue;
    if (name && strcmp(kernel->name, name) != 0) continue;
    kw_call call = {.struct_size = sizeof call, .arg_count = arg_count, .out_count = 1, .op = op, .args = args};
    call.device = device;
    call.user = kernel->user;
    call.outs = &out;
    if (kernel->can_implement(&call) != KW_OK) continue;
    if (kernel->prepare && kernel->prepare(&call, &call.prepared) != KW_OK) continue;
    call.stream = stream;
    assert_int_equal(kernel->launch(&call), KW_OK);
    if (kernel->release) assert_int_equal(kernel->release(kernel->user, call.prepared), KW_OK);
    return;
  }
  fail_msg("no kernel of %s", op);
}

/* Elements that are not alike, small, and numbers in any dtype. */
static void fill(kw_dtype dtype, void *mem, int64_t count) {
  uint32_t state = 1;
  for (int64_t i = 0; i < count; i++) {
    state = state * 1664525 + 1013904223;
    const float value = (float)(state >> 8) / 0x1p24f - 0.5f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (dtype == KW_F64) ((double *)mem)[i] = (double)value;
    if (dtype == KW_F32) ((float *)mem)[i] = value;
    if (dtype == KW_BF16) ((uint16_t *)mem)[i] = (uint16_t)(bits >> 16);
    if (dtype == KW_F16) ((uint16_t *)mem)[i] = (uint16_t)(0x2c00 | (bits & 0x83ff)); /* between 1/16 and 1/8 */
  }
}

static size_t size_of(kw_dtype dtype) {
  return dtype == KW_F64 ? sizeof(double) : dtype == KW_F32 ? sizeof(float) : sizeof(uint16_t);
}

/* A filled tensor in memory of its own. */
static kw_tensor_ref make(kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  kw_tensor_ref t = tensor(dtype, NULL, rank, shape);
  t.mem = malloc((size_t)t.numel * size_of(dtype));
  assert_non_null(t.mem);
  fill(dtype, t.mem, t.numel);
  return t;
}
#define MAKE(dtype, ...) make(dtype, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* addmm, [rows, k] x [k, columns], with `name` as for call_kernel. */
static kw_tensor_ref multiply(const char *name, kw_dtype dtype, int64_t rows, int64_t k, int64_t columns, bool turned) {
  kw_tensor_ref a = MAKE(dtype, rows, k), b = MAKE(dtype, k, columns), self = MAKE(dtype, columns);
  kw_tensor_ref out = MAKE(dtype, rows, columns);
  if (turned) {
    b.strides[0] = 1;
    b.strides[1] = k;
  }
  const kw_value args[] = {tensor_arg(&self), tensor_arg(&a), tensor_arg(&b), number(0.5), number(2)};
  call_kernel("addmm", name, args, 5, &out);
  free(a.mem);
  free(b.mem);
  free(self.mem);
  return out;
}

static kw_tensor_ref convolve(const char *name, kw_dtype dtype, int64_t images, int64_t channels, bool transposed) {
  const int64_t ones[] = {1, 1}, zeros[] = {0, 0};
  kw_tensor_ref input = MAKE(dtype, images, channels, 9, 10), weight = MAKE(dtype, channels, channels, 3, 3);
  kw_tensor_ref bias = MAKE(dtype, channels), out = MAKE(dtype, images, channels, 9, 10);
  const kw_value args[] = {tensor_arg(&input),
                           tensor_arg(&weight),
                           tensor_arg(&bias),
                           ints(ones, 2),
                           ints(ones, 2),
                           ints(ones, 2),
                           {.tag = KW_TAG_BOOL, .u.b = transposed},
                           ints(zeros, 2),
                           {.tag = KW_TAG_INT, .u.i = 1}};
  call_kernel("convolution", name, args, 9, &out);
  free(input.mem);
  free(weight.mem);
  free(bias.mem);
  return out;
}

static void assert_near(kw_tensor_ref got, kw_tensor_ref expected) {
  for (int64_t i = 0; i < got.numel; i++) {
    const float a = ((const float *)got.mem)[i], b = ((const float *)expected.mem)[i];
    if (!(fabsf(a - b) <= 1e-3f)) fail_msg("element %d is %g instead of %g", (int)i, (double)a, (double)b);
  }
  free(got.mem);
  free(expected.mem);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

/* First: nothing has been computed yet. */
static void is_loaded_by_the_first_product(void **state) {
  (void)state;
  static const char *const libraries[] = {"libdnnl", "libgomp", "libOpenCL"};
  for (size_t i = 0; i < 3; i++) assert_false(is_mapped(libraries[i]));
  assert_near(multiply(NULL, KW_F32, 40, 50, 60, false), multiply("reference", KW_F32, 40, 50, 60, false));
  if (is_mapped("libdnnl")) return;
  bool has_fast = false;
  for (uint32_t i = 0; i < kernel_count; i++) has_fast = has_fast || strcmp(kernels[i].name, "fast") == 0;
#ifdef KEYWAY_WITHOUT_ONEDNN
  has_fast = false;
#endif
  if (!has_fast || !dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL)) skip(); /* without it, or where it is not used */
  fail_msg("libdnnl.so.2 is installed, and the first product has not loaded it");
}

static void agrees_with_the_reference(void **state) {
  (void)state;
  thread_count = 2;
  for (int turned = 0; turned < 2; turned++) {
    assert_near(multiply(NULL, KW_F32, 700, 33, 70, turned), multiply("reference", KW_F32, 700, 33, 70, turned));
    assert_near(multiply(NULL, KW_F32, 1, 300, 70, turned), multiply("reference", KW_F32, 1, 300, 70, turned));
    assert_near(multiply(NULL, KW_F32, 7, 300, 5, turned), multiply("reference", KW_F32, 7, 300, 5, turned));
    assert_near(convolve(NULL, KW_F32, 3, 64, turned), convolve("reference", KW_F32, 3, 64, turned));
  }
}

static void computes_in_a_forked_child(void **state) {
  (void)state;
  thread_count = 2;
  free(multiply(NULL, KW_F32, 40, 50, 60, false).mem); /* so that there is something to inherit */
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    thread_count = 1;
    assert_near(multiply(NULL, KW_F32, 40, 50, 60, false), multiply("reference", KW_F32, 40, 50, 60, false));
    assert_near(convolve(NULL, KW_F32, 1, 16, false), convolve("reference", KW_F32, 1, 16, false));
    _exit(77); /* a failure would end otherwise */
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 77);
}

/* Of some result, made with 1, 2 and 7 threads. */
#define ASSERT_SAME_BITS(made)                                                       \
  do {                                                                               \
    static const uint32_t counts[] = {2, 7};                                         \
    thread_count = 1;                                                                \
    const kw_tensor_ref one = (made);                                                \
    for (size_t i = 0; i < 2; i++) {                                                 \
      thread_count = counts[i];                                                      \
      const kw_tensor_ref many = (made);                                             \
      assert_memory_equal(one.mem, many.mem, (size_t)one.numel *size_of(one.dtype)); \
      free(many.mem);                                                                \
    }                                                                                \
    free(one.mem);                                                                   \
  } while (0)

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F32, KW_F64, KW_BF16, KW_F16};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    for (int turned = 0; turned < 2; turned++) {
      ASSERT_SAME_BITS(multiply(NULL, dtypes[d], 333, 517, 250, turned));
      ASSERT_SAME_BITS(multiply(NULL, dtypes[d], 1, 1033, 777, turned));
      ASSERT_SAME_BITS(multiply(NULL, dtypes[d], 5, 1033, 777, turned));
      if (dtypes[d] != KW_F64) ASSERT_SAME_BITS(convolve(NULL, dtypes[d], 2, 64, turned));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(is_loaded_by_the_first_product),
      cmocka_unit_test(agrees_with_the_reference),
      cmocka_unit_test(computes_in_a_forked_child),
      cmocka_unit_test(bits_do_not_depend_on_threads),
  };
  return cmocka_run_group_tests(tests, open_device, close_device);
}
