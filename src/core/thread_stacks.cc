// Gives threads a sufficient stack. By default they get as much as the process limit (ulimit -s). If that is small, decoders
// and kernels on threads of the library, of OpenMP and of oneDNN would overflow it and end the process without a message.
#include <pthread.h>

#include <cstddef>

namespace sindri {
namespace {

constexpr size_t kLeast = size_t{2} << 20;

const bool kEnough = [] {
  pthread_attr_t usual;
  if (pthread_getattr_default_np(&usual) != 0) return false;
  size_t bytes = 0;
  bool enough = pthread_attr_getstacksize(&usual, &bytes) == 0 && bytes >= kLeast;
  if (!enough) enough = pthread_attr_setstacksize(&usual, kLeast) == 0 && pthread_setattr_default_np(&usual) == 0;
  pthread_attr_destroy(&usual);
  return enough;
}();

}  // namespace
}  // namespace sindri
