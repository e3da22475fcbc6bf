#!/usr/bin/env python3
"""Checks an installed wheel from inside Python, with a second C++ runtime loaded if the machine has one; run by test_package.sh and test_bare.sh.

Only the libraries of glibc, Python and NumPy may be loaded from outside the wheel. The wheel has exactly one C++ runtime, which shares no state with the
machine's. C++ errors, from the library and from a plugin, reach Python as exceptions of their classes. Layers, images and the bundled digits work.
"""
import ctypes
import os
import re
import sys
import tempfile

# The number facet's id, the same in every locale. Of the symbols that exist once per process (STB_GNU_UNIQUE), it is the one that breaks streams when two
# runtimes share it.
FACET = "_ZNSt7num_putIcSt19ostreambuf_iteratorIcSt11char_traitsIcEEE2idE"
SYSTEM = re.compile(r"(ld-linux-x86-64|libc|libm|libmvec|libdl|librt|libpthread|libresolv|libutil|libnsl|libanl)[.-]")


def loaded() -> set[str]:
    with open("/proc/self/maps", encoding="utf-8") as f:
        return {line.split(None, 5)[5].strip() for line in f if ".so" in line}


def main() -> None:
    try:
        other = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        other = None
    if other is not None:  # simulates a module of another project that has already used it
        other._ZNSt6locale7classicEv()
    import numpy as np
    np.linalg.norm(np.eye(2))
    before = loaded()

    import sindri as ms
    from sindri import nn
    from sindri.dataset import Cifar10Dataset, DigitsDataset, ImageFolderDataset, MnistDataset, vision
    home = os.path.dirname(os.path.abspath(ms.__file__))
    x = ms.Tensor(np.ones((2, 3), np.float32))
    assert nn.Dense(3, 4)(x).shape == (2, 4)
    assert next(DigitsDataset().create_dict_iterator(num_epochs=1, output_numpy=True))["image"].shape == (8, 8, 1)
    assert vision.Resize((4, 4))(np.zeros((8, 8, 3), np.uint8)).shape == (4, 4, 3)
    for call, kind in ((lambda: x @ x, ms.ShapeError), (lambda: vision.Decode()(np.frombuffer(b"\xff\xd8 not an image", np.uint8)), Exception)):
        try:
            call()
        except kind as error:
            assert type(error).__module__.startswith(("sindri", "builtins")) and str(error), repr(error)
        else:
            raise AssertionError(f"no {kind.__name__}")
    # An error from a data source that opens on first use. The carried unwinder must pass no stack frame of glibc on the way.
    with tempfile.TemporaryDirectory() as folder:
        for source in (ImageFolderDataset(folder), MnistDataset(folder), Cifar10Dataset(folder)):
            for _ in range(2):
                try:
                    source.get_dataset_size()
                except RuntimeError as error:
                    assert str(error), repr(source)
                else:
                    raise AssertionError(f"{type(source).__name__} opened an empty folder")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "a.ckpt")
        with open(file, "wb") as f:
            f.write(b"\xff" * 100)
        try:
            ms.load_checkpoint(file)
        except ms.CheckpointError:
            pass
        else:
            raise AssertionError("a damaged checkpoint was read")

    new = loaded() - before
    own = sorted(f for f in new if f.startswith(home + os.sep))
    runtimes = [f for f in own if os.path.basename(f).startswith("libstdc++")]
    assert len(runtimes) == 1, runtimes
    # Python's own modules may load the libraries that Python needs (libffi, libcrypto); the wheel does not load them.
    python = re.compile(r"/lib-dynload/|/numpy|/lib(ffi|crypto|ssl|z|bz2|lzma|expat|sqlite3|uuid|mpdec|gcc_s)[.-]")
    outside = sorted(f for f in new if f not in own and not SYSTEM.match(os.path.basename(f)) and not python.search(f))
    assert not outside, f"loaded from outside the wheel: {outside}"
    if other is not None:
        mine = ctypes.CDLL(runtimes[0])
        addresses = [ctypes.addressof(ctypes.c_char.in_dll(library, FACET)) for library in (other, mine)]
        assert addresses[0] != addresses[1], "the wheel's C++ runtime shares its facets' ids with the machine's"
    print(f"module: {len(own)} libraries in the wheel, one C++ runtime" + (", separate from the machine's" if other is not None else "; the machine has none"))


if __name__ == "__main__":
    sys.exit(main())
