"""Writes tests/python/expectations/summary.json: the Summary.Value messages that MindSpore 2.10 (CPU) records for a few arrays.

Tensors are omitted: MindSpore stores tensors of every type as float32.

usage: make_summary_expectations.py OUTPUT    (in an environment with mindspore==2.10.0)
"""
import glob
import json
import struct
import sys
import tempfile

import mindspore as ms
import numpy as np
from mindspore.train.summary import SummaryRecord

VALUES = {
    'scalar': {'loss': (0.5, 'float32')},
    'histogram': {'few': ([0, 1, 1, 2, 3], 'float32'), 'ten': ([0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9.5], 'float32'),
                  'many': ([i * 0.25 - 3 for i in range(64)], 'float32'), 'same': ([2, 2, 2], 'float32'), 'holes': ([1, float('nan'), float('inf'), 3], 'float32')},
}


def varint(data, i):
    value = shift = 0
    while True:
        value |= (data[i] & 0x7f) << shift
        shift += 7
        i += 1
        if data[i - 1] < 0x80:
            return value, i


def fields(data):
    """Yields (field, bytes or number) of a protobuf message."""
    i = 0
    while i < len(data):
        key, i = varint(data, i)
        if key & 7 == 0:
            value, i = varint(data, i)
        else:
            n = {1: 8, 5: 4}.get(key & 7)
            if n is None:
                n, i = varint(data, i)
            value = data[i:i + n]
            i += n
        yield key >> 3, value


def messages(path):
    """Returns {tag: message} of the summaries in an event file."""
    with open(path, 'rb') as f:
        data = f.read()
    out, i = {}, 0
    while i < len(data):
        n = struct.unpack('<Q', data[i:i + 8])[0]
        for field, summary in fields(data[i + 12:i + 12 + n]):
            if field == 5:
                out.update({dict(fields(value))[1].decode(): value for _, value in fields(summary)})
        i += 16 + n
    return out


with tempfile.TemporaryDirectory() as folder:
    with SummaryRecord(folder) as record:
        for plugin, arrays in VALUES.items():
            for tag, (array, dtype) in arrays.items():
                record.add_value(plugin, tag, ms.Tensor(np.array(array, dtype)))
        record.record(1)
    made = messages(glob.glob(folder + '/*_MS')[0])
cases = [{'plugin': plugin, 'tag': tag, 'type': dtype, 'value': [repr(float(v)) for v in np.ravel(np.array(array, dtype))],
          'message': made[tag].hex()} for plugin, arrays in VALUES.items() for tag, (array, dtype) in arrays.items() if tag in made]
with open(sys.argv[1], 'w', encoding='utf-8') as f:
    json.dump({'mindspore': ms.__version__, 'cases': cases}, f, indent=1)
    f.write('\n')
