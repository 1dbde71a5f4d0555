/* SPDX-License-Identifier: Apache-2.0
 *
 * `torch_keyway._C`: what the Python side needs of the library.
 */
#include "binding.h"
#include "device.h"
#include "distributed.h"
#include "fallback.h"
#include "generator.h"
#include "graph.h"
#include "memory.h"
#include "order.h"
#include "replay.h"
#include "share.h"
#include "status.h"
#include "tensor.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/pybind.h>

#include <sstream>

namespace py = pybind11;
using namespace torch_keyway;

namespace {

/* A pybind11 wrapper that turns PyTorch's exceptions into Python's and lets other threads run. */
template <auto function, typename... Args>
auto guarded(Args... args) {
  HANDLE_TH_ERRORS
  const py::gil_scoped_release release;
  return function(args...);
  END_HANDLE_TH_ERRORS_PYBIND
}

void load_plugin(const std::string &path) {
  check(kw_plugin_load(path.c_str()));
}

struct Entry {
  std::string name, qualified_name, plugin, product;
  bool emulated;
};

std::string device_name(int index) {
  return kw_device_name(device_at(static_cast<c10::DeviceIndex>(index)));
}

/* All devices that Keyway sees. `plugin` is the path of the plugin's file. */
std::vector<Entry> list_devices() {
  std::vector<Entry> entries;
  uint32_t count;
  check(kw_device_count(&count));
  for (uint32_t i = 0; i < count; ++i) {
    kw_device_entry entry{};
    entry.struct_size = sizeof entry;
    check(kw_device_get_entry(i, &entry));
    kw_plugin_report report{};
    report.struct_size = sizeof report;
    check(kw_plugin_get_report(entry.plugin, &report));
    entries.push_back({entry.name, entry.qualified_name, report.path, entry.info->name,
                       (entry.info->flags & KW_DEVICE_EMULATED) != 0});
  }
  return entries;
}

/* What torch.<name>.memory_snapshot is made of: segment, its size, stream, whether it is of graphs; offset, size and
 * state of a block. */
using Block = std::tuple<uint64_t, uint64_t, uint64_t, bool, uint64_t, uint64_t, uint32_t>;

std::vector<Block> list_blocks(int index) {
  std::vector<Block> blocks;
  for (const kw_memory_block &block : memory_blocks(static_cast<c10::DeviceIndex>(index))) {
    blocks.emplace_back(block.segment, block.segment_size, block.stream, block.graphs, block.offset, block.size,
                        block.state);
  }
  return blocks;
}

/* For people: "npu:0 (Acme NPU, emulated)". */
std::string describe_entry(const Entry &entry) {
  return entry.name + " (" + entry.product + (entry.emulated ? ", emulated)" : ")");
}

/* What torch.<name>.get_device_properties answers. */
struct Properties {
  std::string name, vendor, driver_version, keyway_name, stable_id;
  uint64_t total_memory; /* bytes; 0: unknown */
  uint32_t multi_processor_count;
  bool is_emulated;
};

Properties properties(int index) {
  const kw_device *device = device_at(static_cast<c10::DeviceIndex>(index));
  kw_device_info info{};
  info.struct_size = sizeof info;
  check(kw_device_get_info(device, &info));
  return {info.name,      info.vendor,       info.driver_version, kw_device_name(device),
          info.stable_id, info.total_memory, info.compute_units,  (info.flags & KW_DEVICE_EMULATED) != 0};
}

std::string describe_properties(const Properties &properties) {
  std::ostringstream text;
  text << "DeviceProperties(name='" << properties.name << "', vendor='" << properties.vendor << "', keyway_name='"
       << properties.keyway_name << "', total_memory=" << (properties.total_memory >> 20)
       << "MB, multi_processor_count=" << properties.multi_processor_count << ", driver_version='"
       << properties.driver_version << "'" << (properties.is_emulated ? ", emulated)" : ")");
  return text.str();
}

/* The file of the plugin that a registered device is of. */
std::string plugin_of(int index) {
  const std::string name = device_name(index);
  for (const Entry &entry : list_devices()) {
    if (entry.name == name) return entry.plugin;
  }
  return {};
}

/* Whether copies between two devices may pass the host by. */
bool can_access_peer(int index, int peer) {
  const auto copies = [](int each) {
    return (kw_device_native(device_at(static_cast<c10::DeviceIndex>(each))) & KW_NATIVE_PEER_COPY) != 0;
  };
  return index != peer && copies(index) && copies(peer) && plugin_of(index) == plugin_of(peer);
}

struct Op {
  std::string name, schema;
  std::vector<c10::ScalarType> dtypes;
};

std::vector<Op> list_ops() {
  std::vector<Op> ops;
  for (uint32_t i = 0; i < kw_op_count(); ++i) {
    kw_op_info info{};
    info.struct_size = sizeof info;
    check(kw_op_get_info(kw_op_at(i), &info));
    Op op{info.name, info.schema, {}};
    for (kw_dtype dtype = 0; is_known(dtype); ++dtype) {
      if (kw_dtype_mask_has(info.dtypes, dtype)) op.dtypes.push_back(dtype_of(dtype));
    }
    ops.push_back(std::move(op));
  }
  return ops;
}

py::list dtypes_of(const Op &op) {
  py::list dtypes;
  for (const c10::ScalarType type : op.dtypes) {
    dtypes.append(py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject *>(torch::getTHPDtype(type))));
  }
  return dtypes;
}

