"""Cases of image files for dataset_cases.py: files of many kinds, written byte by byte, so that both packages read the same."""
import base64
import os
import struct
import tempfile
import zlib

import numpy as np

# 8 x 8 pixels of CMYK with Adobe's marker, written by Pillow 13.0.
CMYK = base64.b64decode("/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAbEhQXFBEbFxYXHhwbIChCKyglJShROj0wQmBVZWRfVV1baniZgWpxkHNbXYW1hpCeo6utq2eAvMm6pseZqKuk/8AAFAgACAAIBEMRAE0RAFkR"
                        "AEsRAP/EABYAAQEBAAAAAAAAAAAAAAAAAAABBf/EABwQAAEDBQAAAAAAAAAAAAAAAAADBWICBAYyYf/aAA4EQwBNAFkASwAAPwAo+zGQKbETYoGnVYcP/9k=")


def _noise(n, seed):
    return (np.arange(n, dtype=np.uint64) * (2654435761 + 2 * seed) >> np.uint64(13)).astype(np.uint8).tobytes()


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(bits, colour, channels, more=b"", width=7, height=5):
    stride = (width * bits * channels + 7) // 8
    rows = b"".join(b"\0" + _noise(stride, 10 * y + bits + channels) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)) + more + _chunk(b"IDAT", zlib.compress(rows))
            + _chunk(b"IEND", b""))


def bmp(bits, palette=b"", width=7, height=5):
    rows = _noise((width * bits + 31) // 32 * 4 * height, bits)
    return (b"BM" + struct.pack("<IHHI", 54 + len(palette) + len(rows), 0, 0, 54 + len(palette))
            + struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, len(rows), 0, 0, 0, 0) + palette + rows)


def tiff(bits, photometric, channels, kind=1, pixels=None, width=7, height=5):
    pixels = _noise((width * channels * bits + 7) // 8 * height, bits + channels) if pixels is None else pixels
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, bits), (259, 3, 1, 1), (262, 3, 1, photometric), (273, 4, 1, 0), (277, 3, 1, channels),
            (278, 4, 1, height), (279, 4, 1, len(pixels)), (339, 3, 1, kind)]
    begin = 8 + 2 + 12 * len(tags) + 4 + 8 * 2  # header, directory, and the lists of bits and kinds for several channels
    lists = 8 + 2 + 12 * len(tags) + 4
    out = b"II*\0" + struct.pack("<IH", 8, len(tags))
    for tag, form, count, value in tags:
        if tag in (258, 339) and channels > 2:
            count, value = channels, lists + (8 if tag == 339 else 0)
        out += struct.pack("<HHI", tag, form, count) + struct.pack("<I", begin if tag == 273 else value)
    return out + struct.pack("<I", 0) + struct.pack("<4H", *[bits] * 4) + struct.pack("<4H", *[kind] * 4) + pixels


def exif(orientation):
    return b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x112, 3, 1, orientation, 0, 0)


def files(V, photo):
    """Returns contents by name."""
    palette = b"".join(_noise(3, i) for i in range(256))
    entries = b"".join(_noise(3, i) + b"\0" for i in range(256))
    jpeg = V.encode_jpeg(photo, 90).tobytes()
    out = {"colour.jpg": jpeg, "grey.jpg": V.encode_jpeg(photo[..., 0].copy(), 90).tobytes(), "cmyk.jpg": CMYK, "text.jpg": b"hello there", "empty.png": b"",
           "head.jpg": jpeg[:20], "gif.gif": b"GIF89a\7\0\5\0\0\0\0"}
    for k in (2, 3, 4, 5, 6, 7, 8, 9):
        segment = b"Exif\0\0" + exif(k)
        out[f"turned{k}.jpg"] = jpeg[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(segment)) + segment + jpeg[2:]
    for bits in (1, 2, 4, 8, 16):
        out[f"grey{bits}.png"] = png(bits, 0, 1)
    for bits in (8, 16):
        out.update({f"greya{bits}.png": png(bits, 4, 2), f"rgb{bits}.png": png(bits, 2, 3), f"rgba{bits}.png": png(bits, 6, 4)})
    out["palette.png"] = png(8, 3, 1, _chunk(b"PLTE", palette))
    out["transparent.png"] = png(8, 3, 1, _chunk(b"PLTE", palette) + _chunk(b"tRNS", bytes(range(0, 250, 50))))
    out["keyed.png"] = png(8, 2, 3, _chunk(b"tRNS", b"\0\1\0\2\0\3"))
    out["gamma.png"] = png(8, 2, 3, _chunk(b"gAMA", struct.pack(">I", 45455)))
    out["turned6.png"] = png(8, 2, 3, _chunk(b"eXIf", exif(6)))
    out["cut.png"] = out["rgb8.png"][:-30]
    out.update({"palette1.bmp": bmp(1, entries[:8]), "palette4.bmp": bmp(4, entries[:64]), "palette8.bmp": bmp(8, entries), "rgb24.bmp": bmp(24),
                "rgb32.bmp": bmp(32), "grey8.bmp": bmp(8, bytes(v for i in range(256) for v in (i, i, i, 0)))})
    out.update({"grey8.tif": tiff(8, 1, 1), "inverted8.tif": tiff(8, 0, 1), "grey1.tif": tiff(1, 1, 1), "rgb8.tif": tiff(8, 2, 3), "grey16.tif": tiff(16, 1, 1),
                "rgb16.tif": tiff(16, 2, 3), "float.tif": tiff(32, 1, 1, 3, np.linspace(-2, 300, 35).astype("<f4").tobytes())})
    return out


