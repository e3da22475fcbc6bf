// See host_address.h.
#include "src/comm/host_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <vector>

namespace sindri::comm {

namespace {

// Returns the bytes of an address: 4 or 16.
std::string bytes_of(const sockaddr* a) {
  if (a == nullptr) return "";
  if (a->sa_family == AF_INET) return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in*>(a)->sin_addr), 4};
  if (a->sa_family == AF_INET6) return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr), 16};
  return "";
}

// Returns the addresses that a text names; a host name may have several.
std::vector<std::string> addresses_of(const std::string& text) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (is_numeric_address(text)) hints.ai_flags = AI_NUMERICHOST;
  std::vector<std::string> out;
  if (getaddrinfo(text.c_str(), nullptr, &hints, &list) != 0) return out;
  for (const addrinfo* p = list; p != nullptr; p = p->ai_next) out.push_back(bytes_of(p->ai_addr));
  freeaddrinfo(list);
  return out;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  for (const ifaddrs* p = list; p != nullptr; p = p->ifa_next) {
    if (std::string bytes = bytes_of(p->ifa_addr); !bytes.empty()) out.push_back(std::move(bytes));
  }
  freeifaddrs(list);
  return out;
}

// Returns the source address of the route to `to`; nothing is sent.
std::string source_address(int family, const char* to) {
  sockaddr_storage target{}, source{};
  socklen_t size = 0;
  if (family == AF_INET) {
    auto* t = reinterpret_cast<sockaddr_in*>(&target);
    t->sin_family = AF_INET;
    t->sin_port = htons(9);
    inet_pton(AF_INET, to, &t->sin_addr);
    size = sizeof(sockaddr_in);
  } else {
    auto* t = reinterpret_cast<sockaddr_in6*>(&target);
    t->sin6_family = AF_INET6;
    t->sin6_port = htons(9);
    inet_pton(AF_INET6, to, &t->sin6_addr);
    size = sizeof(sockaddr_in6);
  }
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  std::string out;
  socklen_t length = sizeof source;
  if (connect(fd, reinterpret_cast<sockaddr*>(&target), size) == 0 && getsockname(fd, reinterpret_cast<sockaddr*>(&source), &length) == 0) {
    char text[INET6_ADDRSTRLEN] = "";
    const std::string bytes = bytes_of(reinterpret_cast<sockaddr*>(&source));
    inet_ntop(family, bytes.data(), text, sizeof text);
    const bool loopback = family == AF_INET ? bytes[0] == 127 : std::strcmp(text, "::1") == 0;
    if (!loopback && std::strcmp(text, "0.0.0.0") != 0 && std::strcmp(text, "::") != 0) out = text;
  }
  close(fd);
  return out;
}

}  // namespace

std::string machine_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char space[64] = "";
  const ssize_t n = readlink("/proc/self/ns/net", space, sizeof space - 1);
  if (!boot.empty() && n > 0) return boot + " " + std::string(space, static_cast<size_t>(n));
  char name[256] = "";  // without /proc, as in a chroot, only the host name remains
  gethostname(name, sizeof name - 1);
  return name;
}

bool is_numeric_address(const std::string& text) {
  in6_addr space;
  return inet_pton(AF_INET, text.c_str(), &space) == 1 || inet_pton(AF_INET6, text.c_str(), &space) == 1;
}

bool is_host_name(const std::string& text) {
  if (text.empty() || text.size() > 253) return false;
  size_t start = 0;
  std::string part;
  while (start <= text.size()) {
    const size_t end = std::min(text.find('.', start), text.size());
    part = text.substr(start, end - start);
    start = end + 1;
    if (part.empty() || part.size() > 63 || part.front() == '-' || part.back() == '-') return false;
    if (!std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; })) return false;
  }
  return !std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string canonical_address(const std::string& text) {
  in6_addr space;
  char out[INET6_ADDRSTRLEN];
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, text.c_str(), &space) == 1 && inet_ntop(family, &space, out, sizeof out) != nullptr) return out;
  }
  return text;
}

bool resolves(const std::string& name) { return !addresses_of(name).empty(); }

bool is_own_address(const std::string& text) {
  const std::vector<std::string> own = own_addresses();
  for (const std::string& a : addresses_of(text)) {
    if ((a.size() == 4 && a[0] == 127) || std::find(own.begin(), own.end(), a) != own.end()) return true;
  }
  return false;
}

std::string default_route_address() {
  // Addresses reserved for documentation (RFC 5737, RFC 3849): only a default route leads there.
  std::string found = source_address(AF_INET, "192.0.2.1");
  if (found.empty()) found = source_address(AF_INET6, "2001:db8::1");
  if (!found.empty()) return found;
  // A host in an isolated network has no such route; its only address is still unambiguous.
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "";
  int count = 0;
  for (const ifaddrs* p = list; p != nullptr; p = p->ifa_next) {
    const std::string bytes = bytes_of(p->ifa_addr);
    if (bytes.size() != 4 || bytes[0] == 127 || (p->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, bytes.data(), text, sizeof text);
    found = text;
    ++count;
  }
  freeifaddrs(list);
  return count == 1 ? found : "";
}

}  // namespace sindri::comm
