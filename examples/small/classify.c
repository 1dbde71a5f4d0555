/* SPDX-License-Identifier: Apache-2.0
 *
 * Image classification: which lines are in a picture of 8 x 8. The weights are made, not trained: two kernels that
 * answer to a line across and to one down, and a layer that knows what both answers mean together.
 *
 * usage: classify [DEVICE]
 */
#include "example.h"

enum { SIDE = 8, PICTURES = 4, CLASSES = 4 };

static const char *const pictures[PICTURES] = {
    "........ ........ ........ .######. ........ ........ ........ ........",
    "........ .....#.. .....#.. .....#.. .....#.. .....#.. ........ ........",
    "........ ..#..... ..#..... ######.. ..#..... ..#..... ..#..... ........",
    "........ .#....#. ........ ...#.... ........ .....#.. .#...... ........",
};
static const char *const classes[CLASSES] = {"no line", "a line across", "a line down", "a cross"};

/* Pixels as numbers: [pictures, 1 channel, side, side]. */
static kw_tensor *read_pictures(void) {
  float pixels[PICTURES * SIDE * SIDE], *next = pixels;
  for (int i = 0; i < PICTURES; ++i) {
    for (const char *c = pictures[i]; *c != '\0'; ++c) {
      if (*c != ' ') *next++ = *c == '#' ? 1.0F : 0.0F;
    }
  }
  return kwx_tensor(KW_F32, KW_INTS(PICTURES, 1, SIDE, SIDE), pixels);
}

/* How likely each class is for each picture: [pictures, classes]. */
static kw_tensor *classify(const kw_tensor *images) {
  static const float lines[2][9] = {{-1, -1, -1, 2, 2, 2, -1, -1, -1}, {-1, 2, -1, -1, 2, -1, -1, 2, -1}};
  static const float thresholds[2] = {-3, -3};                                   /* a dot alone is no line */
  static const float meaning[CLASSES][2] = {{-4, -4}, {4, -4}, {-4, 4}, {4, 4}}; /* across, down */
  static const float first[CLASSES] = {8, 0, 0, -8};
  kw_tensor *kernels = kwx_tensor(KW_F32, KW_INTS(2, 1, 3, 3), lines),
            *bias = kwx_tensor(KW_F32, KW_INTS(2), thresholds);
  kw_tensor *answers = kwx_relu(kwx_conv2d(images, kernels, bias, KW_INTS(1, 1), KW_INTS(1, 1)));
  kw_tensor *strongest = kwx_amax(answers, KW_INTS(2, 3));
  kw_tensor *found = kwx_clamp(strongest, 0, 2);
  kw_tensor *layer = kwx_tensor(KW_F32, KW_INTS(CLASSES, 2), meaning);
  return kwx_softmax(kwx_linear(found, layer, kwx_tensor(KW_F32, KW_INTS(CLASSES), first)), 1, false);
}

int main(int argc, char **argv) {
  float likely[PICTURES][CLASSES];
  int64_t best[PICTURES];
  kw_device *device = open_device(argc, argv, 1);
  kw_scope *scope = begin(device);
  kw_tensor *probabilities = classify(read_pictures());
  kw_tensor *choice = kwx_argmax(probabilities, 1);
  check(kw_scope_status());
  check(kw_tensor_read(probabilities, likely));
  check(kw_tensor_read(choice, best));
  for (int i = 0; i < PICTURES; ++i) {
    for (const char *c = pictures[i]; *c != '\0'; ++c) putchar(*c == ' ' ? '\n' : *c);
    printf("\n%s: %.3f\n\n", classes[best[i]], (double)likely[i][best[i]]);
  }
  printf("made weights, on %s\n", kw_device_name(device));
  check(kw_scope_end(scope));
  check(kw_device_close(device));
  return 0;
}
