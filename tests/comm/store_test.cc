// The rendezvous store over real loopback sockets: keys, greeting and proofs, all kinds of strangers, ports in use.
#include "src/comm/store.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "src/comm/host_address.h"
#include "src/comm/socket.h"
#include "src/comm/store_wire.h"
#include "src/comm/token.h"

namespace sindri::comm {
namespace store_test {

using ::testing::HasSubstr;

StoreConfig config_for(int size) {
  StoreConfig c;
  c.address = "127.0.0.1:0";
  c.size = size;
  c.token = "a secret of this test";
  c.options.init_timeout = 10;
  c.options.heartbeat = 0.2;
  return c;
}

struct Job {
  explicit Job(int size, StoreConfig c) : config(std::move(c)) {
    config.size = size;
    server = serve(config);
    config.address = server->address();
  }
  explicit Job(int size) : Job(size, config_for(size)) {}
  // All ranks, each joined.
  std::vector<std::shared_ptr<StoreClient>> all() {
    std::vector<std::shared_ptr<StoreClient>> clients;
    for (int r = 0; r < config.size; ++r) clients.push_back(connect(config, r));
    for (auto& c : clients) c->join();
    return clients;
  }
  StoreConfig config;
  std::unique_ptr<StoreServer> server;
};

template <class F> std::string error_of(F&& f) {
  try {
    f();
    return "no error";
  } catch (const Error& e) { return "E" + std::to_string(static_cast<int>(e.code())) + " " + e.what(); }
}

// A stranger's connection, written by hand.
struct Stranger {
  explicit Stranger(const std::string& address) {
    const auto [host, port] = split_address(address);
    const auto problem = connect_to(host, port, "", 2, &socket);
    EXPECT_FALSE(problem) << problem->text;
  }
  void say(const std::string& text) { (void)!send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL); }
  // The next line within this many seconds; "(end)" if the connection closes, "(nothing)" after the time.
  std::string line(double seconds = 8) {
    const double end = now_seconds() + seconds;
    for (;;) {
      if (auto text = take_line(&buffer)) return *text;
      const double left = end - now_seconds();
      if (left <= 0) return "(nothing)";
      pollfd p{socket.get(), POLLIN, 0};
      poll(&p, 1, static_cast<int>(left * 1000) + 1);
      char block[4096];
      const ssize_t n = recv(socket.get(), block, sizeof block, MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EAGAIN)) return "(end)";
      if (n > 0) buffer.append(block, static_cast<size_t>(n));
    }
  }
  std::string nonce() { return split_line(line()).value_or(std::vector<std::string>(3))[2]; }
  Socket socket;
  std::string buffer;
};

// A greeting of rank `rank` with some fields replaced, proven with the token. Returns the reply, decoded.
std::string greet_with(const StoreConfig& config, const std::map<size_t, std::string>& fields, const std::string& token) {
  Stranger s(config.address);
  StoreConfig mine = config;
  mine.token = token;
  const std::string nonce = s.nonce();
  std::vector<std::string> hello = hello_fields(mine, "1", "abc");
  for (const auto& [at, text] : fields) hello[at] = text;
  hello.push_back(client_proof(mine, nonce, hello));
  s.say(make_line(hello));
  const auto answer = split_line(s.line()).value_or(std::vector<std::string>{"(malformed)"});
  return answer[0] + (answer.size() > 1 ? " " + answer[1] : "");
}

TEST(StoreWire, FieldsOfAnyBytesSurvive) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const std::vector<std::string> fields = {"SET", "", bytes, "a b", "%", "100%", "\n"};
  std::string line = make_line(fields);
  ASSERT_EQ(line.find('\n'), line.size() - 1);
  line.pop_back();
  EXPECT_EQ(split_line(line), fields);
  for (const char* bad : {"", " ", "a  b", "a %4", "a %zz", "a%", " a"}) EXPECT_FALSE(split_line(bad)) << bad;
}

