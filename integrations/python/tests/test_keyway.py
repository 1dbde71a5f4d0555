# SPDX-License-Identifier: Apache-2.0
"""The package on cpu:0 and on the example vendor's device, which has memory and queues of its own. Without NumPy what
needs it is skipped.

Needs KEYWAY_LIBRARY (a libkeyway.so) unless the package has its own, and KEYWAY_TEST_PLUGIN (vendor_npu.so)."""

import copy
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import unittest

import keyway

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = unittest.skipUnless(numpy, "NumPy is not installed")
cpu = keyway.device("cpu:0")
keyway.load_plugin(os.environ["KEYWAY_TEST_PLUGIN"])
npu = keyway.device("npu:0")
xp = keyway.array_api


def on_cpu(numbers, dtype=None):
    return keyway.tensor(numbers, dtype, cpu)


class Devices(unittest.TestCase):
    def test_list(self):
        found = {each.name: each for each in keyway.devices()}
        self.assertEqual(found["cpu:0"].type, "cpu")
        self.assertEqual(found["npu:0"].qualified_name.split(":")[0].split(".")[-1], "npu")
        self.assertEqual(npu.info.name, "npu:0")

    def test_one_object_each(self):
        self.assertIs(keyway.device("cpu:0"), cpu)
        self.assertIs(keyway.device("cpu"), cpu)
        self.assertNotEqual(cpu, npu)
        self.assertEqual(str(npu), "npu:0")

    def test_unknown(self):
        with self.assertRaises(keyway.NotFound) as caught:
            keyway.device("nope:7")
        self.assertIn("there is no device 'nope:7'", str(caught.exception))
        self.assertIn("cpu:0", str(caught.exception), "the devices that there are")
        self.assertIsInstance(caught.exception, LookupError)

    def test_rename(self):
        keyway.rename_device("npu", "my_hardware_device")
        self.assertIs(keyway.device("my_hardware_device:0"), npu)
        self.assertIs(keyway.device("npu:0"), npu)

    def test_plugins(self):
        loaded = [each for each in keyway.plugins() if each.path == os.path.realpath(os.environ["KEYWAY_TEST_PLUGIN"])]
        self.assertEqual([(each.stage, each.opened) for each in loaded], [("init", True)])
        with self.assertRaises(keyway.Error) as caught:
            keyway.load_plugin("/nonexistent/plugin.so")
        self.assertIn("/nonexistent/plugin.so", str(caught.exception))

    def test_facts(self):
        free, total = cpu.memory_usage()
        self.assertLessEqual(free, total)
        with self.assertRaises(keyway.Error):
            npu.attribute("com.acme.no_such_fact")
        self.assertGreaterEqual(cpu.counters().launches, 0)


