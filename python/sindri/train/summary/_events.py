"""MindSpore's event files: protobuf messages in TFRecord frames (mindspore-ai/mindspore: mindspore/ccsrc/utils/summary.proto, lineage.proto,
anf_ir.proto). Messages are coded by hand, so that no protobuf package is needed."""
import json
import os
import socket
import stat
import struct
import time
import zlib
from typing import Any, BinaryIO, Callable, Dict, Iterable, Optional

import numpy as np

from sindri._files import open_descriptor

# DataType of anf_ir.proto
_DATA_TYPES = {'bool': 1, 'int8': 2, 'int16': 3, 'int32': 4, 'int64': 5, 'uint8': 6, 'uint16': 7, 'uint32': 8, 'uint64': 9, 'float16': 10,
               'float32': 11, 'float64': 12}
_TENSOR_TYPE = 14
_MAX_BINS = 90


# --- protobuf wire form -----------------------------------------------------------------------------------------------------------

def varint(value: int) -> bytes:
    """A non-negative (or 64-bit two's complement) integer, seven bits per byte."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def put_int(field: int, value: int) -> bytes:
    """A varint field."""
    return varint(field << 3) + varint(int(value))


def put_double(field: int, value: float) -> bytes:
    """A double field."""
    return varint(field << 3 | 1) + struct.pack('<d', float(value))


def put_float(field: int, value: float) -> bytes:
    """A float field."""
    return varint(field << 3 | 5) + struct.pack('<f', float(value))


def put_bytes(field: int, value: Any) -> bytes:
    """A string, bytes or message field."""
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


# --- TFRecord framing -------------------------------------------------------------------------------------------------------------

def _crc_table() -> list:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _crc_table()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli)."""
    crc = 0xffffffff
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc ^ 0xffffffff


def masked_crc32c(data: bytes) -> int:
    """The form TFRecord stores, so that checksums of data that holds checksums stay well mixed."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def frame(data: bytes) -> bytes:
    """Length, its checksum, data, its checksum."""
    length = struct.pack('<Q', len(data))
    return length + struct.pack('<I', masked_crc32c(length)) + data + struct.pack('<I', masked_crc32c(data))


# --- values -----------------------------------------------------------------------------------------------------------------------

def scalar_value(tag: str, value: Any) -> bytes:
    """A Summary.Value of one number."""
    return put_bytes(1, tag) + put_float(3, float(np.asarray(value).reshape(-1)[0]))


def tensor_value(tag: str, value: np.ndarray) -> bytes:
    """A Summary.Value of an array."""
    a = np.asarray(value)
    kind = _DATA_TYPES.get(a.dtype.name)
    if kind is None:
        raise ValueError(f"summary '{tag}': arrays of {a.dtype} cannot be recorded")
    flat = a.reshape(-1)
    head = b''.join(put_int(1, d) for d in a.shape) + put_int(2, kind)
    if a.dtype.name in ('float16', 'float32'):
        body = put_packed_each(3, flat.astype('<f4'), 5)
    elif a.dtype.name == 'float64':
        body = put_packed_each(6, flat.astype('<f8'), 1)
    else:
        field = {'int64': 5, 'uint64': 7, 'uint32': 7}.get(a.dtype.name, 4)
        body = b''.join(put_int(field, int(v)) for v in flat)
    return put_bytes(1, tag) + put_bytes(8, head + body)


def put_packed_each(field: int, values: np.ndarray, wire: int) -> bytes:
    """Fixed-width values one by one (proto2 does not pack), put together by NumPy."""
    key = np.frombuffer(varint(field << 3 | wire), np.uint8)
    data = values.reshape(-1, 1).view(np.uint8)
    return np.concatenate([np.broadcast_to(key, (len(values), len(key))), data], axis=1).tobytes() if len(values) else b''


def _png(pixels: np.ndarray) -> bytes:
    """PNG of an [H, W], [H, W, 3] or [H, W, 4] uint8 image."""
    h, w = pixels.shape[:2]

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = pixels.reshape(h, -1)
    raw = np.concatenate([np.zeros((h, 1), np.uint8), rows], axis=1).tobytes()
    header = struct.pack('>IIBBBBB', w, h, 8, 0 if pixels.ndim == 2 else 2 if pixels.shape[2] == 3 else 6, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(raw)) + chunk(b'IEND', b'')


def image_value(tag: str, value: np.ndarray) -> bytes:
    """A Summary.Value of the first image of an [N, C, H, W] array, C 1, 3 or 4; values are stretched to 0 … 255 unless uint8."""
    a = np.asarray(value)
    if a.ndim != 4 or a.shape[1] not in (1, 3, 4):
        raise ValueError(f"summary '{tag}': an image must have shape [N, 1, 3 or 4, H, W], got {a.shape}")
    picture = a[0].transpose(1, 2, 0)
    if picture.dtype != np.uint8:
        low, high = float(picture.min()), float(picture.max())
        if not 0.0 <= low <= high <= 1.0:
            picture = (picture - low) / (high - low) if high > low else np.zeros_like(picture)
        picture = np.clip(picture.astype(np.float64) * 255, 0, 255).astype(np.uint8)
    h, w, c = picture.shape
    data = put_int(1, h) + put_int(2, w) + put_int(3, c) + put_bytes(4, _png(np.ascontiguousarray(picture[..., 0] if c == 1 else picture)))
    return put_bytes(1, tag) + put_bytes(4, data)


def _bins(count: int) -> int:
    if count == 0:
        return 1
    if count <= 5:
        return 2
    if count <= 10:
        return 3
    return min(count // 10 + 1, _MAX_BINS)


def histogram_value(tag: str, value: np.ndarray) -> bytes:
    """A Summary.Value of an array's distribution; NaN and infinities are counted apart."""
    flat = np.asarray(value, dtype=np.float64).reshape(-1)
    good = flat[np.isfinite(flat)]
    data = b''
    if good.size:
        counts, edges = np.histogram(good, bins=_bins(good.size))
        for count, left, right in zip(counts, edges[:-1], edges[1:]):
            data += put_bytes(1, put_double(1, left) + put_double(2, right - left) + put_int(3, count))
    data += put_int(2, np.isnan(flat).sum()) + put_int(3, np.isposinf(flat).sum()) + put_int(4, np.isneginf(flat).sum())
    if good.size:
        data += put_double(5, good.max()) + put_double(6, good.min()) + put_double(7, good.sum())
    else:
        data += put_double(5, np.nan) + put_double(6, np.nan) + put_double(7, 0)
    return put_bytes(1, tag) + put_bytes(9, data + put_int(8, flat.size))


