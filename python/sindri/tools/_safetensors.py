"""The safetensors format: eight bytes with the header's length, a JSON header, the tensors' bytes without gaps.

Reading validates all data before use and executes nothing from the file; writing keeps the order of the tensors. The metadata of files written here
contain the number of tensors and bytes, a CRC-32 per tensor, and a CRC-32 of the header (names, types, shapes and metadata). Reading checks them if
present. src/train/safetensors.cc does the same.
"""
import json
import mmap
import os
import struct
import zlib
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

from sindri._files import open_descriptor
from sindri.tools._errors import damaged, file_error, unusable

__all__ = ["Weight", "read", "write", "NUMPY"]

# NumPy's types by safetensors' names. Types that NumPy lacks are stored as unsigned integers of the same width.
NUMPY: Dict[str, str] = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "F8_E5M2": "|u1", "F8_E4M3": "|u1", "I16": "<i2", "U16": "<u2", "F16": "<f2", "BF16": "<u2",
    "I32": "<i4", "U32": "<u4", "F32": "<f4", "F64": "<f8", "I64": "<i8", "U64": "<u8", "C64": "<c8",
}
_MAX_HEADER = 100_000_000
_INTEGRITY = "sindri.integrity"
# The CRC-32 of the header with zeros in place of the CRC's digits. Each of the two entries states that the other exists, so damage to a key is detected too.
_HEADER_SUM = "sindri.header"
_ZEROS = "0" * 8


@dataclass
class Weight:
    """One named tensor.

    Args:
        name (str): The name.
        dtype (str): The element type by safetensors' name.
        array (numpy.ndarray): The elements, for BF16 and F8 their bit patterns.

    Examples:
        >>> import numpy as np
        >>> from sindri.tools import convert
        >>> weight = convert.Weight("w", "F32", np.ones((3, 2), np.float32))
        >>> weight.shape, weight.nbytes
        ((3, 2), 24)
    """

    name: str
    dtype: str
    array: np.ndarray

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape."""
        return tuple(self.array.shape)

    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes."""
        return int(self.array.nbytes)

    def same_bits(self, other: "Weight") -> bool:
        """Returns whether both tensors have the same type, shape and bytes.

        Args:
            other (Weight): The other tensor.

        Returns:
            bool.
        """
        return self.dtype == other.dtype and self.shape == other.shape and self.array.tobytes() == other.array.tobytes()


def _unique(pairs: List[Tuple[str, object]]) -> Dict[str, object]:
    out: Dict[str, object] = {}
    for k, v in pairs:
        if k in out:
            raise ValueError(f"the name '{k}' occurs twice")
        out[k] = v
    return out


def _is_count(v: object) -> bool:
    return isinstance(v, int) and not isinstance(v, bool) and v >= 0


def _sum_entry(digits: str) -> bytes:
    return f'"{_HEADER_SUM}":"{digits}"'.encode()


def _check_header(raw: bytes, metadata: Dict[str, str], path: str) -> None:
    """Raises CheckpointError if the header was altered. Files from before header checksums pass."""
    stated = metadata.pop(_HEADER_SUM, None)
    promised = '"header":1' in metadata.get(_INTEGRITY, "")
    if stated is None and not promised:
        return
    if stated is None or not promised or raw.count(_sum_entry(stated)) != 1:
        raise damaged(f"the header of {path} is corrupt: one of its two checksums is missing", f"{path}, byte 8", "use another copy of the file")
    got = f"{zlib.crc32(raw.replace(_sum_entry(stated), _sum_entry(_ZEROS))):08x}"
    if got != stated:
        raise damaged(f"the header of {path} is corrupt (CRC-32: expected {stated}, got {got})", f"{path}, byte 8", "use another copy of the file")


def _header(view: memoryview, path: str) -> Tuple[Dict[str, object], int]:
    """Returns the JSON header and the start of the data."""
    size = len(view)
    if size < 8:
        raise damaged(f"{path} is not a safetensors file: expected at least 8 bytes, got {size}", f"{path}, byte 0")
    (length,) = struct.unpack("<Q", view[:8])
    if length > _MAX_HEADER or length > size - 8:
        raise damaged(f"{path} is not a safetensors file, or is truncated: its header should have {length} bytes, the file has {size - 8} after the length",
                      f"{path}, byte 0")
    raw = bytes(view[8:8 + length])
    if raw[:1] != b"{":
        raise damaged(f"{path} is not a safetensors file: expected '{{' as the header's first byte, got {raw[:1]!r}", f"{path}, byte 8")
    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as e:
        raise damaged(f"the header of {path} cannot be read: {e}", f"{path}, byte 8") from None
    return header, 8 + int(length)