class Tensors(unittest.TestCase):
    def test_numbers_and_back(self):
        for numbers in ([], [[], []], 3, [1.5, -2.0], [[True, False]], [[1, 2], [3, 4], [5, 6]], [1 + 2j]):
            for device in (cpu, npu):
                self.assertEqual(keyway.tensor(numbers, device=device).tolist(), numbers)
        self.assertIs(on_cpu([1, 2]).dtype, keyway.i64)
        self.assertIs(on_cpu([1, 2.0]).dtype, keyway.f32)
        self.assertIs(on_cpu([True]).dtype, keyway.bool_)
        self.assertEqual(on_cpu([1.5, -2], keyway.bf16).tolist(), [1.5, -2])
        self.assertEqual(on_cpu([1e300], keyway.f32).item(), float("inf"))
        self.assertEqual(on_cpu([2**64 - 1], keyway.u64).tolist(), [2**64 - 1])
        self.assertEqual(keyway.tensor([[[1], [2]], [[3], [4]]]).shape, (2, 2, 1))

    def test_refused_numbers(self):
        for numbers, error in (([[1], [2, 3]], ValueError), (["a"], TypeError), ([None], TypeError)):
            self.assertRaises(error, keyway.tensor, numbers)
        self.assertRaises(OverflowError, keyway.tensor, [300], keyway.u8)
        self.assertRaises(TypeError, keyway.Tensor)
        self.assertRaises(TypeError, keyway.tensor, [1], "float33")

    def test_text(self):
        x = keyway.tensor([[1, 2], [3, 4]], keyway.f32, npu)
        self.assertEqual(repr(x), "tensor([[1, 2], [3, 4]], f32, npu:0)")

    def test_views(self):
        x = on_cpu([[0, 1, 2], [3, 4, 5]])
        view = x.transpose(0, 1)
        self.assertEqual((view.shape, view.strides, view.is_contiguous), ((3, 2), (1, 3), False))
        self.assertEqual(view.reshape(-1).tolist(), [0, 3, 1, 4, 2, 5])
        self.assertEqual(x.T.tolist(), view.tolist())
        self.assertEqual(x.select(0, 1).slice(0, 1, 3).tolist(), [4, 5])
        self.assertEqual(x.diagonal().tolist(), [0, 4])
        self.assertEqual(x.select(0, 1).storage_offset, 3)
        self.assertEqual(x.as_strided((2,), (2,), 1).tolist(), [1, 3])
        self.assertEqual(x.unsqueeze(1).expand(2, 2, 3).shape, (2, 2, 3))
        x[0, 1] = 9
        self.assertEqual(view.tolist()[1], [9, 4])
        self.assertRaises(ValueError, view.view, 6)
        self.assertRaises(ValueError, x.reshape, 4)
        self.assertRaises(ValueError, x.reshape, -1, 4)
        bits = on_cpu([1.0, -2.0])[1:].reinterpret(keyway.i32)
        self.assertEqual(bits.tolist(), [-0x40000000])
        self.assertEqual(on_cpu([1 + 2j]).view_as_real().tolist(), [[1, 2]])

    def test_copies(self):
        x = keyway.tensor([1, 2, 3], keyway.i32, cpu)
        self.assertEqual(x.to(npu).to(cpu).tolist(), [1, 2, 3])
        self.assertIs(x.to("cpu:0"), x)
        self.assertIs(x.to(keyway.f16).dtype, keyway.f16)
        self.assertIs(x.to("f32").dtype, keyway.f32)
        self.assertEqual(x.copy_(7).tolist(), [7, 7, 7])
        self.assertEqual(x.copy_(keyway.tensor([1, 2, 3], device=npu)).tolist(), [1, 2, 3])

    def test_pickle(self):
        for x in (keyway.tensor([[1, 2], [3, 4]], keyway.f16, npu).T, on_cpu([1.5], keyway.bf16), on_cpu([])):
            for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
                self.assertEqual((y.tolist(), y.dtype, y.shape, y.device), (x.tolist(), x.dtype, x.shape, x.device))

    def test_bytes(self):
        x = keyway.empty((2, 2), keyway.i16, npu).write(b"\1\0\2\0\3\0\4\0")
        self.assertEqual(x.tolist(), [[1, 2], [3, 4]])
        self.assertEqual(x.mT.read(), b"\1\0\3\0\2\0\4\0")
        into = bytearray(8)
        x.read(into)
        self.assertEqual(into, b"\1\0\2\0\3\0\4\0")
        self.assertRaises(ValueError, x.read, bytearray(7))
        self.assertRaises(ValueError, x.write, b"\0")

    def test_python_protocols(self):
        x = on_cpu([[2, 3]])
        self.assertEqual((len(x), bool(on_cpu(1)), int(on_cpu(2.7)), float(on_cpu(3))), (1, True, 2, 3.0))
        self.assertEqual([10, 11, 12][on_cpu(2)], 12)
        self.assertEqual([each.tolist() for each in x], [[2, 3]])
        self.assertRaises(ValueError, bool, on_cpu([1, 2]))
        self.assertRaises(TypeError, len, on_cpu(1))
        self.assertRaises(TypeError, hash, x)
        self.assertRaises(TypeError, [1].__getitem__, on_cpu(0.0))
        self.assertFalse(x is None or x == "no number")

    def test_file(self):
        with open(__file__, "rb") as file:
            self.assertEqual(keyway.from_file(__file__)[:11].read(), file.read(11))
        x = keyway.from_file(__file__)
        self.assertTrue(x.is_read_only)
        with self.assertRaises(keyway.InvalidArgument) as caught:
            x[0] = 1
        self.assertIn("read-only", str(caught.exception))
        self.assertRaises(keyway.NotFound, keyway.from_file, __file__ + ".not")

    def test_constant(self):
        x = on_cpu([1.0])
        x.constant = True
        self.assertTrue(x.constant)
        x[0] = 2
        self.assertFalse(x.constant)


