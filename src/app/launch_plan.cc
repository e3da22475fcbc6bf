// See launch_plan.h.
#include "src/app/launch_plan.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "sindri/app/app.h"
#include "sindri/app/settings.h"
#include "sindri/comm/rank_table.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"

namespace sindri::app {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* v = std::getenv(name);
  return v != nullptr ? v : "";
}

std::optional<int> whole_number(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

std::string filled(std::string pattern, const PlannedRank& r) {
  const std::pair<std::string, int> names[] = {{"{rank}", r.rank}, {"{local}", r.local}, {"{device}", r.device}};
  for (const auto& [name, value] : names) {
    for (size_t at; (at = pattern.find(name)) != std::string::npos;) pattern.replace(at, name.size(), std::to_string(value));
  }
  const size_t open = pattern.find('{'), close = pattern.find('}', open);
  if (open != std::string::npos && close != std::string::npos)
    throw refuse(fmt::format("{} is not a placeholder", pattern.substr(open, close - open + 1)), pattern, "write {rank}, {local} or {device}");
  return pattern;
}

// A secret shared by this job's ranks only: 128 bits.
std::string random_secret() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw InternalError("the system provides no random numbers for the job's token", "sindri run", "");
  std::string out;
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

// Returns a port that is free now. If another process uses it before rank 0 listens, rank 0 reports the port and ends.
int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof a;
  const bool ok = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&a), size) == 0 && getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) == 0;
  if (fd >= 0) close(fd);
  if (!ok) throw IoError("no port is free on this host's loopback", "sindri run", "close programs that listen, or set SINDRI_MASTER_PORT");
  return ntohs(a.sin_port);
}

std::string port_of_environment() {
  const std::string text = variable("SINDRI_MASTER_PORT");
  if (text.empty()) return "";
  const std::optional<int> n = whole_number(text);
  if (!n || *n < 1 || *n > 65535)
    throw SettingsError(fmt::format("SINDRI_MASTER_PORT={} is not a port", text), "environment variable SINDRI_MASTER_PORT", "give 1 to 65535, or unset it");
  return text;
}

std::string join(const std::string& host, const std::string& port) {
  return host.find(':') == std::string::npos ? host + ":" + port : "[" + host + "]:" + port;
}

// The command's words. "sindri" becomes the launching program's path, since PATH may hold another version.
std::vector<std::string> command_of(const LaunchRequest& r, int attempt) {
  if (r.command.empty()) throw refuse("no program to run", "sindri run", "write it after --: sindri run -n 2 -- sindri train --config configs/digits.yaml");
  std::vector<std::string> words = r.command;
  const bool ours = words[0] == "sindri" || fs::path(words[0]).filename() == "sindri";
  if (words[0] == "sindri") words[0] = r.launcher;
  else if (words[0].find('/') != std::string::npos) words[0] = fs::absolute(words[0]).string();  // ranks may have different working directories
  const bool training = ours && words.size() > 1 && words[1] == "train";
  if (attempt > 0 && training && std::find(words.begin(), words.end(), "--resume") == words.end()) words.push_back("--resume");
  return words;
}

// A run restarts from its run folder, which must have a name that a second start finds.
void check_restartable(const LaunchRequest& r) {
  if (r.max_restarts <= 0 || r.command.size() < 2 || fs::path(r.command[0]).filename() != "sindri" || r.command[1] != "train") return;
  Settings s;
  bool resumes = false;
  for (size_t i = 2; i < r.command.size(); ++i) {
    const std::string& word = r.command[i];
    const auto value = [&](const std::string& flag) {
      if (word.starts_with(flag + "=")) return word.substr(flag.size() + 1);
      return word == flag && i + 1 < r.command.size() ? r.command[i + 1] : std::string();
    };
    if (word == "--resume") resumes = true;
    // The training command itself reports an error in its settings.
    try {
      if (const std::string file = value("--config"); !file.empty()) s.load_yaml(file);
      if (const std::string assignment = value("--set"); assignment.starts_with("train.run_dir=")) s.set(assignment);
    } catch (const Error&) { return; }
  }
  s.load_environment();
  if (s.get_string("train.run_dir").empty() && !resumes)
    throw refuse("--max-restarts needs a named run folder: a restart continues from its newest checkpoint", "train.run_dir",
                 "add --set train.run_dir=DIR to the training command");
}

