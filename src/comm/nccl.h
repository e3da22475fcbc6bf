// The nccl backend: collectives of device memory by NCCL, put on streams; those of host memory by the communicator it stands on.
#pragma once

#include <memory>

#include "sindri/comm/communicator.h"
#include "sindri/core/device.h"

namespace sindri::comm {

struct Identity;

/// Whether a world is to have NCCL: asked for by name, or "auto" with a GPU as the current device and more than one rank.
bool wants_nccl(const Options& options, int size);

/// The GPU of this process: the current one; where that is a host's first one because nothing else was said, that of DEVICE_ID, else of the local rank,
/// which then is the current device. Throws CommError (kLayout) where there is no GPU.
Device choose_gpu(const Identity& identity);

/// The GPU whose memory the calls of this communicator take: that of choose_gpu for the world of the nccl backend, the CPU for other backends.
Device device_of(const Communicator& communicator);

/// `host`, a communicator of any other backend, with NCCL for calls that have a stream. Ids and what has to agree travel by `host`. All members call it;
/// when one of them cannot (no library, another version, a device that another rank of its host has) all throw what is wrong, by ranks. Throws CommError
/// (kCommLibrary, kLayout, kCommMismatch, kCommTimeout after init_timeout).
std::shared_ptr<Communicator> make_nccl(std::shared_ptr<Communicator> host, Device device);

}  // namespace sindri::comm