class Indexing(unittest.TestCase):
    x = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]

    @needs_numpy
    def test_as_numpy(self):
        array = numpy.array(self.x)
        mask, places = array % 3 == 0, numpy.array([2, 0, -1])
        keys = [
            1,
            -1,
            slice(None),
            (slice(None), 2),
            (Ellipsis, 0),
            (None, 1),
            (1, None, slice(1, 3)),
            slice(None, None, -1),
        ]
        keys += [
            (slice(2, 0, -1), slice(3, None, -2)),
            slice(5, 1),
            slice(0, 0, -1),
            slice(1, -5, -2),
            (2, 3),
            (),
            Ellipsis,
        ]
        keys += [mask, (places, 1), places, (slice(None), places), (places, places), mask[0, :3], (1, mask[0])]
        for device in (cpu, npu):
            for key in keys:
                x = keyway.tensor(array, device=device)
                with keyway.settings(fallback="allow"):
                    self.assertEqual(x[self.keyed(key, device)].tolist(), array[key].tolist(), key)
                    changed = array.copy()
                    changed[key] = -1
                    x[self.keyed(key, device)] = -1
                    self.assertEqual(x.tolist(), changed.tolist(), key)
                    changed[key] = numpy.arange(array[key].size).reshape(array[key].shape)
                    x[self.keyed(key, device)] = keyway.tensor(changed[key], device=device)
                    self.assertEqual(x.tolist(), changed.tolist(), key)

    @staticmethod
    def keyed(key, device):
        parts = key if isinstance(key, tuple) else (key,)
        made = [keyway.tensor(each, device=device) if isinstance(each, numpy.ndarray) else each for each in parts]
        return tuple(made) if isinstance(key, tuple) else made[0]

    def test_no_dimensions(self):
        x = on_cpu(5)
        self.assertEqual(x[...].item(), 5)
        self.assertEqual(x[on_cpu(True)].tolist(), [5])
        self.assertEqual(x[on_cpu(False)].tolist(), [])
        x[()] = 6
        self.assertEqual(x.item(), 6)

    def test_refused(self):
        x = on_cpu(self.x)
        for key in (3, -4, (0, 4), (0, 0, 0), (..., ...), 1.0, "a", on_cpu([0.0]), on_cpu([True])):
            with self.assertRaises(IndexError, msg=key):
                x[key]

    def test_masks_without_elements(self):
        for shape, mask, left in (((0, 1), (0, 0), (0,)), ((2, 3), (0,), (0, 3)), ((2, 0), (0, 0), (0,))):
            x, none = keyway.empty(shape, device=cpu), keyway.empty(mask, keyway.bool_, cpu)
            self.assertEqual(x[none].shape, left)
            x[none] = 1
        self.assertRaises(IndexError, on_cpu(self.x).__getitem__, on_cpu([True, False]))

    def test_overlapping(self):
        x = on_cpu([0, 1, 2, 3])
        x[1:] = x[:-1]
        self.assertEqual(x.tolist(), [0, 0, 1, 2])
        x[:] = x[::-1]
        self.assertEqual(x.tolist(), [2, 1, 0, 0])
        x[::2] = x[1::2]
        self.assertEqual(x.tolist(), [1, 1, 0, 0])
        y = on_cpu([[1, 2], [3, 4]])
        self.assertEqual(y.copy_(y.T).tolist(), [[1, 3], [2, 4]])
        y += y.T
        self.assertEqual(y.tolist(), [[2, 5], [5, 8]])

    def test_cast_and_broadcast(self):
        x = on_cpu(self.x)
        x[1:, :2] = on_cpu([7.9, -1.0])
        self.assertEqual(x.tolist(), [[0, 1, 2, 3], [7, -1, 6, 7], [7, -1, 10, 11]])
        x[0] = on_cpu([[5]])
        self.assertEqual(x.tolist()[0], [5] * 4)


