// See identity.h. Each source is one function that returns what it found; find_identity() takes the first complete one
// and compares the rest.
#include "src/comm/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

#include "sindri/comm/rank_table.h"
#include "src/comm/token.h"

extern char** environ;

namespace sindri::comm {

namespace {

constexpr int kMostRanks = 65536;
constexpr int kUnknown = -1;

// The identity that one source provides. Complete: rank, size and, if it needs one, the address.
struct Found {
  std::string source;  // "Slurm"
  std::string seen;  // "SLURM_PROCID=2, SLURM_NTASKS=4"
  std::string lacks;  // the missing part, "SLURM_LOCALID"; empty if complete
  int rank = kUnknown, size = 0;  // size 0: not given
  int local_rank = kUnknown, local_size = 0;
  std::string address;
  bool address_given = false;  // given literally, not derived from a host name
  bool by_arrival = false, scheduler = false;
  int device = kUnknown;
  std::string fix;
  std::string seed;
  bool present() const { return !seen.empty(); }
  bool complete() const { return present() && lacks.empty(); }
};

Found found(const char* source) {
  Found f;
  f.source = source;
  return f;
}

class Reader {
 public:
  Reader(const Environment& environment, Found* found) : environment_(environment), found_(found) {}

  std::string text(const std::string& name) const {
    const auto it = environment_.find(name);
    return it == environment_.end() ? "" : it->second;
  }
  // Records that the variable was seen; not for variables that other programs set for their own use.
  std::string noted(const std::string& name) {
    const std::string value = text(name);
    if (!value.empty()) found_->seen += fmt::format("{}{}={}", found_->seen.empty() ? "" : ", ", name, value);
    return value;
  }
  std::optional<int> number(const std::string& name, int least, int most) {
    const std::string value = noted(name);
    if (value.empty()) return {};
    int n = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (problem != std::errc() || end != value.data() + value.size() || n < least || n > most)
      throw SettingsError(fmt::format("{} is '{}', expected a whole number from {} to {}", name, value, least, most), "the environment",
                          fmt::format("set {} to a number, or unset it", name));
    return n;
  }
  void lacks(const std::string& what) { found_->lacks += (found_->lacks.empty() ? "" : ", ") + what; }
  // Rank and size, which every source has.
  void rank_and_size(const std::string& rank, const std::string& size) {
    const std::optional<int> r = number(rank, 0, kMostRanks - 1), n = number(size, 1, kMostRanks);
    if (n) found_->size = *n;
    if (r) found_->rank = *r;
    if (!found_->present()) return;
    if (!n) lacks(size);
    if (!r) lacks(rank);
    if (n && r && *r >= *n)
      throw SettingsError(fmt::format("{} is {}, but {} is {}: ranks are counted from 0", rank, *r, size, *n), "the environment",
                          fmt::format("set {} to 0 … {}", rank, *n - 1));
  }
  void local(const std::string& rank, const std::string& size) {
    if (const std::optional<int> r = number(rank, 0, kMostRanks - 1)) found_->local_rank = *r;
    if (const std::optional<int> n = number(size, 1, kMostRanks)) found_->local_size = *n;
    check_local(rank, size);
  }
  void check_local(const std::string& rank, const std::string& size) const {
    if (found_->local_size > 0 && found_->local_rank >= found_->local_size)
      throw SettingsError(fmt::format("{} is {}, but {} is {}: ranks are counted from 0", rank, found_->local_rank, size, found_->local_size),
                          "the environment", "unset both: local ranks are then derived from the host names");
  }
  std::string port(const std::string& first = "") const {
    for (const std::string& name : {first, std::string("SINDRI_MASTER_PORT")}) {
      if (name.empty() || text(name).empty()) continue;
      Found ignored;
      return std::to_string(*Reader(environment_, &ignored).number(name, 1, 65535));
    }
    return "29560";
  }
  // Returns host:port, with brackets around an IPv6 address.
  static std::string join(const std::string& host, const std::string& port) {
    return host.find(':') != std::string::npos && host.front() != '[' ? fmt::format("[{}]:{}", host, port) : host + ":" + port;
  }

