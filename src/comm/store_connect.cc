// Connects a rank, or a launcher, to the store: finding the server, the greeting, and the table of pairs that cannot
// reach each other. See store.h.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "sindri/comm/trace.h"
#include "sindri/core/log.h"
#include "sindri/core/long_wait.h"
#include "src/comm/identity.h"
#include "src/comm/socket.h"
#include "src/comm/store.h"
#include "src/comm/store_client.h"
#include "src/comm/store_wire.h"
#include "src/comm/token.h"

namespace sindri::comm {

namespace {

// The result of one attempt. `final`: retrying cannot help.
struct Try {
  bool done = false, final = false;
  std::string reason;
};

// Reads a line within the greeting's time; returns it empty at the time limit.
std::string read_line(int fd, std::string* buffer, double end) {
  for (;;) {
    if (std::optional<std::string> line = take_line(buffer)) return *line;
    const double left = end - now_seconds();
    if (left <= 0 || buffer->size() > kMostGreeting) return "";
    pollfd p{fd, POLLIN, 0};
    poll(&p, 1, static_cast<int>(left * 1000) + 1);
    char block[4096];
    const ssize_t n = recv(fd, block, sizeof block, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return "";
    if (n > 0) buffer->append(block, static_cast<size_t>(n));
  }
}

bool send_all(int fd, const std::string& text) { return send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()); }

// Exchanges greetings with the server: proves the token to it, and accepts it only if it proves the token too.
Try greet(const StoreConfig& config, const std::string& rank, double seconds, StoreLink* link) {
  const int fd = link->socket.get();
  const double end = now_seconds() + seconds;
  const std::optional<std::vector<std::string>> hello = split_line(read_line(fd, &link->buffer, end));
  if (!hello) return {false, false, "it sent no greeting"};
  if ((*hello)[0] == "REFUSED") return {false, false, hello->size() > 1 ? (*hello)[1] : ""};
  if (hello->size() != 3 || (*hello)[0] != "SINDRI-STORE") return {false, true, "the process that listens there is not a store of Sindri"};
  if ((*hello)[1] != kStoreProtocol) return {false, true, fmt::format("another version of the store's protocol: {}, this is {}", (*hello)[1], kStoreProtocol)};
  const std::string nonce = random_text();
  std::vector<std::string> mine = hello_fields(config, rank, nonce);
  mine.push_back(client_proof(config, (*hello)[2], mine));
  if (!send_all(fd, make_line(mine))) return {false, false, "the connection broke"};
  const std::optional<std::vector<std::string>> answer = split_line(read_line(fd, &link->buffer, end));
  if (!answer) return {false, false, "no answer to the greeting"};
  const std::vector<std::string>& a = *answer;
  if (a[0] == "REFUSED") return {false, a.size() > 1 && a[1] != "busy", a.size() > 1 ? "refused: " + a[1] : "refused"};
  if (a.size() != 4 || a[0] != "WELCOME" || !same_proof(a[3], server_proof(config, (*hello)[2], nonce, a[1], a[2])))
    return {false, true, "the process that listens there does not know this job's token"};
  link->rank = static_cast<int>(field_number(a[1]).value_or(-1));
  link->job_id = a[2];
  return {true, true, ""};
}

Try attempt(const StoreConfig& config, const std::string& rank, const std::string& source, double seconds, StoreLink* link) {
  const auto [host, port] = split_address(config.address);
  link->buffer.clear();
  if (const std::optional<SocketProblem> problem = connect_to(host, port, source, std::min(3.0, seconds), &link->socket)) return {false, false, problem->text};
  watch_link(link->socket.get());
  return greet(config, rank, seconds, link);
}

// Returns for how many seconds a reason must persist before it is final: a missing route stays missing, but an earlier
// job may still be ending at the port.
double patience(const Try& t, double init_timeout) {
  if (t.final) return std::min(init_timeout, 5.0);
  const bool no_way =
      t.reason == std::strerror(ENETUNREACH) || t.reason == std::strerror(EHOSTUNREACH) || t.reason.find("cannot be resolved") != std::string::npos;
  return no_way ? std::min(init_timeout, 5.0) : init_timeout;
}

}  // namespace

StoreLink open_link(const StoreConfig& config, const std::string& rank) {
  const std::string source = config.options.interface.empty() ? "" : address_of_interface(config.options.interface);
  const double began = now_seconds();
  double since = began;
  std::string reason, refusal;  // refusal: the server's reason, which counts even if the server has ended since
  int tries = 0;
  for (double pause = 0.02;; pause = std::min(0.5, 1.5 * pause)) {
    StoreLink link;
    const Try t = attempt(config, rank, source, kGreetingTime, &link);
    ++tries;
    if (t.done) return link;
    if (t.final) {
      pause = 1;  // each attempt is a line in the server's log
      refusal = t.reason;
    }
    const double now = now_seconds();
    if (t.reason != reason) {
      reason = t.reason;
      since = now;
      log::debug("comm", fmt::format("rank {} cannot reach {} at {} yet: {}", rank, config.keeper, config.address, reason));
    }
    if (now - since >= patience(t, config.options.init_timeout) || now - began >= config.options.init_timeout)
      throw CommError(ErrorCode::kRendezvous,
                      fmt::format("rank {} could not join {} at {} within {:.0f} s: {}", rank == "-1" ? "of this process" : rank, config.keeper, config.address,
                                  now - began, refusal.empty() || refusal == reason ? reason : fmt::format("{}; caused by: {}", refusal, reason)),
                      fmt::format("{} tries{}", tries, source.empty() ? "" : " from " + source),
                      fmt::format("check that {} runs, and see its log; all ranks need the same SINDRI_MASTER (or table) and token, and a route to that host",
                                  config.keeper));
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  }
}

void report_end(const StoreConfig& config, int rank, const std::string& how) {
  StoreLink link;
  if (!attempt(config, "launcher", "", 1, &link).done) return;
  send_all(link.socket.get(), make_line({"ENDED", std::to_string(rank), how}));
  read_line(link.socket.get(), &link.buffer, now_seconds() + 1);
}

void report_rank_end(const std::map<std::string, std::string>& environment, const std::string& how) {
  try {
    const Options options;
    const Identity identity = find_identity(environment, options);
    if (identity.size == 1 || identity.address.empty()) return;
    StoreConfig config;
    config.address = identity.address;
    config.size = identity.size;
    config.token = job_token(environment, options, identity);
    report_end(config, identity.rank, how);
  } catch (const Error& e) { log::debug("comm", fmt::format("the exit of a rank could not be reported: {}", e.what())); }
}

void agree_on_pairs(StoreClient& client, const std::vector<PairFailure>& failures, int size, double timeout) {
  std::vector<std::string> mine;
  for (const PairFailure& f : failures) mine.insert(mine.end(), {std::to_string(f.peer), f.address, f.from, f.reason});
  client.set(fmt::format("pairs/{}", client.rank()), mine.empty() ? "" : make_line(mine));
  std::vector<std::string> rows, short_rows;
  for (int r = 0; r < size; ++r) {
    std::string text = client.get(fmt::format("pairs/{}", r), timeout);
    if (text.empty()) continue;
    text.pop_back();
    const std::vector<std::string> f = split_line(text).value_or(std::vector<std::string>{});
    for (size_t i = 0; i + 3 < f.size(); i += 4) {
      rows.push_back(fmt::format("{:>6} {:>6}  {:<24} {:<24} {}", r, f[i], f[i + 1], f[i + 2], f[i + 3]));
      short_rows.push_back(fmt::format("rank {} could not reach rank {} at {} from {}: {}", r, f[i], f[i + 1], f[i + 2], f[i + 3]));
    }
  }
  if (rows.empty()) return;
  if (client.rank() == 0)
    log::error("comm",
               fmt::format("pairs of ranks that could not reach each other:\n{:>6} {:>6}  {:<24} {:<24} {}\n{}", "rank", "peer", "address", "from", "reason",
                           fmt::join(rows, "\n")));
  const size_t shown = std::min<size_t>(3, short_rows.size());
  throw CommError(ErrorCode::kRendezvous, fmt::format("{} pairs of ranks could not reach each other", rows.size()),
                  fmt::format("{}{}", fmt::join(short_rows.begin(), short_rows.begin() + static_cast<std::ptrdiff_t>(shown), "; "),
                              rows.size() > shown ? fmt::format("; {} more in the log of rank 0", rows.size() - shown) : ""),
                  "let these hosts reach each other, or set dist.interface to a network that all of them share");
}

}  // namespace sindri::comm