struct Share {
  int first_rank = 0, size = 1, server = 0;
  std::vector<comm::RankPlace> places;  // empty without a table
  std::string table_file;
  bool spans_hosts = false;
};

// Returns this host's server in the table: SERVER_ID, else the one with an address of this host.
int own_server(const comm::RankTable& table, const comm::RankClaims& claims, std::vector<std::string>* notes) {
  std::vector<std::string> addresses;
  for (const comm::RankServer& s : table.servers) addresses.push_back(s.server_id);
  const std::string where = "rank table " + table.file;
  if (claims.server_id) {
    if (*claims.server_id >= static_cast<int64_t>(table.servers.size()))
      throw SettingsError(ErrorCode::kTableRank, fmt::format("RT13 SERVER_ID={} not in the table (0..{})", *claims.server_id, table.servers.size() - 1), where,
                          "SERVER_ID is the place of this host in server_list, from 0");
    return static_cast<int>(*claims.server_id);
  }
  const std::vector<int> here = comm::servers_here(table);
  if (here.size() == 1) return here[0];
  const std::string list = fmt::format("{}", fmt::join(addresses, ", "));
  if (table.servers.size() == 1) {
    notes->push_back(fmt::format("warning: RT13 this host does not have the address {} of the rank table; all ranks are started here", list));
    return 0;
  }
  throw SettingsError(ErrorCode::kTableRank,
                      here.empty() ? fmt::format("RT13 this host has none of the addresses {}", list)
                                   : fmt::format("RT13 this host has {} of the addresses {}: which server is it?", here.size(), list),
                      where, "set SERVER_ID to the place of this host in server_list, from 0");
}

Share share_of_table(const LaunchRequest& r, const std::string& file, std::vector<std::string>* notes) {
  const comm::RankTable table = comm::read_rank_table(file);
  const comm::RankClaims claims = comm::rank_claims_of_environment();
  const int n = table.size();
  const auto mismatch = [&](const std::string& what) {
    return SettingsError(ErrorCode::kTableSize, "RT12 " + what, "rank table " + file,
                         "start the ranks of the table, or use a table of those that are to be started");
  };
  const auto devices = [](int count) { return fmt::format("{} device{}", count, count == 1 ? "" : "s"); };
  if (claims.rank_size && *claims.rank_size != n) throw mismatch(fmt::format("RANK_SIZE={} but the table has {}", *claims.rank_size, devices(n)));
  Share share{.server = own_server(table, claims, notes), .places = {}, .table_file = fs::absolute(file).string()};
  const comm::RankServer& server = table.servers[static_cast<size_t>(share.server)];
  const int here = static_cast<int>(server.devices.size());
  if (r.ranks > 0 && r.ranks != here && r.ranks != n)
    throw mismatch(table.servers.size() == 1
                       ? fmt::format("-n {} but the table has {}", r.ranks, devices(n))
                       : fmt::format("-n {} but the table has {}, {} of them on this server ({})", r.ranks, devices(n), here, server.server_id));
  if (claims.device_num && *claims.device_num != here)
    throw mismatch(fmt::format("DEVICE_NUM={} but the table has {} on server {} ({})", *claims.device_num, devices(here), share.server, server.server_id));
  for (const comm::RankDevice& d : server.devices) share.places.push_back(comm::place_of(table, d.rank));
  share.size = n;
  share.spans_hosts = table.servers.size() > 1;
  return share;
}

std::vector<int> cores_of(const std::vector<int>& all, int local, int count) {
  const size_t n = all.size(), first = n * static_cast<size_t>(local) / static_cast<size_t>(count),
               last = n * static_cast<size_t>(local + 1) / static_cast<size_t>(count);
  return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)};
}

