// See links_communicator.h.
#include "src/comm/links_communicator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace sindri::comm {

namespace {

Layout layout_in(const Session& session, const std::vector<int>& members, int rank) {
  std::vector<int> hosts;
  for (const int m : members) hosts.push_back(session.host_of[static_cast<size_t>(m)]);
  return layout_of(hosts, rank, session.options.strict_order);
}

}  // namespace

LinksCommunicator::LinksCommunicator(std::shared_ptr<Session> session, const char* backend, std::string name, std::vector<int> members, int rank,
                                     MakeLinks make)
    : Communicator(std::move(session), std::move(name), std::move(members), rank),
      backend_(backend),
      make_(std::move(make)),
      layout_(layout_in(*this->session(), this->members(), rank)),
      links_(make_(this->members(), rank, this->name())) {}

void LinksCommunicator::do_all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, Stream*) {
  const auto element = static_cast<int64_t>(dtype_size(dtype));
  std::vector<int64_t> counts;
  int64_t total = 0;
  for (const Piece& p : pieces) {
    counts.push_back(p.count);
    total += p.count;
  }
  links_->begin(fmt::format("all_reduce {} of {} {}", reduce_op_name(op), fmt::join(counts, "+"), dtype_name(dtype)));
  if (pieces.size() == 1) return all_reduce_by_links(*links_, layout_, pieces[0].in, pieces[0].out, total, dtype, op);
  const auto flat = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(total * element));
  const auto each = [&](auto f) {
    char* at = flat.get();
    for (const Piece& p : pieces) {
      const auto bytes = static_cast<size_t>(p.count * element);
      if (bytes > 0) f(p, at, bytes);
      at += bytes;
    }
  };
  each([](const Piece& p, char* at, size_t bytes) { std::memcpy(at, p.in, bytes); });
  all_reduce_by_links(*links_, layout_, flat.get(), total, dtype, op);
  each([](const Piece& p, char* at, size_t bytes) { std::memcpy(p.out, at, bytes); });
}

void LinksCommunicator::do_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, Stream*) {
  links_->begin(fmt::format("reduce {} of {} {} to rank {}", reduce_op_name(op), count, dtype_name(dtype), root));
  reduce_by_links(*links_, layout_, in, out, count, dtype, op, root);
}

void LinksCommunicator::do_broadcast(void* data, int64_t bytes, int root, Stream*) {
  links_->begin(fmt::format("broadcast of {} bytes from rank {}", bytes, root));
  broadcast_by_links(*links_, layout_, data, bytes, root);
}

void LinksCommunicator::do_all_gather_v(const void* in, void* out, std::span<const int64_t> bytes, Stream*) {
  const bool even = std::equal(bytes.begin() + 1, bytes.end(), bytes.begin());
  links_->begin(even ? fmt::format("all_gather of {} bytes each", bytes[0]) : fmt::format("all_gather of {} bytes", fmt::join(bytes, "+")));
  all_gather_v_by_links(*links_, layout_, in, out, bytes);
}

void LinksCommunicator::do_reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Stream*) {
  links_->begin(fmt::format("reduce_scatter {} of {} times {} {}", reduce_op_name(op), size(), count, dtype_name(dtype)));
  reduce_scatter_by_links(*links_, layout_, in, out, count, dtype, op);
}

void LinksCommunicator::do_all_to_all(const void* in, void* out, int64_t bytes, Stream*) {
  links_->begin(fmt::format("all_to_all of {} times {} bytes", size(), bytes));
  all_to_all_by_links(*links_, layout_, in, out, bytes);
}

void LinksCommunicator::do_send_recv(const void* out, int64_t out_bytes, int to, void* in, int64_t in_bytes, int from, Stream*) {
  if (to == rank()) {
    if (out != in && out_bytes > 0) std::memmove(in, out, static_cast<size_t>(out_bytes));
    return;
  }
  const Links::Message send{to, const_cast<void*>(out), out_bytes}, receive{from, in, in_bytes};
  links_->send_recv(to >= 0 ? &send : nullptr, from >= 0 ? &receive : nullptr);
}

void LinksCommunicator::do_barrier() {
  links_->begin("barrier");
  barrier_by_links(*links_, layout_);
}

std::shared_ptr<Communicator> LinksCommunicator::do_group(const std::vector<int>& ranks, const std::string& group) {
  std::vector<int> world_ranks;
  for (const int r : ranks) world_ranks.push_back(members()[static_cast<size_t>(r)]);
  const int mine = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank()) - ranks.begin());
  // A group that was destroyed and is made again gets different links.
  const int time = ++times_made_[fmt::format("{} of {}", group, fmt::join(world_ranks, ","))];
  const MakeLinks make = [inner = make_, time, parent = name()](const std::vector<int>& members, int rank, const std::string& name) {
    return inner(members, rank, fmt::format("{} in {} time {}", name, parent, time));
  };
  return std::make_shared<LinksCommunicator>(session(), backend_, group, world_ranks, mine, make);
}

}  // namespace sindri::comm
