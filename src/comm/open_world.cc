// Selects a process's backend and connects its ranks: the identity says which rank it is, MPI or the store connects the
// ranks, and the watch monitors them until the end.
#include <fmt/format.h>

#include <map>

#include "sindri/core/error.h"
#include "src/comm/backends.h"
#include "src/comm/gloo.h"
#include "src/comm/host_address.h"
#include "src/comm/identity.h"
#include "src/comm/mpi.h"
#include "src/comm/nccl.h"
#include "src/comm/socket.h"
#include "src/comm/token.h"
#include "src/comm/watch.h"

namespace sindri::comm {

namespace {

// Hosts are numbered by their first rank.
std::vector<int> hosts_of(const std::vector<Peer>& peers) {
  std::map<std::string, int> hosts;
  std::vector<int> out;
  for (const Peer& p : peers) out.push_back(hosts.try_emplace(p.machine, static_cast<int>(hosts.size())).first->second);
  return out;
}

// The watch lives as long as the session is open: its last owner is the on_close() callback.
void start_watch(const std::shared_ptr<Session>& session, Meeting meeting) {
  auto watch = std::make_shared<Watch>(session, std::move(meeting));
  session->on_close([watch]() mutable { watch.reset(); });
}

// Reports an error on one rank during start-up to the other ranks, which would wait for it.
template <class F> std::shared_ptr<Communicator> opened(const std::shared_ptr<Session>& session, F open) {
  try {
    return open();
  } catch (const CommError& error) {
    if (!session->failed()) session->fail(session->judge ? session->judge(error) : error);
    const std::shared_ptr<const CommError> failure = session->failure();
    session->close();
    throw CommError(*failure);
  }
}

std::shared_ptr<Communicator> open_by_store(const std::shared_ptr<Session>& session) {
  const Options& options = session->options;
  if (session->identity.address.empty())
    throw CommError(ErrorCode::kRendezvous, fmt::format("{} gives no rendezvous address", session->identity.source), "comm::init",
                    "set MASTER_ADDR, or dist.backend to mpi");
  Meeting meeting = meet(&session->identity, options);
  session->host_of = hosts_of(meeting.peers);
  const std::shared_ptr<StoreClient> client = meeting.client;
  const int size = session->identity.size;
  GlooConfig config;
  config.address = client->own_address();
  config.token = job_token(process_environment(), options, session->identity);
  config.set = [client](const std::string& key, const std::string& value) { client->set(key, value); };
  config.get = [client](const std::string& key) { return client->get(key); };
  config.agree = [client, size, &options](const std::vector<PairFailure>& failures) {
    agree_on_pairs(*client, failures, size, 2 * options.init_timeout);  // the rank that waits for a failing pair arrives last
  };
  start_watch(session, std::move(meeting));
  return opened(session, [&] { return open_gloo(session, config); });
}

// Returns the host at which rank 0 of an MPI job listens: the address of dist.interface if that is set, the loopback
// address if all ranks are on one host, else the address that leads to the other hosts.
std::string store_host(const Session& session) {
  if (!session.options.interface.empty()) return address_of_interface(session.options.interface);
  if (session.identity.local_size == session.identity.size) return "127.0.0.1";
  const std::string address = session.identity.address;
  if (!address.empty() && !is_loopback(split_address(address).first)) return split_address(address).first;
  const std::string found = default_route_address();
  if (found.empty())
    throw CommError(ErrorCode::kRendezvous, "this host has several addresses and no default route, so the one that the others reach is unknown", "comm::init",
                    "set dist.interface to the network between the hosts");
  return found;
}

// MPI cannot report which rank is gone, so MPI jobs have a store as well. Rank 0 keeps it, and MPI broadcasts its address.
Meeting meet_by_mpi(Session* session) {
  Meeting m;
  StoreConfig config;
  config.size = session->identity.size;
  config.options = session->options;
  std::string line;  // address and token, or the error
  if (session->identity.rank == 0) {
    const Environment environment = process_environment();
    const auto given = environment.find("SINDRI_JOB_TOKEN");
    config.token = given != environment.end() && !given->second.empty() ? given->second : random_text();
    try {
      config.address = join_address(store_host(*session), 0);
      m.server = serve(config);
      line = make_line({m.server->address(), config.token});
    } catch (const Error& e) { line = make_line({"", e.what()}); }
  }
  line = mpi_broadcast_text(line);
  line.pop_back();
  const std::vector<std::string> fields = split_line(line).value_or(std::vector<std::string>(2));
  if (fields[0].empty()) throw CommError(ErrorCode::kRendezvous, "rank 0 cannot keep the store: " + fields[1], "comm::init");
  config.address = fields[0];
  config.token = fields[1];
  m.client = connect(config, session->identity.rank);
  m.peers = m.client->join();
  return m;
}

std::shared_ptr<Communicator> open_by_mpi(const std::shared_ptr<Session>& session) {
  std::shared_ptr<Communicator> world = open_mpi_world(session);
  if (world->size() > 1) start_watch(session, meet_by_mpi(session.get()));
  return world;
}

}  // namespace

std::shared_ptr<Communicator> open_world(const Options& options) {
  const std::string& wanted = options.backend;
  if (wanted != "auto" && wanted != "single" && wanted != "mpi" && wanted != "gloo" && wanted != "nccl")
    throw SettingsError(fmt::format("dist.backend '{}' does not exist", wanted), "comm::init", "use auto, single, mpi, gloo or nccl");
  const auto session = std::make_shared<Session>();
  session->options = options;
  session->identity = find_identity(process_environment(), options);
  if (session->identity.scheduler) {
    run_scheduler(session->identity, options);
    std::exit(0);  // the scheduler process has nothing else to do
  }
  const bool by_mpi = wanted == "mpi" || ((wanted == "auto" || wanted == "nccl") && launched_by_mpi());
  std::shared_ptr<Communicator> world;
  if (by_mpi) world = open_by_mpi(session);
  else world = session->identity.size == 1 ? open_single(options) : open_by_store(session);
  if (!needs_nccl(options, world->size())) return world;
  return opened(world->session(), [&] { return make_nccl(world, choose_gpu(session->identity)); });
}

}  // namespace sindri::comm
