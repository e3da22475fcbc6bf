// Which backend a process gets, and how its ranks meet: by the environment (identity.h), at the store (watch.h), then by the backend's own means.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>

#include "sindri/core/error.h"
#include "src/comm/backends.h"
#include "src/comm/gloo.h"
#include "src/comm/host_address.h"
#include "src/comm/identity.h"
#include "src/comm/mpi.h"
#include "src/comm/socket.h"
#include "src/comm/store.h"
#include "src/comm/token.h"
#include "src/comm/watch.h"

namespace sindri::comm {

namespace {

// Where other hosts reach this one, when nothing says so: the source address of the default route, else the first address that is not loopback.
std::string reachable_address() {
  std::string found = default_route_address();
  ifaddrs* all = nullptr;
  if (!found.empty() || getifaddrs(&all) != 0) return found;
  for (const ifaddrs* i = all; i != nullptr && found.empty(); i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) != 0 || (i->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN] = {};
    if (inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr, text, sizeof text) != nullptr) found = text;
  }
  freeifaddrs(all);
  return found;
}

std::shared_ptr<Session> make_session(Identity identity, const Options& options) {
  auto session = std::make_shared<Session>();
  session->identity = std::move(identity);
  session->options = options;
  return session;
}

// Signs of life from now on, until the session is closed.
void start_watch(const std::shared_ptr<Session>& session, Meeting meeting) {
  auto watch = std::make_shared<Watch>(session, std::move(meeting));
  session->on_close([watch]() mutable { watch.reset(); });
}

// Hosts are numbered by their first rank.
std::vector<int> hosts_of(const std::vector<Peer>& peers) {
  std::vector<std::string> names;
  std::vector<int> hosts;
  for (const Peer& p : peers) {
    const auto at = std::find(names.begin(), names.end(), p.host);
    hosts.push_back(static_cast<int>(at - names.begin()));
    if (at == names.end()) names.push_back(p.host);
  }
  return hosts;
}

std::shared_ptr<Communicator> open_with_gloo(Identity identity, const Options& options) {
  Meeting meeting = meet(&identity, options);
  const std::shared_ptr<StoreClient> client = meeting.client;
  GlooConfig config;
  config.address = options.interface.empty() ? client->own_address() : address_of_interface(options.interface);
  config.token = job_token(process_environment(), options, identity);
  config.set = [client](const std::string& key, const std::string& value) { client->set("gloo/" + key, value); };
  config.get = [client](const std::string& key) { return client->get("gloo/" + key); };
  config.agree = [client, size = identity.size, timeout = options.init_timeout](const std::vector<PairFailure>& failures) {
    agree_on_pairs(*client, failures, size, timeout);
  };
  const std::shared_ptr<Session> session = make_session(std::move(identity), options);
  session->host_of = hosts_of(meeting.peers);
  start_watch(session, std::move(meeting));
  try {
    return open_gloo(session, config);
  } catch (...) {
    session->close();
    throw;
  }
}

// Rank 0 keeps a store where the system has a free port, and MPI tells the others where.
std::shared_ptr<Communicator> open_with_mpi(Identity identity, const Options& options) {
  const std::shared_ptr<Session> session = make_session(std::move(identity), options);
  std::shared_ptr<Communicator> world = open_mpi_world(session);
  if (world->size() == 1) return world;
  StoreConfig config{.size = world->size(), .options = options};
  Meeting meeting;
  std::string told;
  if (world->rank() == 0) {
    std::string host = "127.0.0.1";
    if (!options.interface.empty()) host = address_of_interface(options.interface);
    else if (world->host_count() > 1) host = reachable_address();
    config.address = join_address(host, 0);
    config.token = random_text();
    meeting.server = serve(config);
    told = meeting.server->address() + " " + config.token;
  }
  told = mpi_broadcast_text(told);
  config.address = told.substr(0, told.find(' '));
  config.token = told.substr(told.find(' ') + 1);
  meeting.client = connect(config, world->rank());
  meeting.peers = meeting.client->join();
  start_watch(session, std::move(meeting));
  return world;
}

}  // namespace

std::shared_ptr<Communicator> open_world(const Options& options) {
  const std::string& backend = options.backend;
  if (backend == "single") return open_single(options);
  Identity identity = find_identity(process_environment(), options);
  if (identity.scheduler) {  // it is no rank: it ends here, when the workers have
    run_scheduler(identity, options);
    std::exit(0);
  }
  if (backend == "mpi" || (backend == "auto" && launched_by_mpi())) return open_with_mpi(std::move(identity), options);
  if (backend == "gloo" || (backend == "auto" && identity.size > 1)) return open_with_gloo(std::move(identity), options);
  if (backend == "auto") return open_single(options);
  throw SettingsError(fmt::format("dist.backend '{}' is not there", backend), "comm::init", "use auto, single, mpi, gloo or nccl");
}

}  // namespace sindri::comm
