// See jury.h.
#include "src/comm/jury.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/comm/store_wire.h"

namespace sindri::comm {

namespace {

constexpr double kEndedEarly = 5;  // seconds that a rank may wait for one that has said BYE before this is an error

const char* kResume = "continue from the last checkpoint with --resume";

std::string see_log(const std::string& ranks) { return fmt::format("see the log of {}; {}", ranks, kResume); }

}  // namespace

Jury::Jury(const StoreConfig& config, double now) : config_(config), began_(now), members_(static_cast<size_t>(config.size)) {}

void Jury::joined(const Peer& peer, double now) {
  Member& m = at(peer.rank);
  m.there = true;
  m.peer = peer;
  m.heard = now;
  if (complete()) all_came_ = true;
}

std::vector<int> Jury::missing() const {
  std::vector<int> out;
  for (size_t r = 0; r < members_.size(); ++r)
    if (!members_[r].there) out.push_back(static_cast<int>(r));
  return out;
}

bool Jury::over() const {
  return all_came_ && std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.bye; });
}

void Jury::pulse(int rank, const Pulse& pulse, double now) {
  Member& m = at(rank);
  m.heard = now;
  m.beats = true;
  m.pulse = pulse;
}

void Jury::bye(int rank, double now) {
  at(rank).bye = true;
  at(rank).left_at = now;
}

std::string Jury::name(int rank) const {
  if (rank < 0 || rank >= config_.size || !at(rank).there) return fmt::format("rank {}", rank);
  return fmt::format("rank {} ({}, pid {})", rank, at(rank).peer.host, at(rank).peer.pid);
}

// "rank 3 (h, pid 1)"; "ranks 3 (h, pid 1) and 4 (h, pid 2)"; of many, the first four.
std::string Jury::names(const std::vector<int>& ranks) const {
  if (ranks.size() == 1) return name(ranks[0]);
  std::string out = "ranks ";
  for (size_t i = 0; i < ranks.size() && i < 4; ++i) out += (i == 0 ? "" : ", ") + name(ranks[i]).substr(5);
  return ranks.size() <= 4 ? out : fmt::format("{} and {} more", out, ranks.size() - 4);
}

std::string Jury::last_seen(int rank) const {
  const Member& m = at(rank);
  if (!m.beats) return fmt::format("rank {} was starting", rank);
  std::string out = fmt::format("rank {} was last seen at step {}", rank, m.pulse.step);
  if (!m.pulse.phase.empty()) out += ", phase " + m.pulse.phase;
  if (m.pulse.call > 0) out += fmt::format(", {} call {} {}", m.pulse.inside ? "in" : "after", m.pulse.call, m.pulse.text);
  return out;
}

void Jury::add(double now, Strength strength, int rank, ErrorCode code, const std::string& message, const std::string& where, const std::string& fix) {
  if (!given_) evidence_.push_back({now, strength, rank, code, message, where, fix});
}

void Jury::lost(int rank, int problem, double now) {
  Member& m = at(rank);
  if (m.bye || m.gone) return;
  m.gone = true;
  m.ended = now;
  // A killed process that had unread data ends with a reset. Any other error is a problem of the link.
  const bool died = problem == 0 || problem == ECONNRESET || problem == EPIPE;
  if (died) {
    add(now, kDied, rank, ErrorCode::kPeerLost, name(rank) + " died", last_seen(rank), see_log(fmt::format("rank {}", rank)));
  } else {
    add(now, kLost, rank, ErrorCode::kPeerLost, fmt::format("the connection to {} is lost: {}", name(rank), std::strerror(problem)), last_seen(rank),
        fmt::format("check the host {} and the link to it; {}", m.peer.host, kResume));
  }
}

