"""Encryption of checkpoint files in MindSpore's form, by OpenSSL's libcrypto as the system (or Python itself) has it.

A file is a row of blocks, each of at most 64 MiB of the plain file, little-endian:

    AES-GCM            magic u32 | tag [16] | size u32 | iv size u32 | iv [16] | text size u32 | text
    AES-CBC, SM4-CBC   magic u32 |            size u32 | iv size u32 | iv [16] | text size u32 | text, padded to 16 bytes

`size` counts what follows it. GCM uses the first 12 bytes of the iv. The tag makes a wrong key or a changed byte known; a CBC file has only the
checksums of the plain file, which tell of damage but do not keep anyone from changing it. MindSpore 1.x writes the first magic for every mode and no
tag; of its files those of AES-CBC are read too. One of AES-GCM could have been changed unnoticed, so it is refused, as by MindSpore 2.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import struct
from typing import Any, BinaryIO, Iterator, Optional

MODES = ('AES-GCM', 'AES-CBC', 'SM4-CBC')
BLOCK_BYTES = 64 << 20

_MAGIC = {'AES-GCM': 0x7F3A5ED8, 'AES-CBC': 0x7F3A5ED9, 'SM4-CBC': 0x7F3A5EDA}
_KEY_SIZES = {'AES-GCM': (16, 24, 32), 'AES-CBC': (16, 24, 32), 'SM4-CBC': (16,)}
_IV = _TAG = 16
_UNTAGGED = 4 + 8 + _IV + 4  # bytes of a block's head, without a tag
_GET_TAG, _SET_TAG = 0x10, 0x11  # EVP_CTRL_AEAD_GET_TAG, EVP_CTRL_AEAD_SET_TAG


def check_key(key: Any, mode: Any, name: str, mode_name: str, place: str) -> None:
    """ValueError, as MindSpore has it, unless key is None or bytes of a size that fits the mode, and the mode is known."""
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"{place}: '{mode_name}' must be one of {', '.join(MODES)}, got {mode!r}")
    if key is None:
        return
    if not isinstance(key, bytes):
        raise ValueError(f"{place}: '{name}' must be None or bytes, got {type(key).__name__}")
    if len(key) not in _KEY_SIZES[mode]:
        sizes = ', '.join(str(n) for n in _KEY_SIZES[mode])
        raise ValueError(f"{place}: '{name}' of {mode} must have {sizes} bytes, got {len(key)}")


_loaded: list[ctypes.CDLL] = []  # the library, once it was asked for


def _library() -> ctypes.CDLL:
    """libcrypto 1.1 or 3: the one that Python's ssl module has loaded, else the system's. RuntimeError without any."""
    if _loaded:
        return _loaded[0]
    try:
        import ssl  # noqa: F401  # loads the library that fits this Python; the names below then find it
    except ImportError:
        pass
    for name in ('libcrypto.so.3', 'libcrypto.so.1.1', ctypes.util.find_library('crypto')):
        if name is None:
            continue
        try:
            library = ctypes.CDLL(name)
            library.EVP_CIPHER_CTX_new.restype = ctypes.c_void_p
            _loaded.append(library)
            return library
        except (OSError, AttributeError):  # no such library, or another of that name
            continue
    raise RuntimeError('encryption of checkpoints needs OpenSSL, and its library libcrypto (1.1 or 3) is not found | enc_key, dec_key | '
                       'install the package openssl (libssl3)')


def _run(encrypting: bool, mode: str, key: bytes, iv: bytes, text: bytes, tag: Optional[bytes] = None) -> Optional[tuple[bytes, bytes]]:
    """(text, tag) through the cipher; None when decrypting fails: another key, or changed bytes."""
    library = _library()
    kind = 'sm4_cbc' if mode == 'SM4-CBC' else f'aes_{8 * len(key)}_{mode[-3:].lower()}'
    make = getattr(library, f'EVP_{kind}', None)
    if make is None:  # some systems leave SM4 out
        raise RuntimeError(f"this system's OpenSSL has no {mode} | enc_mode, dec_mode | use AES-GCM")
    make.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.EVP_CIPHER_CTX_new())
    out, done, rest = ctypes.create_string_buffer(len(text) + _IV), ctypes.c_int(0), ctypes.c_int(0)
    try:
        if library.EVP_CipherInit_ex(context, ctypes.c_void_p(make()), None, key, iv, int(encrypting)) != 1:
            raise RuntimeError(f'OpenSSL refuses the cipher {mode} | enc_mode | use AES-GCM')
        if tag is not None and library.EVP_CIPHER_CTX_ctrl(context, _SET_TAG, _TAG, ctypes.c_char_p(tag)) != 1:
            return None
        if library.EVP_CipherUpdate(context, out, ctypes.byref(done), text, len(text)) != 1:
            return None
        if library.EVP_CipherFinal_ex(context, ctypes.byref(out, done.value), ctypes.byref(rest)) != 1:
            return None
        made = ctypes.create_string_buffer(_TAG)
        if encrypting and mode == 'AES-GCM':
            library.EVP_CIPHER_CTX_ctrl(context, _GET_TAG, _TAG, made)
        return ctypes.string_at(out, done.value + rest.value), made.raw
    finally:
        library.EVP_CIPHER_CTX_free(context)


def encrypt(block: bytes, key: bytes, mode: str) -> bytes:
    """One block of the file, with a random iv."""
    iv = os.urandom(_IV)
    found = _run(True, mode, key, iv, block)
    if found is None:
        raise RuntimeError(f'OpenSSL could not encrypt {len(block)} bytes with {mode} | enc_mode')
    text, tag = found
    head = struct.pack('<I', _MAGIC[mode]) + (tag if mode == 'AES-GCM' else b'')
    return head + struct.pack('<II', 4 + _IV + 4 + len(text), _IV) + iv + struct.pack('<I', len(text)) + text


def is_encrypted(head: bytes) -> bool:
    """Whether a file that begins so holds encrypted blocks."""
    return len(head) >= 4 and struct.unpack('<I', head[:4])[0] in _MAGIC.values()


def _sizes_fit(head: bytes) -> bool:
    """Whether the end of a block's head, from `size` on, agrees with itself."""
    size, iv_size, text_size = struct.unpack('<II', head[:8]) + struct.unpack('<I', head[-4:])
    return iv_size == _IV and size == 4 + _IV + 4 + text_size


