// The protocol that both ends of a store's connection share: greeting, proofs, and the encoding of errors.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sindri/core/error.h"
#include "src/comm/store.h"

namespace sindri::comm {

inline constexpr const char* kStoreProtocol = "2";
/// Longest line of a connection that has not proven the token yet, and of one that has.
inline constexpr size_t kMostGreeting = 4096, kMostLine = size_t{64} << 20;
/// Seconds for the whole greeting.
inline constexpr double kGreetingTime = 5;
/// Seconds between checks of the clocks.
inline constexpr double kTick = 0.05;
/// Seconds from the first sign that a rank is lost to the verdict, to collect better evidence.
inline constexpr double kBetterEvidence = 0.5;

/// "little" or "big".
const char* byte_order();
/// Differs between jobs without revealing the id; empty for no id.
std::string job_tag(const std::string& job_id);
/// Returns the fields of HELLO before the proof.
std::vector<std::string> hello_fields(const StoreConfig& config, const std::string& rank, const std::string& nonce);
std::string client_proof(const StoreConfig& config, const std::string& server_nonce, const std::vector<std::string>& hello);
std::string server_proof(const StoreConfig& config, const std::string& server_nonce, const std::string& client_nonce, const std::string& rank,
                         const std::string& job_id);

/// Returns code, message, where and fix as fields.
std::vector<std::string> error_fields(const std::string& command, const CommError& error);
/// Decodes an error from fields[1] on; an unknown code becomes kComm.
CommError error_of(const std::vector<std::string>& fields);

/// Parses a field as a whole number; returns an empty optional for anything else.
std::optional<int64_t> field_number(const std::string& field);

}  // namespace sindri::comm
