// See socket.h.
#include "src/comm/socket.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "sindri/core/error.h"
#include "src/core/descriptor.h"

namespace sindri::comm {

namespace {

// By descriptor: whether it is one of these sockets. A plain table, since a child of fork() may only call
// async-signal-safe functions.
constexpr int kMostDescriptors = 1 << 16;
std::array<std::atomic<bool>, kMostDescriptors>& ours() {
  static std::array<std::atomic<bool>, kMostDescriptors> table{};
  return table;
}
std::atomic<int> g_highest{-1};

void close_in_child() {
  for (int fd = 0; fd <= g_highest.load(); ++fd)
    if (ours()[static_cast<size_t>(fd)].exchange(false)) close(fd);
}

void remember(int fd) {
  [[maybe_unused]] static const bool watches_forks = [] {
    ours();
    return pthread_atfork(nullptr, nullptr, close_in_child) == 0;
  }();
  if (fd < 0 || fd >= kMostDescriptors) return;
  int highest = g_highest.load();
  while (highest < fd && !g_highest.compare_exchange_weak(highest, fd)) {}
  ours()[static_cast<size_t>(fd)] = true;
}

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

std::optional<SocketProblem> resolve(const std::string& host, int port, int flags, Addresses* out) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int rc = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (rc != 0) return SocketProblem{rc == EAI_SYSTEM ? errno : ENOENT, fmt::format("'{}' cannot be resolved: {}", host, gai_strerror(rc))};
  *out = Addresses(found, freeaddrinfo);
  return {};
}

SocketProblem problem_of(int number) { return {number, std::strerror(number)}; }

bool numeric(const std::string& host) {
  Addresses found(nullptr, freeaddrinfo);
  return !resolve(host, 0, AI_NUMERICHOST, &found);
}

std::pair<std::string, int> text_of(const sockaddr_storage& a, socklen_t length) {
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&a), length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) return {"?", 0};
  std::string name = host;
  if (name.starts_with("::ffff:") && name.find('.') != std::string::npos) name = name.substr(7);  // an IPv4 address at a dual-stack socket
  return {name, std::atoi(port)};
}

void set_option(int fd, int level, int name, int value) { setsockopt(fd, level, name, &value, sizeof value); }

std::optional<SocketProblem> listen_on(const addrinfo& a, bool both_kinds, Socket* out) {
  Socket s(above_standard_streams(socket(a.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  if (!s.open()) return problem_of(errno);
  set_option(s.get(), SOL_SOCKET, SO_REUSEADDR, 1);  // connections of an earlier job may still be in TIME_WAIT
  if (a.ai_family == AF_INET6) set_option(s.get(), IPPROTO_IPV6, IPV6_V6ONLY, both_kinds ? 0 : 1);
  if (bind(s.get(), a.ai_addr, a.ai_addrlen) != 0 || listen(s.get(), 1024) != 0) return problem_of(errno);
  *out = std::move(s);
  return {};
}

std::optional<SocketProblem> finish_connect(int fd, double seconds) {
  pollfd p{fd, POLLOUT, 0};
  const double end = now_seconds() + seconds;
  for (;;) {
    const double left = end - now_seconds();
    const int n = poll(&p, 1, left <= 0 ? 0 : static_cast<int>(left * 1000) + 1);
    if (n > 0) break;
    if (n == 0 && left <= 0) return problem_of(ETIMEDOUT);
    if (n < 0 && errno != EINTR) return problem_of(errno);
  }
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return problem_of(error);
  return {};
}

std::optional<SocketProblem> connect_one(const addrinfo& a, const std::string& source, double seconds, Socket* out) {
  Socket s(above_standard_streams(socket(a.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  if (!s.open()) return problem_of(errno);
  if (!source.empty()) {
    Addresses from(nullptr, freeaddrinfo);
    if (auto problem = resolve(source, 0, AI_NUMERICHOST, &from)) return problem;
    if (from->ai_family == a.ai_family && bind(s.get(), from->ai_addr, from->ai_addrlen) != 0) return problem_of(errno);
  }
  if (connect(s.get(), a.ai_addr, a.ai_addrlen) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return problem_of(errno);
    if (auto problem = finish_connect(s.get(), seconds)) return problem;
  }
  // A connection from an ephemeral port can connect to itself if nobody listens there: that is not a server.
  if (local_end(s.get()) == remote_end(s.get())) return problem_of(ECONNREFUSED);
  *out = std::move(s);
  return {};
}

}  // namespace

double now_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Socket::Socket(int fd) : fd_(fd) { remember(fd); }

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Socket::reset() {
  if (fd_ < 0) return;
  // In a forked child it is already closed, and its number may belong to another file.
  if (fd_ >= kMostDescriptors || ours()[static_cast<size_t>(fd_)].exchange(false)) close(fd_);
  fd_ = -1;
}

std::pair<std::string, int> split_address(const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon != std::string::npos && colon > 0) {
    const auto [end, problem] = std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
    std::string host = address.substr(0, colon);
    if (problem == std::errc() && end == address.data() + address.size() && port >= 0 && port < 65536) {
      if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
      if (!host.empty()) return {host, port};
    }
  }
  throw ValueError(fmt::format("'{}' is not an address, expected host:port", address));
}

std::string join_address(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "::1"; }

std::optional<SocketProblem> listen_at(const std::string& host, int port, Socket* out) {
  Addresses found(nullptr, freeaddrinfo);
  if (numeric(host) || host == "localhost") {
    if (auto problem = resolve(host, port, 0, &found)) return problem;
    return listen_on(*found, false, out);
  }
  // Hosts may resolve a name to different addresses (Debian resolves its own name to 127.0.1.1).
  for (const char* all : {"::", "0.0.0.0"}) {
    if (auto problem = resolve(all, port, AI_NUMERICHOST, &found)) return problem;
    const auto problem = listen_on(*found, true, out);
    if (!problem || all[0] == '0' || problem->number == EADDRINUSE) return problem;
  }
  return {};
}

std::optional<SocketProblem> connect_to(const std::string& host, int port, const std::string& source, double seconds, Socket* out) {
  Addresses found(nullptr, freeaddrinfo);
  if (auto problem = resolve(host, port, 0, &found)) return problem;
  std::optional<SocketProblem> last;
  for (const addrinfo* a = found.get(); a != nullptr; a = a->ai_next) {
    last = connect_one(*a, source, seconds, out);
    if (!last) return {};
  }
  return last;
}

std::pair<std::string, int> local_end(int fd) {
  sockaddr_storage a{};
  socklen_t length = sizeof a;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&a), &length) != 0) return {"?", 0};
  return text_of(a, length);
}

std::pair<std::string, int> remote_end(int fd) {
  sockaddr_storage a{};
  socklen_t length = sizeof a;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&a), &length) != 0) return {"?", 0};
  return text_of(a, length);
}

