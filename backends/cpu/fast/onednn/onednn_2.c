/* SPDX-License-Identifier: Apache-2.0
 *
 * What is version 2's own: memory descriptors and op descriptors are structs of the caller's, which are only handed on
 * here, in more room than any 2.x needs.
 */
#include "library.h"

#include <stdlib.h>

typedef struct memory_desc {
  _Alignas(16) char opaque[2048];
} memory_desc;

typedef struct op_desc {
  _Alignas(16) char opaque[16384];
} op_desc;

static int (*init_by_strides)(void *desc, int rank, const int64_t *shape, int dtype, const int64_t *strides);
static int (*init_by_tag)(void *desc, int rank, const int64_t *shape, int dtype, int tag);
static int (*init_forward)(void *op, int prop, int algorithm, const void *src, const void *weights, const void *bias,
                           const void *dst, const int64_t *strides, const int64_t *dilates, const int64_t *padding,
                           const int64_t *padding_end);
static int (*init_backward_data)(void *op, int algorithm, const void *src, const void *weights, const void *dst,
                                 const int64_t *strides, const int64_t *dilates, const int64_t *padding,
                                 const int64_t *padding_end);
static int (*init_backward_weights)(void *op, int algorithm, const void *src, const void *weights, const void *bias,
                                    const void *dst, const int64_t *strides, const int64_t *dilates,
                                    const int64_t *padding, const int64_t *padding_end);
static int (*create)(void **primitive_desc, const void *op, const void *attributes, void *engine, const void *hint);

static bool fill(void *library) {
  return kw_onednn_look_up(library, "dnnl_memory_desc_init_by_strides", &init_by_strides) &&
         kw_onednn_look_up(library, "dnnl_memory_desc_init_by_tag", &init_by_tag) &&
         kw_onednn_look_up(library, "dnnl_dilated_convolution_forward_desc_init", &init_forward) &&
         kw_onednn_look_up(library, "dnnl_dilated_convolution_backward_data_desc_init", &init_backward_data) &&
         kw_onednn_look_up(library, "dnnl_dilated_convolution_backward_weights_desc_init", &init_backward_weights) &&
         kw_onednn_look_up(library, "dnnl_primitive_desc_create", &create);
}

static int describe(void **out_desc, int rank, const int64_t *shape, const int64_t *strides) {
  memory_desc *desc = calloc(1, sizeof *desc);
  if (!desc) return 1;
  const int failed = strides ? init_by_strides(desc, rank, shape, KW_DNNL_F32, strides)
                             : init_by_tag(desc, rank, shape, KW_DNNL_F32, KW_DNNL_FORMAT_ANY);
  if (failed) {
    free(desc);
  } else {
    *out_desc = desc;
  }
  return failed;
}

static void forget(void *desc) {
  free(desc);
}

static int convolve(void **out_primitive_desc, const kw_onednn_conv_info *info, void *const *descs, void *bias,
                    void *engine, void *attributes, void *forward) {
  const void *src = descs[KW_ONEDNN_FIELD], *weights = descs[KW_ONEDNN_WEIGHT], *dst = descs[KW_ONEDNN_PLACES];
  op_desc op = {{0}};
  int failed;
  if (!forward) {
    failed = init_forward(&op, KW_DNNL_FORWARD_TRAINING, KW_DNNL_CONVOLUTION_DIRECT, src, weights, bias, dst,
                          info->stride, info->dilation, info->padding, info->padding_end);
  } else if (info->result == KW_ONEDNN_FIELD) {
    failed = init_backward_data(&op, KW_DNNL_CONVOLUTION_DIRECT, src, weights, dst, info->stride, info->dilation,
                                info->padding, info->padding_end);
  } else {
    failed = init_backward_weights(&op, KW_DNNL_CONVOLUTION_DIRECT, src, weights, bias, dst, info->stride,
                                   info->dilation, info->padding, info->padding_end);
  }
  return failed ? failed : create(out_primitive_desc, &op, attributes, engine, forward);
}

const kw_onednn_version kw_onednn_2 = {"libdnnl.so.2", fill, describe, forget, convolve};