TEST(StoreWire, Addresses) {
  EXPECT_EQ(split_address("h:1"), std::make_pair(std::string("h"), 1));
  EXPECT_EQ(split_address("[::1]:29560"), std::make_pair(std::string("::1"), 29560));
  EXPECT_EQ(join_address("::1", 5), "[::1]:5");
  for (const char* bad : {"", "h", ":5", "h:x", "h:70000", "h:-1"}) EXPECT_THROW(split_address(bad), ValueError) << bad;
}

TEST(Store, RanksMeetAndShareKeys) {
  Job job(4);
  auto ranks = job.all();
  const std::vector<Peer> peers = ranks[2]->join();
  ASSERT_EQ(peers.size(), 4U);
  EXPECT_EQ(peers[3].rank, 3);
  EXPECT_EQ(peers[3].pid, getpid());
  EXPECT_EQ(ranks[1]->job_id(), ranks[0]->job_id());
  const std::string bytes("\0 \n%\xff", 5);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ranks[1]->set("k", bytes);
  });
  EXPECT_EQ(ranks[0]->get("k"), bytes);
  later.join();
  EXPECT_EQ(ranks[3]->get("k"), bytes);
  ranks[0]->set("k", "other");
  EXPECT_EQ(ranks[3]->get("k"), "other");
  EXPECT_EQ(ranks[0]->add("n", 5), 5);
  EXPECT_EQ(ranks[1]->add("n", -2), 3);
  ranks[2]->wait({"k", "n"});
  ranks[0]->set("empty", "");
  EXPECT_EQ(ranks[1]->get("empty"), "");
  ranks[0]->set("big", std::string(3000000, 'x'));
  EXPECT_EQ(ranks[1]->get("big").size(), 3000000U);
  const std::string late = error_of([&] { ranks[0]->get("never", 0.3); });
  EXPECT_THAT(late, HasSubstr("E7006 rank 0 waited 0.3 s for 'never' from another rank"));
}

TEST(Store, ManyThreadsOfOneRank) {
  Job job(2);
  auto ranks = job.all();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) ranks[static_cast<size_t>(t % 2)]->add("n", 1);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(ranks[0]->add("n", 0), 400);
}

// Hosts are distinguished by the machine, whatever its name.
TEST(Store, MachinesAreNotTheirNames) {
  EXPECT_FALSE(machine_id().empty());
  EXPECT_EQ(machine_id(), machine_id());
  Job job(3);
  const auto rank0 = connect(job.config, 0);
  std::vector<std::unique_ptr<Stranger>> others;
  const auto join = [&](const char* rank, const std::string& name, const std::string& machine) {
    others.push_back(std::make_unique<Stranger>(job.config.address));
    const std::string nonce = others.back()->nonce();
    std::vector<std::string> hello = hello_fields(job.config, rank, "abc");
    const std::string own_name = hello[7];
    hello[7] = name.empty() ? own_name : name;
    if (!machine.empty()) hello[10] = machine;
    hello.push_back(client_proof(job.config, nonce, hello));
    others.back()->say(make_line(hello));
    EXPECT_THAT(others.back()->line(), HasSubstr("WELCOME"));
  };
  join("1", "", "another boot net:[1]");  // a host of the same name
  join("2", "a second name", "");
  const std::vector<Peer> peers = rank0->join();
  ASSERT_EQ(peers.size(), 3u);
  EXPECT_EQ(peers[0].host, peers[1].host);
  EXPECT_NE(peers[0].machine, peers[1].machine);
  EXPECT_EQ(peers[2].host, "a second name");
  EXPECT_EQ(peers[0].machine, peers[2].machine);
}

TEST(Store, OverIPv6) {
  StoreConfig config = config_for(2);
  config.address = "[::1]:0";
  Job job(2, config);
  EXPECT_THAT(job.config.address, testing::StartsWith("[::1]:"));
  auto ranks = job.all();
  ranks[1]->set("k", "v");
  EXPECT_EQ(ranks[0]->get("k"), "v");
  EXPECT_EQ(ranks[1]->own_address(), "::1");
  Stranger stranger(job.config.address);
  EXPECT_THAT(stranger.line(), HasSubstr("SINDRI-STORE"));
}