std::string threads_for(size_t cores, int ranks) { return std::to_string(std::max<size_t>(1, cores / static_cast<size_t>(ranks))); }

void plan_local(const LaunchRequest& r, const std::string& table_file, LaunchPlan* plan) {
  Share share;
  if (!table_file.empty()) {
    share = share_of_table(r, table_file, &plan->notes);
  } else {
    const int started = std::max(1, r.ranks);
    share.size = std::max(started, r.world);
    share.spans_hosts = share.size > started;
    for (int i = 0; i < started; ++i)
      share.places.push_back({.rank = r.first_rank + i,
                              .size = share.size,
                              .local_rank = i,
                              .local_size = started,
                              .device_id = i,
                              .server_id = {},
                              .device_ip = {},
                              .master = {}});
  }
  plan->size = share.size;
  std::string port = port_of_environment();
  if (port.empty()) port = share.spans_hosts ? "29560" : std::to_string(free_port());
  const std::string master = !r.master.empty() ? r.master : join(share.spans_hosts ? share.places[0].master : "127.0.0.1", port);
  const std::string token = !variable("SINDRI_JOB_TOKEN").empty() ? variable("SINDRI_JOB_TOKEN") : share.spans_hosts ? "" : random_secret();
  const int here = static_cast<int>(share.places.size());
  const std::vector<int> cores = usable_cores();
  const bool bind = r.bind == "core" && static_cast<int>(cores.size()) >= here;
  if (r.bind == "core" && !bind) plan->notes.push_back(fmt::format("{} ranks on {} cores: ranks are not bound to cores", here, cores.size()));
  for (const comm::RankPlace& p : share.places) {
    PlannedRank rank{
        .rank = p.rank, .local = p.local_rank, .device = p.device_id, .directory = {}, .log = {}, .env_file = {}, .result = {}, .environment = {}, .cores = {}};
    rank.environment = {{"SINDRI_RANK", std::to_string(p.rank)},
                        {"SINDRI_WORLD_SIZE", std::to_string(p.size)},
                        {"SINDRI_LOCAL_RANK", std::to_string(p.local_rank)},
                        {"SINDRI_LOCAL_SIZE", std::to_string(p.local_size)},
                        {"SINDRI_MASTER", master},
                        {"RANK_ID", std::to_string(p.rank)},
                        {"RANK_SIZE", std::to_string(p.size)},
                        {"DEVICE_ID", std::to_string(p.device_id)},
                        {"DEVICE_NUM", std::to_string(p.local_size)}};
    if (!token.empty()) rank.environment["SINDRI_JOB_TOKEN"] = token;
    if (!table_file.empty()) {
      rank.environment["RANK_TABLE_FILE"] = share.table_file;
      rank.environment["SERVER_ID"] = std::to_string(share.server);
      rank.environment["SINDRI_MASTER_PORT"] = port;
    }
    if (variable("OMP_NUM_THREADS").empty()) rank.environment["OMP_NUM_THREADS"] = threads_for(cores.size(), here);
    if (bind) rank.cores = cores_of(cores, p.local_rank, here);
    plan->ranks.push_back(std::move(rank));
  }
}

void place_files(const LaunchRequest& r, LaunchPlan* plan) {
  for (PlannedRank& rank : plan->ranks) {
    const fs::path base = r.work_dir.empty() ? fs::current_path() : fs::absolute(filled(r.work_dir, rank)).lexically_normal();
    if (!r.work_dir.empty()) rank.directory = base.string();
    rank.log = r.log_file.empty() ? (fs::path(plan->log_dir) / fmt::format("rank_{}.log", rank.rank)).string()
                                  : (base / filled(r.log_file, rank)).lexically_normal().string();
    if (!r.env_file.empty()) rank.env_file = (base / filled(r.env_file, rank)).lexically_normal().string();
    rank.result = rank.log + ".code";
    rank.environment["SINDRI_RESULT_FILE"] = rank.result;
  }
  for (size_t a = 0; a < plan->ranks.size(); ++a) {
    for (size_t b = a + 1; b < plan->ranks.size(); ++b) {
      if (plan->ranks[a].log == plan->ranks[b].log)
        throw refuse(fmt::format("ranks {} and {} would write to one log file", plan->ranks[a].rank, plan->ranks[b].rank), plan->ranks[a].log,
                     "put {rank} or {local} into --log-file, or into --work-dir");
    }
  }
}