class Ops(unittest.TestCase):
    def test_defaults_keywords_and_out(self):
        a, b, bias = on_cpu([[1.0, 2], [3, 4]]), on_cpu([[1.0, 0], [0, 1]]), on_cpu([10.0, 20])
        self.assertEqual(keyway.ops.addmm(bias, a, b).tolist(), [[11, 22], [13, 24]])
        self.assertEqual(keyway.ops.addmm(bias, a, mat2=b, beta=0.5, alpha=2).tolist(), [[7, 14], [11, 18]])
        out = keyway.empty((2, 2), device=cpu)
        self.assertIs(keyway.ops.addmm(bias, a, b, out=out), out)
        self.assertEqual(out.tolist(), [[11, 22], [13, 24]])

    def test_overloads(self):
        x = on_cpu([3.0, -1, 2])
        self.assertEqual(keyway.ops.add(x, x).tolist(), keyway.ops.add.Tensor(x, x).tolist())
        self.assertEqual(keyway.ops.add(x, 1).tolist(), [4, 0, 3])
        self.assertEqual(keyway.ops.sum(x).item(), 4)
        self.assertEqual(keyway.ops.sum(x, dim=[0], keepdim=True).tolist(), [4])
        self.assertEqual(keyway.ops.pow(2, x).tolist(), [8, 0.5, 4])
        values, places = keyway.ops.sort(x)
        self.assertEqual((values.tolist(), places.tolist()), ([-1, 2, 3], [1, 2, 0]))
        self.assertEqual(keyway.ops.nonzero(x).tolist(), [[0], [1], [2]])
        self.assertEqual(keyway.ops.masked_select(x, x > 0).tolist(), [3, 2])

    def test_in_place_and_made(self):
        x = on_cpu([1.0, 2])
        self.assertIs(keyway.ops.fill_(x, 3), x)
        self.assertEqual(x.tolist(), [3, 3])
        self.assertEqual(keyway.ops.full([2], 5, dtype=keyway.i32, device=npu).tolist(), [5, 5])
        self.assertIs(keyway.ops.full([2], 5, device=npu).device, npu)
        keyway.ops.uniform_(x, from_=2, to=3)
        self.assertTrue(2 <= min(x.tolist()) and max(x.tolist()) <= 3)

    def test_random_numbers(self):
        made = [keyway.ops.rand([4], generator=keyway.Generator(cpu, 7), device=cpu).tolist() for _ in range(2)]
        self.assertEqual(*made)
        generator = keyway.Generator(cpu, 7)
        keyway.ops.rand([4], generator=generator, device=cpu)
        self.assertEqual(generator.state, (7, 1))
        generator.state = (7, 0)
        self.assertEqual(keyway.ops.rand([4], generator=generator, device=cpu).tolist(), made[0])
        cpu.seed(7)
        self.assertEqual(keyway.ops.rand([4], device=cpu).tolist(), made[0])

    def test_namespaces(self):
        boxes = on_cpu([[0.0, 0, 1, 1], [0, 0, 1, 1.1], [5, 5, 6, 6]])
        self.assertEqual(keyway.ops.torchvision.nms(boxes, on_cpu([0.9, 0.8, 0.7]), 0.5).tolist(), [0, 2])
        self.assertIn("nms", dir(keyway.ops.torchvision))
        with self.assertRaises(AttributeError) as caught:
            keyway.ops.relo
        self.assertIn("relu", str(caught.exception))
        self.assertRaises(keyway.NotFound, keyway.ops.find, "add.Tensr")

    def test_wrong_arguments(self):
        x = on_cpu([1.0])
        for given, named, part in (
            ((x,), {}, "other is missing"),
            ((x, x, x), {}, "takes 2"),
            ((x, x), {"beta": 1}, "no argument beta"),
            ((x, x), {"self": x}, "twice"),
            ((x, "a"), {}, "other is a tensor, not str"),
            ((x, 2**70), {}, "other"),
        ):
            with self.assertRaises((TypeError, OverflowError)) as caught:
                keyway.ops.add.Tensor(*given, **named)
            self.assertIn(part, str(caught.exception))
        self.assertRaises(OverflowError, keyway.ops.add.Scalar, x, 2**70)
        with self.assertRaises(keyway.InvalidArgument) as caught:
            keyway.ops.mm(x, x)
        self.assertIn("mm", str(caught.exception))
        with self.assertRaises(keyway.Error):
            keyway.ops.add(x, keyway.tensor([1.0], device=npu))

    def test_every_op(self):
        names = [op.name for op in keyway._op.table.all().values()]
        self.assertGreater(len(names), 280)
        for name in names:
            op = keyway.ops.find(name)
            self.assertIs(op, keyway.ops.find(name))
            self.assertTrue(op.schema.startswith(name + "("))
            str(op.__signature__)

    def test_support_and_fallback(self):
        self.assertEqual(keyway.ops.relu.support(cpu, keyway.f32), "kernel")
        missing = keyway.ops.sort.stable  # which no other ops make
        x = keyway.tensor([3.0, 1, 2], device=npu)
        self.assertIsNone(missing.support(npu, keyway.f32))
        with self.assertRaises(NotImplementedError) as caught:
            missing(x, stable=True)
        self.assertIn("sort.stable", str(caught.exception))
        before = missing.fallbacks(npu)
        with keyway.settings(fallback="allow"):
            self.assertEqual(missing(x, stable=True)[0].tolist(), [1, 2, 3])
        self.assertEqual(missing.fallbacks(npu), before + 1)
        self.assertEqual(keyway.settings.fallback, "off")


