// Sockets of the rendezvous store, and its lines of text. Data of collectives goes through the backends' libraries, not through here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sindri::comm {

/// Seconds of a clock that goes on while the process is stopped.
double now_seconds();

/// A descriptor that closes itself. A process forked from this one closes it at once: the other side would otherwise wait for a child that holds a copy.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd);
  ~Socket() { reset(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

/// "host:port" or "[v6]:port". Throws ValueError.
std::pair<std::string, int> split_address(const std::string& address);
std::string join_address(const std::string& host, int port);
bool is_loopback(const std::string& numeric);

/// What listen_at() or connect_to() could not do: `number` is an errno, `text` what to tell (a resolver's message, too).
struct SocketProblem {
  int number = 0;
  std::string text;
};
/// Listens at a numeric address of this host, or, for a name, at all of its addresses. The port may be 0.
std::optional<SocketProblem> listen_at(const std::string& host, int port, Socket* out);
/// One try within `seconds`; from this source address where it is not empty.
std::optional<SocketProblem> connect_to(const std::string& host, int port, const std::string& source, double seconds, Socket* out);
/// Numeric address of either end, and its port.
std::pair<std::string, int> local_end(int fd);
std::pair<std::string, int> remote_end(int fd);
/// Dead links end a connection after five seconds, with or without data under way.
void watch_link(int fd);
/// Whether the other host's kernel has everything that was sent: it lives, and the link does.
bool all_acknowledged(int fd);

/// The numeric address of this host on an interface ("eth1") or in a subnet ("10.0.0.0/8"). Throws SettingsError that lists what there is.
std::string address_of_interface(const std::string& interface);
/// "pid 4121 (sindri)" of who listens at a port, as far as /proc tells; else empty.
std::string port_owner(int port);

/// Fields of a line: percent-encoded where they hold blanks, control or other bytes; an empty one is "%".
std::string encode_field(std::string_view text);
std::optional<std::string> decode_field(std::string_view field);
std::string make_line(const std::vector<std::string>& fields);
/// Empty optional for a malformed one.
std::optional<std::vector<std::string>> split_line(std::string_view line);
/// Takes the first whole line off the buffer, without its end.
std::optional<std::string> take_line(std::string* buffer);

}  // namespace sindri::comm
