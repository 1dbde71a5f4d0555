/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one operator of PyTorch many times from C++, so that what is measured is PyTorch's operator and not Python: what
 * peer.py beside this file loads.
 */
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/extension.h>

#include <ctime>

static double now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

/* A call of an operator with these arguments, positional and by name. */
class Loop {
 public:
  Loop(const std::string &name, const std::string &overload, const py::args &args, const py::kwargs &kwargs)
      : operator_(c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str())),
        stack_(torch::jit::createStackForSchema(operator_.schema(), torch::jit::tuple_slice(args), kwargs,
                                                std::nullopt)) {}

  /* Nanoseconds of each of so many runs: on the clock, and of the process's processors. */
  std::pair<double, double> run(int64_t times) {
    const c10::InferenceMode no_gradients;
    const double begin = now(CLOCK_MONOTONIC), worked = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t i = 0; i < times; ++i) {
      torch::jit::Stack stack = stack_;
      operator_.callBoxed(&stack);
    }
    const double count = static_cast<double>(times);
    return {(now(CLOCK_MONOTONIC) - begin) / count, (now(CLOCK_PROCESS_CPUTIME_ID) - worked) / count};
  }

 private:
  c10::OperatorHandle operator_;
  torch::jit::Stack stack_;
};

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  py::class_<Loop>(m, "Loop")
      .def(py::init([](const std::string &name, const std::string &overload, const py::args &args,
                       const py::kwargs &kwargs) { return Loop(name, overload, args, kwargs); }))
      .def("run", &Loop::run);
}