class Settings(unittest.TestCase):
    def test_read_and_set(self):
        before = repr(keyway.settings)
        with keyway.settings(math_mode="tf32", deterministic=True, autocast=keyway.bf16, default_device=npu):
            self.assertEqual(keyway.settings.math_mode, "tf32")
            self.assertTrue(keyway.settings.deterministic)
            self.assertIs(keyway.settings.autocast, keyway.bf16)
            self.assertIs(keyway.tensor([1]).device, npu)
        self.assertEqual(repr(keyway.settings), before)
        for name, value in (("fallback", "maybe"), ("math_mode", "slow"), ("autocast", keyway.i8), ("nothing", 1)):
            with self.assertRaises((ValueError, TypeError)), keyway.settings(**{name: value}):
                pass
        self.assertRaises(AttributeError, setattr, keyway.settings, "falback", "warn")


class Streams(unittest.TestCase):
    def test_order_by_events(self):
        for device in (cpu, npu):
            first, second = device.stream(), device.stream()
            x = keyway.tensor([1.0, 2], device=device)
            with first:
                y = keyway.ops.add(x, x)
                done = device.event().record()
            second.wait(done)
            with second:
                z = keyway.ops.mul(y, y)
            self.assertEqual(z.tolist(), [4, 16])
            second.synchronize(timeout=60)
            self.assertTrue(first.query() and done.query())
            end = second.record()
            device.synchronize()
            self.assertGreaterEqual(done.elapsed(end), 0)

    def test_nested(self):
        outer, inner = cpu.stream(), cpu.stream()
        with outer:
            with inner:
                self.assertEqual(keyway._stream.current(cpu), inner._handle)
            self.assertEqual(keyway._stream.current(cpu), outer._handle)
            self.assertIsNone(keyway._stream.current(npu))
        self.assertIsNone(keyway._stream.current(cpu))


class Graphs(unittest.TestCase):
    def test_record_and_launch(self):
        for device in (cpu, npu):
            stream, graph = device.stream(), keyway.Graph()
            x = keyway.tensor([1.0, 2], device=device)
            self.assertRaises(ValueError, graph.launch)
            with graph.record(stream):
                y = keyway.ops.mul(x, x)
                self.assertRaises(keyway.Busy, stream.synchronize)
            for numbers in ([1.0, 2], [3.0, 4]):
                x.copy_(keyway.tensor(numbers, device=device))
                device.synchronize()
                graph.launch(stream)
                self.assertEqual(y.tolist(), [number * number for number in numbers])
            self.assertRaises(ValueError, graph.record(stream).__enter__)

    def test_a_failure_throws_the_recording_away(self):
        stream, graph = cpu.stream(), keyway.Graph()
        with self.assertRaises(ZeroDivisionError), graph.record(stream):
            raise ZeroDivisionError
        stream.synchronize()
        self.assertRaises(ValueError, graph.launch, stream)