TEST(Store, RanksByArrival) {
  Job job(3);
  std::vector<std::shared_ptr<StoreClient>> ranks = {connect(job.config, -1), connect(job.config, 1), connect(job.config, -1)};
  EXPECT_EQ(ranks[0]->rank(), 0);
  EXPECT_EQ(ranks[2]->rank(), 2);
}

TEST(Store, OrderlyEnd) {
  const double began = now_seconds();
  {
    Job job(3);
    auto ranks = job.all();
    for (auto& r : ranks) r->bye();
    EXPECT_EQ(job.server->wait_end(), nullptr);
    EXPECT_THAT(error_of([&] { ranks[0]->set("k", "v"); }), HasSubstr("has left"));
  }
  EXPECT_LT(now_seconds() - began, 1.5);
}

TEST(Store, MissingRanksAreListedOnAll) {
  StoreConfig config = config_for(4);
  config.options.init_timeout = 1;
  Job job(4, config);
  auto zero = connect(job.config, 0), two = connect(job.config, 2);
  for (auto& client : {zero, two}) EXPECT_THAT(error_of([&] { client->join(); }), HasSubstr("E7006 ranks 1, 3 of 4 ranks did not join within 1 s"));
}

TEST(Store, NobodyListens) {
  StoreConfig config = config_for(2);
  {
    Job job(2);
    config.address = job.config.address;
  }
  config.options.init_timeout = 0.5;
  const double began = now_seconds();
  const std::string text = error_of([&] { connect(config, 1); });
  EXPECT_THAT(text, HasSubstr("E7006 rank 1 could not join rank 0 at " + config.address));
  EXPECT_THAT(text, HasSubstr("Connection refused"));
  EXPECT_LT(now_seconds() - began, 3);
}

TEST(Store, ServerThatComesLate) {
  StoreConfig config = config_for(1);
  {
    Job job(1);
    config.address = job.config.address;
  }
  std::unique_ptr<StoreServer> server;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    server = serve(config);
  });
  EXPECT_EQ(connect(config, 0)->join().size(), 1U);
  later.join();
}

TEST(Store, UnresolvableName) {
  StoreConfig config = config_for(2);
  config.address = "no-such-host.invalid:29560";
  config.options.init_timeout = 0.3;
  EXPECT_THAT(error_of([&] { connect(config, 1); }), HasSubstr("cannot be resolved"));
}

TEST(BadHosts, GarbageIsRefusedAndDoesNotHarm) {
  Job job(2);
  Stranger http(job.config.address), binary(job.config.address), endless(job.config.address), quick(job.config.address);
  quick.socket.reset();
  http.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  binary.say(std::string("\x16\x03\x01\x00\xff\n", 6));
  endless.say(std::string(20000, 'a'));
  for (Stranger* s : {&http, &binary, &endless}) {
    EXPECT_THAT(s->line(), HasSubstr("SINDRI-STORE 2 "));
    EXPECT_THAT(s->line(), HasSubstr("REFUSED"));
    s->socket.reset();
  }
  EXPECT_EQ(job.all().size(), 2U);
}

TEST(BadHosts, HalfOpenConnectionsEndAfterFiveSeconds) {
  Job job(2);
  Stranger silent(job.config.address), slow(job.config.address);
  const double began = now_seconds();
  slow.say("HELLO 1 ");
  auto ranks = job.all();  // the others do not wait for them
  EXPECT_LT(now_seconds() - began, 3);
  for (Stranger* s : {&silent, &slow}) {
    s->line();
    EXPECT_THAT(s->line(), HasSubstr("no%20greeting%20within%205%20s"));
  }
  EXPECT_NEAR(now_seconds() - began, 5, 1.5);
  ranks[0]->set("k", "v");
  EXPECT_EQ(ranks[1]->get("k"), "v");
}

