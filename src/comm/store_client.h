// The interface between the greeting (store_connect.cc) and the client that uses the connection (store.cc).
#pragma once

#include <string>

#include "src/comm/socket.h"
#include "src/comm/store.h"

namespace sindri::comm {

/// A connection on which both sides have proven the token.
struct StoreLink {
  Socket socket;
  std::string buffer;  ///< bytes received after the greeting
  int rank = -1;
  std::string job_id;
};

/// Retries until init_timeout; `rank` as in HELLO. Throws CommError kRendezvous.
StoreLink open_link(const StoreConfig& config, const std::string& rank);

}  // namespace sindri::comm