 private:
  const Environment& environment_;
  Found* found_;
};

void check_address(const std::string& address, const std::string& variable) {
  const size_t colon = address.rfind(':');
  int port = 0;
  bool good = colon != std::string::npos && colon > 0;
  if (good) {
    const auto [end, problem] = std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
    good = problem == std::errc() && end == address.data() + address.size() && port > 0 && port < 65536;
    const std::string host = address.substr(0, colon);
    good = good && (host.find(':') == std::string::npos || (host.front() == '[' && host.back() == ']'));
  }
  if (!good)
    throw SettingsError(fmt::format("{} is '{}', expected host:port", variable, address), "the environment",
                        fmt::format("write {}=10.0.0.1:29560, or [2001:db8::1]:29560", variable));
}

Found from_sindri(const Environment& e, bool by_mpi) {
  Found f = found("SINDRI_*");
  Reader r(e, &f);
  r.rank_and_size("SINDRI_RANK", "SINDRI_WORLD_SIZE");
  if (!f.present()) return f;
  r.local("SINDRI_LOCAL_RANK", "SINDRI_LOCAL_SIZE");
  f.address = r.noted("SINDRI_MASTER");
  f.address_given = true;
  if (!f.address.empty()) check_address(f.address, "SINDRI_MASTER");
  if (f.address.empty() && f.size > 1 && !by_mpi) r.lacks("SINDRI_MASTER");
  f.fix = "set SINDRI_MASTER to host:port of rank 0";
  return f;
}

// Returns the variables that make claims about a rank table (RANK_ID and so on). Reads all of them, for problems RT12 and RT14.
RankClaims claims_of(Reader* r) {
  RankClaims c;
  const auto take = [&](const char* name, std::optional<int64_t>* to) {
    if (const std::optional<int> n = r->number(name, 0, kMostRanks)) *to = *n;
  };
  take("RANK_ID", &c.rank_id);
  take("RANK_SIZE", &c.rank_size);
  take("DEVICE_ID", &c.device_id);
  take("DEVICE_NUM", &c.device_num);
  take("SERVER_ID", &c.server_id);
  return c;
}

Found from_table(const Environment& e, const Options& options) {
  Found f;
  Reader r(e, &f);
  std::string file = options.rank_table;
  if (!file.empty()) f.seen = "dist.rank_table=" + file;
  if (file.empty()) file = r.noted("RANK_TABLE_FILE");
  if (file.empty()) file = r.noted("MINDSPORE_HCCL_CONFIG_PATH");
  f.source = "rank table " + file;
  if (file.empty()) return f;
  const RankTable table = read_rank_table(file);
  f.size = table.size();
  f.seen += fmt::format(" ({} ranks)", f.size);
  const RankClaims claims = claims_of(&r);
  f.fix = "set RANK_ID, or SERVER_ID with DEVICE_ID, for each process, or start them with sindri run --rank-table";
  if (!claims.complete()) {
    r.lacks("RANK_ID");
    return f;
  }
  const RankPlace place = locate(table, claims);
  f.rank = place.rank;
  f.local_rank = place.local_rank;
  f.local_size = place.local_size;
  f.device = place.device_id;
  f.address = Reader::join(place.master, r.port());
  std::ifstream in(file, std::ios::binary);
  f.seed = {std::istreambuf_iterator<char>(in), {}};
  return f;
}

Found from_torchrun(const Environment& e, bool by_mpi) {
  Found f = found("RANK, WORLD_SIZE (torchrun)");
  Reader r(e, &f);
  r.rank_and_size("RANK", "WORLD_SIZE");
  if (!f.present()) return f;
  r.local("LOCAL_RANK", "LOCAL_WORLD_SIZE");
  const std::string host = r.noted("MASTER_ADDR");
  if (!host.empty()) f.address = Reader::join(host, r.port("MASTER_PORT"));
  f.address_given = true;
  if (host.empty() && f.size > 1 && !by_mpi) r.lacks("MASTER_ADDR");
  f.fix = "set MASTER_ADDR and MASTER_PORT to the address of rank 0";
  return f;
}

Found from_open_mpi(const Environment& e, const std::string& backend) {
  Found f = found("Open MPI");
  Reader r(e, &f);
  r.rank_and_size("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (!f.present()) return f;
  r.local("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE");
  const std::string host = r.text("MASTER_ADDR");
  if (!host.empty()) f.address = Reader::join(host, r.port("MASTER_PORT"));
  if (host.empty() && f.size > 0 && f.local_size == f.size) f.address = Reader::join("127.0.0.1", r.port("MASTER_PORT"));
  if (f.address.empty() && f.size > 1 && backend == "gloo") r.lacks("MASTER_ADDR");
  f.fix = "set MASTER_ADDR to the address of rank 0, or dist.backend to mpi";
  return f;
}

// Returns the first name of "node[03-07,9],other" or "a,b".
std::string first_node(const std::string& list) {
  const size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const size_t end = list.find_first_of(",-]", bracket);
  const size_t close = list.find(']', bracket);
  if (end == std::string::npos || close == std::string::npos) return "";
  const size_t next = list.find(',', close);
  const std::string tail = list.substr(close + 1, next == std::string::npos ? std::string::npos : next - close - 1);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) + tail;
}

// Returns this node's number of tasks from "8(x2),4": the entry of node `index`. 0: not given.
int tasks_of_node(const std::string& text, int index) {
  size_t at = 0;
  while (at < text.size()) {
    int tasks = 0, times = 1;
    const char* const end = text.data() + text.size();
    auto [p, problem] = std::from_chars(text.data() + at, end, tasks);
    if (problem != std::errc()) return 0;
    if (end - p > 2 && p[0] == '(' && p[1] == 'x') {
      const auto [q, bad] = std::from_chars(p + 2, end, times);
      if (bad != std::errc() || q == end || *q != ')') return 0;
      p = q + 1;
    }
    if (index < times) return tasks;
    index -= times;
    if (p == end || *p != ',') return 0;
    at = static_cast<size_t>(p + 1 - text.data());
  }
  return 0;
}

Found from_slurm(const Environment& e, const std::string& backend) {
  Found f = found("Slurm");
  Reader r(e, &f);
  if (r.text("SLURM_PROCID").empty()) return f;  // an allocation without srun: this process was not launched as one of several
  r.rank_and_size("SLURM_PROCID", "SLURM_NTASKS");
  r.local("SLURM_LOCALID", "");
  const std::string tasks = r.noted("SLURM_STEP_TASKS_PER_NODE"), nodes = r.noted("SLURM_STEP_NODELIST");
  if (f.local_rank == kUnknown) r.lacks("SLURM_LOCALID");
  Found ignored;
  f.local_size = tasks_of_node(tasks, Reader(e, &ignored).number("SLURM_NODEID", 0, kMostRanks).value_or(0));
  r.check_local("SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE");
  std::string host = r.text("MASTER_ADDR");
  if (host.empty() && f.local_size > 0 && f.local_size == f.size) host = "127.0.0.1";
  if (host.empty()) host = first_node(nodes);
  // The host where srun was called: the first node in batch jobs, but otherwise a login node, so it comes last.
  if (host.empty() && !tasks.empty()) host = r.text("SLURM_LAUNCH_NODE_IPADDR");
  if (!host.empty()) f.address = Reader::join(host, r.port("MASTER_PORT"));
  const bool pmix = !r.text("PMIX_RANK").empty() && backend != "gloo";
  if (f.address.empty() && f.size > 1 && !pmix && backend != "mpi") r.lacks("an address");
  f.fix = "set MASTER_ADDR or start with --mpi=pmix";
  return f;
}

Found from_rank_id(const Environment& e) {
  Found f = found("RANK_ID, RANK_SIZE");
  Reader r(e, &f);
  r.rank_and_size("RANK_ID", "RANK_SIZE");
  const std::string host = r.text("MASTER_ADDR");
  f.address = Reader::join(host.empty() ? "127.0.0.1" : host, r.port("MASTER_PORT"));
  f.fix = "set RANK_ID and RANK_SIZE for each process";
  return f;
}

Found from_scheduler(const Environment& e) {
  Found f = found("MS_ROLE");
  Reader r(e, &f);
  const std::string role = r.noted("MS_ROLE");
  if (role.empty()) return f;
  if (role != "MS_WORKER" && role != "MS_SCHED")
    throw SettingsError(fmt::format("MS_ROLE is '{}', expected MS_WORKER or MS_SCHED", role), "the environment", "parameter servers are not supported");
  if (const std::optional<int> n = r.number("MS_WORKER_NUM", 1, kMostRanks)) f.size = *n;
  const std::string host = r.noted("MS_SCHED_HOST");
  const std::optional<int> port = r.number("MS_SCHED_PORT", 1, 65535);
  if (f.size == 0) r.lacks("MS_WORKER_NUM");
  if (host.empty()) r.lacks("MS_SCHED_HOST");
  if (!port) r.lacks("MS_SCHED_PORT");
  if (port) f.address = Reader::join(host, std::to_string(*port));
  f.address_given = true;
  f.scheduler = role == "MS_SCHED";
  const std::string node = r.noted("MS_NODE_ID");
  const bool digits = !node.empty() && node.find_first_not_of("0123456789") == std::string::npos;
  f.by_arrival = !digits || f.scheduler;
  if (!f.by_arrival) {
    f.rank = *r.number("MS_NODE_ID", 0, kMostRanks - 1);
    if (f.size > 0 && f.rank >= f.size)
      throw SettingsError(fmt::format("MS_NODE_ID is {}, but MS_WORKER_NUM is {}: ranks are counted from 0", f.rank, f.size), "the environment",
                          fmt::format("set MS_NODE_ID to 0 … {}, or to a name for ranks by arrival", f.size - 1));
  }
  f.fix = "set MS_WORKER_NUM, MS_SCHED_HOST and MS_SCHED_PORT";
  return f;
}

std::string described(const Found& f) {
  const std::string rank = f.by_arrival ? "a rank by arrival" : fmt::format("rank {}", f.rank);
  std::string local;
  if (f.local_rank != kUnknown) local = fmt::format(", local rank {}", f.local_rank);
  if (f.local_size > 0) local += fmt::format(" of {}", f.local_size);
  return fmt::format("{} says {} of {}{}{} ({})", f.source, rank, f.size, local, f.address_given && !f.address.empty() ? " at " + f.address : "", f.seen);
}

bool agree(const Found& a, const Found& b) {
  if (a.size != b.size) return false;
  if (!a.by_arrival && !b.by_arrival && a.rank != b.rank) return false;
  if (a.local_rank != kUnknown && b.local_rank != kUnknown && a.local_rank != b.local_rank) return false;
  if (a.local_size > 0 && b.local_size > 0 && a.local_size != b.local_size) return false;
  return !a.address_given || !b.address_given || a.address.empty() || b.address.empty() || a.address == b.address;
}

// Returns whether Slurm's variables do not describe this process. mpirun and torchrun, when started by srun, inherit
// the variables of the processes that srun started, which are their daemons.
bool hidden(const Found& slurm, const std::vector<Found>& all) {
  if (slurm.source != "Slurm") return false;
  if (slurm.size == 1) return true;
  for (const Found& f : all)
    if (f.complete() && (f.source == "Open MPI" || f.source.ends_with("(torchrun)"))) return true;
  return false;
}

[[noreturn]] void disagree(const Found& a, const Found& b) {
  throw SettingsError(fmt::format("two sources disagree about this process's rank: {}, but {}", described(a), described(b)), "the environment",
                      "unset the variables of one of them");
}

// Returns whether the source says that this process is one of several: its world size is above 1, or its rank is above
// 0, which a single process would not have. Sindri's own variables and MS_ROLE count even without a world size, as they
// have no other purpose.
bool says_several(const Found& f) { return f.size > 1 || f.rank > 0 || (f.size == 0 && (f.source == "SINDRI_*" || f.source == "MS_ROLE")); }

// Throws if the process was launched as one of several, but no complete source says which rank it is and where the others are.
void guard(const std::vector<Found>& all) {
  std::vector<std::string> seen;
  const Found* several = nullptr;
  for (const Found& f : all) {
    if (!f.present()) continue;
    seen.push_back(fmt::format("{}: {} ({} missing)", f.source, f.seen, f.lacks));
    if (several == nullptr && says_several(f)) several = &f;
  }
  if (several == nullptr) return;
  const bool only_address =
      several->rank != kUnknown && (several->lacks == "an address" || several->lacks == "MASTER_ADDR" || several->lacks == "SINDRI_MASTER");
  const std::string problem = only_address ? "no rendezvous address found" : several->lacks + " not found";
  const bool one_number = several->size == 0;
  std::string which = fmt::format("as {} of {}", several->rank == kUnknown ? 1 : several->rank + 1, several->size);
  if (one_number) which = several->rank == kUnknown ? "as one of several" : fmt::format("as rank {}", several->rank);
  throw CommError(ErrorCode::kLaunchedAlone, fmt::format("launched {} by {} but {}", which, several->source, problem), fmt::format("{}", fmt::join(seen, "; ")),
                  one_number ? fmt::format("also set {}, or unset these variables", several->lacks) : several->fix);
}

Identity identity_of(const Found& f) {
  Identity i;
  i.rank = f.by_arrival ? kUnknown : f.rank;
  i.size = f.size;
  i.local_rank = f.local_rank;
  i.local_size = f.local_size;
  if (f.size == 1) i.local_rank = 0, i.local_size = 1;
  i.address = f.address;
  i.source = f.source;
  i.device = f.device;
  i.scheduler = f.scheduler;
  const bool served = f.source == "MS_ROLE";
  i.keeps_store = served ? f.scheduler : f.rank == 0;
  i.seed = f.seed.empty() ? fmt::format("{} ranks at {}", f.size, f.address) : f.seed;
  return i;
}

}  // namespace

Environment process_environment() {
  Environment all;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
    const std::string_view v = *p;
    const size_t equals = v.find('=');
    if (equals != std::string_view::npos) all.emplace(v.substr(0, equals), v.substr(equals + 1));
  }
  return all;
}