TEST(BadHosts, AFloodOfStrangersDoesNotKeepRanksOut) {
  Job job(2);
  std::vector<std::unique_ptr<Stranger>> crowd;
  for (int i = 0; i < 130; ++i) crowd.push_back(std::make_unique<Stranger>(job.config.address));
  int busy = 0;
  for (auto& s : crowd) busy += s->line() == "REFUSED busy" ? 1 : 0;
  EXPECT_EQ(busy, 30);
  EXPECT_EQ(job.all().size(), 2U);  // after the crowd's connections time out
}

TEST(BadHosts, WrongTokenVersionByteOrderJobSizeAndRank) {
  testing::internal::CaptureStderr();
  {
    StoreConfig config = config_for(2);
    config.options.job_id = "night-7";
    Job job(2, config);
    const std::string token = job.config.token;
    EXPECT_THAT(greet_with(job.config, {}, "a guess"), HasSubstr("REFUSED wrong token"));
    EXPECT_THAT(greet_with(job.config, {{1, "1"}}, token), HasSubstr("REFUSED another version of the store's protocol: 1, this is 2"));
    EXPECT_THAT(greet_with(job.config, {{2, "0.0.7"}}, token), HasSubstr("REFUSED it runs version 0.0.7 of Sindri"));
    EXPECT_THAT(greet_with(job.config, {{3, "big"}}, token), HasSubstr("REFUSED its byte order is big"));
    EXPECT_THAT(greet_with(job.config, {{4, job_tag("night-6")}}, token), HasSubstr("REFUSED it belongs to another job"));
    EXPECT_THAT(greet_with(job.config, {{6, "4"}}, token), HasSubstr("REFUSED it expects 4 ranks, this job has 2"));
    EXPECT_THAT(greet_with(job.config, {{5, "2"}}, token), HasSubstr("REFUSED rank '2' is not one of 0 … 1"));
    EXPECT_THAT(greet_with(job.config, {{5, "x"}}, token), HasSubstr("REFUSED rank 'x'"));
    auto ranks = job.all();
    EXPECT_THAT(greet_with(job.config, {}, token), HasSubstr("REFUSED rank 1 has joined already"));
    ranks[0]->set("k", "v");
    EXPECT_EQ(ranks[1]->get("k"), "v");
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("refused a connection from 127.0.0.1:"));
  EXPECT_THAT(log, HasSubstr("wrong token"));
}

// A proof from one connection does not work on another: the nonce comes from the server.
TEST(BadHosts, AGreetingCannotBeReplayed) {
  Job job(2);
  Stranger first(job.config.address), second(job.config.address);
  std::vector<std::string> hello = hello_fields(job.config, "1", "abc");
  hello.push_back(client_proof(job.config, first.nonce(), hello));
  second.nonce();
  second.say(make_line(hello));
  EXPECT_THAT(second.line(), HasSubstr("REFUSED wrong%20token"));
  first.say(make_line(hello));
  EXPECT_THAT(first.line(), HasSubstr("WELCOME 1 "));
}

TEST(BadHosts, ARankWithTheWrongTokenIsToldSo) {
  Job job(2);
  StoreConfig wrong = job.config;
  wrong.token = "a guess";
  wrong.options.init_timeout = 0.5;
  const std::string text = error_of([&] { connect(wrong, 1); });
  EXPECT_THAT(text, HasSubstr("E7006 rank 1 could not join rank 0 at"));
  EXPECT_THAT(text, HasSubstr("refused: wrong token"));
}

// The server shuts down after refusing the rank, so its last attempts find no server: the error still gives the refusal.
TEST(BadHosts, ARefusalIsToldThoughTheServerHasEnded) {
  auto job = std::make_unique<Job>(2);
  StoreConfig wrong = job->config;
  wrong.token = "a guess";
  wrong.options.init_timeout = 1.5;
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    job.reset();
  });
  const std::string text = error_of([&] { connect(wrong, 1); });
  end.join();
  EXPECT_THAT(text, HasSubstr("refused: wrong token"));
  EXPECT_THAT(text, HasSubstr("caused by: Connection refused"));
}