def _entry(name: str, info: object, path: str) -> Tuple[str, Tuple[int, ...], int, int]:
    """Returns element type, shape, first and last byte of one tensor, after validation."""
    def bad(what: str) -> Exception:
        return damaged(f"tensor '{name}' of {path} {what}", path)

    if not isinstance(info, dict) or set(info) != {"dtype", "shape", "data_offsets"}:
        raise bad("must have exactly dtype, shape and data_offsets")
    dtype, shape, offsets = info["dtype"], info["shape"], info["data_offsets"]
    if not isinstance(dtype, str) or dtype not in NUMPY:
        raise unusable(f"tensor '{name}' of {path} has the unknown element type {dtype!r}", path, f"known: {', '.join(NUMPY)}")
    if not isinstance(shape, list) or len(shape) > 32 or not all(_is_count(d) for d in shape):
        raise bad(f"has the shape {shape!r}: expected non-negative integers")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(_is_count(o) for o in offsets):
        raise bad(f"has the data_offsets {offsets!r}: expected two non-negative integers")
    count = 1
    for d in shape:
        count *= d
    if offsets[1] - offsets[0] != count * np.dtype(NUMPY[dtype]).itemsize:
        raise bad(f"has {offsets[1] - offsets[0]} bytes where {dtype} {shape} needs {count * np.dtype(NUMPY[dtype]).itemsize}")
    return dtype, tuple(shape), offsets[0], offsets[1]


def _check_integrity(weights: Sequence[Weight], text: str, path: str) -> None:
    try:
        stated = json.loads(text)
        count, size, sums = stated["tensors"], stated["bytes"], stated["crc32"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise damaged(f"the metadata '{_INTEGRITY}' of {path} cannot be read", path) from None
    if count != len(weights) or size != sum(w.nbytes for w in weights) or not isinstance(sums, list) or len(sums) != len(weights):
        raise damaged(f"{path} should hold {count} tensors of {size} bytes, it holds {len(weights)} of {sum(w.nbytes for w in weights)}", path)
    for w, expected in zip(weights, sums):
        got = f"{zlib.crc32(w.array.tobytes()):08x}"
        if got != expected:
            raise damaged(f"tensor '{w.name}' of {path} is corrupt (CRC-32: expected {expected}, got {got})", path, "use another copy of the file")


def read(path: str) -> Tuple[List[Weight], Dict[str, str], bool]:
    """Returns (tensors in the order of their bytes, metadata without the checksums, whether checksums were present and correct).

    Raises CheckpointError unless the file is well-formed, and IoError if it cannot be read.
    """
    try:
        with open(path, "rb") as f:
            size = os.fstat(f.fileno()).st_size
            mapped = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as e:
        raise file_error(e, path, "read") from None
    view = memoryview(mapped)
    header, start = _header(view, path)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise damaged(f"the metadata of {path} must map names to texts", path)
    _check_header(bytes(view[8:start]), metadata, path)
    entries = sorted(((name,) + _entry(name, info, path) for name, info in header.items()), key=lambda e: (e[3], e[4]))
    end = 0
    for name, _, _, first, last in entries:
        if first != end:
            raise damaged(
                f"tensor '{name}' of {path} starts at byte {first} of the data, expected {end}: tensors must follow each other without gaps", path
            )
        end = last
    if start + end != len(view):
        raise damaged(
            f"{path} has {len(view) - start} bytes of data, its header describes {end}", f"{path}, byte {start + min(end, len(view) - start)}"
        )
    weights = []
    for name, dtype, shape, first, last in entries:
        raw = np.frombuffer(view, np.uint8, last - first, start + first).copy()  # the copy is aligned, and the file can be closed
        weights.append(Weight(name, dtype, raw.view(NUMPY[dtype]).reshape(shape)))
    integrity: Optional[str] = metadata.pop(_INTEGRITY, None)
    if integrity is not None:
        _check_integrity(weights, integrity, path)
    return weights, metadata, integrity is not None


def write(path: str, weights: Sequence[Weight], metadata: Optional[Dict[str, str]] = None) -> None:
    """Writes the tensors in order. The file appears as a whole or not at all. Raises IoError if it cannot be written."""
    header: Dict[str, object] = {}
    sums, end = [], 0
    for w in weights:
        if w.name in header or w.name == "__metadata__":
            raise unusable(f"two tensors are named '{w.name}'", path, "rename one with --map")
        header[w.name] = {"dtype": w.dtype, "shape": list(w.shape), "data_offsets": [end, end + w.nbytes]}
        sums.append(f"{zlib.crc32(w.array.tobytes()):08x}")
        end += w.nbytes
    integrity = json.dumps({"tensors": len(weights), "bytes": end, "crc32": sums, "header": 1}, separators=(",", ":"))
    texts = {**(metadata or {}), _INTEGRITY: integrity, _HEADER_SUM: _ZEROS}
    text = json.dumps({"__metadata__": texts, **header}, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)
    text = text.replace(_sum_entry(_ZEROS), _sum_entry(f"{zlib.crc32(text):08x}"), 1)
    write_whole(path, [struct.pack("<Q", len(text)), text] + [w.array for w in weights])


def write_whole(path: str, parts: Sequence[object]) -> None:
    """Writes bytes and arrays to a file that appears as a whole or not at all: to a temporary file next to it, which is flushed and renamed."""
    folder = os.path.dirname(os.path.abspath(path))
    temporary = os.path.join(folder, f"{os.path.basename(path)}.tmp.{os.getpid()}")
    try:
        fd = open_descriptor(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            with os.fdopen(fd, "wb") as f:
                for part in parts:
                    f.write(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else part)  # type: ignore[arg-type]
                f.flush()
                os.fsync(f.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        entry = open_descriptor(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)
    except OSError as e:
        raise file_error(e, path, "write") from None