class Memory(unittest.TestCase):
    def test_garbage_gives_back(self):
        for device in (cpu, npu):
            x = keyway.tensor([1.0] * 256, device=device)
            x + x
            device.synchronize()
            gc.collect()
            before = device.memory_stats()
            for _ in range(10000):
                x + x
            device.synchronize()
            gc.collect()
            after = device.memory_stats()
            self.assertGreaterEqual(after.allocations - before.allocations, 10000)
            self.assertEqual((after.live, after.allocated), (before.live, before.allocated))
            self.assertLess(after.held, before.held + (8 << 20))

    def test_views_and_cycles(self):
        gc.collect()
        before = npu.memory_stats().live
        x = keyway.tensor([1.0, 2], device=npu)
        view, cycle = x[1:], [x]
        cycle.append(cycle)
        del x
        self.assertEqual(npu.memory_stats().live, before + 1)
        del view, cycle
        gc.collect()
        self.assertEqual(npu.memory_stats().live, before)

    def test_failure_leaves_nothing(self):
        gc.collect()
        before = cpu.memory_stats().live
        x = keyway.tensor([[1.0]], device=cpu)
        for _ in range(100):
            with self.assertRaises(ValueError):
                keyway.ops.mm(x, keyway.tensor([1.0], device=cpu))
        del x
        gc.collect()
        self.assertEqual(cpu.memory_stats().live, before)
        with self.assertRaises(MemoryError):
            keyway.empty((1 << 50,), keyway.u8, cpu)

    def test_peak_and_trim(self):
        npu.reset_memory_peak()
        x = keyway.empty((1 << 20,), keyway.u8, npu)
        self.assertGreaterEqual(npu.memory_stats().allocated_peak, x.nbytes)
        del x
        npu.trim_memory()


@needs_numpy
class Arrays(unittest.TestCase):
    def test_one_memory(self):
        array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        x = keyway.from_numpy(array)
        self.assertEqual(x.shape, (2, 3))
        array[0, 0] = 7
        self.assertEqual(x[0, 0].item(), 7)
        for back in (x.numpy(), numpy.asarray(x), numpy.from_dlpack(x), memoryview(numpy.asarray(x))):
            self.assertEqual(numpy.asarray(back).ctypes.data, array.ctypes.data)
        self.assertNotEqual(numpy.array(x, copy=True).ctypes.data, array.ctypes.data)
        self.assertEqual(x.T.numpy().strides, array.T.strides)
        x += 1
        self.assertEqual(array[0].tolist(), [8, 2, 3])
        del array
        self.assertEqual(x[0].tolist(), [8, 2, 3])

    def test_result_keeps_memory(self):
        y = (on_cpu([1.0, 2]) + 1).numpy()
        gc.collect()
        [on_cpu([0.0, 0]) + 0 for _ in range(100)]
        self.assertEqual(y.tolist(), [2, 3])

    def test_copies(self):
        x = keyway.tensor(numpy.ones((2, 2), numpy.int16), device=npu)
        self.assertEqual((x.dtype, x.numpy().tolist()), (keyway.i16, [[1, 1], [1, 1]]))
        self.assertEqual(numpy.asarray(x, dtype=numpy.float64).dtype, numpy.float64)
        self.assertRaises(ValueError, x.__array__, copy=False)
        self.assertEqual(keyway.from_numpy(numpy.zeros((0, 3)), npu).shape, (0, 3))
        self.assertEqual(keyway.tensor(numpy.arange(4)[::-2]).tolist(), [3, 1])
        self.assertEqual(keyway.tensor(numpy.float64(2.5)).dtype, keyway.f64)
        self.assertRaises(TypeError, on_cpu([1.0], keyway.bf16).numpy)

    def test_types(self):
        for name in keyway._dtypes.NUMPY:
            array = numpy.array([[0, 1], [1, 1]], name)
            self.assertEqual(keyway.from_numpy(array).numpy().dtype, array.dtype)
            self.assertTrue((keyway.tensor(array, device=npu).numpy() == array).all())

    def test_scalars_and_arrays_beside_tensors(self):
        x = on_cpu([1.0, 2])
        two = numpy.float32(2)
        for each in (x * two, two * x, x + numpy.int64(1) + (x - numpy.int8(1)), keyway.ops.mul(x, two)):
            self.assertIsInstance(each, keyway.Tensor)
            self.assertEqual(each.tolist(), (x * 2).tolist())
        self.assertEqual((x == two).tolist(), [False, True])
        self.assertEqual(xp.maximum(x, numpy.float32(1.5)).tolist(), [1.5, 2])
        self.assertEqual(xp.full((1,), numpy.int16(3), device=cpu).dtype, keyway.i64)
        x += two
        self.assertEqual(x.tolist(), [3, 4])
        for wrong in (
            lambda: x + numpy.ones(2),
            lambda: numpy.ones(2) + x,
            lambda: numpy.sin(x),
            lambda: xp.full((1,), x),
        ):
            self.assertRaises(TypeError, wrong)

    def test_read_only(self):
        array = numpy.ones(3)
        array.flags.writeable = False
        if numpy.lib.NumpyVersion(numpy.__version__) < "2.1.0":  # whose exports cannot say so
            self.assertRaises(BufferError, keyway.from_numpy, array)
            return
        x = keyway.from_numpy(array)
        self.assertTrue(x.is_read_only)
        self.assertFalse(x.numpy().flags.writeable)
        self.assertRaises(keyway.InvalidArgument, x.__iadd__, 1)


