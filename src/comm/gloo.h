// The gloo backend: ranks that were started one by one and speak TCP, where no MPI launcher is.
#pragma once

#include <memory>

#include "src/comm/gloo_mesh.h"

namespace sindri::comm {

/// The world of the session's ranks: identity and host_of are those of the job. Throws CommError kRendezvous, kCommLibrary.
std::shared_ptr<Communicator> open_gloo(const std::shared_ptr<Session>& session, const GlooConfig& config);

}  // namespace sindri::comm