def landscape_value(tag: str, message: bytes) -> bytes:
    """A LossLandscape message as it is."""
    return put_bytes(1, tag) + put_bytes(10, message)


_VALUES: Dict[str, Callable[[str, Any], bytes]] = {'landscape': landscape_value, 'scalar': scalar_value, 'tensor': tensor_value, 'image': image_value, 'histogram': histogram_value}


def summary(values: Iterable[tuple]) -> bytes:
    """A Summary message of (kind, tag, array) items."""
    return b''.join(put_bytes(1, _VALUES[kind](tag, array)) for kind, tag, array in values)


def graph(network: Any) -> bytes:
    """A GraphProto: the Cells of a network as nodes in their scopes, and its parameters."""
    out = b''
    for number, (name, cell) in enumerate(network.cells_and_names()):
        if name:
            scope = '/'.join(['Default', *name.split('.')[:-1]])
            out += put_bytes(1, put_bytes(2, str(number)) + put_bytes(3, type(cell).__name__) + put_bytes(4, scope)
                             + put_bytes(8, f"{scope}/{name.split('.')[-1]}"))
    out += put_bytes(2, type(network).__name__)
    for p in network.get_parameters():
        shape = b''.join(put_bytes(1, put_int(1, d)) for d in p.shape)
        kind = put_int(1, _DATA_TYPES.get(str(p.dtype).lower(), 0)) + put_bytes(2, shape)
        out += put_bytes(3, put_bytes(1, p.name) + put_bytes(2, put_int(1, _TENSOR_TYPE) + put_bytes(2, kind)))
    return out


# --- lineage ----------------------------------------------------------------------------------------------------------------------

