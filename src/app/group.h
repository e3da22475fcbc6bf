// The ranks of a run, as the verbs see them: who this one is, what rank 0 does for all, and how the others learn that one has failed.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "sindri/app/settings.h"
#include "sindri/comm/communicator.h"
#include "sindri/dataset/dataset.h"
#include "src/train/append_file.h"

namespace sindri::app {

class Group {
 public:
  /// Joins the ranks that this process was started with, and compares the settings with theirs; with dist.parallel_mode stand_alone, and where it was
  /// started alone, this is one rank and nothing below costs anything. The program leaves them by comm::finalize(). Throws as comm::init, CommError(kCommMismatch) for other settings.
  explicit Group(const Settings& settings);

  int rank() const { return several() ? world_->rank() : 0; }
  int size() const { return several() ? world_->size() : 1; }
  bool several() const { return world_ != nullptr && world_->size() > 1; }
  bool first() const { return rank() == 0; }
  /// Null for one.
  comm::Communicator* world() const { return several() ? world_ : nullptr; }
  /// The device that this rank trains on where it was asked for `asked`: of several ranks on a host's GPUs, each has one. A rank that was told to use the CPU does.
  Device device(Device asked, const Settings& settings) const;
  /// "[3/8 host]"
  std::string label() const;
  /// "8 ranks on 2 hosts (gloo)"
  std::string text() const;

  /// The text that `f` returns on rank 0, where alone it runs, on every rank; what it throws is thrown on every rank.
  std::string from_first(const char* what, const std::function<std::string()>& f) const;
  /// The first signal that any of them has received, rank 0's before the others'; 0: none.
  int any_signal(int mine) const;
  /// Tells the others why this rank ends, so that none of them waits for it. An error that all ranks have met is told in vain.
  void tell(const std::exception& e) const noexcept;

 private:
  comm::Communicator* world_ = nullptr;
};

/// What a rank other than 0 has to say: log_RANK.txt in the run folder, or in the working directory where that is not seen from its host. Lines begin
/// with Group::label. What cannot be written is lost, and so is what is said before open() where a run is refused.
class RankLog {
 public:
  RankLog(const Group& group, const std::string& folder);
  /// Creates the file: once the run begins.
  void open();
  void line(const std::string& text);

 private:
  std::string label_, path_, before_;
  std::unique_ptr<train::AppendFile> file_;
};

/// Which rows of the data a rank sees.
struct Parts {
  int64_t virtual_ranks = 1;  ///< that the global batch is made of
  int64_t first = 0, count = 1;  ///< those of this rank
  int64_t rank = 0, ranks = 1;
};
/// `virtual_ranks`: 0 for as many as ranks. Throws CommError(kLayout) where ranks do not divide it.
Parts parts_of(const Group& group, int64_t virtual_ranks);

}  // namespace sindri::app
