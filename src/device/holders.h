// The holders of a device's memory: each block keeps a name, which is shown when memory runs out.
#pragma once

#include <memory>
#include <string>

namespace sindri {

/// A name that is formatted only on request; null: none.
using HolderLink = std::shared_ptr<const void>;
struct HolderNames {
  HolderLink (*current)();  ///< returns the calling thread's; the Cell path
  std::string (*text)(const HolderLink& link);
};
/// Called at start-up by the layer that knows Cells.
void set_holder_names(HolderNames names);

/// During its life, blocks that this thread allocates are held by `name`, whatever Cell it is in. `name` is a literal.
class HoldFor {
 public:
  explicit HoldFor(const char* name);
  ~HoldFor();
  HoldFor(const HoldFor&) = delete;
  HoldFor& operator=(const HoldFor&) = delete;

 private:
  const char* before_;
};

struct Holder {
  const char* name = nullptr;
  HolderLink link;
  std::string text() const;
};
/// Returns the holder of the calling thread's next allocations.
Holder current_holder();

}  // namespace sindri
