"""Arrays that the engine cannot use as they are (other byte orders, too large, unaligned, raising errors), and errors whose text is not UTF-8."""
from pathlib import Path

import numpy as np
import pytest

import sindri as ms
import sindri.dataset as ds
from sindri import Tensor, nn, ops

ENDLESS = np.broadcast_to(np.float32(1), (3, 2 ** 44))  # uses one element of memory


@pytest.mark.parametrize("use", [Tensor, lambda a: Tensor([1.0]) + a, ms.numpy.array, lambda a: ms.Parameter(a, name="p"),
                                 lambda a: next(ds.NumpySlicesDataset(a[None], ["c"]).create_tuple_iterator())])
def test_an_array_whose_copy_has_no_room_raises(use):
    with pytest.raises((MemoryError, RuntimeError), match="(?i)memory|allocate"):
        use(ENDLESS)


@pytest.mark.parametrize("dtype", [">i4", ">i8", ">f4", ">f8", "<i4", "<f8"])
def test_byte_orders(dtype):
    a = np.array([1, 2, 3], dtype)
    assert Tensor(a).asnumpy().tolist() == [1, 2, 3]
    rows = ds.NumpySlicesDataset(a, ["c"], shuffle=False).create_tuple_iterator(output_numpy=True)
    assert [row[0].item() for row in rows] == [1, 2, 3]
    if a.dtype.isnative:
        assert Tensor.from_numpy(a).asnumpy().tolist() == [1, 2, 3]
    else:
        with pytest.raises(ValueError, match="another byte order"):
            Tensor.from_numpy(a)


def test_unaligned_arrays_are_copied():
    a = np.frombuffer(b"\0" + np.arange(5, dtype=np.float32).tobytes(), np.uint8)[1:].view(np.float32)
    assert not a.flags.aligned and Tensor(a).asnumpy().tolist() == [0, 1, 2, 3, 4]
    rows = ds.NumpySlicesDataset(a, ["c"], shuffle=False).create_tuple_iterator(output_numpy=True)
    assert [row[0].item() for row in rows] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="unaligned"):
        Tensor.from_numpy(a)


def test_uint64_beyond_int64_raises():
    assert Tensor(np.array([2 ** 63 - 1, 3], np.uint64)).asnumpy().tolist() == [2 ** 63 - 1, 3]
    with pytest.raises(ValueError, match="does not fit into int64"):
        Tensor(np.array([1, 2 ** 63], np.uint64))


class Refusing:
    def __array__(self, *args, **kwargs):
        raise KeyError("not an array")


@pytest.mark.parametrize("value, error", [([[1], [1, 2]], "inhomogeneous"), (Refusing(), "not an array")])
def test_a_value_of_a_map_function_that_is_no_array_names_the_cause(value, error):
    with pytest.raises(Exception, match=error):
        list(ds.NumpySlicesDataset(np.arange(4), ["c"]).map(lambda x: value, ["c"]).create_tuple_iterator())


def test_a_gradient_of_another_shape_names_the_cell():
    class Wrong(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (Tensor([1.0, 2.0, 3.0]),)

    with pytest.raises(ValueError, match=r"gradient of shape \(3,\) for input 0 of shape \(1,\) \| Wrong.bprop"):
        ms.grad(Wrong())(Tensor([1.0]))
    with pytest.raises(ValueError, match="gradient of input 0 has shape"):
        ms.grad(lambda x: ops.InsertGradientOf(lambda g: Tensor([1.0, 2.0]))(x))(Tensor([1.0]))


def test_what_a_damaged_file_holds_may_be_no_text(tmp_path):
    whole = (Path(__file__).parent / "expectations" / "mindspore.ckpt").read_bytes()
    damaged = tmp_path / "damaged.ckpt"
    damaged.write_bytes(whole.replace(b"Float32", b"Fl\x80at32", 1))
    with pytest.raises(ms.CheckpointError, match=r"Fl\\x80at32"):
        ms.load_checkpoint(str(damaged))


def test_a_value_of_the_wrong_kind_is_a_type_error():
    with pytest.raises(TypeError, match="not of the type that is needed"):
        Tensor(shape=(2, 1j), dtype=ms.float32, init=1)


def test_more_tensors_than_bits_of_a_mask(mode):
    x = Tensor(np.arange(320, dtype=np.float32).reshape(1, 40, 2, 4))
    parts = ops.split(x, 1, 1)
    assert len(parts) == 40
    np.testing.assert_array_equal(ops.concat(parts, 1).asnumpy(), x.asnumpy())
