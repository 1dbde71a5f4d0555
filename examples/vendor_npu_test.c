/* SPDX-License-Identifier: Apache-2.0
 *
 * The example vendor, driven through its tables by a small host of the test's own: what a vendor may test before
 * Keyway itself comes into play. VENDOR_NPU is the path of the plugin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_host.h"

enum { TOKEN_STREAM = 77, TOKEN_OTHER = 78 };

/* ---- The plugin under test, opened ------------------------------------------------------------------------------ */

typedef struct opened {
  void *library;
  kw_query_fn query;
  const kw_plugin_desc *desc;
  void *plugin, *device, *stream;
  const kw_device_api *devices;
  const kw_memory_api *memory;
  const kw_stream_api *streams;
} opened;

static const kw_query_info current_host = {.struct_size = sizeof(kw_query_info),
                                           .abi_min = KW_ABI_VERSION_MIN,
                                           .abi_max = KW_ABI_VERSION,
                                           .host_version = "test"};

static const void *group_table(const kw_plugin_desc *desc, const char *name) {
  for (uint32_t i = 0; i < desc->group_count; ++i) {
    if (strcmp(desc->groups[i].name, name) == 0) {
      return desc->groups[i].table;
    }
  }
  return NULL;
}

static void open_with(opened *o, const kw_host_api *host) {
  const char *reason = "";
  memset(&seen, 0, sizeof seen);
  sem_init(&seen.gate, 0, 0);
  sem_init(&seen.entered, 0, 0);
  o->library = dlopen(VENDOR_NPU, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(o->library);
  *(void **)&o->query = dlsym(o->library, KW_QUERY_SYMBOL);
  assert_non_null(o->query);
  assert_int_equal(o->query(&current_host, &o->desc, &reason), KW_OK);
  assert_int_equal(o->desc->probe(&reason), KW_OK);
  assert_int_equal(o->desc->init(host, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &o->plugin), KW_OK);
  o->devices = group_table(o->desc, KW_GROUP_DEVICE);
  o->memory = group_table(o->desc, KW_GROUP_MEMORY);
  o->streams = group_table(o->desc, KW_GROUP_STREAM);
  assert_int_equal(o->devices->open(o->plugin, 0, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &o->device),
                   KW_OK);
  const kw_stream_info info = {.struct_size = sizeof info, .flags = KW_STREAM_DEFAULT, .token = TOKEN_STREAM};
  assert_int_equal(o->streams->create(o->device, &info, &o->stream), KW_OK);
}

static void close_plugin(opened *o) {
  assert_int_equal(o->streams->destroy(o->device, o->stream), KW_OK);
  assert_int_equal(o->devices->close(o->device), KW_OK);
  assert_int_equal(o->desc->shutdown(o->plugin), KW_OK);
  dlclose(o->library);
  sem_destroy(&seen.gate);
  sem_destroy(&seen.entered);
}

static int setup(void **state) {
  opened *o = calloc(1, sizeof *o);
  open_with(o, &test_host);
  *state = o;
  return 0;
}

static int teardown(void **state) {
  close_plugin(*state);
  free(*state);
  return 0;
}

static kw_status alloc(opened *o, uint64_t size, kw_mem *out_mem) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = 64};
  return o->memory->alloc(o->device, &info, out_mem);
}

static kw_mem upload(opened *o, const void *data, uint64_t size) {
  kw_mem mem = NULL;
  assert_int_equal(alloc(o, size, &mem), KW_OK);
  const kw_copy_info copy = {
      .struct_size = sizeof copy, .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = mem, .src_host = data, .size = size};
  assert_int_equal(o->memory->copy(o->device, o->stream, &copy), KW_OK);
  assert_int_equal(o->streams->synchronize(o->device, o->stream, KW_WAIT_FOREVER), KW_OK);
  return mem;
}

static kw_status download_at(opened *o, kw_mem mem, uint64_t offset, void *data, uint64_t size) {
  const kw_copy_info copy = {.struct_size = sizeof copy,
                             .kind = KW_COPY_DEVICE_TO_HOST,
                             .src_mem = mem,
                             .src_offset = offset,
                             .dst_host = data,
                             .size = size};
  kw_status status = o->memory->copy(o->device, o->stream, &copy);
  return status == KW_OK ? o->streams->synchronize(o->device, o->stream, KW_WAIT_FOREVER) : status;
}

