// A communicator for backends that only have messages between two ranks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/comm/algorithms.h"
#include "src/comm/session.h"

namespace sindri::comm {

class LinksCommunicator : public Communicator {
 public:
  /// Makes links between these world ranks; a member's rank is its index. `name` distinguishes communicators with the same members.
  using MakeLinks = std::function<std::unique_ptr<Links>(const std::vector<int>& members, int rank, const std::string& name)>;
  LinksCommunicator(std::shared_ptr<Session> session, const char* backend, std::string name, std::vector<int> members, int rank, MakeLinks make);
  const char* backend() const override { return backend_; }

 protected:
  void do_all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, Stream*) override;
  void do_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, Stream*) override;
  void do_broadcast(void* data, int64_t bytes, int root, Stream*) override;
  void do_all_gather_v(const void* in, void* out, std::span<const int64_t> bytes, Stream*) override;
  void do_reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Stream*) override;
  void do_all_to_all(const void* in, void* out, int64_t bytes, Stream*) override;
  void do_send_recv(const void* out, int64_t out_bytes, int to, void* in, int64_t in_bytes, int from, Stream*) override;
  void do_barrier() override;
  std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks, const std::string& name) override;

 private:
  const char* const backend_;
  const MakeLinks make_;
  const Layout layout_;
  const std::unique_ptr<Links> links_;
  std::map<std::string, int> times_made_;  // how often each group was made, by name and members
};

}  // namespace sindri::comm
