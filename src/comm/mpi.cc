// See mpi.h. Within a host, calls use a window of shared memory (shared_window.h); between hosts, messages
// (mpi_links.h); an all-reduce over several hosts uses both (host_sums.h). No call blocks inside the MPI library: it is
// polled, and the session's failure is checked between polls.
#include "src/comm/mpi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string_view>

#include "sindri/core/log.h"
#include "src/comm/host_sums.h"
#include "src/comm/mpi_library.h"
#include "src/comm/mpi_links.h"
#include "src/comm/patience.h"
#include "src/comm/shared_window.h"

namespace sindri::comm {

namespace {

// Staging buffers: on a single host, small enough that copied-in data is still in the cache when it is summed; with
// several hosts, large enough for messages of about 256 kB.
constexpr SharedWindow::Staging kOneHost{1 << 20, 3}, kSeveralHosts{4 << 20, HostSums::kBuffers};
constexpr int kWorldTag = 1;

// The process's MPI state, from the first world to the end of the process.
struct MpiJob {
  MpiHandle world, host;
  int rank = 0, size = 1;
  bool ours = false, ended = false;
};
MpiJob& job() {
  static MpiJob the_job;
  return the_job;
}

// FNV-1a: equal in all processes.
uint64_t hash_of(std::string_view text, uint64_t h = 14695981039346656037ULL) {
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}
uint64_t hash_of(int64_t number, uint64_t h) { return hash_of(std::string_view(reinterpret_cast<const char*>(&number), sizeof number), h); }

// SINDRI_TEST_HOSTS=0,0,1,1: the host that each rank pretends to be on, for tests of several hosts on one machine.
std::vector<int> pretended_hosts(int size) {
  const char* const text = std::getenv("SINDRI_TEST_HOSTS");
  if (text == nullptr || *text == '\0') return {};
  std::vector<int> hosts;
  for (const char *p = text, *end = text + std::strlen(text); p <= end;) {
    int value = 0;
    const auto [next, error] = std::from_chars(p, end, value);
    if (error != std::errc() || value < 0 || (next != end && *next != ','))
      throw SettingsError(fmt::format("SINDRI_TEST_HOSTS={} is not a list of numbers", text), "comm::init", "give each rank's host, as 0,0,1,1");
    hosts.push_back(value);
    p = next + 1;
  }
  if (static_cast<int>(hosts.size()) != size)
    throw SettingsError(fmt::format("SINDRI_TEST_HOSTS={} has {} numbers, and the job {} ranks", text, hosts.size(), size), "comm::init");
  return hosts;
}

/// A window of memory shared by the members on this host: `parts` by local rank.
struct Window {
  MpiHandle handle;
  std::vector<std::byte*> parts;
};

Window make_window(MpiHandle comm, int ranks, int64_t bytes) {
  Window w;
  std::vector<void*> bases(static_cast<size_t>(ranks));
  constexpr int64_t kPage = 4096;
  check_mpi(mpi_library().window(comm, (bytes + kPage - 1) / kPage * kPage + 64, &w.handle, bases.data()), "MPI_Win_allocate_shared");
  // MPI does not promise an alignment. A part has the same offset within its page in all processes, so aligning it gives all processes the same place.
  for (void* const base : bases) w.parts.push_back(reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(base) + 63) / 64 * 64));
  return w;
}

/// Memory that all_reduce uses in place.
struct FlatBuffer {
  int64_t bytes;
  std::vector<std::byte*> parts;
  std::atomic<bool> used{false};
};

class Mpi final : public Communicator {
 public:
  Mpi(std::shared_ptr<Session> session, std::string name, std::vector<int> members, int rank);
  const char* backend() const override { return "mpi"; }
  std::shared_ptr<void> flat_buffer(int64_t bytes) override;

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
  struct Place {
    uint64_t hash = 0;
    const FlatBuffer* flat = nullptr;
  };
  void open_window(const std::string& key);
  Place place_of(std::span<const Piece> pieces) const;
  std::shared_ptr<FlatBuffer> take_flat_buffer(int64_t bytes);
  bool one_host() const { return window_ != nullptr && window_->size() == size(); }
  double factor(ReduceOp op) const { return op == ReduceOp::kMean ? 1.0 / size() : 1.0; }

