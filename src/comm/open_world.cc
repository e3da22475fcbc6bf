// Which backend a process gets, and how it meets the others.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sindri/core/error.h"
#include "src/comm/backends.h"
#include "src/comm/gloo.h"
#include "src/comm/identity.h"
#include "src/comm/mpi.h"
#include "src/comm/nccl.h"
#include "src/comm/watch.h"

namespace sindri::comm {

namespace {

// Hosts are numbered by their first rank.
std::vector<int> host_numbers(const std::vector<Peer>& peers) {
  std::vector<std::string> hosts;
  std::vector<int> numbers;
  for (const Peer& p : peers) {
    const auto it = std::find(hosts.begin(), hosts.end(), p.host);
    numbers.push_back(static_cast<int>(it - hosts.begin()));
    if (it == hosts.end()) hosts.push_back(p.host);
  }
  return numbers;
}

std::shared_ptr<Communicator> open_gloo_world(const Options& options, Identity identity) {
  if (identity.size > 1 && identity.address.empty())
    throw CommError(ErrorCode::kRendezvous, fmt::format("{} says rank {} of {}, and not where the ranks meet", identity.source, identity.rank, identity.size),
                    "comm::init", "set SINDRI_MASTER to host:port of rank 0");
  if (identity.size == 1) return open_single(options, identity);
  auto session = std::make_shared<Session>();
  session->options = options;
  Meeting meeting = meet(&identity, options);
  session->identity = identity;
  session->host_of = host_numbers(meeting.peers);
  const std::shared_ptr<StoreClient> client = meeting.client;
  // Ends with close(), which a process that has lost the others does not come to; then with the session.
  auto watch = std::make_shared<Watch>(session, std::move(meeting));
  session->on_close([watch]() mutable { watch.reset(); });
  watch.reset();
  GlooConfig config;
  config.address = client->own_address();
  config.token = job_token(process_environment(), options, identity);
  config.set = [client](const std::string& key, const std::string& value) { client->set(key, value); };
  config.get = [client](const std::string& key) { return client->get(key); };
  config.agree = [client, &identity, &options](const std::vector<PairFailure>& failures) {
    agree_on_pairs(*client, failures, identity.size, options.init_timeout);
  };
  try {
    return open_gloo(session, config);
  } catch (...) {
    session->close();
    throw;
  }
}

// The world of host memory.
std::shared_ptr<Communicator> open_host_world(const Options& options, const Identity& identity) {
  if (options.backend == "single") {
    if (identity.size > 1)
      throw SettingsError(fmt::format("dist.backend is single, and {} says that this is rank {} of {}", identity.source, identity.rank, identity.size),
                          "comm::init", "leave dist.backend at auto");
    return open_single(options, identity);
  }
  if (options.backend == "mpi" || (options.backend != "gloo" && launched_by_mpi())) return open_mpi(options);
  return open_gloo_world(options, identity);
}

}  // namespace

std::shared_ptr<Communicator> open_world(const Options& options) {
  static constexpr std::string_view kBackends[] = {"auto", "single", "mpi", "gloo", "nccl"};
  if (std::find(std::begin(kBackends), std::end(kBackends), options.backend) == std::end(kBackends))
    throw SettingsError(fmt::format("dist.backend '{}' is not there", options.backend), "comm::init", "use auto, single, mpi, gloo or nccl");
  const Identity identity = find_identity(process_environment(), options);
  if (identity.scheduler) {
    run_scheduler(identity, options);
    std::exit(0);
  }
  std::shared_ptr<Communicator> world = open_host_world(options, identity);
  if (!wants_nccl(options, world->size())) return world;
  return make_nccl(world, choose_gpu(world->session()->identity));
}

}  // namespace sindri::comm