// An impostor server learns neither the token nor anything else.
TEST(BadHosts, AServerMustProveTheTokenToo) {
  const std::vector<std::pair<std::string, std::string>> lies = {{"SSH-2.0-OpenSSH\n", "is not a store of Sindri"},
                                                                 {"SINDRI-STORE 9 nonce\n", "another version of the store's protocol: 9"},
                                                                 {"SINDRI-STORE 2 nonce\n", "does not know this job's token"}};
  for (const auto& [greeting, reason] : lies) {
    Socket listener;
    ASSERT_FALSE(listen_at("127.0.0.1", 0, &listener));
    StoreConfig config = config_for(2);
    config.address = join_address("127.0.0.1", local_end(listener.get()).second);
    config.options.init_timeout = 1e-6;
    std::string heard;
    std::thread liar([&, &said = greeting] {  // clang does not capture structured bindings
      pollfd p{listener.get(), POLLIN, 0};
      if (poll(&p, 1, 3000) <= 0) return;
      Socket s(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const std::string welcome = "WELCOME 1 id " + std::string(64, '0') + "\n";
      (void)!send(s.get(), said.data(), said.size(), MSG_NOSIGNAL);
      char block[1000];
      for (ssize_t n = 0; (n = recv(s.get(), block, sizeof block, 0)) > 0;) {
        heard.append(block, static_cast<size_t>(n));
        (void)!send(s.get(), welcome.data(), welcome.size(), MSG_NOSIGNAL);
      }
    });
    EXPECT_THAT(error_of([&] { connect(config, 1); }), HasSubstr(reason));
    liar.join();
    EXPECT_EQ(heard.find(config.token), std::string::npos);
    EXPECT_EQ(std::count(heard.begin(), heard.end(), '\n'), reason.find("token") == std::string::npos ? 0 : 1);  // the greeting, and nothing after it
  }
}

TEST(BadHosts, PortInUseNamesItsOwner) {
  Job job(2);
  StoreConfig config = config_for(2);
  config.address = job.config.address;
  const std::string text = error_of([&] { serve(config); });
  EXPECT_THAT(text, HasSubstr("E7006 port " + std::to_string(job.server->port()) + " for the rendezvous is in use by pid " + std::to_string(getpid()) + " ("));
  EXPECT_THAT(text, HasSubstr("SINDRI_MASTER_PORT"));
}

TEST(BadHosts, AddressOfAnotherHost) {
  StoreConfig config = config_for(2);
  config.address = "192.0.2.1:29560";  // from the documentation's address range: nobody has it
  EXPECT_THAT(error_of([&] { serve(config); }), HasSubstr("E7006 rank 0 should listen at 192.0.2.1:29560, which is not an address of this host"));
}

// A host without any route to the others reports this soon, without waiting for init_timeout.
TEST(BadHosts, NoRoute) {
  const std::string file = ::testing::TempDir() + "no_route_" + std::to_string(getpid());
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(30);
    if (unshare(CLONE_NEWNET) != 0) _exit(77);
    StoreConfig config = config_for(2);
    config.address = "10.1.2.3:29560";
    config.options.init_timeout = 60;
    std::ofstream(file) << error_of([&] { connect(config, 1); });
    _exit(0);
  }
  const double began = now_seconds();
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no network namespaces";
  EXPECT_LE(now_seconds() - began, 10);
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(text, HasSubstr("E7006 rank 1 could not join rank 0 at 10.1.2.3:29560"));
  EXPECT_THAT(text, HasSubstr("Network is unreachable"));
  unlink(file.c_str());
}

TEST(BadHosts, PortIsFreeForTheNextJob) {
  StoreConfig config = config_for(2);
  for (int i = 0; i < 3; ++i) {
    Job job(2, config);
    config.address = job.config.address;
    job.all();
  }
}