struct Hosts {
  std::vector<std::string> names;
  int slots = 0;
};

// "a:4,b:4"; a host without a number has one slot.
Hosts read_hosts(const std::string& text) {
  Hosts out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    const size_t colon = part.rfind(':');
    const std::string name = part.substr(0, colon);
    const std::optional<int> slots = colon == std::string::npos ? std::optional<int>(1) : whole_number(part.substr(colon + 1));
    const bool plain =
        !name.empty() && name[0] != '-' && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == std::string::npos;
    if (!plain || !slots || *slots < 1)
      throw refuse(fmt::format("hosts: \"{}\" is not HOST or HOST:SLOTS", part), "--hosts", "write names or IPv4 addresses as in --hosts a:4,b:4");
    if (std::find(out.names.begin(), out.names.end(), name) != out.names.end())
      throw refuse(fmt::format("hosts: {} is named twice", name), "--hosts", "add its slots up: a:8");
    out.names.push_back(name);
    out.slots += *slots;
  }
  return out;
}

// The command that mpirun or srun runs for each rank: this program again, which handles logs, exit codes and cleanup.
std::vector<std::string> inside(const LaunchRequest& r, const std::string& log_dir, const std::vector<std::string>& command) {
  std::vector<std::string> out = {r.launcher, "run", "--inside", "--log-dir", log_dir};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) out.insert(out.end(), {flag, value});
  };
  add("--work-dir", r.work_dir);
  add("--log-file", r.log_file);
  add("--env-file", r.env_file);
  add("--term-grace", fmt::format("{}", r.term_grace));
  out.push_back("--");
  out.insert(out.end(), command.begin(), command.end());
  return out;
}

// A killed mpirun does not remove the ranks' shared memory and its session folder. In folders with this launcher's process ID they are distinguishable from
// those of other jobs, and the launcher removes them. On other hosts the ranks' launchers create and remove the first folder (launch_inside).
void plan_scratch(LaunchPlan* plan, std::vector<std::string>* line) {
  const std::string name = fmt::format("/sindri-mpi.{}", getpid());
  if (access("/dev/shm", W_OK) == 0) {
    plan->scratch.push_back("/dev/shm" + name);
    line->insert(line->end(), {"--mca", "btl_vader_backing_directory", plan->scratch.back()});
  }
  std::error_code none;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(none);
  if (none) return;
  plan->scratch.push_back(temporary.string() + name);
  line->insert(line->end(), {"--mca", "orte_tmpdir_base", plan->scratch.back()});
}

// The command line of docs/guide/distributed.md, "mpirun", which explains each option.
void plan_mpi(const LaunchRequest& r, LaunchPlan* plan) {
  if (!in_path("mpirun")) throw refuse("mpirun is not in PATH", "--engine mpi", "install Open MPI (openmpi-bin), or use --engine local on one host");
  const Hosts hosts = read_hosts(r.hosts);
  if (hosts.slots > 0 && r.ranks > 0 && r.ranks != hosts.slots)
    throw refuse(fmt::format("-n asks for {} ranks, but the hosts have {} slots", r.ranks, hosts.slots), "--hosts", "omit -n, or change the slots");
  plan->size = hosts.slots > 0 ? hosts.slots : std::max(1, r.ranks);
  std::vector<std::string> line = {"mpirun", "-np", std::to_string(plan->size)};
  const auto add = [&](std::initializer_list<std::string> words) { line.insert(line.end(), words); };
  if (!r.hosts.empty()) add({"--host", r.hosts});
  add({"--oversubscribe", "--bind-to", r.bind == "core" ? "core" : "none"});
  add({"--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp"});
  add({"--mca", "oob_tcp_keepalive_time", "3", "--mca", "oob_tcp_keepalive_intvl", "1", "--mca", "oob_tcp_keepalive_probes", "3"});
  plan_scratch(plan, &line);
  if (geteuid() == 0) add({"--allow-run-as-root"});
  if (!r.interface.empty()) add({"--mca", "btl_tcp_if_include", r.interface, "--mca", "oob_tcp_if_include", r.interface});
  if (!r.hosts.empty()) {  // variables of this host are not passed to other hosts automatically
    std::vector<std::string> names = {"SINDRI_JOB_TOKEN"};
    for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
      const std::string v = *p, name = v.substr(0, v.find('='));
      if ((name.starts_with("SINDRI_") || name == "OMP_NUM_THREADS" || name == "PYTHONPATH") && name != "SINDRI_JOB_TOKEN") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) add({"-x", name});
  }
  const std::vector<std::string> rest = inside(r, plan->log_dir, plan->command);
  line.insert(line.end(), rest.begin(), rest.end());
  plan->command = std::move(line);
}