static void the_host_maps_memory(void **state) {
  opened *o = *state;
  const kw_alloc_info visible = {
      .struct_size = sizeof visible, .kind = KW_MEM_HOST_VISIBLE, .size = 64, .alignment = 64};
  const kw_alloc_info managed = {.struct_size = sizeof managed, .kind = KW_MEM_MANAGED, .size = 64, .alignment = 64};
  kw_mem mem = upload(o, "abcdefg", 8), other = NULL;
  char *pointer = NULL, back[8] = "";
  kw_map_info range = {
      .struct_size = sizeof range, .flags = KW_MAP_READ | KW_MAP_WRITE, .mem = mem, .offset = 2, .size = 3};
  assert_int_equal(o->memory->map(o->device, o->stream, &range, (void **)&pointer), KW_OK);
  assert_memory_equal(pointer, "cde", 3);
  memcpy(pointer, "CDE", 3);
  assert_int_equal(o->memory->unmap(o->device, o->stream, &range, pointer), KW_OK);
  assert_int_equal(download_at(o, mem, 0, back, 8), KW_OK);
  assert_string_equal(back, "abCDEfg");
  range.size = 7;
  assert_int_equal(o->memory->map(o->device, o->stream, &range, (void **)&pointer), KW_ERR_INVALID_ARGUMENT);
  range.flags = UINT64_C(1) << 50;
  assert_int_equal(o->memory->map(o->device, o->stream, &range, (void **)&pointer), KW_ERR_UNSUPPORTED);
  assert_int_equal(o->memory->alloc(o->device, &visible, &other), KW_OK);
  assert_int_equal(o->memory->dealloc(o->device, other), KW_OK);
  assert_int_equal(o->memory->alloc(o->device, &managed, &other), KW_ERR_UNSUPPORTED);
  assert_int_equal(o->memory->dealloc(o->device, mem), KW_OK);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

/* A dense tensor of rank 1 or 2. */
static kw_tensor_ref tensor(kw_dtype dtype, kw_mem mem, int64_t rows, int64_t columns) {
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = dtype, .rank = 2, .mem = mem, .numel = rows * columns};
  ref.shape[0] = rows;
  ref.shape[1] = columns;
  ref.strides[0] = columns;
  ref.strides[1] = 1;
  return ref;
}

static kw_value tensor_value(const kw_tensor_ref *ref) {
  kw_value value = {.tag = KW_TAG_TENSOR};
  value.u.tensor = ref;
  return value;
}

static kw_value float_scalar(double f) {
  kw_value value = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64};
  value.u.f = f;
  return value;
}

/* Runs an op's kernel for a key dtype on a stream; waits unless told otherwise. */
static kw_status launch_on(opened *o, void *stream, const char *op, kw_dtype key, const kw_value *args, uint32_t count,
                           const kw_tensor_ref *out) {
  for (uint32_t i = 0; i < seen.kernel_count; ++i) {
    const kw_kernel_desc *kernel = &seen.kernels[i];
    if (strcmp(kernel->op, op) != 0 || !kw_dtype_mask_has(kernel->dtypes, key)) {
      continue;
    }
    kw_call call = {.struct_size = sizeof call,
                    .arg_count = count,
                    .out_count = 1,
                    .device = o->device,
                    .stream = stream,
                    .op = op,
                    .args = args,
                    .outs = &out,
                    .user = kernel->user,
                    .call_id = 4711};
    if (kernel->can_implement == NULL || kernel->can_implement(&call) == KW_OK) {
      return kernel->launch(&call);
    }
  }
  return KW_ERR_NOT_IMPLEMENTED;
}