  std::vector<int> local_;  // world ranks of the members on this host
  Layout layout_;
  std::unique_ptr<MpiLinks> links_;
  std::unique_ptr<MpiLinks> leaders_;  // between the first members of each host; only on those, if there are several hosts
  int hosts_ = 1;
  MpiHandle host_comm_;
  std::unique_ptr<SharedWindow> window_;  // null if this host has no other member
  std::unique_ptr<HostSums> sums_;  // on several hosts, if the layout allows sums by host
  std::vector<std::shared_ptr<FlatBuffer>> flats_;
  std::map<std::string, int> groups_;  // how often each group was made
};

Mpi::Mpi(std::shared_ptr<Session> s, std::string name, std::vector<int> members, int rank)
    : Communicator(std::move(s), std::move(name), std::move(members), rank) {
  const std::vector<int>& host_of = session()->host_of;
  const auto host = [&](int member) { return host_of[static_cast<size_t>(this->members()[static_cast<size_t>(member)])]; };
  std::vector<int> hosts;
  for (int m = 0; m < size(); ++m) {
    hosts.push_back(host(m));
    if (host(m) == host(rank)) local_.push_back(this->members()[static_cast<size_t>(m)]);
  }
  layout_ = layout_of(hosts, rank, session()->options.strict_order);
  const auto each = static_cast<int>(local_.size());

  std::string key = this->name();
  for (const int m : this->members()) key += fmt::format(",{}", m);
  const bool is_world = this->name() == "world";
  int limit = 0;
  check_mpi(mpi_library().tag_limit(job().world, &limit), "MPI_Comm_get_attr");
  const int tag = is_world ? kWorldTag : kWorldTag + 1 + static_cast<int>(hash_of(key) % static_cast<uint64_t>(limit - kWorldTag - 1));
  links_ = std::make_unique<MpiLinks>(*session(), job().world, this->members(), rank, tag);
  if (size() == 1) return;
  if (!is_world) barrier_by_links(*links_, layout_);  // all ranks are here, and alive, before the library waits for them
  if (each > 1) open_window(key);
  std::vector<int> leaders, seen;  // the first member of each host
  for (int m = 0; m < size(); ++m) {
    if (std::find(seen.begin(), seen.end(), host(m)) != seen.end()) continue;
    seen.push_back(host(m));
    leaders.push_back(this->members()[static_cast<size_t>(m)]);
  }
  const auto me = std::find(leaders.begin(), leaders.end(), this->members()[static_cast<size_t>(rank)]);
  hosts_ = static_cast<int>(leaders.size());
  if (hosts_ > 1 && me != leaders.end()) {
    const auto place = static_cast<int>(me - leaders.begin());
    leaders_ = std::make_unique<MpiLinks>(*session(), job().world, std::move(leaders), place, tag);
  }
  if (layout_.local_size == 1 && hosts_ < size()) return;
  std::vector<int> peers;  // members with this rank's local index, by host
  for (int m = rank % each; m < size(); m += each) peers.push_back(m);
  sums_ = std::make_unique<HostSums>(*links_, window_.get(), std::move(peers), rank / each, kSeveralHosts.buffer);
}

void Mpi::open_window(const std::string& key) {
  const auto each = static_cast<int>(local_.size());
  if (name() == "world") host_comm_ = job().host;
  else check_mpi(mpi_library().group(job().world, local_.data(), each, static_cast<int>(hash_of(key) % 30000), &host_comm_), "MPI_Comm_create_group");
  const SharedWindow::Staging& staging = each == size() ? kOneHost : kSeveralHosts;
  Window w = make_window(host_comm_, each, SharedWindow::part_bytes(staging));
  const auto local = static_cast<int>(std::find(local_.begin(), local_.end(), session()->identity.rank) - local_.begin());
  window_ = std::make_unique<SharedWindow>(*session(), local_, local, std::move(w.parts), staging);
  window_->meet();
}

// A released buffer is reused once all ranks of the host have released it.
std::shared_ptr<FlatBuffer> Mpi::take_flat_buffer(int64_t bytes) {
  uint64_t free = 0;
  for (size_t i = 0; i < std::min<size_t>(flats_.size(), 64); ++i) {
    if (flats_[i]->bytes == bytes && !flats_[i]->used) free |= uint64_t{1} << i;
  }
  free = window_->agree({CallCard::kFlatBuffer, 0, 0, 0, bytes, 0}, free);
  const auto local = static_cast<size_t>(window_->local());
  if (free != 0) {
    const std::shared_ptr<FlatBuffer>& flat = flats_[static_cast<size_t>(std::countr_zero(free))];
    std::memset(flat->parts[local], 0, static_cast<size_t>(bytes));
    return flat;
  }
  auto flat = std::make_shared<FlatBuffer>();
  flat->bytes = bytes;
  flat->parts = make_window(host_comm_, window_->size(), std::max<int64_t>(bytes, 64)).parts;
  flats_.push_back(flat);
  return flat;
}