void plan_slurm(const LaunchRequest& r, LaunchPlan* plan) {
  if (variable("SLURM_JOB_ID").empty())
    throw refuse("not inside a Slurm allocation", "--engine slurm",
                 "start it in salloc or sbatch (sindri launch-script slurm writes a script), or use --engine mpi");
  if (!in_path("srun")) throw refuse("srun is not in PATH", "--engine slurm", "install Slurm's client programs, or use --engine mpi");
  const Hosts hosts = read_hosts(r.hosts);
  const int from_slurm = whole_number(variable("SLURM_NTASKS")).value_or(0);
  if (hosts.slots > 0 && r.ranks > 0 && r.ranks != hosts.slots)
    throw refuse(fmt::format("-n asks for {} ranks, but the hosts have {} slots", r.ranks, hosts.slots), "--hosts", "omit -n, or change the slots");
  plan->size = hosts.slots > 0 ? hosts.slots : r.ranks > 0 ? r.ranks : std::max(1, from_slurm);
  std::vector<std::string> line = {"srun", "-n", std::to_string(plan->size)};
  if (!hosts.names.empty()) line.insert(line.end(), {"--nodelist", fmt::format("{}", fmt::join(hosts.names, ","))});
  line.insert(line.end(), {"--kill-on-bad-exit=1", variable("SINDRI_DIST_BACKEND") == "gloo" ? "--mpi=none" : "--mpi=pmix"});
  line.push_back(r.bind == "core" ? "--cpu-bind=cores" : "--cpu-bind=none");
  const std::vector<std::string> rest = inside(r, plan->log_dir, plan->command);
  line.insert(line.end(), rest.begin(), rest.end());
  plan->command = std::move(line);
}

std::string chosen_engine(const LaunchRequest& r) {
  if (r.engine != "auto") return r.engine;
  if (r.hosts.empty()) return "local";
  return variable("SLURM_JOB_ID").empty() ? "mpi" : "slurm";
}

// The token must not appear in a listing, where every reader could see it.
std::string shown(const std::string& name, const std::string& value) { return name == "SINDRI_JOB_TOKEN" ? "(secret)" : shell_word(value); }

std::string line_of(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : " ") + shell_word(w);
  return out;
}

}  // namespace

std::vector<int> usable_cores() {
  std::vector<int> out;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int c = 0; c < CPU_SETSIZE; ++c) {
      if (CPU_ISSET(c, &set)) out.push_back(c);
    }
  }
  if (out.empty()) out.push_back(0);
  return out;
}

SettingsError refuse(const std::string& what, const std::string& where, const std::string& fix) { return {ErrorCode::kUsage, what, where, fix}; }

