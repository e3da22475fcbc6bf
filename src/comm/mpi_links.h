// Messages between ranks over MPI, driven by polling: no call waits inside the library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/comm/algorithms.h"
#include "src/comm/mpi_table.h"
#include "src/comm/session.h"

namespace sindri::comm {

/// Messages that were started together.
class MpiBatch {
 public:
 private:
  friend class MpiLinks;
  std::vector<MpiHandle> requests_;
  std::vector<int> peers_;  // world ranks, by request
  int open_ = 0;
};

/// Links between the members of one communicator, which has its own tag in the job's only MPI communicator.
class MpiLinks final : public Links {
 public:
  static constexpr int64_t kPiece = 256 << 10;  ///< bytes of the library's messages; larger ones are split

  /// `members`: world ranks.
  MpiLinks(Session& session, MpiHandle world, std::vector<int> members, int rank, int tag);
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override;
  void exchange_while(std::span<const Message> sends, std::span<const Message> receives, const std::function<bool()>& work) override;

  /// Starts messages in pieces of at most kPiece; both sides start theirs in the same order. The memory must stay valid until wait().
  void start(std::span<const Message> sends, std::span<const Message> receives, MpiBatch* batch);
  /// Waits until all messages of the batch are complete, including sends, so that the library has nothing left to do
  /// while the program computes.
  void wait(MpiBatch* batch);

 private:
  void post(const Message& m, bool send, MpiBatch* batch);
  /// Polls, which drives the library. Returns whether a message has completed.
  bool test(MpiBatch* batch);
  Session& session_;
  MpiHandle world_;
  std::vector<int> members_;
  int rank_, tag_;
};

}  // namespace sindri::comm
