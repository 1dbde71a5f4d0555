/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of object detection: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"torchvision::nms f32[7,4] f32[7] f:0.5", "f32: i64[7] i64[]"},
    {"torchvision::nms f16[0,4] f16[0] f:-1", "f16: i64[0] i64[]"},
    {"keyway::box_iou f32[7,4] f32[3,4]", "f32: f32[7,3]"},
    {"keyway::generalized_box_iou f64[0,4] f64[3,4]", "f64: f64[0,3]"},
    {"torchvision::roi_align f32[2,3,8,9] f32[5,5] f:0.25 i:7 i:6 i:-1 b:1", "f32: f32[5,3,7,6]"},
    {"torchvision::roi_align bf16[0,3,8,9] bf16[0,5] f:1 i:1 i:1 i:1048576 b:0", "bf16: bf16[0,3,1,1]"},
    {"torchvision::_roi_align_backward f32[5,3,7,6] f32[5,5] f:0.25 i:7 i:6 i:2 i:3 i:8 i:9 i:2 b:1",
     "f32: f32[2,3,8,9]"},
};

static const test_infer_row refused[] = {
    {"torchvision::nms i32[7,4] i32[7] f:0.5", "argument 'dets': dtype i32 is not"},
    {"torchvision::nms f32[7,5] f32[7] f:0.5", "argument 'dets': expected boxes [n, 4], got [7, 5]"},
    {"torchvision::nms f32[4] f32[1] f:0.5", "argument 'dets': expected boxes [n, 4], got [4]"},
    {"torchvision::nms f32[7,4] f32[6] f:0.5", "argument 'scores': expected [7], a score for each box, got [6]"},
    {"torchvision::nms f32[7,4] f32[7,1] f:0.5", "argument 'scores': expected [7], a score for each box, got [7, 1]"},
    {"torchvision::nms f32[7,4] f16[7] f:0.5", "argument 'scores': expected f32, the dtype of 'dets', got f16"},
    {"torchvision::nms f32[7,4] f32[7] f:nan", "argument 'iou_threshold': NaN is no threshold"},
    {"keyway::box_iou f32[7,4] f32[3,5]", "argument 'boxes2': expected boxes [n, 4], got [3, 5]"},
    {"keyway::box_iou f32[7,4] f64[3,4]", "argument 'boxes2': expected f32"},
    {"keyway::generalized_box_iou f32[2,7,4] f32[3,4]", "argument 'boxes1': expected boxes [n, 4], got [2, 7, 4]"},
    {"torchvision::roi_align f32[3,8,9] f32[5,5] f:1 i:7 i:6 i:0 b:1",
     "argument 'input': expected [n, c, h, w] with h and w of at least 1, got [3, 8, 9]"},
    {"torchvision::roi_align f32[2,3,0,9] f32[5,5] f:1 i:7 i:6 i:0 b:1",
     "argument 'input': expected [n, c, h, w] with"},
    {"torchvision::roi_align f32[2,3,8,9] f32[5,4] f:1 i:7 i:6 i:0 b:1", "argument 'rois': expected regions [k, 5]"},
    {"torchvision::roi_align f32[2,3,8,9] f16[5,5] f:1 i:7 i:6 i:0 b:1", "argument 'rois': expected f32"},
    {"torchvision::roi_align f32[2,3,8,9] f32[5,5] f:0 i:7 i:6 i:0 b:1", "argument 'spatial_scale': 0 is no scale"},
    {"torchvision::roi_align f32[2,3,8,9] f32[5,5] f:inf i:7 i:6 i:0 b:1", "argument 'spatial_scale': inf is no scale"},
    {"torchvision::roi_align f32[2,3,8,9] f32[5,5] f:1 i:0 i:6 i:0 b:1",
     "argument 'pooled_height': 0 bins are too few: the least is 1"},
    {"torchvision::roi_align f32[2,3,8,9] f32[5,5] f:1 i:7 i:-1 i:0 b:1", "argument 'pooled_width': -1 bins"},
    {"torchvision::roi_align f32[2,3,8,9] f32[5,5] f:1 i:7 i:6 i:1048577 b:1",
     "argument 'sampling_ratio': 1048577 samples a bin are too many: the most is 1048576"},
    {"torchvision::roi_align f32[2,3,8,9] f32[5,5] f:1 i:4611686018427387904 i:6 i:0 b:1", "result 0"},
    {"torchvision::_roi_align_backward f32[5,3,7,6] f32[5,5] f:1 i:7 i:5 i:2 i:3 i:8 i:9 i:2 b:1",
     "argument 'grad': expected [5, 3, 7, 5], got [5, 3, 7, 6]"},
    {"torchvision::_roi_align_backward f32[5,3,7,6] f32[5,5] f:1 i:7 i:6 i:-1 i:3 i:8 i:9 i:2 b:1",
     "argument 'batch_size': -1 is too small: the least is 0"},
    {"torchvision::_roi_align_backward f32[5,3,7,6] f32[5,5] f:1 i:7 i:6 i:2 i:3 i:8 i:0 i:2 b:1",
     "argument 'width': 0 is too small: the least is 1"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
