// The attributes of a host_call.
#pragma once

#include <memory>

#include "sindri/op/attrs.h"
#include "sindri/op/host_call.h"

namespace sindri {

/// The function is not an attribute field: its number represents it, and a call created from attributes alone has no function.
struct HostCallAttrs {
  int64_t number = 0;
  SINDRI_ATTRS(HostCallAttrs, number)
  std::shared_ptr<const HostFunction> function = {};
};

}  // namespace sindri