c10::DeviceIndex open_device(const std::string &name) {
  return add_device(name.c_str());
}

kw_counters counters(int index) {
  kw_counters counters{};
  counters.struct_size = sizeof counters;
  check(kw_device_get_counters(device_at(static_cast<c10::DeviceIndex>(index)), &counters));
  return counters;
}

/* The function outlives the interpreter: it is never destroyed. */
void set_python_ask_fake(py::object function) {
  auto *const kept = new py::object(std::move(function)); /* never destroyed: Python may be gone */
  set_ask_fake([kept](const c10::FunctionSchema &schema, c10::ArrayRef<c10::IValue> arguments) {
    const py::gil_scoped_acquire gil;
    py::tuple values(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) values[i] = torch::jit::toPyObject(arguments[i]);
    return (*kept)(schema.name(), schema.overload_name(), values).cast<std::vector<std::vector<int64_t>>>();
  });
}

void set_python_decompose(py::function function) {
  auto *kept = new py::function(std::move(function));
  set_decompose([kept](const std::string &name) {
    const py::gil_scoped_acquire acquire;
    return (*kept)(name).cast<bool>();
  });
}

void set_constant(const at::Tensor &tensor, bool constant) {
  check(kw_tensor_set_constant(view_of(tensor).get(), constant));
}

bool is_constant(const at::Tensor &tensor) {
  return kw_tensor_is_constant(view_of(tensor).get());
}

void set_fallback(uint32_t mode) {
  kw_fallback_set(mode);
}

/* ---- Compiled functions ------------------------------------------------------------------------------------------ */

c10::IValue value_of(PyObject *object) {
  if (THPVariable_Check(object)) return THPVariable_Unpack(object);
  if (object == Py_None) return {};
  if (PyLong_Check(object)) return static_cast<int64_t>(PyLong_AsLongLong(object));
  if (PyFloat_Check(object)) return PyFloat_AsDouble(object);
  throw py::type_error(std::string("it takes or gives a ") + Py_TYPE(object)->tp_name);
}

Replay::Values values_of(const py::list &list) {
  Replay::Values values;
  values.reserve(list.size());
  for (const py::handle &item : list) values.push_back(value_of(item.ptr()));
  return values;
}

py::list list_of(Replay::Values &&values) {
  py::list list(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const c10::IValue &value = values[i];
    PyObject *object = value.isTensor()   ? THPVariable_Wrap(std::move(values[i]).toTensor())
                       : value.isInt()    ? PyLong_FromLongLong(value.toInt())
                       : value.isDouble() ? PyFloat_FromDouble(value.toDouble())
                                          : Py_NewRef(Py_None);
    PyList_SET_ITEM(list.ptr(), i, object);
  }
  return list;
}

std::unique_ptr<Replay> make_replay(std::shared_ptr<std::mutex> lock, const py::list &inputs,
                                    const std::vector<size_t> &lasting) {
  HANDLE_TH_ERRORS
  return std::make_unique<Replay>(std::move(lock), values_of(inputs), lasting);
  END_HANDLE_TH_ERRORS_PYBIND
}

void begin_recording(Replay *replay) {
  replay->begin();
}

void end_recording(Replay &replay, const py::list &results, const std::vector<size_t> &written, size_t kept_from) {
  HANDLE_TH_ERRORS
  replay.end(values_of(results), written, kept_from);
  END_HANDLE_TH_ERRORS_PYBIND
}