std::shared_ptr<void> Mpi::flat_buffer(int64_t bytes) {
  if (window_ == nullptr || bytes < 0) return Communicator::flat_buffer(bytes);
  const std::lock_guard lock(session()->mutex);
  session()->check();
  try {
    const std::shared_ptr<FlatBuffer> flat = take_flat_buffer((bytes + 63) / 64 * 64);
    flat->used = true;
    return {flat->parts[static_cast<size_t>(window_->local())], [flat](void*) { flat->used = false; }};
  } catch (CommError& error) {
    error.add_where(fmt::format("flat_buffer of {} bytes", bytes));
    if (!session()->failed()) session()->fail(session()->judge ? session()->judge(error) : error);
    session()->check();
    throw;
  }
}

Mpi::Place Mpi::place_of(std::span<const Piece> pieces) const {
  Place place;
  uint64_t h = hash_of("flat");
  for (const Piece& p : pieces) {
    if (p.count == 0) continue;
    if (p.in != p.out) return {};
    const auto* const at = static_cast<const std::byte*>(p.in);
    if (place.flat == nullptr) {
      for (size_t i = 0; i < flats_.size(); ++i) {
        const std::byte* const begin = flats_[i]->parts[static_cast<size_t>(window_->local())];
        if (at < begin || at >= begin + flats_[i]->bytes) continue;
        place.flat = flats_[i].get();
        h = hash_of(static_cast<int64_t>(i), h);
      }
      if (place.flat == nullptr) return {};
    }
    const std::byte* const begin = place.flat->parts[static_cast<size_t>(window_->local())];
    if (at < begin || at >= begin + place.flat->bytes) return {};
    h = hash_of(p.count, hash_of(at - begin, h));
  }
  if (place.flat != nullptr) place.hash = h | 1;
  return place;
}

void Mpi::do_all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, Stream*) {
  const int64_t count = std::accumulate(pieces.begin(), pieces.end(), int64_t{0}, [](int64_t n, const Piece& p) { return n + p.count; });
  // Small all-reduces between hosts of one rank each: all_reduce_by_links needs a single exchange.
  const bool small = window_ == nullptr && count * dtype_size(dtype) <= 2048;
  if ((sums_ != nullptr && !small) || one_host()) {
    const Place place = window_ != nullptr ? place_of(pieces) : Place{};
    const CallCard card{CallCard::kAllReduce, static_cast<int32_t>(dtype), static_cast<int32_t>(op), 0, count, place.hash};
    const std::span<std::byte* const> flat = place.flat != nullptr ? std::span<std::byte* const>(place.flat->parts) : std::span<std::byte* const>{};
    return sums_ != nullptr ? sums_->all_reduce(card, pieces, flat, factor(op)) : window_->all_reduce(card, pieces, flat, factor(op));
  }
  if (pieces.size() == 1) return all_reduce_by_links(*links_, layout_, pieces[0].in, pieces[0].out, count, dtype, op);
  const PieceList list(pieces, dtype_size(dtype));
  std::vector<std::byte> all(static_cast<size_t>(list.bytes()));
  list.copy_in(0, list.bytes(), all.data());
  all_reduce_by_links(*links_, layout_, all.data(), count, dtype, op);
  list.copy_out(0, list.bytes(), all.data());
}

void Mpi::do_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, Stream*) {
  if (!one_host()) return reduce_by_links(*links_, layout_, in, out, count, dtype, op, root);
  window_->reduce({CallCard::kReduce, static_cast<int32_t>(dtype), static_cast<int32_t>(op), root, count}, in, out, count, dtype, op, factor(op), root);
}

void Mpi::do_broadcast(void* data, int64_t bytes, int root, Stream*) {
  if (!one_host()) return broadcast_by_links(*links_, layout_, data, bytes, root);
  window_->broadcast({CallCard::kBroadcast, 0, 0, root, bytes}, data, bytes, root);
}

