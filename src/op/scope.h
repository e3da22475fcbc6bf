// The Cell path of this thread as a chain of names. A record keeps a link and formats it only when a message needs the text.
#pragma once

#include <memory>
#include <string>

namespace sindri {

struct ScopeNode {
  std::shared_ptr<const ScopeNode> outer;
  std::string name;
};
using ScopeLink = std::shared_ptr<const ScopeNode>;

/// Returns the innermost scope of this thread; null outside any.
const ScopeLink& current_scope_link();
/// "ResNet/layer1.0.conv2"; empty for null.
std::string scope_path(const ScopeLink& scope);

}  // namespace sindri