def add(run, V, photo, checksum, tensor):
    """Calls run(name, function) for each case. `tensor` makes the package's Tensor from an array."""
    small = photo[:9, :12].copy()
    for quality in (1, 50, 75, 95, 100):
        run(f"encode_jpeg {quality}", lambda q=quality: checksum(V.encode_jpeg(photo, q)))
    for level in (0, 1, 6, 9):
        run(f"encode_png {level}", lambda c=level: checksum(V.encode_png(photo, c)))
    for encode in (V.encode_jpeg, V.encode_png):
        name = encode.__name__
        for kind, value in {"plane": small[..., 0], "one channel": small[..., :1], "Tensor": tensor(small), "turned": small.transpose(1, 0, 2), "of floats":
                            small.astype(np.float32), "of int8": small.astype(np.int8), "of bool": small > 3, "two channels": small[..., :2], "four channels":
                            np.zeros((4, 4, 4), np.uint8), "a batch": small[None], "a row": small[0, :, 0], "a number": np.array(3, np.uint8), "nothing":
                            small[:0], "no channel": small[..., :0], "a list": [[1]], "None": None}.items():
            run(f"{name} {kind}", lambda e=encode, v=value: checksum(e(v)))
        for amount in (-1, 0, 10, 101, 6.0, "6", None):
            run(f"{name} with {amount!r}", lambda e=encode, a=amount: checksum(e(small, a)))
    run("encode_jpeg too wide", lambda: V.encode_jpeg(np.zeros((1, 65501), np.uint8)))
    run("encode_jpeg widest", lambda: checksum(V.encode_jpeg(np.zeros((1, 65500), np.uint8))))
    run("encode_png too wide", lambda: V.encode_png(np.zeros((1, 1000001), np.uint8)))
    run("ImageReadMode", lambda: [[m.name, int(m)] for m in V.ImageReadMode])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        for name, content in files(V, photo).items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
            for mode in V.ImageReadMode:
                run(f"read_image {name} {mode.name}", lambda n=name, m=mode: checksum(V.read_image(os.path.join(folder, n), m)))
        run("read_image default", lambda: checksum(V.read_image(os.path.join(folder, "grey16.png"))))
        for mode in (0, "COLOR", None):
            run(f"read_image mode {mode!r}", lambda m=mode: V.read_image(os.path.join(folder, "rgb8.png"), m))
        for function in (V.read_image, V.read_file):
            for kind, name in {"absent": path, "a folder": folder, "a device": "/dev/null", "bytes": b"/x", "a number": 5, "nothing": ""}.items():
                run(f"{function.__name__} {kind}", lambda f=function, n=name: f(n))
        run("read_file", lambda: checksum(V.read_file(os.path.join(folder, "text.jpg"))))
        run("read_file empty", lambda: checksum(V.read_file(os.path.join(folder, "empty.png"))))

        data = np.arange(5, dtype=np.uint8)

        def written(write, value, *amount):
            result = write(path, value, *amount)
            return [repr(result), *checksum(np.fromfile(path, np.uint8))]

        for kind, value in {"bytes": data, "Tensor": tensor(data), "steps": data[::2], "nothing": data[:0], "floats": data / 2, "bool": data > 2, "2-D":
                            data.reshape(1, 5), "0-D": np.array(3, np.uint8), "a list": [1], "a string": b"ab"}.items():
            run(f"write_file {kind}", lambda v=value: written(V.write_file, v))
        run("write_jpeg", lambda: written(V.write_jpeg, photo))
        run("write_jpeg 30", lambda: written(V.write_jpeg, tensor(small), 30))
        run("write_png", lambda: written(V.write_png, photo))
        run("write_png 0", lambda: written(V.write_png, small[..., 0], 0))
        for write in (V.write_jpeg, V.write_png):
            run(f"{write.__name__} of floats", lambda w=write: w(path, small / 2))
            run(f"{write.__name__} of a list", lambda w=write: w(path, [1]))
            run(f"{write.__name__} with 200", lambda w=write: w(path, small, 200))
            run(f"{write.__name__} with 0.5", lambda w=write: w(path, small, 0.5))
        for write in (V.write_file, V.write_jpeg, V.write_png):
            value = data if write is V.write_file else small
            for kind, name in {"a folder": folder, "no folder": os.path.join(folder, "no", "x"), "a device": "/dev/null", "bytes": b"/x", "a number": 5}.items():
                run(f"{write.__name__} to {kind}", lambda w=write, n=name, v=value: w(n, v))
    for kind, value in {"plane": small[..., 0], "picture": small, "batch": small[None], "batches": small[None, None], "floats": small / 2, "nothing":
                        small[:0], "a row": small[0, 0], "a number": np.array(3.), "a list": [[1]], "Tensor": tensor(small)}.items():
        run(f"get_image_size {kind}", lambda v=value: V.get_image_size(v))
        run(f"get_image_num_channels {kind}", lambda v=value: V.get_image_num_channels(v))