bool in_path(const std::string& program) {
  std::istringstream in(variable("PATH"));
  for (std::string folder; std::getline(in, folder, ':');) {
    if (!folder.empty() && access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

LaunchPlan plan_launch(const LaunchRequest& r, int attempt) {
  LaunchPlan plan;
  plan.engine = chosen_engine(r);
  plan.command = command_of(r, attempt);
  plan.log_dir = fs::absolute(r.log_dir).lexically_normal().string();
  if (!r.hosts.empty() && !r.rank_table.empty())
    throw refuse("hosts are given twice, by --hosts and by a rank table", "--hosts", "a rank table's servers are started one by one; give one of the two");
  if (plan.engine == "local" && !r.hosts.empty()) throw refuse("--engine local starts ranks on this host only", "--hosts", "omit --hosts, or use --engine mpi");
  if (plan.engine != "local" && !r.rank_table.empty())
    throw refuse(fmt::format("a rank table cannot be used with --engine {}", plan.engine), "--rank-table",
                 "mpirun and srun number ranks themselves; name their --hosts");
  check_restartable(r);
  if (plan.engine == "local") {
    plan_local(r, r.rank_table.empty() ? comm::rank_table_file_of_environment() : r.rank_table, &plan);
    place_files(r, &plan);
    plan.shown = r.shown;
    if (attempt > 0) {
      for (PlannedRank& rank : plan.ranks) rank.environment["SINDRI_RESTARTS"] = std::to_string(attempt);
    }
    return plan;
  }
  if (variable("SINDRI_JOB_TOKEN").empty()) plan.environment["SINDRI_JOB_TOKEN"] = random_secret();
  if (attempt > 0) plan.environment["SINDRI_RESTARTS"] = std::to_string(attempt);
  plan.engine == "mpi" ? plan_mpi(r, &plan) : plan_slurm(r, &plan);
  return plan;
}

LaunchPlan plan_inside(const LaunchRequest& r) {
  const bool mpi = !variable("OMPI_COMM_WORLD_RANK").empty();
  const std::optional<int> rank = whole_number(variable(mpi ? "OMPI_COMM_WORLD_RANK" : "SLURM_PROCID")),
                           size = whole_number(variable(mpi ? "OMPI_COMM_WORLD_SIZE" : "SLURM_NTASKS")),
                           local = whole_number(variable(mpi ? "OMPI_COMM_WORLD_LOCAL_RANK" : "SLURM_LOCALID"));
  if (!rank || !size || !local) throw refuse("neither mpirun nor srun started this", "sindri run --inside", "start jobs with sindri run -n N -- program");
  LaunchPlan plan;
  plan.engine = "local";
  plan.size = *size;
  plan.command = command_of(r, 0);
  plan.log_dir = r.log_dir;
  PlannedRank p{.rank = *rank, .local = *local, .device = *local, .directory = {}, .log = {}, .env_file = {}, .result = {}, .environment = {}, .cores = {}};
  const int here = mpi ? whole_number(variable("OMPI_COMM_WORLD_LOCAL_SIZE")).value_or(1) : whole_number(variable("SLURM_STEP_TASKS_PER_NODE")).value_or(1);
  if (variable("OMP_NUM_THREADS").empty()) p.environment["OMP_NUM_THREADS"] = threads_for(usable_cores().size(), std::max(1, here));
  plan.ranks.push_back(std::move(p));
  place_files(r, &plan);
  if (*rank != 0) plan.shown.clear();
  return plan;
}

std::string describe(const LaunchPlan& plan) {
  std::string out;
  for (const std::string& note : plan.notes) out += "# " + note + "\n";
  if (plan.engine != "local") {
    for (const auto& [name, value] : plan.environment) out += fmt::format("{}={} ", name, shown(name, value));
    return out + line_of(plan.command) + "\n";
  }
  for (const PlannedRank& r : plan.ranks) {
    out += fmt::format("# rank {} of {}, log {}{}\n", r.rank, plan.size, r.log, r.cores.empty() ? "" : fmt::format(", cores {}", fmt::join(r.cores, ",")));
    if (!r.directory.empty()) out += fmt::format("mkdir -p {0} && cd {0} && ", shell_word(r.directory));
    if (!r.env_file.empty()) out += fmt::format("env > {} && ", shell_word(r.env_file));
    for (const auto& [name, value] : r.environment) out += fmt::format("{}={} ", name, shown(name, value));
    out += line_of(plan.command) + "\n";
  }
  return out;
}

}  // namespace sindri::app
