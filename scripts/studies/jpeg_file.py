"""Writes small JPEG files (ITU-T T.81, baseline, Huffman coded, 4:4:4) without a library, the same bytes everywhere.

For studies whose data must be made on the spot: the Python environment of the tests has no image library. The code tables are flat (4 bits a DC
category, 8 bits an AC symbol), which costs file size only.
"""
import math
import struct

# Natural index of the k-th coefficient in zigzag order (T.81 figure A.6).
ZIGZAG = sorted(range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))
DC_SYMBOLS = list(range(12))
AC_SYMBOLS = [0x00, 0xF0] + [run << 4 | size for run in range(16) for size in range(1, 11)]
AC_CODE = {symbol: code for code, symbol in enumerate(AC_SYMBOLS)}
BASIS = [[math.cos((2 * x + 1) * u * math.pi / 16) / 2 * (math.sqrt(0.5) if u == 0 else 1) for x in range(8)] for u in range(8)]


def _segment(marker: int, body: bytes) -> bytes:
    return struct.pack('>BBH', 0xFF, marker, len(body) + 2) + body


def _quantized(block: list, step: int) -> list:
    """[8][8] levels around 0 -> 64 coefficients in zigzag order (T.81 A.3.3, A.3.4)."""
    rows = [[sum(BASIS[u][x] * line[x] for x in range(8)) for u in range(8)] for line in block]
    both = [sum(BASIS[v][y] * rows[y][u] for y in range(8)) for v in range(8) for u in range(8)]
    return [math.floor(both[i] / step + 0.5) for i in ZIGZAG]


class _Bits:
    """The entropy coded data: most significant bit first, a zero byte stuffed behind each 0xFF."""

    def __init__(self):
        self.value, self.count = 0, 0

    def put(self, value: int, count: int) -> None:
        self.value = self.value << count | value
        self.count += count

    def put_signed(self, value: int, size: int) -> None:
        self.put(value if value > 0 else value + (1 << size) - 1, size)

    def data(self) -> bytes:
        fill = -self.count % 8
        return ((self.value << fill) | ((1 << fill) - 1)).to_bytes((self.count + fill) // 8, 'big').replace(b'\xff', b'\xff\x00')


def _put_block(bits: _Bits, coefficients: list, before: int) -> None:
    """One block (T.81 F.1.2); before is the DC coefficient of the component's last one."""
    size = abs(coefficients[0] - before).bit_length()
    bits.put(size, 4)
    bits.put_signed(coefficients[0] - before, size)
    run = 0
    for value in coefficients[1:]:
        if value == 0:
            run += 1
            continue
        for _ in range(run // 16):
            bits.put(AC_CODE[0xF0], 8)
        size = abs(value).bit_length()
        bits.put(AC_CODE[run % 16 << 4 | size], 8)
        bits.put_signed(value, size)
        run = 0
    if run:
        bits.put(AC_CODE[0x00], 8)


def jpeg_bytes(rows: list, step: int = 4) -> bytes:
    """A JPEG file of rows [height][width] of (red, green, blue), 0 to 255; height and width in multiples of 8. step, 2 to 255, quantizes."""
    height, width = len(rows), len(rows[0])
    if height % 8 or width % 8 or any(len(row) != width for row in rows):
        raise ValueError(f'jpeg_bytes: expected rows of one length in multiples of 8, got {height} x {width}')
    if not 2 <= step <= 255:  # with 1 a coefficient may need 11 bits, baseline has 10
        raise ValueError(f'jpeg_bytes: expected step in 2 to 255, got {step}')
    # Y, Cb and Cr around 0 (JFIF 1.02).
    planes = [[[0.299 * r + 0.587 * g + 0.114 * b - 128 for r, g, b in row] for row in rows],
              [[-0.168736 * r - 0.331264 * g + 0.5 * b for r, g, b in row] for row in rows],
              [[0.5 * r - 0.418688 * g - 0.081312 * b for r, g, b in row] for row in rows]]
    bits, before = _Bits(), [0, 0, 0]
    for top in range(0, height, 8):
        for left in range(0, width, 8):
            for c, plane in enumerate(planes):
                coefficients = _quantized([line[left:left + 8] for line in plane[top:top + 8]], step)
                _put_block(bits, coefficients, before[c])
                before[c] = coefficients[0]
    tables = (bytes([0x00, 0, 0, 0, len(DC_SYMBOLS)] + [0] * 12 + DC_SYMBOLS), bytes([0x10] + [0] * 7 + [len(AC_SYMBOLS)] + [0] * 8 + AC_SYMBOLS))
    return b''.join([
        b'\xff\xd8', _segment(0xE0, b'JFIF\0' + bytes([1, 2, 0, 0, 1, 0, 1, 0, 0])), _segment(0xDB, bytes([0] + [step] * 64)),
        _segment(0xC0, struct.pack('>BHHB', 8, height, width, 3) + bytes([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])),
        *(_segment(0xC4, table) for table in tables),
        _segment(0xDA, bytes([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])), bits.data(), b'\xff\xd9'])