void Mpi::do_all_gather_v(const void* in, void* out, std::span<const int64_t> bytes, Stream*) {
  if (!one_host()) return all_gather_v_by_links(*links_, layout_, in, out, bytes);
  uint64_t h = hash_of("");
  for (const int64_t b : bytes) h = hash_of(b, h);
  const int64_t total = std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
  window_->all_gather_v({CallCard::kAllGather, 0, 0, static_cast<int32_t>(h & 0x7fffffff), total}, in, out, bytes);
}

void Mpi::do_reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Stream*) {
  if (!one_host()) return reduce_scatter_by_links(*links_, layout_, in, out, count, dtype, op);
  window_->reduce_scatter({CallCard::kReduceScatter, static_cast<int32_t>(dtype), static_cast<int32_t>(op), 0, count}, in, out, count, dtype, op, factor(op));
}

void Mpi::do_all_to_all(const void* in, void* out, int64_t bytes, Stream*) {
  if (!one_host()) return all_to_all_by_links(*links_, layout_, in, out, bytes);
  window_->all_to_all({CallCard::kAllToAll, 0, 0, 0, bytes}, in, out, bytes);
}

void Mpi::do_send_recv(const void* out, int64_t out_bytes, int to, void* in, int64_t in_bytes, int from, Stream*) {
  const Links::Message sent{to, const_cast<void*>(out), out_bytes}, received{from, in, in_bytes};
  links_->exchange(std::span(&sent, to >= 0 ? 1 : 0), std::span(&received, from >= 0 ? 1 : 0));
}

void Mpi::do_barrier() {
  if (window_ != nullptr) window_->enter({CallCard::kBarrier});
  if (hosts_ == 1) return;
  if (leaders_ != nullptr) barrier_by_links(*leaders_, {host_index(), hosts_, 1});
  if (window_ != nullptr) window_->barrier();
}

std::shared_ptr<Communicator> Mpi::do_group(const std::vector<int>& ranks, const std::string& name) {
  std::vector<int> world_ranks;
  for (const int r : ranks) world_ranks.push_back(members()[static_cast<size_t>(r)]);
  const auto mine = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank()) - ranks.begin());
  return std::make_shared<Mpi>(session(), name, std::move(world_ranks), mine);
}

void start_mpi() {
  MpiJob& j = job();
  const MpiTable& mpi = mpi_library();
  if (j.ended || mpi.finalized() != 0)
    throw CommError(ErrorCode::kCommLibrary, "MPI has been finalized in this process and cannot be initialised again", "comm::init",
                    "call comm::init() once per process");
  // Above these limits Open MPI sends a message only after the receiver has agreed. On a link that is busy in both
  // directions the answer queues after the other side's data, and the link is idle half of the time. Our pieces are
  // below the raised limit, and their receives are already posted. Values set by the user are kept.
  const std::string limit = std::to_string(MpiLinks::kPiece + 4096);
  for (const char* name : {"OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_tcp_rndv_eager_limit", "OMPI_MCA_btl_tcp_max_send_size"})
    setenv(name, limit.c_str(), 0);
  int ours = 0, serialized = 0;
  check_mpi(mpi.init(&ours, &serialized), "MPI_Init_thread");
  if (serialized == 0)
    throw CommError(ErrorCode::kCommLibrary, fmt::format("MPI was initialised without MPI_THREAD_SERIALIZED ({})", mpi.library()), "comm::init",
                    "ask for it in MPI_Init_thread, or let comm::init() do it");
  j.ours = ours != 0;
  check_mpi(mpi.world(&j.world, &j.rank, &j.size), "MPI_Comm_dup");
}

// Hosts are numbered by their first rank. Simulated hosts (SINDRI_TEST_HOSTS) only split groups that really share memory.
void find_hosts(Session* session) {
  MpiJob& j = job();
  const MpiTable& mpi = mpi_library();
  MpiHandle shared;
  check_mpi(mpi.split_host(j.world, &shared), "MPI_Comm_split_type");
  const std::vector<int> pretended = pretended_hosts(j.size);
  check_mpi(mpi.split(shared, pretended.empty() ? 0 : pretended[static_cast<size_t>(j.rank)], j.rank, &j.host), "MPI_Comm_split");
  int first = j.rank;
  check_mpi(mpi.broadcast(j.host, &first, sizeof first, 0), "MPI_Bcast");
  std::vector<int> firsts(static_cast<size_t>(j.size));
  check_mpi(mpi.all_gather(j.world, &first, firsts.data(), sizeof first), "MPI_Allgather");
  std::map<int, int> hosts;
  session->host_of.clear();
  for (const int f : firsts) session->host_of.push_back(hosts.try_emplace(f, static_cast<int>(hosts.size())).first->second);
  check_mpi(mpi.size(j.host, &session->identity.local_rank, &session->identity.local_size), "MPI_Comm_size");
}

