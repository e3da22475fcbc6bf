// See replaceable.h.
#include "src/core/replaceable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "sindri/core/error.h"
#include "src/core/descriptor.h"

namespace sindri {

namespace {

struct Kind {
  const char* name;
  bool (*begins)(std::string_view head);
};

bool begins_as_json(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
}

Kind of(FileKind kind) {
  switch (kind) {
    case FileKind::kPng: return {"PNG", [](std::string_view head) { return head.starts_with("\x89PNG"); }};
    case FileKind::kNpy: return {"NumPy", [](std::string_view head) { return head.starts_with("\x93NUMPY"); }};
    default: return {"JSON", begins_as_json};
  }
}

}  // namespace

void check_replaceable(const std::string& path, FileKind kind, const std::string& what) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || file.st_size == 0) return;
  const auto refuse = [&](const std::string& why) {
    throw IoError(fmt::format("the {} would replace a file that {}", what, why), path, "name another file, or delete this one first");
  };
  if ((file.st_mode & 0222) == 0) refuse("is read-only");
  const int fd = open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) refuse(fmt::format("cannot be inspected ({})", std::strerror(errno)));
  char head[64];
  const ssize_t n = read(fd, head, sizeof head);
  close(fd);
  const Kind expected = of(kind);
  if (n <= 0 || !expected.begins({head, static_cast<size_t>(n)})) refuse(fmt::format("is not a {} file", expected.name));
}

}  // namespace sindri