static void launch(opened *o, const char *op, kw_dtype key, const kw_value *args, uint32_t count,
                   const kw_tensor_ref *out) {
  assert_int_equal(launch_on(o, o->stream, op, key, args, count, out), KW_OK);
  assert_int_equal(o->streams->synchronize(o->device, o->stream, KW_WAIT_FOREVER), KW_OK);
  assert_int_equal(seen.late_status, KW_OK);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

static void query_refuses_another_major(void **state) {
  opened *o = *state;
  const kw_query_info other = {
      .struct_size = sizeof other, .abi_min = KW_ABI_MAKE(9, 0), .abi_max = KW_ABI_MAKE(9, 3), .host_version = "test"};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  assert_int_equal(o->query(&other, &desc, &reason), KW_ERR_ABI_MISMATCH);
  assert_null(desc);
  assert_non_null(strstr(reason, "ABI 1.0"));
}

static void query_serves_a_host_of_several_majors(void **state) {
  opened *o = *state;
  const kw_query_info later = {
      .struct_size = sizeof later, .abi_min = KW_ABI_VERSION, .abi_max = KW_ABI_MAKE(3, 0), .host_version = "test"};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  assert_int_equal(o->query(&later, &desc, &reason), KW_OK);
  assert_int_equal(desc->abi_version, KW_ABI_VERSION);
}

static void query_serves_an_older_host_of_the_same_major(void **state) {
  opened *o = *state;
  const kw_query_info older = {
      .struct_size = sizeof older, .abi_min = KW_ABI_MAKE(1, 0), .abi_max = KW_ABI_MAKE(1, 0), .host_version = "test"};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  assert_int_equal(o->query(&older, &desc, &reason), KW_OK);
  assert_int_equal(desc->abi_version, KW_ABI_VERSION);
}

static void library_exports_one_symbol_and_needs_none_of_keyway(void **state) {
  (void)state;
  FILE *nm = popen("nm -D '" VENDOR_NPU "'", "r");
  char line[512];
  int exported = 0;
  assert_non_null(nm);
  while (fgets(line, sizeof line, nm) != NULL) {
    bool undefined = strstr(line, " U ") != NULL || strstr(line, " w ") != NULL;
    exported += !undefined;
    if (strstr(line, "kw_") != NULL || strstr(line, "keyway") != NULL) {
      assert_false(undefined);
      assert_non_null(strstr(line, " T keyway_plugin_query"));
    }
  }
  assert_int_equal(pclose(nm), 0);
  assert_int_equal(exported, 1);
}

static void device_says_that_it_is_emulated(void **state) {
  opened *o = *state;
  kw_device_info info = {.struct_size = sizeof info};
  assert_int_equal(o->devices->info(o->plugin, 0, &info), KW_OK);
  assert_int_equal(info.type, KW_DEVICE_NPU);
  assert_true(info.flags & KW_DEVICE_EMULATED);
  assert_non_null(strstr(info.name, "emulated"));
  assert_int_equal(o->devices->info(o->plugin, 1, &info), KW_ERR_INVALID_ARGUMENT);
}

static void memory_ends_and_comes_back(void **state) {
  opened *o = *state;
  const uint64_t quarter = UINT64_C(64) << 20;
  kw_mem mems[5];
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(alloc(o, quarter, &mems[i]), KW_OK);
  }
  assert_int_equal(alloc(o, 1, &mems[4]), KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(o->memory->dealloc(o->device, mems[2]), KW_OK);
  assert_int_equal(alloc(o, quarter + 1, &mems[4]), KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(alloc(o, quarter, &mems[4]), KW_OK); /* the gap is found again */
  assert_ptr_not_equal(mems[4], mems[2]);               /* under another handle */
  mems[2] = mems[4];
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(o->memory->dealloc(o->device, mems[i]), KW_OK);
  }
  assert_int_equal(alloc(o, 4 * quarter, &mems[0]), KW_OK);
}

static void stale_and_foreign_handles_are_refused(void **state) {
  opened *o = *state;
  kw_mem mem;
  char bytes[32];
  assert_int_equal(alloc(o, 16, &mem), KW_OK);
  assert_int_equal(download_at(o, mem, 8, bytes, 8), KW_OK);
  assert_int_equal(download_at(o, mem, 8, bytes, 9), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(download_at(o, mem, 17, bytes, 1), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(o->memory->dealloc(o->device, mem), KW_OK);
  assert_int_equal(download_at(o, mem, 0, bytes, 1), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(o->memory->dealloc(o->device, mem), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(seen.error, "not a live"));
  assert_int_equal(o->memory->dealloc(o->device, bytes), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(o->memory->dealloc(o->device, NULL), KW_ERR_INVALID_ARGUMENT);
}

static void stream_waits_for_a_callback_and_others_go_on(void **state) {
  opened *o = *state;
  const kw_stream_info info = {.struct_size = sizeof info, .flags = 0, .token = TOKEN_OTHER};
  const uint32_t before = 1, after = 2;
  uint32_t read = 0;
  void *other;
  kw_mem mem = upload(o, &before, sizeof before);
  assert_int_equal(o->streams->create(o->device, &info, &other), KW_OK);

  assert_int_equal(o->streams->call_host(o->device, o->stream, CALLBACK_GATED), KW_OK);
  const kw_copy_info copy = {.struct_size = sizeof copy,
                             .kind = KW_COPY_HOST_TO_DEVICE,
                             .dst_mem = mem,
                             .src_host = &after,
                             .size = sizeof after};
  assert_int_equal(o->memory->copy(o->device, o->stream, &copy), KW_OK);
  sem_wait(&seen.entered);
  assert_false(pthread_equal(seen.callback_thread, pthread_self()));
  assert_int_equal(o->streams->query(o->device, o->stream), KW_ERR_NOT_READY);

  /* The other stream is not held up, and still sees the old value. */
  const kw_copy_info back = {.struct_size = sizeof back,
                             .kind = KW_COPY_DEVICE_TO_HOST,
                             .src_mem = mem,
                             .dst_host = &read,
                             .size = sizeof read};
  assert_int_equal(o->memory->copy(o->device, other, &back), KW_OK);
  assert_int_equal(o->streams->synchronize(o->device, other, KW_WAIT_FOREVER), KW_OK);
  assert_int_equal(o->streams->query(o->device, other), KW_OK);
  assert_int_equal(read, before);

  sem_post(&seen.gate);
  assert_int_equal(o->streams->synchronize(o->device, o->stream, KW_WAIT_FOREVER), KW_OK);
  assert_int_equal(download_at(o, mem, 0, &read, sizeof read), KW_OK);
  assert_int_equal(read, after);
  assert_int_equal(o->streams->destroy(o->device, other), KW_OK);
}

static void destroy_finishes_what_is_in_flight(void **state) {
  opened *o = *state;
  const kw_stream_info info = {.struct_size = sizeof info, .flags = 0, .token = TOKEN_OTHER};
  uint64_t value = 5, read = 0;
  void *other;
  kw_mem mem = upload(o, &value, sizeof value);
  assert_int_equal(o->streams->create(o->device, &info, &other), KW_OK);
  assert_int_equal(o->streams->call_host(o->device, other, CALLBACK_GATED), KW_OK);
  const kw_copy_info back = {.struct_size = sizeof back,
                             .kind = KW_COPY_DEVICE_TO_HOST,
                             .src_mem = mem,
                             .dst_host = &read,
                             .size = sizeof read};
  assert_int_equal(o->memory->copy(o->device, other, &back), KW_OK);
  sem_post(&seen.gate);
  assert_int_equal(o->streams->destroy(o->device, other), KW_OK);
  assert_int_equal(read, 5);
}

/* A queue of one place, and a hundred commands that wait in it. */
static void queue_grows_beyond_its_depth(void **state) {
  opened *o = *state;
  void *device = NULL, *stream = NULL;
  kw_option depth = {"queue_depth", "0"};
  const kw_open_info info = {.struct_size = sizeof info, .option_count = 1, .options = &depth};
  const char *const refused[] = {"0", "65537", "", "-1", "1 ", "one"};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    depth.value = refused[i];
    assert_int_equal(o->devices->open(o->plugin, 0, &info, &device), KW_ERR_INVALID_ARGUMENT);
    assert_null(device);
  }
  depth.value = "1";
  assert_int_equal(o->devices->open(o->plugin, 0, &info, &device), KW_OK);
  const kw_stream_info of_stream = {.struct_size = sizeof of_stream, .token = TOKEN_OTHER};
  assert_int_equal(o->streams->create(device, &of_stream, &stream), KW_OK);
  const kw_alloc_info alloc = {.struct_size = sizeof alloc, .size = 100, .alignment = 1};
  kw_mem mem = NULL;
  assert_int_equal(o->memory->alloc(device, &alloc, &mem), KW_OK);
  assert_int_equal(o->streams->call_host(device, stream, CALLBACK_GATED), KW_OK); /* until the gate opens */
  unsigned char bytes[100], back[100];
  for (unsigned char i = 0; i < 100; i++) {
    bytes[i] = i;
    const kw_copy_info copy = {.struct_size = sizeof copy,
                               .kind = KW_COPY_HOST_TO_DEVICE,
                               .dst_mem = mem,
                               .dst_offset = i,
                               .src_host = &bytes[i],
                               .size = 1};
    assert_int_equal(o->memory->copy(device, stream, &copy), KW_OK);
  }
  sem_post(&seen.gate);
  const kw_copy_info copy = {
      .struct_size = sizeof copy, .kind = KW_COPY_DEVICE_TO_HOST, .dst_host = back, .src_mem = mem, .size = 100};
  assert_int_equal(o->memory->copy(device, stream, &copy), KW_OK);
  assert_int_equal(o->streams->synchronize(device, stream, KW_WAIT_FOREVER), KW_OK);
  assert_memory_equal(back, bytes, 100);
  assert_int_equal(o->memory->dealloc(device, mem), KW_OK);
  assert_int_equal(o->streams->destroy(device, stream), KW_OK);
  assert_int_equal(o->devices->close(device), KW_OK);
}

static void add_honours_strides_offsets_and_alpha(void **state) {
  opened *o = *state;
  const float a[6] = {0, 1, 2, 3, 4, 5}, b[4] = {-1, 10, 20, 30};
  float sum[6];
  kw_mem a_mem = upload(o, a, sizeof a), b_mem = upload(o, b, sizeof b), out_mem;
  assert_int_equal(alloc(o, sizeof sum, &out_mem), KW_OK);
  kw_tensor_ref left = tensor(KW_F32, a_mem, 3, 2), right = tensor(KW_F32, b_mem, 3, 2);
  left.strides[0] = 1; /* the transpose of a (2, 3) matrix */
  left.strides[1] = 3;
  right.offset = sizeof(float); /* 10, 20, 30 down the rows, repeated across */
  right.strides[0] = 1;
  right.strides[1] = 0;
  kw_tensor_ref out = tensor(KW_F32, out_mem, 3, 2);
  const kw_value args[] = {tensor_value(&left), tensor_value(&right), float_scalar(0.5)};
  launch(o, "add.Tensor", KW_F32, args, 3, &out);
  assert_int_equal(download_at(o, out_mem, 0, sum, sizeof sum), KW_OK);
  const float expected[6] = {5, 8, 11, 14, 17, 20};
  assert_memory_equal(sum, expected, sizeof sum);
}

static void integer_add_and_mul_wrap(void **state) {
  opened *o = *state;
  const int32_t a[2] = {INT32_MAX, -7}, b[2] = {1, 6};
  int32_t result[2];
  kw_mem a_mem = upload(o, a, sizeof a), b_mem = upload(o, b, sizeof b), out_mem = upload(o, a, sizeof a);
  kw_tensor_ref left = tensor(KW_I32, a_mem, 1, 2), right = tensor(KW_I32, b_mem, 1, 2);
  kw_tensor_ref out = tensor(KW_I32, out_mem, 1, 2);
  kw_value alpha = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64};
  alpha.u.i = 2;
  const kw_value args[] = {tensor_value(&left), tensor_value(&right), alpha};
  launch(o, "add.Tensor", KW_I32, args, 3, &out);
  assert_int_equal(download_at(o, out_mem, 0, result, sizeof result), KW_OK);
  assert_int_equal(result[0], INT32_MIN + 1);
  assert_int_equal(result[1], 5);
  launch(o, "mul.Tensor", KW_I32, args, 2, &out);
  assert_int_equal(download_at(o, out_mem, 0, result, sizeof result), KW_OK);
  assert_int_equal(result[0], INT32_MAX);
  assert_int_equal(result[1], -42);
}

static void relu_keeps_nan(void **state) {
  opened *o = *state;
  const float x[3] = {-1, NAN, 2};
  float y[3];
  kw_mem mem = upload(o, x, sizeof x), out_mem = upload(o, x, sizeof x);
  kw_tensor_ref in = tensor(KW_F32, mem, 1, 3), out = tensor(KW_F32, out_mem, 1, 3);
  const kw_value args[] = {tensor_value(&in)};
  launch(o, "relu", KW_F32, args, 1, &out);
  assert_int_equal(download_at(o, out_mem, 0, y, sizeof y), KW_OK);
  assert_true(y[0] == 0 && isnan(y[1]) && y[2] == 2);
}

static void sum_and_mm_are_exact_on_small_integers(void **state) {
  opened *o = *state;
  const float a[6] = {1, 2, 3, 4, 5, 6};
  float product[4], total;
  kw_mem mem = upload(o, a, sizeof a), out_mem = upload(o, a, sizeof a);
  kw_tensor_ref left = tensor(KW_F32, mem, 2, 3), right = left, out = tensor(KW_F32, out_mem, 2, 2);
  right.shape[0] = 3; /* the transpose */
  right.shape[1] = 2;
  right.strides[0] = 1;
  right.strides[1] = 3;
  const kw_value args[] = {tensor_value(&left), tensor_value(&right)};
  launch(o, "mm", KW_F32, args, 2, &out);
  assert_int_equal(download_at(o, out_mem, 0, product, sizeof product), KW_OK);
  const float expected[4] = {14, 32, 32, 77};
  assert_memory_equal(product, expected, sizeof product);

  kw_tensor_ref scalar = {.struct_size = sizeof scalar, .dtype = KW_F32, .mem = out_mem, .numel = 1};
  const kw_value sum_args[] = {tensor_value(&left), {.tag = KW_TAG_NONE}};
  launch(o, "sum", KW_F32, sum_args, 2, &scalar);
  assert_int_equal(download_at(o, out_mem, 0, &total, sizeof total), KW_OK);
  assert_true(total == 21);

  left.numel = left.shape[0] = 0; /* nothing, lying nowhere */
  left.mem = NULL;
  launch(o, "sum", KW_F32, sum_args, 2, &scalar);
  assert_int_equal(download_at(o, out_mem, 0, &total, sizeof total), KW_OK);
  assert_true(total == 0);
}

static void copy_converts_and_saturates(void **state) {
  opened *o = *state;
  const float from[4] = {-2.75f, NAN, 3e9f, 0};
  int32_t to[4];
  uint8_t truth[4];
  kw_mem from_mem = upload(o, from, sizeof from), to_mem = upload(o, from, sizeof from);
  kw_tensor_ref source = tensor(KW_F32, from_mem, 1, 4), i32 = tensor(KW_I32, to_mem, 1, 4);
  kw_tensor_ref truths = tensor(KW_BOOL, to_mem, 1, 4);
  kw_value args[] = {tensor_value(&i32), tensor_value(&source), {.tag = KW_TAG_BOOL}};
  launch(o, "copy_", KW_F32, args, 3, &i32);
  assert_int_equal(download_at(o, to_mem, 0, to, sizeof to), KW_OK);
  assert_int_equal(to[0], -2);
  assert_int_equal(to[1], 0);
  assert_int_equal(to[2], INT32_MAX);
  int64_t nan_as_i64 = 5;
  kw_tensor_ref nan_source = tensor(KW_F32, from_mem, 1, 1), i64 = tensor(KW_I64, to_mem, 1, 1);
  nan_source.offset = sizeof(float);
  const kw_value nan_args[] = {tensor_value(&i64), tensor_value(&nan_source), {.tag = KW_TAG_BOOL}};
  launch(o, "copy_", KW_F32, nan_args, 3, &i64);
  assert_int_equal(download_at(o, to_mem, 0, &nan_as_i64, sizeof nan_as_i64), KW_OK);
  assert_int_equal(nan_as_i64, 0);
  args[0] = tensor_value(&truths);
  launch(o, "copy_", KW_F32, args, 3, &truths);
  assert_int_equal(download_at(o, to_mem, 0, truth, sizeof truth), KW_OK);
  assert_memory_equal(truth, ((uint8_t[]){1, 1, 1, 0}), 4);
}

static void copy_takes_complex_numbers_apart(void **state) {
  opened *o = *state;
  const float from[2] = {-2.75f, 0}, parts[4] = {0, 1.5f, 0, 0};
  float widened[4];
  uint8_t truth[2];
  kw_mem from_mem = upload(o, from, sizeof from), parts_mem = upload(o, parts, sizeof parts);
  kw_tensor_ref real = tensor(KW_F32, from_mem, 1, 2), complex = tensor(KW_C64, parts_mem, 1, 2);
  kw_tensor_ref truths = tensor(KW_BOOL, from_mem, 1, 2);
  kw_value args[] = {tensor_value(&complex), tensor_value(&real), {.tag = KW_TAG_BOOL}};
  launch(o, "copy_", KW_F32, args, 3, &complex); /* the imaginary parts become 0 */
  assert_int_equal(download_at(o, parts_mem, 0, widened, sizeof widened), KW_OK);
  assert_memory_equal(widened, ((float[]){-2.75f, 0, 0, 0}), sizeof widened);
  parts_mem = upload(o, parts, sizeof parts);
  complex = tensor(KW_C64, parts_mem, 1, 2);
  args[0] = tensor_value(&truths);
  args[1] = tensor_value(&complex);
  launch(o, "copy_", KW_C64, args, 3, &truths); /* either part counts */
  assert_int_equal(download_at(o, from_mem, 0, truth, sizeof truth), KW_OK);
  assert_memory_equal(truth, ((uint8_t[]){1, 0}), sizeof truth);
}

/* Copies 8 elements from one dtype to another. */
static void convert(opened *o, kw_dtype from, const void *source, kw_dtype to, void *result) {
  const uint8_t room[64] = {0};
  static const uint8_t sizes[] = {
#define SIZE(dtype, name, size) [dtype] = size,
      KW_DTYPE_LIST(SIZE)};
  kw_mem from_mem = upload(o, source, sizes[from] * 8u), to_mem = upload(o, room, sizeof room);
  kw_tensor_ref in = tensor(from, from_mem, 1, 8), out = tensor(to, to_mem, 1, 8);
  const kw_value args[] = {tensor_value(&out), tensor_value(&in), {.tag = KW_TAG_BOOL}};
  launch(o, "copy_", from, args, 3, &out);
  assert_int_equal(download_at(o, to_mem, 0, result, sizes[to] * 8u), KW_OK);
}

static void small_floats_round_to_nearest_even(void **state) {
  opened *o = *state;
  const float f32[8] = {1, -2049, 2051, 65519, 65520, 0x1p-24f, 0x1.8p-25f, 0x1p-25f};
  const uint16_t f16[8] = {0x3c00, 0xe800, 0x6802, 0x7bff, 0x7c00, 1, 1, 0};
  const float wide[8] = {464, 465, -448, 0x1p-9f, 0x1p-10f, -0.0f, 17, 19};
  const uint8_t f8[8] = {0x7e, 0x7f, 0xfe, 1, 0, 0x80, 0x58, 0x5a};
  const float f8_as_f32[8] = {448, NAN, -448, 0x1p-9f, 0, -0.0f, 16, 20};
  /* Half a unit above a power of two, and one more: a double cannot hold the difference. */
  const int64_t i64[8] = {
      0x4040000000000000, 0x4040000000000001, -0x4040000000000001, 0x40c0000000000000, 3, 0, -1, 257};
  const uint16_t bf16[8] = {0x5e80, 0x5e81, 0xde81, 0x5e82, 0x4040, 0, 0xbf80, 0x4380};
  uint8_t got[64];
  convert(o, KW_F32, f32, KW_F16, got);
  assert_memory_equal(got, f16, sizeof f16);
  convert(o, KW_F32, wide, KW_F8E4M3FN, got);
  assert_memory_equal(got, f8, sizeof f8);
  convert(o, KW_I64, i64, KW_BF16, got);
  assert_memory_equal(got, bf16, sizeof bf16);
  convert(o, KW_F8E4M3FN, f8, KW_F32, got);
  for (int i = 0; i < 8; ++i) {
    float value;
    memcpy(&value, got + 4 * i, sizeof value);
    assert_true(isnan(f8_as_f32[i]) ? isnan(value) : value == f8_as_f32[i] && signbit(value) == signbit(f8_as_f32[i]));
  }
}

static void fill_takes_every_second_element(void **state) {
  opened *o = *state;
  const int64_t before[4] = {1, 2, 3, 4};
  int64_t now[4];
  kw_mem mem = upload(o, before, sizeof before);
  kw_tensor_ref odd = tensor(KW_I64, mem, 1, 2);
  odd.strides[1] = 2;
  odd.offset = sizeof(int64_t);
  const kw_value args[] = {tensor_value(&odd), float_scalar(9.5)};
  launch(o, "fill_.Scalar", KW_I64, args, 2, &odd);
  assert_int_equal(download_at(o, mem, 0, now, sizeof now), KW_OK);
  assert_memory_equal(now, ((int64_t[]){1, 9, 3, 9}), sizeof now);
}

static void own_op_agrees_with_its_reference(void **state) {
  opened *o = *state;
  const float a[3] = {1, 2, 3}, b[3] = {0.1f, 0.2f, 0.3f};
  float got[3];
  double wide[3];
  kw_mem a_mem = upload(o, a, sizeof a), b_mem = upload(o, b, sizeof b), out_mem = upload(o, a, sizeof a);
  kw_tensor_ref left = tensor(KW_F32, a_mem, 1, 3), right = tensor(KW_F32, b_mem, 1, 3);
  kw_tensor_ref out = tensor(KW_F32, out_mem, 1, 3), wide_out = tensor(KW_F64, wide, 1, 3);
  const kw_tensor_ref *outs = &wide_out;
  kw_value args[] = {tensor_value(&left), tensor_value(&right), {.tag = KW_TAG_FLOAT}};
  args[2].u.f = -3.0;
  assert_string_equal(seen.op.schema, "acme::scaled_add(Tensor self, Tensor other, *, float scale=1.0) -> Tensor");
  launch(o, "acme::scaled_add", KW_F32, args, 3, &out);
  assert_int_equal(download_at(o, out_mem, 0, got, sizeof got), KW_OK);

  left.mem = (kw_mem)a; /* the reference works on host memory */
  right.mem = (kw_mem)b;
  const kw_call call = {.struct_size = sizeof call, .arg_count = 3, .out_count = 1, .args = args, .outs = &outs};
  assert_int_equal(seen.op.reference(&call), KW_OK);
  for (int i = 0; i < 3; ++i) {
    assert_true(wide[i] == a[i] - 3.0 * b[i]);
    assert_true(got[i] == (float)wide[i]);
  }
}

static void kernel_on_a_dead_handle_is_a_late_error(void **state) {
  opened *o = *state;
  float zeros[2] = {0};
  kw_mem mem = upload(o, zeros, sizeof zeros), dead = upload(o, zeros, sizeof zeros);
  assert_int_equal(o->memory->dealloc(o->device, dead), KW_OK);
  kw_tensor_ref in = tensor(KW_F32, dead, 1, 2), out = tensor(KW_F32, mem, 1, 2);
  const kw_value args[] = {tensor_value(&in)};
  assert_int_equal(launch_on(o, o->stream, "relu", KW_F32, args, 1, &out), KW_OK);
  assert_int_equal(o->streams->synchronize(o->device, o->stream, KW_WAIT_FOREVER), KW_OK);
  assert_int_equal(seen.late_status, KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(seen.late_token, TOKEN_STREAM);
  assert_int_equal(seen.late_call_id, 4711);
  assert_non_null(strstr(seen.error, "relu"));

  in = tensor(KW_F32, mem, 1, 3); /* one element too far */
  seen.late_status = KW_OK;
  assert_int_equal(launch_on(o, o->stream, "relu", KW_F32, args, 1, &out), KW_OK);
  assert_int_equal(o->streams->synchronize(o->device, o->stream, KW_WAIT_FOREVER), KW_OK);
  assert_int_equal(seen.late_status, KW_ERR_INVALID_ARGUMENT);
}

static void shutdown_and_init_again(void **state) {
  opened *o = *state;
  uint32_t first = seen.kernel_count;
  assert_true(first > 0);
  close_plugin(o);
  open_with(o, &test_host);
  assert_int_equal(seen.kernel_count, first);
}

/* The host does not know every op: the plugin goes on with the others. */
static void a_host_without_an_op_gets_along(void **state) {
  (void)state;
  opened o = {0};
  test_host_unknown_op = "relu";
  open_with(&o, &test_host);
  test_host_unknown_op = NULL;
  const float a[4] = {1, 2, 3, 4};
  float product[4];
  kw_mem mem = upload(&o, a, sizeof a), out_mem = upload(&o, a, sizeof a);
  kw_tensor_ref left = tensor(KW_F32, mem, 2, 2), out = tensor(KW_F32, out_mem, 2, 2);
  kw_value args[] = {tensor_value(&left), tensor_value(&left)};
  assert_int_equal(launch_on(&o, o.stream, "relu", KW_F32, args, 1, &out), KW_ERR_NOT_IMPLEMENTED);
  launch(&o, "mm", KW_F32, args, 2, &out);
  assert_int_equal(download_at(&o, out_mem, 0, product, sizeof product), KW_OK);
  assert_memory_equal(product, ((float[]){7, 10, 15, 22}), sizeof product);
  close_plugin(&o);
}

#define WITH_PLUGIN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_PLUGIN(the_host_maps_memory),
      WITH_PLUGIN(query_refuses_another_major),
      WITH_PLUGIN(query_serves_a_host_of_several_majors),
      WITH_PLUGIN(query_serves_an_older_host_of_the_same_major),
      WITH_PLUGIN(library_exports_one_symbol_and_needs_none_of_keyway),
      WITH_PLUGIN(device_says_that_it_is_emulated),
      WITH_PLUGIN(memory_ends_and_comes_back),
      WITH_PLUGIN(stale_and_foreign_handles_are_refused),
      WITH_PLUGIN(stream_waits_for_a_callback_and_others_go_on),
      WITH_PLUGIN(destroy_finishes_what_is_in_flight),
      WITH_PLUGIN(queue_grows_beyond_its_depth),
      WITH_PLUGIN(add_honours_strides_offsets_and_alpha),
      WITH_PLUGIN(integer_add_and_mul_wrap),
      WITH_PLUGIN(relu_keeps_nan),
      WITH_PLUGIN(sum_and_mm_are_exact_on_small_integers),
      WITH_PLUGIN(copy_converts_and_saturates),
      WITH_PLUGIN(copy_takes_complex_numbers_apart),
      WITH_PLUGIN(small_floats_round_to_nearest_even),
      WITH_PLUGIN(fill_takes_every_second_element),
      WITH_PLUGIN(own_op_agrees_with_its_reference),
      WITH_PLUGIN(kernel_on_a_dead_handle_is_a_late_error),
      WITH_PLUGIN(shutdown_and_init_again),
      cmocka_unit_test(a_host_without_an_op_gets_along),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
