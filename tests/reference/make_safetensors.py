"""Writes a safetensors file with the safetensors library, for tests/python/test_tools.py. Needs safetensors.

usage: python tests/reference/make_safetensors.py tests/python/expectations/library.safetensors
       python tests/reference/make_safetensors.py --read FILE      # prints what the library reads from a file written by Sindri
"""
import sys

import numpy as np
import safetensors


def entries():
    """Returns name -> (element type by the library's name, shape, bytes): every type, a scalar, an empty tensor, and a non-ASCII name."""
    ramp = np.arange(6)
    out = {}
    for name, code in (("bool", "|b1"), ("uint8", "|u1"), ("int8", "|i1"), ("int16", "<i2"), ("uint16", "<u2"), ("int32", "<i4"), ("uint32", "<u4"),
                       ("int64", "<i8"), ("uint64", "<u8"), ("float16", "<f2"), ("float32", "<f4"), ("float64", "<f8")):
        out[f"layer.{name}"] = (name, [2, 3], (ramp % 2 if name == "bool" else ramp).astype(code).tobytes())
    out["layer.bfloat16"] = ("bfloat16", [2, 3], (ramp.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes())
    out["scalar"] = ("float32", [], np.float32(1.5).tobytes())
    out["empty"] = ("float32", [0, 4], b"")
    out["größe"] = ("int64", [1], np.int64(-7).tobytes())
    return out


def main():
    if sys.argv[1] == "--read":
        for name, info in safetensors.deserialize(open(sys.argv[2], "rb").read()):
            print(name, info["dtype"], info["shape"], bytes(info["data"]).hex())
        return
    buffers = {name: np.frombuffer(data, np.uint8) for name, (_, _, data) in entries().items()}  # the library takes addresses
    tensors = {name: safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=buffers[name].ctypes.data, data_len=len(data))
               for name, (dtype, shape, data) in entries().items()}
    with open(sys.argv[1], "wb") as f:
        f.write(safetensors.serialize(tensors, {"format": "np", "note": "héllo"}))


if __name__ == "__main__":
    main()
