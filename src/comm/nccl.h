// The nccl backend: collectives on device memory by NCCL, enqueued on streams; those on host memory by the host communicator.
#pragma once

#include <memory>

#include "sindri/comm/communicator.h"
#include "sindri/core/device.h"

namespace sindri::comm {

struct Identity;

/// Returns whether a world should use NCCL: requested by name, or "auto" with a GPU as the current device and more than one rank.
bool needs_nccl(const Options& options, int size);

/// Returns this process's GPU: the current one. If that is the host's first only by default, selects the one of DEVICE_ID,
/// else of the local rank, and makes it the current device. Throws CommError (kLayout) if there is no such GPU.
Device choose_gpu(const Identity& identity);

/// Returns the GPU whose memory this communicator's calls accept: choose_gpu's for the world of the nccl backend, the
/// CPU for other backends.
Device device_of(const Communicator& communicator);

/// Adds NCCL, for calls that have a stream, to `host`, a communicator of any other backend. Ids and values that must
/// agree are exchanged over `host`. Called by all members; if one of them cannot use NCCL (no library, another version,
/// a device that another rank of its host has), all throw the problem, listed by rank. Throws CommError (kCommLibrary,
/// kLayout, kCommMismatch, kCommTimeout after init_timeout).
std::shared_ptr<Communicator> make_nccl(std::shared_ptr<Communicator> host, Device device);

}  // namespace sindri::comm
