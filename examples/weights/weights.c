/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights without copies: maps a safetensors file as one read-only tensor, takes each weight as a view of it, and runs
 * linear layers from there. README.md says what it prints and how to measure with it.
 */
#include "safetensors.h"

#include <keyway/interop.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: weights [--device NAME] [--plugin FILE]... [--make MIB] [--read] [--check] [--cold] [--layers N] FILE\n"
    "\n"
    "Runs the first layers of a safetensors FILE, y = relu(weight x + bias), with the weights where the file is "
    "mapped.\n"
    "\n"
    "  --device NAME   where; default: cpu:0\n"
    "  --plugin FILE   load this plugin too\n"
    "  --make MIB      write FILE first, of about that size\n"
    "  --read          read the file and copy the weights to the device instead\n"
    "  --check         do both, and compare the results bit by bit\n"
    "  --cold          have the system drop what it holds of the file in memory first\n"
    "  --layers N      how many layers; default: 1; 0: all\n"
    "  --help          print this\n"
    "\n"
    "Exit status: 0 done, 1 it failed or the results differ, 2 wrong usage, or no such device, plugin or file.\n";

static void check(kw_status status, int exit_status) {
  if (status != KW_OK) {
    fprintf(stderr, "weights: %s\n", kw_error_message());
    exit(exit_status);
  }
}

struct options {
  const char *device, *path;
  long make, layers;
  bool read, check, cold;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Of the file's pages that are not changed, and that no one else has mapped. */
static void drop_cache(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fsync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) {
    fprintf(stderr, "weights: the cache of %s could not be dropped\n", path);
  }
  if (file >= 0) close(file);
}

/* ---- A weight on the device ------------------------------------------------------------------------------------- */

/* All the file's bytes: on the device, mapped, or on the host, read. */
struct bytes {
  kw_tensor *mapped;
  char *read;
};

static kw_tensor *get(kw_device *device, const struct bytes *bytes, const struct st_tensor *weight) {
  kw_tensor *tensor;
  if (bytes->mapped != NULL) {
    int64_t strides[KW_MAX_RANK] = {0};
    for (uint32_t d = weight->rank; d-- > 0;) {
      strides[d] = d + 1 < weight->rank ? strides[d + 1] * weight->shape[d + 1] : 1;
    }
    check(kw_tensor_reinterpret(bytes->mapped, KW_F32, weight->rank, weight->shape, strides, weight->begin, &tensor),
          1);
  } else {
    check(kw_tensor_create(device, KW_F32, weight->rank, weight->shape, &tensor), 1);
    check(kw_tensor_write(tensor, bytes->read + weight->begin), 1);
  }
  return tensor;
}

/* y = relu(weight x + bias); x is given up. */
static kw_tensor *run_layer(kw_device *device, const struct bytes *bytes, const struct st_file *file, long layer,
                            kw_tensor *x) {
  kw_tensor *weight = get(device, bytes, st_find(file, "layers.%ld.weight", layer)), *turned;
  kw_tensor *bias = get(device, bytes, st_find(file, "layers.%ld.bias", layer)), *sum = NULL, *y = NULL;
  check(kw_tensor_transpose(weight, 0, 1, &turned), 1);
  const kw_value linear[] = {kw_arg_tensor(bias), kw_arg_tensor(x), kw_arg_tensor(turned)};
  check(kw_op_call(kw_op_find("addmm"), NULL, linear, 3, &sum, 1), 1);
  const kw_value positive[] = {kw_arg_tensor(sum)};
  check(kw_op_call(kw_op_find("relu"), NULL, positive, 1, &y, 1), 1);
  kw_tensor_release(weight);
  kw_tensor_release(turned);
  kw_tensor_release(bias);
  kw_tensor_release(sum);
  kw_tensor_release(x);
  return y;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* From the file's name to the last layer's result on the host, which the caller frees. */
static float *run(kw_device *device, const struct options *options, bool read, size_t *out_size) {
  if (options->cold) drop_cache(options->path);
  kw_counters before = {.struct_size = sizeof before}, after = before;
  check(kw_device_get_counters(device, &before), 1);
  const double begin = now();
  struct st_file *file = st_open(options->path);
  struct bytes bytes = {NULL, NULL};
  if (read) {
    bytes.read = st_read(file, options->path);
  } else {
    check(kw_tensor_from_file(device, options->path, &bytes.mapped), 1);
  }
  const int64_t width = st_find(file, "layers.0.weight")->shape[1];
  float *values = calloc((size_t)width, sizeof *values);
  for (int64_t i = 0; values != NULL && i < width; ++i) values[i] = (float)(i % 17) / 16;
  kw_tensor *x;
  check(kw_tensor_create(device, KW_F32, 2, (const int64_t[]){1, width}, &x), 1);
  check(kw_tensor_write(x, values), 1);
  free(values);
  const long layers = options->layers > 0 ? options->layers : st_count(file) / 2;
  for (long i = 0; i < layers; ++i) x = run_layer(device, &bytes, file, i, x);

  *out_size = (size_t)kw_tensor_describe(x)->numel * sizeof(float);
  float *result = malloc(*out_size);
  check(kw_tensor_read(x, result), 1);
  const double seconds = now() - begin;
  check(kw_device_get_counters(device, &after), 1);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("%s: %ld of %ld layers in %.3f ms, %.3f ms of it building kernels; weights copied to the device: %" PRIu64
         " bytes; peak resident %.1f MiB, file %.1f MiB\n",
         read ? "read" : "mapped", layers, st_count(file) / 2, seconds * 1e3,
         (double)(after.build_ns - before.build_ns) / 1e6,
         after.bytes_to_device - before.bytes_to_device - (uint64_t)width * sizeof(float),
         (double)used.ru_maxrss / 1024, (double)st_size(file) / (1 << 20));
  kw_tensor_release(x);
  kw_tensor_release(bytes.mapped);
  free(bytes.read);
  st_close(file);
  return result;
}

static int run_and_compare(const struct options *options) {
  kw_device *device;
  size_t size, other_size;
  int exit_status = 0;
  check(kw_device_open(options->device, &device), 2);
  float *result = run(device, options, options->read, &size);
  if (options->check) {
    float *other = run(device, options, !options->read, &other_size);
    exit_status = size == other_size && memcmp(result, other, size) == 0 ? 0 : 1;
    printf("%s: results %s\n", options->device, exit_status == 0 ? "equal in every bit" : "DIFFER");
    free(other);
  }
  free(result);
  check(kw_device_close(device), 1);
  return exit_status;
}

int main(int argc, char **argv) {
  struct options options = {.device = "cpu:0", .layers = 1};
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      return 0;
    } else if (strcmp(argv[i], "--plugin") == 0 && more) {
      check(kw_plugin_load(argv[++i]), 2);
    } else if (strcmp(argv[i], "--device") == 0 && more) {
      options.device = argv[++i];
    } else if (strcmp(argv[i], "--make") == 0 && more) {
      options.make = strtol(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--layers") == 0 && more) {
      options.layers = strtol(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--read") == 0) {
      options.read = true;
    } else if (strcmp(argv[i], "--check") == 0) {
      options.check = true;
    } else if (strcmp(argv[i], "--cold") == 0) {
      options.cold = true;
    } else if (argv[i][0] != '-' && options.path == NULL) {
      options.path = argv[i];
    } else {
      fprintf(stderr, "weights: cannot make sense of '%s'; see weights --help\n", argv[i]);
      return 2;
    }
  }
  if (options.path == NULL) {
    fputs(usage, stderr);
    return 2;
  }
  if (options.make > 0) st_make(options.path, options.make);
  return run_and_compare(&options);
}
