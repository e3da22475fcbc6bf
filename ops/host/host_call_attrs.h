// What a host_call knows of its function.
#pragma once

#include <memory>

#include "sindri/op/attrs.h"
#include "sindri/op/host_call.h"

namespace sindri {

/// The function is no attribute field: its number stands for it, and a call that was made of its attributes alone has none.
struct HostCallAttrs {
  int64_t number = 0;
  SINDRI_ATTRS(HostCallAttrs, number)
  std::shared_ptr<const HostFunction> function = {};
};

}  // namespace sindri
