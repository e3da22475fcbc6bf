// Who holds a device's memory: each block keeps a name, which errors tell when there is none left.
#pragma once

#include <memory>
#include <string>

namespace sindri {

/// A name that is made into text only when somebody asks; null: none.
using HolderLink = std::shared_ptr<const void>;
struct HolderNames {
  HolderLink (*current)();  ///< of the calling thread; the Cell path
  std::string (*text)(const HolderLink& link);
};
/// By the layer that knows Cells, at start-up.
void set_holder_names(HolderNames names);

/// While it lives, blocks that this thread allocates are held by `name`, whatever Cell it is in. `name` is a literal.
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
/// Of what the calling thread allocates now.
Holder current_holder();

}  // namespace sindri
