/* SPDX-License-Identifier: Apache-2.0
 *
 * What is version 3's own: memory descriptors are handles, and there are no op descriptors.
 */
#include "library.h"

static int (*create_with_strides)(void **desc, int rank, const int64_t *shape, int dtype, const int64_t *strides);
static int (*create_with_tag)(void **desc, int rank, const int64_t *shape, int dtype, int tag);
static int (*create_forward)(void **primitive_desc, void *engine, int prop, int algorithm, const void *src,
                             const void *weights, const void *bias, const void *dst, const int64_t *strides,
                             const int64_t *dilates, const int64_t *padding, const int64_t *padding_end,
                             const void *attributes);
static int (*create_backward_data)(void **primitive_desc, void *engine, int algorithm, const void *src,
                                   const void *weights, const void *dst, const int64_t *strides, const int64_t *dilates,
                                   const int64_t *padding, const int64_t *padding_end, const void *hint,
                                   const void *attributes);
static int (*create_backward_weights)(void **primitive_desc, void *engine, int algorithm, const void *src,
                                      const void *weights, const void *bias, const void *dst, const int64_t *strides,
                                      const int64_t *dilates, const int64_t *padding, const int64_t *padding_end,
                                      const void *hint, const void *attributes);

/* A descriptor's end, and not that of what was made with it. */
typedef int (*destroy_fn)(void *desc);
static struct { destroy_fn destroy; } own;

static bool fill(void *library) {
  return kw_onednn_look_up(library, "dnnl_memory_desc_create_with_strides", &create_with_strides) &&
         kw_onednn_look_up(library, "dnnl_memory_desc_create_with_tag", &create_with_tag) &&
         kw_onednn_look_up(library, "dnnl_memory_desc_destroy", &own.destroy) &&
         kw_onednn_look_up(library, "dnnl_convolution_forward_primitive_desc_create", &create_forward) &&
         kw_onednn_look_up(library, "dnnl_convolution_backward_data_primitive_desc_create", &create_backward_data) &&
         kw_onednn_look_up(library, "dnnl_convolution_backward_weights_primitive_desc_create",
                           &create_backward_weights);
}

static int describe(void **out_desc, int rank, const int64_t *shape, const int64_t *strides) {
  return strides ? create_with_strides(out_desc, rank, shape, KW_DNNL_F32, strides)
                 : create_with_tag(out_desc, rank, shape, KW_DNNL_F32, KW_DNNL_FORMAT_ANY);
}

static void forget(void *desc) {
  if (desc) own.destroy(desc);
}

static int convolve(void **out_primitive_desc, const kw_onednn_conv_info *info, void *const *descs, void *bias,
                    void *engine, void *attributes, void *forward) {
  const void *src = descs[KW_ONEDNN_FIELD], *weights = descs[KW_ONEDNN_WEIGHT], *dst = descs[KW_ONEDNN_PLACES];
  if (!forward) {
    return create_forward(out_primitive_desc, engine, KW_DNNL_FORWARD_TRAINING, KW_DNNL_CONVOLUTION_DIRECT, src,
                          weights, bias, dst, info->stride, info->dilation, info->padding, info->padding_end,
                          attributes);
  }
  if (info->result == KW_ONEDNN_FIELD) {
    return create_backward_data(out_primitive_desc, engine, KW_DNNL_CONVOLUTION_DIRECT, src, weights, dst, info->stride,
                                info->dilation, info->padding, info->padding_end, forward, attributes);
  }
  return create_backward_weights(out_primitive_desc, engine, KW_DNNL_CONVOLUTION_DIRECT, src, weights, bias, dst,
                                 info->stride, info->dilation, info->padding, info->padding_end, forward, attributes);
}

const kw_onednn_version kw_onednn_3 = {"libdnnl.so.3", fill, describe, forget, convolve};
