// The gloo backend: ranks that were started one by one without an MPI launcher and communicate over TCP.
#pragma once

#include <memory>

#include "src/comm/gloo_mesh.h"

namespace sindri::comm {

/// Opens the world of the session's ranks. The session's identity and host_of must already describe the job. Throws CommError kRendezvous, kCommLibrary.
std::shared_ptr<Communicator> open_gloo(const std::shared_ptr<Session>& session, const GlooConfig& config);

}  // namespace sindri::comm