def _magic_of(head: bytes, mode: str, path: str) -> int:
    """The magic that every block of the file must have, seen from the first block's untagged head."""
    first = struct.unpack('<I', head[:4])[0]
    of_1x = first == _MAGIC['AES-GCM'] and _sizes_fit(head[4:])
    if of_1x and mode == 'AES-GCM':
        raise ValueError(f'load_checkpoint: the file has no tags, as those of MindSpore 1.x: it could have been changed unnoticed | {path} | '
                         'load and save it with MindSpore 1.x without encryption')
    if first == _MAGIC[mode] or of_1x and mode == 'AES-CBC':
        return first
    other = next((m for m, n in _MAGIC.items() if n == first), None)
    if other is None:
        raise ValueError(f'load_checkpoint: the file is not encrypted | {path} | leave dec_key out')
    raise ValueError(f"load_checkpoint: the file is encrypted with {other}, dec_mode is {mode} | {path} | give dec_mode='{other}'")


def decrypt(file: BinaryIO, key: bytes, mode: str, path: str) -> Iterator[bytes]:
    """The plain file, block by block. ValueError for a file that is not encrypted or of another mode, for a wrong key and for damage."""
    tag_size = _TAG if mode == 'AES-GCM' else 0
    head_size = 4 + tag_size + 8 + _IV + 4
    at = 0

    def broken(what: str, fix: str = 'use an older checkpoint of the run, or copy the file again') -> ValueError:
        return ValueError(f'load_checkpoint: {what} | {path}, byte {at} | {fix}')

    magic = None
    while head := file.read(head_size):
        if magic is None:
            magic = _magic_of(head[:_UNTAGGED].ljust(_UNTAGGED, b'\0'), mode, path)
        if len(head) < head_size:
            raise broken('the file ends inside a block')
        if struct.unpack('<I', head[:4])[0] != magic:
            raise broken('what follows is no encrypted block')
        text_size = struct.unpack('<I', head[-4:])[0]
        if not _sizes_fit(head[4 + tag_size:]) or text_size > os.fstat(file.fileno()).st_size - at - head_size:
            raise broken('the sizes of a block do not fit together')
        text = file.read(text_size)
        plain = _run(False, mode, key, head[-4 - _IV:-4], text, head[4:4 + tag_size] if tag_size else None)
        if plain is None:
            raise broken('a block cannot be decrypted: dec_key is another one than the file was written with, or the file is damaged', 'check dec_key')
        yield plain[0]
        at += head_size + text_size
