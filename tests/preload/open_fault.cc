// Preloaded into a program (LD_PRELOAD), makes every open() of a path that contains $FAULT_PATH fail with $FAULT_ERRNO. Permissions do not stop root, and the
// other errors of open() cannot be provoked on a file system.
#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

bool fails(const char* path) {
  const char* part = std::getenv("FAULT_PATH");
  if (part == nullptr || std::strstr(path, part) == nullptr) return false;
  errno = std::atoi(std::getenv("FAULT_ERRNO"));
  return true;
}

int pass_on(const char* name, const char* path, int flags, mode_t mode) {
  using Open = int (*)(const char*, int, ...);
  return reinterpret_cast<Open>(dlsym(RTLD_NEXT, name))(path, flags, mode);
}

}  // namespace

#define SINDRI_OPEN(name) \
  extern "C" int name(const char* path, int flags, ...) { \
    va_list more; \
    va_start(more, flags); \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; \
    va_end(more); \
    return fails(path) ? -1 : pass_on(#name, path, flags, mode); \
  }

SINDRI_OPEN(open)
SINDRI_OPEN(open64)
