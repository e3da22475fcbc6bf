// See gloo.h. In every collective call, each message's slot is a hash of what all members must agree on (the call's
// number and description), so that data of different calls never mixes. A note with this number and description
// precedes the first message to each peer: a rank that receives a different note reports it.
#include "src/comm/gloo.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include "src/comm/links_communicator.h"

namespace sindri::comm {

namespace {

struct Note {
  int64_t number = 0;  // of the call in this communicator, or of the message between the two ranks
  std::array<char, 120> text{};

  Note() = default;
  Note(int64_t n, const std::string& t) : number(n) { std::strncpy(text.data(), t.c_str(), text.size() - 1); }
  bool operator==(const Note&) const = default;
};

class GlooLinks final : public Links {
 public:
  GlooLinks(std::shared_ptr<GlooConnections> connections, Session& session, std::vector<int> members, int rank, const std::string& name)
      : connections_(std::move(connections)),
        session_(session),
        members_(std::move(members)),
        rank_(rank),
        name_(name),
        base_(XXH3_64bits_withSeed(name.data(), name.size(), XXH3_64bits(members_.data(), members_.size() * sizeof(int)))),
        peers_(members_.size()) {}

  void begin(const std::string& call) override {
    note_ = Note(note_.number + 1, call);
    for (PeerState& p : peers_) p.told = p.heard = false;
  }
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override {
    exchange_while(sends, receives, [] { return false; });
  }
  void exchange_while(std::span<const Message> sends, std::span<const Message> receives, const std::function<bool()>& work) override {
    const uint64_t slot = slot_of(note_);
    std::vector<GlooConnections::Transfer> transfers;
    std::vector<int> heard;
    for (const Message& m : receives) {
      PeerState& p = peers_[static_cast<size_t>(m.peer)];
      if (p.heard) continue;
      p.heard = true;
      transfers.push_back({world_rank(m.peer), &p.note, sizeof p.note, base_, false});
      heard.push_back(m.peer);
    }
    const size_t notes = transfers.size();
    for (const Message& m : receives) transfers.push_back({world_rank(m.peer), m.data, m.bytes, slot, false});
    for (const Message& m : sends) {
      PeerState& p = peers_[static_cast<size_t>(m.peer)];
      if (!p.told) transfers.push_back({world_rank(m.peer), &note_, sizeof note_, base_, true});
      p.told = true;
    }
    for (const Message& m : sends) transfers.push_back({world_rank(m.peer), m.data, m.bytes, slot, true});
    run(transfers, notes, work, [&] {
      for (const int peer : heard) compare(peer, note_, peers_[static_cast<size_t>(peer)].note);
    });
  }

  void send_recv(const Message* send, const Message* receive) override {
    Note out, in, expected;
    std::vector<GlooConnections::Transfer> transfers;
    const uint64_t notes = base_ + 1;
    if (receive != nullptr) {
      PeerState& p = peers_[static_cast<size_t>(receive->peer)];
      expected = Note(++p.received, fmt::format("a message of {} bytes", receive->bytes));
      transfers.push_back({world_rank(receive->peer), &in, sizeof in, notes, false});
      if (receive->bytes > 0) transfers.push_back({world_rank(receive->peer), receive->data, receive->bytes, slot_of(expected) ^ 1, false});
    }
    if (send != nullptr) {
      PeerState& p = peers_[static_cast<size_t>(send->peer)];
      out = Note(++p.sent, fmt::format("a message of {} bytes", send->bytes));
      transfers.push_back({world_rank(send->peer), &out, sizeof out, notes, true});
      if (send->bytes > 0) transfers.push_back({world_rank(send->peer), send->data, send->bytes, slot_of(out) ^ 1, true});
    }
    run(
        transfers, receive != nullptr ? 1 : 0, [] { return false; },
        [&] {
          if (receive != nullptr) compare(receive->peer, expected, in);
        });
  }

 private:
  struct PeerState {
    bool told = false, heard = false;  // during this call
    Note note;
    int64_t sent = 0, received = 0;  // messages outside collective calls
  };
  int world_rank(int peer) const { return members_[static_cast<size_t>(peer)]; }
  uint64_t slot_of(const Note& note) const {
    std::array<char, sizeof note.number + sizeof note.text> bytes{};
    std::memcpy(bytes.data(), &note.number, sizeof note.number);
    std::memcpy(bytes.data() + sizeof note.number, note.text.data(), sizeof note.text);
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), base_);
  }
  void run(std::span<const GlooConnections::Transfer> transfers, size_t notes, const std::function<bool()>& work, const std::function<void()>& first) {
    if (session_.options.test_delay_us > 0)
      for (const GlooConnections::Transfer& t : transfers)
        if (!t.send && connections_->far(t.peer)) {
          std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(session_.options.test_delay_us));
          break;
        }
    connections_->exchange(transfers, notes, first, work);
  }
  void compare(int peer, const Note& mine, const Note& theirs) const {
    if (mine == theirs) return;
    const auto text = [](const Note& n) {
      return fmt::format("{} (its call {})", std::string(n.text.data(), strnlen(n.text.data(), n.text.size())), n.number);
    };
    throw CommError(ErrorCode::kCommMismatch,
                    fmt::format("in '{}' rank {} calls {}, rank {} calls {}", name_, world_rank(rank_), text(mine), world_rank(peer), text(theirs)),
                    session_.where(), "let all ranks make the same calls in the same order");
  }

  const std::shared_ptr<GlooConnections> connections_;
  Session& session_;
  const std::vector<int> members_;
  const int rank_;
  const std::string name_;
  const uint64_t base_;
  Note note_;
  std::vector<PeerState> peers_;
};

}  // namespace

std::shared_ptr<Communicator> open_gloo(const std::shared_ptr<Session>& session, const GlooConfig& config) {
  const auto connections = std::make_shared<GlooConnections>(session, config);
  std::vector<int> members(static_cast<size_t>(session->identity.size));
  std::iota(members.begin(), members.end(), 0);
  return std::make_shared<LinksCommunicator>(session, "gloo", "world", members, session->identity.rank,
                                             [connections, &inside = *session](const std::vector<int>& of, int rank, const std::string& name) {
                                               return std::make_unique<GlooLinks>(connections, inside, of, rank, name);
                                             });
}

}  // namespace sindri::comm