class DLPack(unittest.TestCase):
    def test_own(self):
        for device in (cpu, npu):
            x = keyway.tensor([1.0, 2], device=device)
            self.assertIs(keyway.from_dlpack(x), x)
            for max_version in (None, (1, 0)):
                wrapped = Wrapped(x, [max_version])
                y = keyway.from_dlpack(wrapped)
                y[0] = 5
                self.assertEqual((x.tolist(), y.device), ([5, 2], device))
                x[0] = 1
            self.assertEqual(keyway.from_dlpack(x, copy=True).tolist(), [1, 2])
        self.assertEqual(cpu and keyway.tensor([1], device=cpu).__dlpack_device__(), (1, 0))
        self.assertEqual(keyway.tensor([1], device=npu).__dlpack_device__()[0], 12)

    def test_unused_capsules(self):
        gc.collect()
        before = cpu.memory_stats().live
        x = on_cpu([1.0])
        for version in (None, (1, 0)):
            x.__dlpack__(max_version=version)
        del x
        gc.collect()
        self.assertEqual(cpu.memory_stats().live, before)

    @needs_numpy
    def test_from_another_device(self):
        x = keyway.tensor([1.0, 2], device=npu)
        self.assertRaises((RuntimeError, BufferError), numpy.from_dlpack, x)
        self.assertEqual(numpy.from_dlpack(Wrapped(x, dl_device=(1, 0))).tolist(), [1, 2])
        self.assertRaises(BufferError, x.__dlpack__, dl_device=(1, 0), copy=False)
        self.assertRaises(BufferError, x.__dlpack__, dl_device=(2, 0))
        array = numpy.arange(3)
        y = keyway.from_dlpack(array, device=npu, copy=False)  # this device takes the host's memory where it lies
        array[0] = 7
        self.assertEqual((y.device, y.tolist()), (npu, [7, 1, 2]))
        self.assertRaises(BufferError, keyway.from_dlpack, numpy.arange(3)[::-1])


class Wrapped:
    """A tensor as a library that says nothing else of it would show it."""

    def __init__(self, tensor, versions=(), dl_device=None):
        self.tensor, self.versions, self.dl_device = tensor, versions, dl_device

    def __dlpack__(self, *, max_version=None, **asked):
        max_version = self.versions[0] if self.versions else max_version
        return self.tensor.__dlpack__(max_version=max_version, dl_device=self.dl_device)

    def __dlpack_device__(self):
        return self.dl_device or self.tensor.__dlpack_device__()


