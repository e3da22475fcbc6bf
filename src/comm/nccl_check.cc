// Compares the declarations of nccl_api.h with NCCL's own header if that is available. Compiles to nothing.
#include "src/comm/nccl_api.h"

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <nccl.h>

namespace sindri::comm::nccl {
static_assert(kSuccess == static_cast<int>(ncclSuccess) && kUnhandledCudaError == static_cast<int>(ncclUnhandledCudaError));
static_assert(kSystemError == static_cast<int>(ncclSystemError) && kInternalError == static_cast<int>(ncclInternalError));
static_assert(kInvalidArgument == static_cast<int>(ncclInvalidArgument) && kInvalidUsage == static_cast<int>(ncclInvalidUsage));
static_assert(kRemoteError == static_cast<int>(ncclRemoteError) && kInProgress == static_cast<int>(ncclInProgress));
static_assert(kUint8 == static_cast<int>(ncclUint8) && kInt32 == static_cast<int>(ncclInt32) && kInt64 == static_cast<int>(ncclInt64));
static_assert(kFloat16 == static_cast<int>(ncclFloat16) && kFloat32 == static_cast<int>(ncclFloat32) && kFloat64 == static_cast<int>(ncclFloat64));
static_assert(kBfloat16 == static_cast<int>(ncclBfloat16));
static_assert(kSum == static_cast<int>(ncclSum) && kProd == static_cast<int>(ncclProd) && kMax == static_cast<int>(ncclMax));
static_assert(kMin == static_cast<int>(ncclMin) && kAvg == static_cast<int>(ncclAvg));
static_assert(sizeof(Id) == sizeof(ncclUniqueId) && sizeof(Config) <= sizeof(ncclConfig_t));
static_assert(offsetof(Config, magic) == offsetof(ncclConfig_t, magic) && offsetof(Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking) && offsetof(Config, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
static_assert(offsetof(Config, net_name) == offsetof(ncclConfig_t, netName) && offsetof(Config, split_share) == offsetof(ncclConfig_t, splitShare));
}  // namespace sindri::comm::nccl
#endif
