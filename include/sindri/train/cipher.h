// Encryption of checkpoint files in MindSpore's form, by OpenSSL's libcrypto as the system has it.
//
// A file is a row of blocks, each of at most 64 MiB of the plain file, little-endian:
//
//     AES-GCM            magic u32 | tag [16] | size u32 | iv size u32 | iv [16] | text size u32 | text
//     AES-CBC, SM4-CBC   magic u32 |            size u32 | iv size u32 | iv [16] | text size u32 | text, padded to 16 bytes
//
// `size` counts what follows it. GCM uses the first 12 bytes of the iv. The tag makes a wrong key or a changed byte known; a CBC file has only the
// checksums of the plain file, which tell of damage but do not keep anyone from changing it. MindSpore 1.x writes the first magic for every mode
// and no tag; of its files those of AES-CBC are read too. One of AES-GCM could have been changed unnoticed, so it is refused, as by MindSpore 2.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "sindri/export.h"
#include "sindri/train/checkpoint.h"

namespace sindri::train {

inline constexpr int64_t kSealedBlockBytes = int64_t{64} << 20;

/// Throws ValueError unless `mode` is "AES-GCM", "AES-CBC" or "SM4-CBC"; messages call it `name`.
SINDRI_API void check_cipher_mode(std::string_view mode, std::string_view name);
/// Throws ValueError unless the key has a size that fits the mode: 16, 24 or 32 bytes, for SM4 16; messages call it `name`.
SINDRI_API void check_cipher_key(std::string_view key, std::string_view mode, std::string_view name);
/// One block of a file, with a random iv: for SaveOptions::seal. Throws DeviceError where this system has no libcrypto, or one without the mode.
SINDRI_API std::string seal_block(std::string_view block, const std::string& key, const std::string& mode);
/// Whether the file begins like encrypted blocks. Throws IoError.
SINDRI_API bool is_sealed(const std::string& path);
/// Reads an encrypted checkpoint; what was decrypted stays in memory, in a file without a name. Throws CheckpointError for a file that is not
/// encrypted or of another mode, for a wrong key and for damage, and what load_checkpoint and seal_block throw.
SINDRI_API LoadedCheckpoint load_sealed_checkpoint(const std::string& path, const std::string& key, const std::string& mode);
/// For tests: functions of libcrypto with this in their names count as missing, "EVP" for all; nothing when empty.
SINDRI_API void hide_libcrypto(std::string part);

}  // namespace sindri::train
