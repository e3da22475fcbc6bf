// Sockets and lines of text for the rendezvous store. Data of collectives uses the backends' libraries instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sindri::comm {

/// Seconds of a clock that also runs while the process is stopped.
double now_seconds();

/// A descriptor that closes itself. A process forked from this one closes it at once; otherwise the other side would
/// wait for a child that holds a copy.
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

/// Why listen_at() or connect_to() failed: `number` is an errno, `text` the message (also a resolver's).
struct SocketProblem {
  int number = 0;
  std::string text;
};
/// Listens at a numeric address of this host or, for a name, at all of its addresses. The port may be 0.
std::optional<SocketProblem> listen_at(const std::string& host, int port, Socket* out);
/// Tries once to connect, for at most `seconds`; from this source address if it is not empty.
std::optional<SocketProblem> connect_to(const std::string& host, int port, const std::string& source, double seconds, Socket* out);
/// Returns the numeric address and the port of either end.
std::pair<std::string, int> local_end(int fd);
std::pair<std::string, int> remote_end(int fd);
/// Makes a connection fail after five seconds on a dead link, with or without data in flight.
void watch_link(int fd);
/// Returns whether the other host's kernel has acknowledged everything that was sent: the host and the link work.
bool all_acknowledged(int fd);

/// Returns this host's numeric address on an interface ("eth1") or in a subnet ("10.0.0.0/8"). Throws SettingsError
/// that lists the available ones.
std::string address_of_interface(const std::string& interface);
/// Returns "pid 4121 (sindri)" of the process that listens at a port, if /proc shows it; else empty.
std::string port_owner(int port);

/// Encodes a field of a line: percent-encodes blanks, control and other bytes; an empty field is "%".
std::string encode_field(std::string_view text);
std::optional<std::string> decode_field(std::string_view field);
std::string make_line(const std::vector<std::string>& fields);
/// Returns an empty optional for a malformed line.
std::optional<std::vector<std::string>> split_line(std::string_view line);
/// Removes the first complete line from the buffer and returns it without its end.
std::optional<std::string> take_line(std::string* buffer);

}  // namespace sindri::comm