class Processes(unittest.TestCase):
    def test_threads(self):
        failures = []

        def work(seed):
            try:
                x = keyway.tensor([float(seed)] * 64, device=npu if seed % 2 else cpu)
                for _ in range(200):
                    y = x * x
                assert y.tolist() == [seed * seed] * 64
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        [each.start() for each in threads]
        [each.join() for each in threads]
        self.assertEqual(failures, [])

    def test_the_lock_is_given_up(self):
        """A wait in one thread, and another one goes on; the first waits for what the other does."""
        program = """
import ctypes, threading, keyway
x, stream, go = keyway.tensor([1.0], device="npu:0"), keyway.device("npu:0").stream(), threading.Event()
held = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go.wait(60))
call_host = keyway._library._library.kw_stream_call_host
call_host.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
assert call_host(stream._handle, ctypes.cast(held, ctypes.c_void_p), None) == 0
assert not stream.query()
threading.Thread(target=go.set).start()
stream.synchronize()
"""
        self.run_python("keyway.load_plugin(os.environ['KEYWAY_TEST_PLUGIN'])\n" + program)

    def run_python(self, program, *arguments):
        done = subprocess.run(
            [sys.executable, "-c", "import os, keyway\n" + program, *arguments],
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_fork(self):
        said = self.run_python("""
import gc
x = keyway.tensor([1.0], device="cpu:0")
child = os.fork()
if child == 0:
    code = 1
    try:
        x + x
    except keyway.Unsupported as error:
        code = 0 if "fork" in str(error) else 2
    del x
    gc.collect()
    os._exit(code)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert (x + x).tolist() == [2]
""")
        self.assertEqual(said, "")

    def test_fork_first(self):
        """The library starts at the first call that needs it: who forks before that may use it on both sides."""
        self.run_python("""
child = os.fork()
sum = (keyway.tensor([1.0], device="cpu:0") + 1).item()
if child == 0:
    os._exit(sum != 2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""")

    def test_spawn(self):
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=in_a_process)
        process.start()
        process.join(300)
        self.assertEqual(process.exitcode, 0)

    def test_exit_with_work_in_flight(self):
        self.run_python("x = keyway.tensor([1.0] * 1000)\nwith x.device.stream():\n  kept = [x + i for i in range(50)]")


def in_a_process():
    assert (keyway.tensor([1.0], device="cpu:0") + 1).item() == 2


class ArrayAPI(unittest.TestCase):
    """Beside tests/differential.py, which compares it with array-api-strict: what that cannot see."""

    def test_namespace(self):
        x = on_cpu([1.0])
        self.assertIs(x.__array_namespace__(), xp)
        self.assertIs(x.__array_namespace__(api_version="2023.12"), xp)
        self.assertRaises(ValueError, x.__array_namespace__, api_version="2030.12")
        self.assertIn(cpu, xp.__array_namespace_info__().devices())

    def test_missing_says_why(self):
        for name in xp.MISSING:
            self.assertFalse(hasattr(xp, name))
            with self.assertRaises(NotImplementedError) as caught:
                getattr(xp, name)
            self.assertIn(xp.MISSING[name], str(caught.exception))
        self.assertRaises(TypeError, xp.floor, on_cpu([1j]))

    def test_numbers_beside_tensors(self):
        x = on_cpu([1, 2], keyway.i8)
        self.assertIs((x + 1).dtype, keyway.i8)
        self.assertIs((x * 2.0).dtype, keyway.f32)
        self.assertEqual((10 - x).tolist(), [9, 8])
        self.assertEqual((2**x).tolist(), [2, 4])
        self.assertIs((on_cpu([1.0]) + on_cpu(1.0, keyway.f64)).dtype, keyway.f64)
        self.assertRaises(TypeError, x.__iadd__, 1.5)
        self.assertIs(x.__add__("a"), NotImplemented)

    def test_on_the_device(self):
        with keyway.settings(fallback="allow"):
            x = xp.arange(6, dtype=xp.float32, device=npu)
            self.assertIs(xp.reshape(x, (2, 3)).device, npu)
            self.assertEqual(xp.sum(xp.reshape(x, (2, 3)), axis=0).tolist(), [3, 5, 7])
            self.assertIs(xp.unique_values(x).device, npu)


if __name__ == "__main__":
    unittest.main()
