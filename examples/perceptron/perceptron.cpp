/* SPDX-License-Identifier: Apache-2.0
 *
 * "Exclusive or" by a network of two layers, on any device by name: what a program in C++ looks like. The weights are
 * set, not trained.
 *
 * Exit status: 0 done, 1 the device failed or there is no such device.
 */
#include <keyway/keyway.hpp>

#include <iostream>

using keyway::tensor;

int main(int argc, char **argv) try {
  const keyway::device device(argc > 1 ? argv[1] : "auto");
  const tensor inputs(device, {4, 2}, std::vector<float>{0, 0, 0, 1, 1, 0, 1, 1});

  /* Hidden: how many inputs are 1, and whether both are. Then classes 0 and 1. */
  const tensor hidden_weight(device, {2, 2}, std::vector<float>{1, 1, 1, 1});
  const tensor hidden_bias(device, {2}, std::vector<float>{0, -1});
  const tensor weight(device, {2, 2}, std::vector<float>{-8, 16, 8, -16});
  const tensor bias(device, {2}, std::vector<float>{4, -4});

  const tensor hidden = keyway::relu(keyway::linear(inputs, hidden_weight, hidden_bias));
  const tensor classes = keyway::softmax(keyway::linear(hidden, weight, bias), 1);
  const std::vector<std::int64_t> best = keyway::argmax(classes, 1).read<std::int64_t>();

  for (int i = 0; i < 4; ++i)
    std::cout << i / 2 << " xor " << i % 2 << ": " << best[static_cast<std::size_t>(i)] << ", ";
  std::cout << "on " << device.name() << '\n';
} catch (const std::exception &failure) {
  std::cerr << "perceptron: " << failure.what() << '\n';
  return 1;
}
