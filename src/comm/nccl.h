// The nccl backend: NCCL performs collectives on device memory, enqueued on streams; the host communicator performs those on host memory.
#pragma once

#include <memory>

#include "sindri/comm/communicator.h"
#include "sindri/core/device.h"

namespace sindri::comm {

struct Identity;

/// Returns whether a world should use NCCL: requested by name, or "auto" with a GPU as the current device and more than one rank.
bool needs_nccl(const Options& options, int size);

/// Returns this process's GPU. That is the current device if it is a GPU other than GPU 0, which may be current only by
/// default. Otherwise it is GPU DEVICE_ID, or the GPU of the local rank if DEVICE_ID is not set; this GPU becomes the
/// current device. Throws CommError (kLayout) on a machine without GPUs. make_nccl reports an index beyond the visible
/// devices.
Device choose_gpu(const Identity& identity);

/// Returns the GPU whose memory this communicator's calls accept: choose_gpu's for the world of the nccl backend, the
/// CPU for other backends.
Device device_of(const Communicator& communicator);

/// Adds NCCL, for calls that have a stream, to `host`, a communicator of any other backend. Ids and values that must
/// agree are exchanged over `host`. Called by all members. If a member cannot use NCCL (no library, another version, a
/// device that another rank of its host uses), all members throw one error that lists the problems by rank. Throws
/// CommError (kCommLibrary, kLayout, kCommMismatch, kCommTimeout after init_timeout).
std::shared_ptr<Communicator> make_nccl(std::shared_ptr<Communicator> host, Device device);

}  // namespace sindri::comm
