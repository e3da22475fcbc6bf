// Proof that a process belongs to the job: both sides of a connection show that they know the job's token without sending it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sindri::comm {

/// FIPS 180-4.
std::array<uint8_t, 32> sha256(std::string_view bytes);
/// RFC 2104 with SHA-256, as 64 hexadecimal digits.
std::string hmac_sha256(std::string_view key, std::string_view message);
/// Compares in a time that does not depend on the position of the first difference.
bool same_proof(std::string_view a, std::string_view b);
/// Returns 32 hexadecimal digits from the system's random source.
std::string random_text();

}  // namespace sindri::comm