void end_mpi(Session& session) {
  MpiJob& j = job();
  if (!j.ours || j.ended) return;
  // MPI_Finalize waits for all ranks. After a rank is lost, the library's resources are freed by the end of the process.
  if (session.failed()) return;
  j.ended = true;
  finalize_mpi(session.options.init_timeout);
}

}  // namespace

std::shared_ptr<Communicator> open_mpi_world(const std::shared_ptr<Session>& session) {
  start_mpi();
  const MpiJob& j = job();
  Identity& id = session->identity;
  if (id.source != "none" && (id.rank != j.rank || id.size != j.size))
    throw CommError(ErrorCode::kRendezvous, fmt::format("{} says rank {} of {}, MPI says rank {} of {}", id.source, id.rank, id.size, j.rank, j.size),
                    "comm::init", "unset the variables of the other launcher, or start the job with mpirun or srun --mpi=pmix");
  id.rank = j.rank;
  id.size = j.size;
  if (id.source == "none") id.source = "MPI";
  find_hosts(session.get());
  set_spinning(id.local_size);
  session->on_close([weak = std::weak_ptr<Session>(session)] {
    if (const std::shared_ptr<Session> s = weak.lock()) end_mpi(*s);
  });
  std::vector<int> members(static_cast<size_t>(j.size));
  std::iota(members.begin(), members.end(), 0);
  return std::make_shared<Mpi>(session, "world", std::move(members), j.rank);
}

bool launched_by_mpi() {
  const auto there = [](const char* name) { return std::getenv(name) != nullptr; };
  return there("OMPI_COMM_WORLD_SIZE") || there("PMIX_RANK") || there("PMI_RANK");
}

std::string mpi_broadcast_text(const std::string& text) {
  int64_t length = static_cast<int64_t>(text.size());
  check_mpi(mpi_library().broadcast(job().world, &length, sizeof length, 0), "MPI_Bcast");
  std::string all = job().rank == 0 ? text : std::string(static_cast<size_t>(length), '\0');
  check_mpi(mpi_library().broadcast(job().world, all.data(), length, 0), "MPI_Bcast");
  return all;
}

MpiPlainCalls::MpiPlainCalls(Communicator& world) : session_(*world.session()) {
  if (std::string_view(world.backend()) != "mpi" || world.size() != job().size)
    throw ValueError("the library's own calls are only available on an mpi world", "comm");
}
void MpiPlainCalls::all_reduce(float* data, int64_t count) {
  const std::lock_guard lock(session_.mutex);
  check_mpi(mpi_library().all_reduce_float(job().world, data, count), "MPI_Allreduce");
}
void MpiPlainCalls::reduce(const float* in, float* out, int64_t count, int root) {
  const std::lock_guard lock(session_.mutex);
  check_mpi(mpi_library().reduce_float(job().world, in, out, count, root), "MPI_Reduce");
}
void MpiPlainCalls::reduce_scatter(const float* in, float* out, int64_t count) {
  const std::lock_guard lock(session_.mutex);
  check_mpi(mpi_library().reduce_scatter_float(job().world, in, out, count), "MPI_Reduce_scatter_block");
}
void MpiPlainCalls::broadcast(void* data, int64_t bytes, int root) {
  const std::lock_guard lock(session_.mutex);
  check_mpi(mpi_library().broadcast(job().world, data, bytes, root), "MPI_Bcast");
}
void MpiPlainCalls::all_gather(const void* in, void* out, int64_t bytes) {
  const std::lock_guard lock(session_.mutex);
  check_mpi(mpi_library().all_gather(job().world, in, out, bytes), "MPI_Allgather");
}
void MpiPlainCalls::all_to_all(const void* in, void* out, int64_t bytes) {
  const std::lock_guard lock(session_.mutex);
  check_mpi(mpi_library().all_to_all(job().world, in, out, bytes), "MPI_Alltoall");
}
void MpiPlainCalls::barrier() {
  const std::lock_guard lock(session_.mutex);
  check_mpi(mpi_library().barrier(job().world), "MPI_Barrier");
}

}  // namespace sindri::comm
