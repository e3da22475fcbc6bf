// See mpi_links.h.
#include "src/comm/mpi_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "src/comm/mpi_library.h"
#include "src/comm/patience.h"

namespace sindri::comm {

namespace {

// Time between polls of a sleeping wait, at first and at most. Bytes that arrive meanwhile must fit into the sockets'
// buffers (a gigabit link delivers 60 kB in 500 us), and fast messages arrive before the naps have grown. Eight waiting
// processes that polled every 50 us used half of two cores.
constexpr std::chrono::microseconds kFirstNap{50}, kLongestNap{500};

}  // namespace

MpiLinks::MpiLinks(Session& session, MpiHandle world, std::vector<int> members, int rank, int tag)
    : session_(session), world_(world), members_(std::move(members)), rank_(rank), tag_(tag) {}

void MpiLinks::post(const Message& m, bool send, MpiBatch* batch) {
  const int peer = members_[static_cast<size_t>(m.peer)];
  for (int64_t begin = 0; begin == 0 || begin < m.bytes; begin += kPiece) {
    std::byte* const data = m.bytes > 0 ? static_cast<std::byte*>(m.data) + begin : nullptr;
    const int64_t n = std::min(kPiece, m.bytes - begin);
    MpiHandle request;
    if (send) check_mpi(mpi_library().isend(world_, data, n, peer, tag_, &request), "MPI_Issend");
    else check_mpi(mpi_library().irecv(world_, data, n, peer, tag_, &request), "MPI_Irecv");
    batch->requests_.push_back(request);
    batch->peers_.push_back(peer);
    ++batch->open_;
  }
}

void MpiLinks::start(std::span<const Message> sends, std::span<const Message> receives, MpiBatch* batch) {
  // Messages to itself are copied; the first one sent matches the first received.
  auto from = sends.begin();
  for (const Message& r : receives) {
    if (r.peer != rank_) {
      post(r, false, batch);
      continue;
    }
    from = std::find_if(from, sends.end(), [&](const Message& s) { return s.peer == rank_; });
    if (from == sends.end() || from->bytes != r.bytes)
      throw CommError(ErrorCode::kCommMismatch, fmt::format("a rank receives {} bytes from itself that it does not send", r.bytes), "",
                      "send as much as is received");
    if (r.bytes > 0) std::memmove(r.data, from->data, static_cast<size_t>(r.bytes));
    ++from;
  }
  if (session_.options.test_delay_us > 0 && std::any_of(sends.begin(), sends.end(), [&](const Message& s) {
        return session_.host_of[static_cast<size_t>(members_[static_cast<size_t>(s.peer)])] != session_.host_of[static_cast<size_t>(session_.identity.rank)];
      }))
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(session_.options.test_delay_us));
  for (const Message& s : sends) {
    if (s.peer != rank_) post(s, true, batch);
  }
}

bool MpiLinks::test(MpiBatch* batch) {
  if (batch->open_ == 0) return false;
  int done = 0;
  check_mpi(mpi_library().test_some(static_cast<int>(batch->requests_.size()), batch->requests_.data(), &done), "MPI_Testsome");
  batch->open_ = done < 0 ? 0 : batch->open_ - done;
  return done > 0;
}

void MpiLinks::wait(MpiBatch* batch) {
  Patience patience(session_, [batch] {
    std::vector<int> ranks;
    for (size_t i = 0; i < batch->requests_.size(); ++i) {
      if (!mpi_library().is_null(batch->requests_[i])) ranks.push_back(batch->peers_[i]);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  });
  std::chrono::microseconds nap = kFirstNap;
  while (batch->open_ > 0) {
    if (test(batch) || batch->open_ == 0 || !patience.should_sleep()) continue;
    std::this_thread::sleep_for(nap);
    nap = std::min(kLongestNap, nap + nap / 8);
    patience.look();
  }
  *batch = {};
}

void MpiLinks::exchange(std::span<const Message> sends, std::span<const Message> receives) {
  MpiBatch batch;
  start(sends, receives, &batch);
  wait(&batch);
}

void MpiLinks::exchange_while(std::span<const Message> sends, std::span<const Message> receives, const std::function<bool()>& work) {
  MpiBatch batch;
  start(sends, receives, &batch);
  while (work()) test(&batch);
  wait(&batch);
}

}  // namespace sindri::comm
