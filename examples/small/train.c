/* SPDX-License-Identifier: Apache-2.0
 *
 * Training: a network of two layers learns which of two moons a point is of, by gradients that are written down here.
 * The losses stay on the device, so that no step waits, and are plotted at the end; the weights begin as drawn numbers.
 *
 * usage: train [DEVICE [PLOT.svg]]
 */
#include "example.h"

#include <math.h>

enum { POINTS = 256, HIDDEN = 16, STEPS = 400, COLUMNS = 60, ROWS = 12 };

typedef struct layer {
  kw_tensor *weight, *bias; /* [outputs, inputs], [outputs] */
} layer;

static layer make_layer(int64_t outputs, int64_t inputs) {
  float numbers[HIDDEN * HIDDEN];
  for (int64_t i = 0; i < outputs * inputs; ++i) numbers[i] = draw() / sqrtf((float)inputs);
  return (layer){kwx_tensor(KW_F32, KW_INTS(outputs, inputs), numbers), kwx_full(KW_INTS(outputs), 0.0)};
}

/* Half a circle each, of noisy points, and of which half each point is: as 1 in one of two columns. */
static void make_moons(kw_tensor **points, kw_tensor **classes) {
  static float xy[POINTS][2], is[POINTS][2];
  for (int i = 0; i < POINTS; ++i) {
    const float angle = 3.14159F * (float)(i / 2) / (POINTS / 2), side = (float)(i % 2);
    xy[i][0] = cosf(angle) * (1 - 2 * side) + side + 0.1F * draw();
    xy[i][1] = sinf(angle) * (1 - 2 * side) + 0.5F * side + 0.1F * draw();
    is[i][i % 2] = 1;
  }
  *points = kwx_tensor(KW_F32, KW_INTS(POINTS, 2), xy);
  *classes = kwx_tensor(KW_F32, KW_INTS(POINTS, 2), is);
}

/* One step downhill from the gradient of a layer's outputs. */
static void learn(layer *l, const kw_tensor *inputs, const kw_tensor *gradient) {
  kw_tensor *by_weight = kwx_mm(kwx_transpose(gradient, 0, 1), inputs);
  kw_copy_(l->weight, kwx_sub_tensor(l->weight, by_weight, 1.0));
  kw_copy_(l->bias, kwx_sub_tensor(l->bias, kwx_sum_dim_intlist(gradient, KW_INTS(0)), 1.0));
}

/* Cross entropy, its mean: of softmax p and the class c, -log p[c]; its gradient is (p - c) / POINTS. */
static void step(kw_device *device, layer layers[2], kw_tensor *points, kw_tensor *classes, kw_tensor *loss) {
  kw_scope *scope = begin(device);
  kw_tensor *hidden = kwx_relu(kwx_linear(points, layers[0].weight, layers[0].bias));
  kw_tensor *outputs = kwx_linear(hidden, layers[1].weight, layers[1].bias);
  kw_tensor *logarithms = kwx_log_softmax(outputs, 1, false);
  kw_copy_(loss, kwx_mul_scalar(kwx_sum(kwx_mul_tensor(logarithms, classes)), -1.0 / POINTS));
  kw_tensor *gradient = kwx_mul_scalar(kwx_sub_tensor(kwx_exp(logarithms), classes), 1.0 / POINTS);
  kw_tensor *of_hidden = kwx_threshold_backward(kwx_mm(gradient, layers[1].weight), hidden, 0);
  learn(&layers[1], hidden, gradient);
  learn(&layers[0], points, of_hidden);
  check(kw_scope_end(scope));
}

static void plot(const float losses[STEPS]) {
  for (int row = 0; row < ROWS; ++row) {
    const float top = losses[0] * (float)(ROWS - row) / ROWS;
    printf("%5.2f |", (double)top);
    for (int column = 0; column < COLUMNS; ++column) {
      putchar(losses[column * STEPS / COLUMNS] > top - losses[0] / ROWS ? '#' : ' ');
    }
    putchar('\n');
  }
  printf("       step 1%*d\n", COLUMNS - 6, STEPS);
}

static void plot_svg(const float losses[STEPS], const char *path) {
  FILE *out = fopen(path, "w");
  if (out == NULL) {
    perror(path);
    exit(1);
  }
  fputs(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 420 220\" font-size=\"12\">\n<text x=\"10\" y=\"14\">"
      "loss by step</text>\n<polyline fill=\"none\" stroke=\"#3e63dd\" stroke-width=\"2\" points=\"",
      out);
  for (int i = 0; i < STEPS; ++i) fprintf(out, "%d,%.1f ", 10 + i, (double)(210 - 180 * losses[i] / losses[0]));
  fputs("\"/>\n</svg>\n", out);
  fclose(out);
}

int main(int argc, char **argv) {
  static float numbers[STEPS];
  kw_device *device = open_device(argc, argv, 1);
  kw_tensor *points, *classes;
  int64_t right;
  kw_scope *scope = begin(device);
  make_moons(&points, &classes);
  layer layers[2] = {make_layer(HIDDEN, 2), make_layer(2, HIDDEN)};
  kw_tensor *losses = kwx_tensor(KW_F32, KW_INTS(STEPS), NULL);
  for (int i = 0; i < STEPS; ++i) step(device, layers, points, classes, kwx_select(losses, 0, i));
  kw_tensor *hidden = kwx_relu(kwx_linear(points, layers[0].weight, layers[0].bias));
  kw_tensor *outputs = kwx_linear(hidden, layers[1].weight, layers[1].bias);
  kw_tensor *are_right = kwx_sum(kwx_eq_tensor(kwx_argmax(outputs, 1), kwx_argmax(classes, 1)));
  check(kw_scope_status());
  check(kw_tensor_read(losses, numbers));
  check(kw_tensor_read(are_right, &right));
  plot(numbers);
  printf("loss %.3f -> %.3f, %lld of %d points right, on %s\n", (double)numbers[0], (double)numbers[STEPS - 1],
         (long long)right, POINTS, kw_device_name(device));
  if (argc > 2) plot_svg(numbers, argv[2]);
  check(kw_scope_end(scope));
  check(kw_device_close(device));
  return 0;
}