def train_lineage(info: Dict[str, Any]) -> bytes:
    """A TrainLineage out of a flat dict; absent keys are left out."""
    def part(fields: Dict[str, tuple]) -> bytes:
        return b''.join(put(number, info[key]) for key, (number, put) in fields.items() if info.get(key) is not None)
    hyper = part({'optimizer': (1, put_bytes), 'learning_rate': (2, put_float), 'loss_function': (3, put_bytes), 'epoch': (4, put_int),
                  'parallel_mode': (5, put_bytes), 'device_num': (6, put_int), 'batch_size': (8, put_int)})
    data = part({'train_dataset_path': (1, put_bytes), 'train_dataset_size': (2, put_int)})
    algorithm = part({'network': (1, put_bytes), 'loss': (2, put_float)})
    model = part({'model_path': (3, put_bytes), 'model_size': (4, put_int)})
    return put_bytes(1, hyper) + put_bytes(2, data) + put_bytes(3, algorithm) + put_bytes(4, model)


def eval_lineage(info: Dict[str, Any]) -> bytes:
    """An EvaluationLineage: the metrics as JSON, path and size of the dataset."""
    data = b''
    if info.get('valid_dataset_path'):
        data += put_bytes(1, info['valid_dataset_path'])
    if info.get('valid_dataset_size') is not None:
        data += put_int(2, info['valid_dataset_size'])
    return put_bytes(2, json.dumps(info.get('metrics', {}), default=lambda v: np.asarray(v).tolist())) + put_bytes(3, data)


def user_lineage(info: Dict[str, Any]) -> bytes:
    """A UserDefinedInfo out of a dict of int, float and str."""
    out = b''
    for key, value in info.items():
        if isinstance(value, int):
            out += put_bytes(3, put_bytes(1, key) + put_int(2, value))
        elif isinstance(value, float):
            out += put_bytes(5, put_bytes(1, key) + put_double(2, value))
        else:
            out += put_bytes(4, put_bytes(1, key) + put_bytes(2, str(value)))
    return put_bytes(1, out)


def dataset_graph(description: Dict[str, str]) -> bytes:
    """A DatasetGraph of one node whose parameters are texts."""
    return put_bytes(2, b''.join(put_bytes(1, put_bytes(1, k) + put_bytes(2, v)) for k, v in description.items()))


# Field of LineageEvent that holds each plugin's message.
LINEAGE_FIELDS = {'train_lineage': 6, 'eval_lineage': 7, 'dataset_graph': 9, 'custom_lineage_data': 10}


class EventFile:
    """One event file, created with its first event; readable by its owner only, and read-only once closed."""

    def __init__(self, folder: str, prefix: str, suffix: str, version: bool, max_bytes: Optional[int]):
        self._folder, self._prefix, self._suffix = folder, prefix, suffix
        self._version = version
        self._left = max_bytes
        self._file: Optional[BinaryIO] = None
        self.path = ''
        self.full = False

    def _open(self) -> None:
        host = socket.gethostname()
        for attempt in range(1000):
            # Two files of one second differ by a number.
            middle = f'{int(time.time())}' + (f'.{attempt}' if attempt else '')
            self.path = os.path.join(self._folder, f'{self._prefix}.out.events.summary.{middle}.{host}{self._suffix}')
            try:
                descriptor = open_descriptor(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
            except FileExistsError:
                continue
            self._file = os.fdopen(descriptor, 'wb')
            break
        else:
            raise OSError(f"summary: no free file name in '{self._folder}'")
        if self._version:
            self._put(put_double(1, time.time()) + put_bytes(3, 'MindSpore.Event:1'))

    def _put(self, event: bytes) -> bool:
        data = frame(event)
        if self._left is not None:
            if len(data) > self._left:
                self.full = True
                return False
            self._left -= len(data)
        assert self._file is not None
        self._file.write(data)
        return True

    def write(self, field: int, message: bytes, step: Optional[int] = None) -> bool:
        """Appends an event; False, and nothing written, when the file would exceed its size."""
        if self.full:
            return False
        if self._file is None:
            self._open()
        event = put_double(1, time.time()) + (put_int(2, step) if step is not None else b'') + put_bytes(field, message)
        return self._put(event)

    def flush(self) -> None:
        """Hands everything to the system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Ends the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
            os.chmod(self.path, stat.S_IRUSR)
