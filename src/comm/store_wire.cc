// See store_wire.h.
#include "src/comm/store_wire.h"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <charconv>

#include "sindri/version.h"
#include "src/comm/host_address.h"
#include "src/comm/socket.h"
#include "src/comm/token.h"

namespace sindri::comm {

const char* byte_order() { return std::endian::native == std::endian::little ? "little" : "big"; }

std::string job_tag(const std::string& job_id) { return job_id.empty() ? "" : hmac_sha256("sindri job id", job_id).substr(0, 16); }

std::vector<std::string> hello_fields(const StoreConfig& config, const std::string& rank, const std::string& nonce) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return {"HELLO",
          kStoreProtocol,
          SINDRI_VERSION_STRING,
          byte_order(),
          job_tag(config.options.job_id),
          rank,
          std::to_string(config.size),
          host,
          std::to_string(getpid()),
          nonce,
          machine_id()};
}

std::string client_proof(const StoreConfig& config, const std::string& server_nonce, const std::vector<std::string>& hello) {
  return hmac_sha256(config.token, "client " + server_nonce + " " + make_line(hello));
}

std::string server_proof(const StoreConfig& config, const std::string& server_nonce, const std::string& client_nonce, const std::string& rank,
                         const std::string& job_id) {
  return hmac_sha256(config.token, "server " + make_line({client_nonce, server_nonce, rank, job_id}));
}

std::vector<std::string> error_fields(const std::string& command, const CommError& error) {
  return {command, std::to_string(static_cast<int>(error.code())), error.message(), error.where(), error.fix()};
}

CommError error_of(const std::vector<std::string>& fields) {
  const auto text = [&](size_t i) { return i < fields.size() ? fields[i] : std::string(); };
  const int64_t number = field_number(text(1)).value_or(0);
  const bool known = number >= static_cast<int>(ErrorCode::kComm) && number <= static_cast<int>(ErrorCode::kLayout);
  return CommError(known ? static_cast<ErrorCode>(number) : ErrorCode::kComm, text(2), text(3), text(4));
}

std::optional<int64_t> field_number(const std::string& field) {
  int64_t n = 0;
  const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), n);
  if (problem != std::errc() || end != field.data() + field.size()) return {};
  return n;
}

}  // namespace sindri::comm