void watch_link(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 2);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 5000);
}

bool all_acknowledged(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_unacked == 0 && info.tcpi_probes == 0;
}

namespace {

// Returns whether the first `bits` of two addresses of one family are equal.
bool same_prefix(const sockaddr* a, const std::string& subnet, int bits) {
  std::array<uint8_t, 16> x{}, y{};
  int most = 32;
  if (a->sa_family == AF_INET) {
    if (inet_pton(AF_INET, subnet.c_str(), y.data()) != 1) return false;
    std::memcpy(x.data(), &reinterpret_cast<const sockaddr_in*>(a)->sin_addr, 4);
  } else {
    if (inet_pton(AF_INET6, subnet.c_str(), y.data()) != 1) return false;
    std::memcpy(x.data(), &reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr, 16);
    most = 128;
  }
  if (bits < 0 || bits > most) return false;
  for (int i = 0; i < bits; ++i) {
    const auto byte = static_cast<size_t>(i / 8);
    if (((x[byte] ^ y[byte]) >> (7 - i % 8) & 1) != 0) return false;
  }
  return true;
}

}  // namespace

std::string address_of_interface(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) throw SettingsError(fmt::format("the interfaces of this host cannot be listed: {}", std::strerror(errno)), "dist.interface");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  const size_t slash = interface.find('/');
  std::vector<std::string> there;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6)) continue;
    sockaddr_storage a{};
    const socklen_t length = i->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&a, i->ifa_addr, length);
    const std::string text = text_of(a, length).first;
    const bool wanted =
        slash == std::string::npos ? interface == i->ifa_name : same_prefix(i->ifa_addr, interface.substr(0, slash), std::atoi(interface.c_str() + slash + 1));
    if (wanted && text.find('%') == std::string::npos) return text;
    if (text.find('%') == std::string::npos) there.push_back(fmt::format("{} ({})", i->ifa_name, text));
  }
  throw SettingsError(fmt::format("no address of this host is on '{}'", interface), "dist.interface",
                      fmt::format("set it to the name or the subnet of one of {}", fmt::join(there, ", ")));
}

std::string port_owner(int port) {
  std::set<std::string> sockets;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
      if (state == "0A" && local.ends_with(fmt::format(":{:04X}", port))) sockets.insert(fmt::format("socket:[{}]", inode));
    }
  }
  if (sockets.empty()) return "";
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  while (const dirent* process = processes == nullptr ? nullptr : readdir(processes.get())) {
    const std::string pid = process->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string folder = "/proc/" + pid + "/fd";
    const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir(folder.c_str()), closedir);
    while (const dirent* f = files == nullptr ? nullptr : readdir(files.get())) {
      char target[64] = "";
      if (readlink((folder + "/" + f->d_name).c_str(), target, sizeof target - 1) <= 0 || !sockets.contains(target)) continue;
      std::ifstream in("/proc/" + pid + "/comm");
      std::string name;
      std::getline(in, name);
      return fmt::format("pid {} ({})", pid, name);
    }
  }
  return "";
}

std::string encode_field(std::string_view text) {
  if (text.empty()) return "%";
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u > 0x20 && u < 0x7f && c != '%') {
      out += c;
    } else {
      out += '%';
      out += "0123456789abcdef"[u >> 4];
      out += "0123456789abcdef"[u & 15];
    }
  }
  return out;
}

std::optional<std::string> decode_field(std::string_view field) {
  if (field == "%") return "";
  std::string out;
  for (size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '%') {
      out += field[i];
      continue;
    }
    unsigned value = 0;
    if (i + 3 > field.size()) return {};
    const auto [end, problem] = std::from_chars(field.data() + i + 1, field.data() + i + 3, value, 16);
    if (problem != std::errc() || end != field.data() + i + 3) return {};
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

std::string make_line(const std::vector<std::string>& fields) {
  std::string out;
  for (const std::string& f : fields) out += (out.empty() ? "" : " ") + encode_field(f);
  return out + "\n";
}

std::optional<std::vector<std::string>> split_line(std::string_view line) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= line.size();) {
    const size_t blank = std::min(line.find(' ', at), line.size());
    const std::optional<std::string> field = decode_field(line.substr(at, blank - at));
    if (!field || blank == at) return {};
    out.push_back(*field);
    at = blank + 1;
  }
  return out;
}

std::optional<std::string> take_line(std::string* buffer) {
  const size_t end = buffer->find('\n');
  if (end == std::string::npos) return {};
  std::string line = buffer->substr(0, end);
  buffer->erase(0, end + 1);
  return line;
}

}  // namespace sindri::comm