void Jury::reported(int rank, const CommError& error, double now) {
  Strength strength = kReported;
  const bool own = error.message().starts_with(fmt::format("rank {} ends the job", rank));  // comm::abort()
  if (!own && (error.code() == ErrorCode::kPeerLost || error.code() == ErrorCode::kCommLibrary)) strength = kBroken;
  if (error.code() == ErrorCode::kCommTimeout) strength = kWaitedThere;
  // Inserts the host into "rank 2 ends the job: …"; other messages are prefixed with the rank that sent them.
  const std::string self = fmt::format("rank {} ", rank);
  std::string text = error.message().starts_with(self) ? name(rank) + error.message().substr(self.size() - 1) : name(rank) + ": " + error.message();
  if (error.code() == ErrorCode::kRendezvous) text = error.message();  // kRendezvous errors are about pairs of ranks; all ranks report the same text
  add(now, strength, rank, error.code(), text, error.where(), error.fix());
}

void Jury::told(int rank, const std::string& how, double now) {
  if (rank < 0 || rank >= config_.size) return;
  Member& m = at(rank);
  m.how = how;
  if (m.bye || m.gone) return;  // its connection has already ended, and that counts
  m.gone = true;
  m.ended = now;
  add(now, kDied, rank, ErrorCode::kPeerLost, name(rank) + " died", m.there ? last_seen(rank) : fmt::format("rank {} had not joined", rank),
      see_log(fmt::format("rank {}", rank)));
}

void Jury::slept(int rank, double seconds, double now) {
  for (Member& m : members_) m.heard = now;
  began_ += seconds;
  // After a pause this long the other ranks have given up the stopped one: they wait lost_after seconds from its last
  // sign of life, which was before the stop.
  if (seconds < config_.options.lost_after - 2 * config_.options.heartbeat) return;
  const std::string who = rank < 0 ? config_.keeper : name(rank);
  add(now, kReported, rank, ErrorCode::kPeerLost, fmt::format("{} did not run for {:.0f} s: it was stopped", who, seconds), rank < 0 ? "" : last_seen(rank),
      kResume);
}

void Jury::tick(double now, const std::function<bool(int)>& answers) {
  if (given_) return;
  tick_join(now);
  tick_beats(now, answers);
  tick_calls(now);
}

void Jury::tick_join(double now) {
  const std::vector<int> absent = missing();
  if (absent.empty() || now - began_ < config_.options.init_timeout || any_evidence()) return;
  std::vector<int> present;
  for (int r = 0; r < config_.size; ++r)
    if (there(r)) present.push_back(r);
  add(now, kLost, -1, ErrorCode::kRendezvous,
      fmt::format("{} {} of {} ranks did not join within {:g} s", absent.size() == 1 ? "rank" : "ranks", fmt::join(absent, ", "), config_.size,
                  config_.options.init_timeout),
      fmt::format("the store of {} at {}; {} joined", config_.keeper, config_.address, present.empty() ? "nobody" : names(present)),
      "see their logs: each must be started and must reach this address; dist.init_timeout is the limit");
}

void Jury::tick_beats(double now, const std::function<bool(int)>& answers) {
  std::vector<int> silent;
  bool one_is_new = false;
  for (int r = 0; r < config_.size; ++r) {
    const Member& m = at(r);
    if (!m.there || m.gone || m.bye || now - m.heard < config_.options.lost_after - 1.5 * config_.options.heartbeat) continue;
    silent.push_back(r);
    one_is_new = one_is_new || now - m.heard >= config_.options.lost_after;
  }
  if (!one_is_new) return;
  // Ranks of a host that falls silent together are named together.
  const bool alive = std::any_of(silent.begin(), silent.end(), answers);
  const double longest = now - at(silent[0]).heard;
  add(now, kLost, silent[0], ErrorCode::kPeerLost,
      fmt::format("{} gave no sign of life for {:.1f} s: {}", names(silent), longest,
                  alive ? "stopped or hanging, as its host still answers" : "the host or the link to it is gone"),
      last_seen(silent[0]), fmt::format("{}; {}", alive ? "check the process" : "check the host and the link", kResume));
  for (const int r : silent) at(r).gone = true;
}