std::optional<py::list> run_replay(Replay &replay, const py::list &inputs) {
  HANDLE_TH_ERRORS
  std::optional<Replay::Values> results;
  {
    const Replay::Values values = values_of(inputs);
    const py::gil_scoped_release release;
    results = replay.run(values);
  }
  if (!results.has_value()) return std::nullopt;
  return list_of(std::move(*results));
  END_HANDLE_TH_ERRORS_PYBIND
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  py::class_<Entry>(m, "Entry")
      .def_readonly("name", &Entry::name)
      .def_readonly("qualified_name", &Entry::qualified_name)
      .def_readonly("plugin", &Entry::plugin)
      .def_readonly("product", &Entry::product)
      .def_readonly("emulated", &Entry::emulated)
      .def("__repr__", &describe_entry);
  py::class_<Properties>(m, "DeviceProperties")
      .def_readonly("name", &Properties::name)
      .def_readonly("vendor", &Properties::vendor)
      .def_readonly("driver_version", &Properties::driver_version)
      .def_readonly("keyway_name", &Properties::keyway_name)
      .def_readonly("stable_id", &Properties::stable_id)
      .def_readonly("total_memory", &Properties::total_memory)
      .def_readonly("multi_processor_count", &Properties::multi_processor_count)
      .def_readonly("is_emulated", &Properties::is_emulated)
      .def("__repr__", &describe_properties);
  py::class_<Op>(m, "Op")
      .def_readonly("name", &Op::name)
      .def_readonly("schema", &Op::schema)
      .def_property_readonly("dtypes", &dtypes_of)
      .def("__repr__", [](const Op &op) { return op.schema; });
  py::class_<kw_counters>(m, "Counters")
      .def_readonly("launches", &kw_counters::launches)
      .def_readonly("decomposed", &kw_counters::decomposed)
      .def_readonly("fallbacks", &kw_counters::fallbacks);
  m.def("load_plugin", &guarded<load_plugin, std::string>);
  m.def("list_devices", &guarded<list_devices>);
  m.def("list_ops", &guarded<list_ops>);
  m.def("open_device", &guarded<open_device, std::string>);
  m.def("start_autograd", &guarded<start_autograd>);
  m.def("pass_autograd", [](int index) { guarded<pass_autograd>(static_cast<c10::DeviceIndex>(index)); });
  m.def("end_autograd", &guarded<end_autograd>);
  m.def("device_name", &guarded<device_name, int>);
  m.def("in_bad_fork", &in_bad_fork);
  m.def("device_count", [] { return static_cast<int>(device_count()); });
  m.def("default_generator", [](int index) {
    return py::reinterpret_steal<py::object>(
        THPGenerator_initDefaultGenerator(default_generator(static_cast<c10::DeviceIndex>(index))));
  });
  m.def("counters", &guarded<counters, int>);
  m.def("properties", &guarded<properties, int>);
  m.def("list_blocks", &guarded<list_blocks, int>);
  m.def("plugin_of", &guarded<plugin_of, int>);
  m.def("can_access_peer", &guarded<can_access_peer, int, int>);
  m.def("register_ops", &guarded<register_ops>);
  m.def("set_fallback", &guarded<set_fallback, uint32_t>);
  m.def("get_fallback", &kw_fallback_get);
  m.def("set_constant", [](py::handle tensor, bool constant) {
    return guarded<set_constant, at::Tensor, bool>(THPVariable_Unpack(tensor.ptr()), constant);
  });
  m.def("is_constant",
        [](py::handle tensor) { return guarded<is_constant, at::Tensor>(THPVariable_Unpack(tensor.ptr())); });
  m.def("share",
        [](py::handle tensor) { return py::bytes(guarded<share, at::Tensor>(THPVariable_Unpack(tensor.ptr()))); });
  m.def("attach", [](int index, const py::bytes &bytes) {
    return py::reinterpret_steal<py::object>(THPVariable_Wrap(
        guarded<attach, c10::DeviceIndex, std::string>(static_cast<c10::DeviceIndex>(index), std::string(bytes))));
  });
  py::class_<std::mutex, std::shared_ptr<std::mutex>>(m, "Lock").def(py::init<>());
  py::class_<Replay>(m, "Replay")
      .def(py::init(&make_replay))
      .def("inputs", [](const Replay &replay) { return list_of(replay.inputs()); })
      .def("begin", [](Replay &replay) { guarded<&begin_recording, Replay *>(&replay); })
      .def("abandon", &Replay::abandon)
      .def("end", &end_recording)
      .def("run", &run_replay);
  m.def("is_lasting", [](py::handle tensor) { return is_lasting(THPVariable_Unpack(tensor.ptr())); });
  m.def("register_graphs", &guarded<register_graphs>);
  m.def("set_decompose", &set_python_decompose);
  m.def("set_ask_fake", &set_python_ask_fake);
  m.def("forget_decomposition", &forget_decomposition);
  m.def("fallback_counts", &fallback_counts);
  m.def("make_staged_backend", &make_staged_backend);
  m.def("end_staging", &guarded<end_staging>);
}
