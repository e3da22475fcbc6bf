"""Encryption of checkpoint files in MindSpore's form, by OpenSSL's libcrypto as the system (or Python itself) has it.

A file is a row of blocks, each of at most 64 MiB of the plain file, little-endian:

    AES-GCM            magic u32 | tag [16] | size u32 | iv size u32 | iv [16] | text size u32 | text
    AES-CBC, SM4-CBC   magic u32 |            size u32 | iv size u32 | iv [16] | text size u32 | text, padded to 16 bytes

`size` counts what follows it. GCM uses the first 12 bytes of the iv. The tag makes a wrong key or a changed byte known; CBC files carry the
checksums of the plain file instead. MindSpore 1.x writes the first magic for every mode and no tag; such files are read too.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import struct
from typing import Any, Optional

MODES = ('AES-GCM', 'AES-CBC', 'SM4-CBC')
BLOCK_BYTES = 64 << 20

_MAGIC = {'AES-GCM': 0x7F3A5ED8, 'AES-CBC': 0x7F3A5ED9, 'SM4-CBC': 0x7F3A5EDA}
_KEY_SIZES = {'AES-GCM': (16, 24, 32), 'AES-CBC': (16, 24, 32), 'SM4-CBC': (16,)}
_IV = _TAG = 16
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
        if not encrypting and mode == 'AES-GCM' and tag is None:  # a file of 1.x: nothing to compare with
            return ctypes.string_at(out, done.value), b''
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


def _is_of_1x(data: bytes, at: int) -> bool:
    """Whether the block there is of MindSpore 1.x: sizes stand where a tag of random bytes would."""
    if len(data) - at < 12 + _IV + 4 or struct.unpack_from('<I', data, at)[0] != _MAGIC['AES-GCM']:
        return False
    size, iv_size = struct.unpack_from('<II', data, at + 4)
    return iv_size == _IV and size == 4 + _IV + 4 + struct.unpack_from('<I', data, at + 12 + _IV)[0]


def decrypt(data: bytes, key: bytes, mode: str, path: str) -> bytes:
    """The plain file. ValueError for a file that is not encrypted or of another mode, for a wrong key and for damage."""
    def broken(what: str, fix: str) -> ValueError:
        return ValueError(f"load_checkpoint: {what} | {path}, byte {at} | {fix}")

    out, at = [], 0
    while at < len(data):
        magic = struct.unpack_from('<I', data, at)[0] if len(data) - at >= 4 else 0
        old = mode != 'SM4-CBC' and _is_of_1x(data, at)
        tagged = mode == 'AES-GCM' and not old
        head = 4 + (_TAG if tagged else 0)
        if magic != _MAGIC[mode] and not old:
            other = next((m for m, n in _MAGIC.items() if n == magic), None)
            if other is not None:
                raise broken(f'the file is encrypted with {other}, dec_mode is {mode}', f"give dec_mode='{other}'")
            raise broken('the file is not encrypted' if at == 0 else 'what follows is no encrypted block',
                         'leave dec_key out' if at == 0 else 'use an older checkpoint of the run, or copy the file again')
        if len(data) - at < head + 8 + _IV + 4:
            raise broken('the file ends inside a block', 'use an older checkpoint of the run, or copy the file again')
        size, iv_size = struct.unpack_from('<II', data, at + head)
        text_size = struct.unpack_from('<I', data, at + head + 8 + _IV)[0]
        begin = at + head + 8 + _IV + 4
        if iv_size != _IV or size != 4 + _IV + 4 + text_size or text_size > len(data) - begin:
            raise broken('the sizes of a block do not fit together', 'use an older checkpoint of the run, or copy the file again')
        iv = data[at + head + 8:at + head + 8 + _IV]
        plain = _run(False, mode, key, iv, data[begin:begin + text_size], data[at + 4:at + head] if tagged else None)
        if plain is None:
            raise broken('a block cannot be decrypted: dec_key is another one than the file was written with, or the file is damaged', 'check dec_key')
        out.append(plain[0])
        at = begin + text_size
    return b''.join(out)
