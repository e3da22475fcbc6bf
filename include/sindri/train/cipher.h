// Encryption of checkpoint files in MindSpore's format, with the system's libcrypto (OpenSSL).
//
// A file is a sequence of blocks, each of at most 64 MiB of the plain file, little-endian:
//
//     AES-GCM            magic u32 | tag [16] | size u32 | iv size u32 | iv [16] | text size u32 | text
//     AES-CBC, SM4-CBC   magic u32 |            size u32 | iv size u32 | iv [16] | text size u32 | text, padded to 16 bytes
//
// `size` counts the bytes after it. GCM uses the first 12 bytes of the iv. The tag reveals a wrong key or a changed byte. A CBC
// file has only the checksums of the plain file, which reveal damage but do not prevent deliberate changes. MindSpore 1.x writes
// the first magic and no tag for every mode. Its AES-CBC files are read; its AES-GCM files could have been changed unnoticed, so
// they are rejected, as in MindSpore 2.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "sindri/export.h"
#include "sindri/train/checkpoint.h"

namespace sindri::train {

/// Largest number of plain bytes in a block.
inline constexpr int64_t kSealedBlockBytes = int64_t{64} << 20;

/// Throws ValueError unless `mode` is "AES-GCM", "AES-CBC" or "SM4-CBC". Messages call the mode `name`.
SINDRI_API void check_cipher_mode(std::string_view mode, std::string_view name);
/// Throws ValueError unless the key's size suits the mode: 16, 24 or 32 bytes; 16 for SM4. Messages call the key `name`.
SINDRI_API void check_cipher_key(std::string_view key, std::string_view mode, std::string_view name);
/// Encrypts one block of a file with a random iv; for SaveOptions::seal. Throws DeviceError if the system has no libcrypto or its
/// libcrypto lacks the mode.
SINDRI_API std::string seal_block(std::string_view block, const std::string& key, const std::string& mode);
/// Whether the file starts with the magic number of an encrypted block. Throws IoError.
SINDRI_API bool is_sealed(const std::string& path);
/// Reads an encrypted checkpoint. Decrypted bytes stay in memory, in an unnamed file. Throws CheckpointError for a file that is
/// not encrypted or has another mode, for a wrong key and for damage; and what load_checkpoint and seal_block throw.
SINDRI_API LoadedCheckpoint load_sealed_checkpoint(const std::string& path, const std::string& key, const std::string& mode);
/// For tests: treats libcrypto functions with `part` in their names as missing; "EVP" for all, empty for none.
SINDRI_API void hide_libcrypto(std::string part);

}  // namespace sindri::train
