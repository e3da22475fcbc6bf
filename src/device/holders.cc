// See holders.h.
#include "src/device/holders.h"

#include <utility>

namespace sindri {

namespace {
HolderNames g_names{};
thread_local const char* t_name = nullptr;
}  // namespace

void set_holder_names(HolderNames names) { g_names = names; }

HoldFor::HoldFor(const char* name) : before_(std::exchange(t_name, name)) {}
HoldFor::~HoldFor() { t_name = before_; }

std::string Holder::text() const {
  if (name != nullptr) return name;
  return link != nullptr ? g_names.text(link) : "outside of Cells (parameters, gradients, optimizer state, data)";
}

Holder current_holder() {
  if (t_name != nullptr) return {t_name, nullptr};
  return {nullptr, g_names.current != nullptr ? g_names.current() : nullptr};
}

}  // namespace sindri
