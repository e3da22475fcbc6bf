// Between the greeting (store_connect.cc) and the client that lives on it (store.cc).
#pragma once

#include <string>

#include "src/comm/socket.h"
#include "src/comm/store.h"

namespace sindri::comm {

/// A connection whose both sides have proven the token.
struct StoreLink {
  Socket socket;
  std::string buffer;  ///< what came behind the greeting
  int rank = -1;
  std::string job_id;
};

/// Tries until init_timeout; `rank` as HELLO says it. Throws CommError kRendezvous.
StoreLink open_link(const StoreConfig& config, const std::string& rank);

}  // namespace sindri::comm