// Returns the members of the rank's communicator that have not entered the call in which it waits. A rank that is in a
// later call of the world has completed this one.
std::vector<int> Jury::not_in(int rank, bool* someone_left) const {
  const Pulse& p = at(rank).pulse;
  std::vector<int> ranks = p.members, out;
  if (ranks.empty())
    for (int r = 0; r < config_.size; ++r) ranks.push_back(r);
  for (const int r : ranks) {
    if (r == rank || r < 0 || r >= config_.size) continue;
    const Member& m = at(r);
    if (m.bye) {
      *someone_left = true;
      out.push_back(r);
      continue;
    }
    const bool in_it = m.pulse.inside && m.pulse.group == p.group && m.pulse.text == p.text;
    const bool behind_it = p.members.empty() && m.pulse.members.empty() && m.pulse.call > p.call;
    if (!in_it && !behind_it) out.push_back(r);
  }
  return out;
}

void Jury::tick_calls(double now) {
  if (now - looked_ < 0.5) return;  // every waiting rank is compared with all others
  looked_ = now;
  bool anybody = false;
  for (int r = 0; r < config_.size; ++r) {
    const Member& m = at(r);
    if (!m.there || m.gone || m.bye || !m.pulse.inside) continue;
    const double waited = m.pulse.waited + (now - m.heard);
    const bool warn = waited >= config_.options.op_warn, late = waited >= config_.options.op_timeout;
    anybody = anybody || warn;
    if (!warn && !late && waited < kEndedEarly) continue;
    bool someone_left = false;
    const std::vector<int> absent = not_in(r, &someone_left);
    const std::string call = fmt::format("call {} {}", m.pulse.call, m.pulse.text);
    std::vector<std::string> doing;
    for (size_t i = 0; i < absent.size() && i < 4; ++i) doing.push_back(last_seen(absent[i]));
    if (someone_left && !any_evidence()) {
      for (const int b : absent) {
        if (!at(b).bye || now - at(b).left_at < kEndedEarly) continue;
        add(now, kBroken, b, ErrorCode::kPeerLost, fmt::format("{} ended, while {} waits for it in {}", name(b), name(r), call), last_seen(b),
            "all ranks must make the same calls: find out why it made fewer");
      }
    }
    if (late && !any_evidence()) {
      const std::string who = absent.empty() ? fmt::format("{}: no progress for {:.0f} s, though all ranks are in it", call, waited)
                                             : fmt::format("{} did not enter {} within {:g} s", names(absent), call, config_.options.op_timeout);
      add(now, kWaited, absent.empty() ? -1 : absent[0], ErrorCode::kCommTimeout, who, fmt::format("{}", fmt::join(doing, "; ")),
          fmt::format("check what it does; dist.op_timeout ({:g}) is the limit", config_.options.op_timeout));
    } else if (warn && warned_.insert(fmt::format("{} {} {}", m.pulse.group, call, fmt::join(absent, ","))).second) {
      warnings_.push_back(absent.empty() ? fmt::format("{} has waited for {:.0f} s, though all ranks are in it", call, waited)
                                         : fmt::format("{} has waited for {} for {:.0f} s ({})", call, names(absent), waited, fmt::join(doing, "; ")));
    }
  }
  if (!anybody) warned_.clear();
}

std::vector<std::string> Jury::warnings() { return std::exchange(warnings_, {}); }

CommError Jury::compose(const Evidence& best) const {
  std::string message = best.message;
  if (best.rank >= 0 && best.strength == kDied && !at(best.rank).how.empty()) message += ", " + at(best.rank).how;
  return CommError(best.code, message, best.where, best.fix);
}

std::optional<CommError> Jury::verdict(double now) {
  if (given_ || evidence_.empty() || now - evidence_[0].time < kBetterEvidence) return {};
  const Evidence* best = &evidence_[0];
  for (const Evidence& e : evidence_)
    if (e.strength > best->strength) best = &e;
  // A rank that ended in order also breaks connections.
  if (best->strength == kBroken || best->strength == kWaitedThere) {
    for (int r = 0; r < config_.size; ++r) {
      if (!at(r).bye || r == best->rank) continue;
      given_ = true;
      return CommError(ErrorCode::kPeerLost, fmt::format("{} ended, while {} still had calls to make", name(r), name(best->rank)), best->message,
                       "all ranks must make the same calls: find out why it made fewer");
    }
  }
  given_ = true;
  return compose(*best);
}

}  // namespace sindri::comm