TEST(Interface, NamesSubnetsAndWhatThereIs) {
  EXPECT_EQ(address_of_interface("lo"), "127.0.0.1");
  EXPECT_EQ(address_of_interface("127.0.0.0/8"), "127.0.0.1");
  EXPECT_THAT(error_of([] { address_of_interface("eth99"); }), HasSubstr("lo (127.0.0.1)"));
  EXPECT_THAT(error_of([] { address_of_interface("203.0.113.0/24"); }), HasSubstr("no address of this host is on '203.0.113.0/24'"));
}

TEST(Pairs, FailuresOfAllRanksAreOneTable) {
  Job job(3);
  auto ranks = job.all();
  const auto run = [&](const std::vector<std::vector<PairFailure>>& failures) {
    std::vector<std::string> texts(3);
    std::vector<std::thread> threads;
    for (size_t r = 0; r < 3; ++r) threads.emplace_back([&, r] { texts[r] = error_of([&] { agree_on_pairs(*ranks[r], failures[r], 3, 5); }); });
    for (std::thread& t : threads) t.join();
    return texts;
  };
  testing::internal::CaptureStderr();
  const auto texts = run({{}, {{2, "10.0.0.3:4000", "10.0.0.2", "No route to host"}}, {}});
  const std::string log = testing::internal::GetCapturedStderr();
  for (const std::string& t : texts) {
    EXPECT_THAT(t, HasSubstr("E7006 1 pairs of ranks could not reach each other"));
    EXPECT_THAT(t, HasSubstr("rank 1 could not reach rank 2 at 10.0.0.3:4000 from 10.0.0.2: No route to host"));
  }
  EXPECT_THAT(log, HasSubstr("  rank   peer  address"));
  EXPECT_THAT(log, HasSubstr("No route to host"));
}

TEST(Verdict, DeathOfAConnectionReachesAll) {
  Job job(3);
  auto ranks = job.all();
  Stranger none(job.config.address);
  ranks[1]->report(CommError(ErrorCode::kRankData, "rank 1 ends the job: no more samples", "epoch 3"));
  for (auto& r : ranks) {
    const auto verdict = r->verdict(3);
    ASSERT_NE(verdict, nullptr);
    EXPECT_EQ(verdict->code(), ErrorCode::kRankData);
    EXPECT_THAT(verdict->message(), HasSubstr("ends the job: no more samples"));
  }
  EXPECT_THAT(error_of([&] { ranks[0]->get("k"); }), HasSubstr("E7005"));
}

// For example from another build: its request is unknown, so the job cannot continue.
TEST(Verdict, ALineThatTheStoreDoesNotKnowEndsTheJob) {
  Job job(2);
  const auto rank0 = connect(job.config, 0);
  Stranger rank1(job.config.address);
  const std::string nonce = rank1.nonce();
  std::vector<std::string> hello = hello_fields(job.config, "1", "abc");
  hello.push_back(client_proof(job.config, nonce, hello));
  rank1.say(make_line(hello));
  EXPECT_THAT(rank1.line(), HasSubstr("WELCOME"));
  rank0->join();
  rank1.say(make_line({"DANCE", "now"}));
  const auto verdict = rank0->verdict(3);
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->code(), ErrorCode::kComm);
  EXPECT_THAT(verdict->message(), HasSubstr("a line that the store does not know: 'DANCE"));
  EXPECT_THAT(error_of([&] { rank0->get("k"); }), HasSubstr("E7000"));
}

TEST(Verdict, TheLaunchersReport) {
  Job job(2);
  auto ranks = job.all();
  report_end(job.config, 1, "signal 11");
  const auto verdict = ranks[0]->verdict(3);
  ASSERT_NE(verdict, nullptr);
  EXPECT_THAT(verdict->message(), HasSubstr("died, signal 11"));
}

}  // namespace store_test
}  // namespace sindri::comm
