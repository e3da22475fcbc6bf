// The world of one rank: every call has the result for a single member, by a copy or without any work.
#include <cstring>

#include "sindri/device/backend.h"
#include "src/comm/backends.h"

namespace sindri::comm {

namespace {

// Without a stream the memory is the host's.
void copy(const void* in, void* out, int64_t bytes, Stream* stream) {
  if (in == out || bytes == 0) return;
  if (stream != nullptr) stream->copy(out, in, bytes, CopyKind::kWithin);
  else std::memmove(out, in, static_cast<size_t>(bytes));
}

class Single final : public Communicator {
 public:
  Single(std::shared_ptr<Session> session, std::string name) : Communicator(std::move(session), std::move(name), {0}, 0) {}
  const char* backend() const override { return "single"; }

 protected:
  void do_all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp, Stream* stream) override {
    for (const Piece& p : pieces) copy(p.in, p.out, p.count * static_cast<int64_t>(dtype_size(dtype)), stream);
  }
  void do_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp, int, Stream* stream) override {
    copy(in, out, count * static_cast<int64_t>(dtype_size(dtype)), stream);
  }
  void do_broadcast(void*, int64_t, int, Stream*) override {}
  void do_all_gather_v(const void* in, void* out, std::span<const int64_t> bytes, Stream* stream) override { copy(in, out, bytes[0], stream); }
  void do_reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp, Stream* stream) override {
    copy(in, out, count * static_cast<int64_t>(dtype_size(dtype)), stream);
  }
  void do_all_to_all(const void* in, void* out, int64_t bytes, Stream* stream) override { copy(in, out, bytes, stream); }
  // To itself: the send and the receive are one copy.
  void do_send_recv(const void* out, int64_t out_bytes, int, void* in, int64_t, int, Stream* stream) override { copy(out, in, out_bytes, stream); }
  void do_barrier() override {}
  bool takes_streams() const override { return true; }
  std::shared_ptr<Communicator> do_group(const std::vector<int>&, const std::string& name) override { return std::make_shared<Single>(session(), name); }
};

}  // namespace

std::shared_ptr<Communicator> open_single(const Options& options) {
  auto session = std::make_shared<Session>();
  session->options = options;
  session->host_of = {0};
  return std::make_shared<Single>(std::move(session), "world");
}

}  // namespace sindri::comm