Identity find_identity(const Environment& environment, const Options& options) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  Identity alone;
  alone.host = name;
  if (options.backend == "single") {
    alone.source = "dist.backend single";
    return alone;
  }
  const bool by_mpi = options.backend == "mpi";
  const std::vector<Found> all = {from_sindri(environment, by_mpi),
                                  from_table(environment, options),
                                  from_torchrun(environment, by_mpi),
                                  from_open_mpi(environment, options.backend),
                                  from_slurm(environment, options.backend),
                                  from_scheduler(environment),
                                  from_rank_id(environment)};
  const Found* first = nullptr;
  for (const Found& f : all) {
    if (!f.complete() || (first != nullptr && hidden(f, all))) continue;
    if (first == nullptr) {
      first = &f;
    } else if (!agree(*first, f)) {
      disagree(*first, f);
    }
  }
  if (first == nullptr) {
    guard(all);
    return alone;
  }
  // A table gives the number of ranks even if it does not say which of them this process is.
  const Found& table = all[1];
  if (table.present() && !table.complete() && table.size != first->size)
    throw SettingsError(fmt::format("{} has {} ranks, but {}", table.source, table.size, described(*first)), "the environment",
                        "start as many processes as the table has devices, or unset RANK_TABLE_FILE");
  Identity identity = identity_of(*first);
  identity.host = name;
  Found ignored;
  if (identity.device == kUnknown) identity.device = Reader(environment, &ignored).number("DEVICE_ID", 0, kMostRanks).value_or(kUnknown);
  return identity;
}

std::string job_token(const Environment& environment, const Options& options, const Identity& identity) {
  const auto given = environment.find("SINDRI_JOB_TOKEN");
  if (given != environment.end() && !given->second.empty()) return given->second;
  if (!options.job_id.empty()) return "job " + options.job_id;
  return hmac_sha256("sindri job", identity.seed);
}

}  // namespace sindri::comm
