/* SPDX-License-Identifier: Apache-2.0
 *
 * SplitMix64, and what is drawn with it.
 */
#include "random.h"

#include <keyway/interop.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

static _Thread_local uint64_t state;

void random_seed(uint64_t seed) {
  state = seed;
}

static uint64_t draw(void) {
  uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

uint32_t random_below(uint32_t end) {
  return end > 0 ? (uint32_t)(draw() % end) : 0;
}

bool random_chance(uint32_t percent) {
  return random_below(100) < percent;
}

/* Sizes between 2^20 and 2^46 are left out: they may be given memory, or time, that nobody has. */
int64_t random_limit(void) {
  static const int64_t limits[] = {INT64_MAX,
                                   INT64_MIN,
                                   INT64_MAX - 1,
                                   INT64_MIN + 1,
                                   INT64_MAX / 2,
                                   INT64_MAX / 4,
                                   INT64_MAX / 8 + 1,
                                   INT64_C(1) << 62,
                                   INT64_C(1) << 48,
                                   -(INT64_C(1) << 48),
                                   INT64_C(1) << 46,
                                   -(INT64_C(1) << 46),
                                   16,
                                   17,
                                   64,
                                   100};
  return limits[random_below(LENGTH(limits))];
}

int64_t random_int(void) {
  return random_chance(85) ? (int64_t)random_below(11) - 2 : random_limit();
}

double random_float(void) {
  static const double usual[] = {0, -0.0, 1, -1, 0.5, 2, 1e-5, 3.7, -2.5};
  static const double limits[] = {1e300, -1e300, 1e-320, 9.3e18, INFINITY, -INFINITY, NAN};
  return random_chance(70) ? usual[random_below(LENGTH(usual))] : limits[random_below(LENGTH(limits))];
}

int64_t random_size(void) {
  static const int64_t sizes[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8};
  return sizes[random_below(LENGTH(sizes))];
}

const char *random_text(void) {
  static const char *const texts[] = {"none",     "mean",     "sum",     "floor",     "trunc",   "tanh",
                                      "linear",   "bilinear", "nearest", "constant",  "reflect", "replicate",
                                      "circular", "left",     "right",   "batchmean", "ij",      "xy",
                                      "",         "%s%n%s",   "amax",    "prod",      "default", "\xff\n\x1b[31m"};
  return texts[random_below(LENGTH(texts))];
}

kw_dtype random_dtype(void) {
  static kw_dtype count;
  if (count == 0) {
    while (kw_dtype_name(count) != NULL) count++;
  }
  return (kw_dtype)random_below(count);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

#define ALIGNMENT 64

/* The tensor's shape on memory of its own; NULL where there is none, or the device does not take it. */
static kw_tensor *import_like(const kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  const size_t size = (size_t)ref->numel * kw_dtype_size(ref->dtype);
  kw_tensor *bytes = NULL, *like = NULL;
  void *memory = NULL;
  if (size == 0 || posix_memalign(&memory, ALIGNMENT, size) != 0) return NULL;
  kw_external_memory external = {.struct_size = sizeof external, .kind = KW_HANDLE_HOST, .size = size};
  external.host = memory;
  kw_status status = kw_tensor_import(kw_tensor_device(tensor), &external, free, memory, &bytes);
  if (status != KW_OK) free(memory);
  if (status == KW_OK) {
    status = kw_tensor_reinterpret(bytes, ref->dtype, ref->rank, ref->shape, ref->strides, 0, &like);
    kw_tensor_release(bytes);
  }
  if (status != KW_OK) kw_error_clear();
  return status == KW_OK ? like : NULL;
}

kw_status random_tensor(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                        kw_tensor **out_tensor) {
  const kw_status status = kw_tensor_create(device, dtype, rank, shape, out_tensor);
  if (status != KW_OK || kw_tensor_describe(*out_tensor)->numel > 1 << 20 || random_chance(50)) return status;
  kw_tensor *like = import_like(*out_tensor);
  if (like == NULL) return KW_OK;
  kw_tensor_release(*out_tensor);
  *out_tensor = like;
  return KW_OK;
}

/* ---- Contents ---------------------------------------------------------------------------------------------------- */

static double clamp(double value, double most) {
  return isnan(value) ? 0 : value > most ? most : value < -most ? -most : value;
}

static void put(kw_dtype dtype, double value, unsigned char *to, size_t size) {
  const int64_t whole = (int64_t)clamp(value, 9e18);
  const float single = (float)clamp(value, 3e38), pair[2] = {single, -single};
  const double wide[2] = {value, -value};
  switch (dtype) {
    case KW_BOOL:
      *to = whole & 1;
      break;
    case KW_F32:
      memcpy(to, &single, size);
      break;
    case KW_F64:
      memcpy(to, &value, size);
      break;
    case KW_C64:
      memcpy(to, pair, size);
      break;
    case KW_C128:
      memcpy(to, wide, size);
      break;
    case KW_BF16:
      memcpy(to, (const char *)&single + 2, size);
      break;
    default: /* integers; small floats get bits of any kind */
      memcpy(to, &whole, size);
  }
}

kw_status random_fill(kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  const size_t size = kw_dtype_size(ref->dtype);
  if (ref->numel > 1 << 20) return KW_OK;
  unsigned char *bytes = malloc((size_t)ref->numel * size + 1);
  if (bytes == NULL) return KW_ERR_OUT_OF_MEMORY;
  const uint32_t kind = random_below(4);
  for (int64_t i = 0; i < ref->numel; i++) {
    const double value = kind == 0   ? random_below(3)
                         : kind == 1 ? (double)random_below(9) - 4
                         : kind == 2 ? (double)random_below(1000) / 100 - 5
                                     : random_float();
    unsigned char *to = bytes + (size_t)i * size;
    put(ref->dtype, value, to, size);
    if (kind != 3 || ref->dtype == KW_BOOL || !random_chance(30)) continue;
    for (size_t k = 0; k < size; k++) to[k] = (unsigned char)draw();
  }
  kw_status status = kw_tensor_write(tensor, bytes);
  free(bytes);
  return status;
}

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

/* Strides of dimensions that lie in any order, each of the elements before, with gaps or without. Returns how many
 * elements they reach over. */
static int64_t draw_strides(const kw_tensor_ref *ref, int64_t *out_strides) {
  static const int64_t steps[] = {0, 1, 7, 1000};
  const bool has_gaps = random_chance(50);
  int64_t step = has_gaps && random_chance(50) ? 2 : 1;
  uint32_t left[KW_MAX_RANK];
  for (uint32_t d = 0; d < ref->rank; d++) left[d] = d;
  for (uint32_t count = ref->rank; count > 0; count--) {
    const uint32_t i = random_chance(40) ? count - 1 : random_below(count), d = left[i];
    left[i] = left[count - 1];
    out_strides[d] = ref->shape[d] == 1 ? steps[random_below(LENGTH(steps))] : step;
    if (ref->shape[d] > 1) step *= ref->shape[d];
    if (has_gaps && random_chance(30)) step++;
  }
  return step;
}

kw_tensor *random_layout(const kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  const size_t size = (size_t)ref->numel * kw_dtype_size(ref->dtype);
  int64_t strides[KW_MAX_RANK];
  if (ref->numel > 1 << 20) return NULL;
  const int64_t reach = draw_strides(ref, strides);
  kw_tensor *memory = NULL, *view = NULL;
  void *bytes = malloc(size + 1);
  kw_status status = bytes != NULL ? KW_OK : KW_ERR_OUT_OF_MEMORY;
  if (status == KW_OK) status = kw_tensor_read(tensor, bytes);
  if (status == KW_OK) status = random_tensor(kw_tensor_device(tensor), ref->dtype, 1, &reach, &memory);
  if (status == KW_OK) status = random_fill(memory);
  if (status == KW_OK) status = kw_tensor_as_strided(memory, ref->rank, ref->shape, strides, 0, &view);
  if (status == KW_OK) status = kw_tensor_write(view, bytes);
  if (status != KW_OK) kw_error_clear();
  free(bytes);
  kw_tensor_release(memory);
  if (status == KW_OK) return view;
  kw_tensor_release(view);
  return NULL;
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

static kw_status expand(const kw_tensor *tensor, bool longer, kw_tensor **out_view) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  int64_t shape[KW_MAX_RANK + 1] = {random_below(4)};
  for (uint32_t d = 0; d < ref->rank; d++) shape[d + longer] = ref->shape[d] == 1 ? (int64_t)random_below(4) : -1;
  return kw_tensor_expand(tensor, ref->rank + longer, shape, out_view);
}

/* In any place, of any shape; mostly within the memory. */
static kw_status anywhere(const kw_tensor *tensor, bool other_dtype, kw_tensor **out_view) {
  int64_t shape[3], strides[3];
  for (int d = 0; d < 3; d++) {
    shape[d] = random_chance(95) ? random_size() : random_int();
    strides[d] = random_chance(95) ? (int64_t)random_below(4) : random_int();
  }
  const uint32_t rank = random_below(4);
  if (!other_dtype) return kw_tensor_as_strided(tensor, rank, shape, strides, random_int(), out_view);
  const kw_dtype dtype = random_dtype();
  return kw_tensor_reinterpret(tensor, dtype, rank, shape, strides, random_below(5) * UINT64_C(8), out_view);
}

kw_tensor *random_view(const kw_tensor *tensor) {
  const uint32_t rank = kw_tensor_describe(tensor)->rank;
  const int64_t dim = random_below(rank), other = random_below(rank);
  kw_tensor *view = NULL;
  kw_status status = KW_OK;
  switch (random_below(9)) {
    case 0:
      status = kw_tensor_transpose(tensor, dim, other, &view);
      break;
    case 1:
      status = kw_tensor_slice(tensor, dim, random_below(3), random_chance(50) ? INT64_MAX : (int64_t)random_below(5),
                               1 + random_below(3), &view);
      break;
    case 2:
    case 3:
      if (rank < KW_MAX_RANK) status = expand(tensor, random_chance(50), &view);
      break;
    case 4:
      status = kw_tensor_unsqueeze(tensor, random_int(), &view);
      break;
    case 5:
      status = kw_tensor_select(tensor, random_int(), random_int(), &view);
      break;
    case 6:
      status = kw_tensor_diagonal(tensor, random_int(), dim, other, &view);
      break;
    default:
      status = anywhere(tensor, random_chance(50), &view);
  }
  if (status != KW_OK) kw_error_clear();
  return status == KW_OK ? view : NULL;
}
