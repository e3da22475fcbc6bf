// A process's identity: every row of the table of sources, incomplete sources, and sources that disagree.
#include "src/comm/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sindri/core/error.h"
#include "src/comm/token.h"

namespace sindri::comm {
namespace identity_test {

using ::testing::HasSubstr;

struct Table {
  Table() : file(::testing::TempDir() + "identity_" + std::to_string(getpid()) + ".json") {
    std::ofstream(file) << R"({"version": "1.0", "server_count": "2", "status": "completed", "server_list": [
      {"server_id": "10.0.0.1", "host_nic_ip": "reserve", "device": [{"device_id": "4", "device_ip": "192.168.1.1", "rank_id": "0"},
                                                                     {"device_id": "5", "device_ip": "192.168.2.1", "rank_id": "1"}]},
      {"server_id": "10.0.0.2", "host_nic_ip": "reserve", "device": [{"device_id": "0", "device_ip": "192.168.1.2", "rank_id": "2"},
                                                                     {"device_id": "1", "device_ip": "192.168.2.2", "rank_id": "3"}]}]})";
  }
  ~Table() { std::filesystem::remove(file); }
  std::string file;
};

Options with_backend(const std::string& backend) {
  Options o;
  o.backend = backend;
  return o;
}

std::string error_of(const Environment& e, const Options& o = {}) {
  try {
    const Identity i = find_identity(e, o);
    return "no error: " + i.source;
  } catch (const Error& error) { return "E" + std::to_string(static_cast<int>(error.code())) + " " + error.what(); }
}

TEST(Identity, WithoutAnySourceOneRankIsAlone) {
  const Identity i = find_identity({{"HOME", "/root"}, {"SLURM_JOB_ID", "7"}, {"RANK", ""}, {"WORLD_SIZE", ""}}, {});
  EXPECT_EQ(i.rank, 0);
  EXPECT_EQ(i.size, 1);
  EXPECT_EQ(i.local_size, 1);
  EXPECT_EQ(i.source, "none");
  EXPECT_FALSE(i.keeps_store);
}

TEST(Identity, OwnVariables) {
  Environment e = {{"SINDRI_RANK", "3"}, {"SINDRI_WORLD_SIZE", "4"}, {"SINDRI_LOCAL_RANK", "1"}, {"SINDRI_LOCAL_SIZE", "2"}, {"SINDRI_MASTER", "h1:4000"}};
  Identity i = find_identity(e, {});
  EXPECT_EQ(i.rank, 3);
  EXPECT_EQ(i.size, 4);
  EXPECT_EQ(i.local_rank, 1);
  EXPECT_EQ(i.local_size, 2);
  EXPECT_EQ(i.address, "h1:4000");
  EXPECT_EQ(i.source, "SINDRI_*");
  EXPECT_FALSE(i.keeps_store);
  e["SINDRI_RANK"] = "0";
  e["SINDRI_MASTER"] = "[2001:db8::1]:4000";
  EXPECT_TRUE(find_identity(e, {}).keeps_store);
  e.erase("SINDRI_LOCAL_RANK");
  e.erase("SINDRI_LOCAL_SIZE");
  EXPECT_EQ(find_identity(e, {}).local_rank, -1);  // found when the ranks meet
}

TEST(Identity, RankTable) {
  const Table table;
  Identity i = find_identity({{"RANK_TABLE_FILE", table.file}, {"RANK_ID", "3"}, {"RANK_SIZE", "4"}, {"DEVICE_ID", "1"}}, {});
  EXPECT_EQ(i.rank, 3);
  EXPECT_EQ(i.size, 4);
  EXPECT_EQ(i.local_rank, 1);
  EXPECT_EQ(i.local_size, 2);
  EXPECT_EQ(i.device, 1);
  EXPECT_EQ(i.address, "10.0.0.1:29560");
  EXPECT_THAT(i.source, HasSubstr("rank table"));
  i = find_identity({{"MINDSPORE_HCCL_CONFIG_PATH", table.file}, {"SERVER_ID", "0"}, {"DEVICE_NUM", "2"}, {"DEVICE_ID", "4"}, {"SINDRI_MASTER_PORT", "4001"}},
                    {});
  EXPECT_EQ(i.rank, 0);
  EXPECT_TRUE(i.keeps_store);
  EXPECT_EQ(i.address, "10.0.0.1:4001");
  Options o;
  o.rank_table = table.file;
  EXPECT_EQ(find_identity({{"RANK_ID", "2"}}, o).local_rank, 0);
  EXPECT_THAT(error_of({{"RANK_TABLE_FILE", table.file}, {"RANK_ID", "1"}, {"RANK_SIZE", "8"}}), HasSubstr("E2212"));
  EXPECT_THAT(error_of({{"RANK_TABLE_FILE", table.file}, {"RANK_ID", "9"}}), HasSubstr("E2213"));
  EXPECT_THAT(error_of({{"RANK_TABLE_FILE", table.file}}), HasSubstr("E7008"));
}

TEST(Identity, Torchrun) {
  const Environment e = {{"RANK", "1"},         {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.1.1.1"},
                         {"MASTER_PORT", "777"}};
  const Identity i = find_identity(e, {});
  EXPECT_EQ(i.rank, 1);
  EXPECT_EQ(i.local_size, 2);
  EXPECT_EQ(i.address, "10.1.1.1:777");
  EXPECT_THAT(i.source, HasSubstr("torchrun"));
}

TEST(Identity, OpenMpi) {
  Environment e = {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  EXPECT_EQ(find_identity(e, {}).address, "");  // MPI connects them
  EXPECT_EQ(find_identity(e, {}).source, "Open MPI");
  EXPECT_THAT(error_of(e, with_backend("gloo")), HasSubstr("launched as 3 of 4 by Open MPI but no rendezvous address found"));
  e["MASTER_ADDR"] = "10.1.1.1";
  EXPECT_EQ(find_identity(e, with_backend("gloo")).address, "10.1.1.1:29560");
  e.erase("MASTER_ADDR");
  e["OMPI_COMM_WORLD_LOCAL_SIZE"] = "4";
  EXPECT_EQ(find_identity(e, with_backend("gloo")).address, "127.0.0.1:29560");
}

TEST(Identity, Slurm) {
  Environment e = {{"SLURM_PROCID", "5"},
                   {"SLURM_NTASKS", "9"},
                   {"SLURM_LOCALID", "1"},
                   {"SLURM_NODEID", "1"},
                   {"SLURM_STEP_TASKS_PER_NODE", "4,2(x2),1"},
                   {"SLURM_STEP_NODELIST", "gpu[07-09,12],login"},
                   {"SLURM_LAUNCH_NODE_IPADDR", "10.9.9.9"}};
  Identity i = find_identity(e, {});
  EXPECT_EQ(i.rank, 5);
  EXPECT_EQ(i.size, 9);
  EXPECT_EQ(i.local_rank, 1);
  EXPECT_EQ(i.local_size, 2);
  EXPECT_EQ(i.address, "gpu07:29560");
  EXPECT_EQ(i.source, "Slurm");
  e["SLURM_STEP_NODELIST"] = "";
  EXPECT_EQ(find_identity(e, {}).address, "10.9.9.9:29560");
  e["SLURM_STEP_NODELIST"] = "a-1,b-2";
  EXPECT_EQ(find_identity(e, {}).address, "a-1:29560");
  e["MASTER_ADDR"] = "10.2.2.2";
  EXPECT_EQ(find_identity(e, {}).address, "10.2.2.2:29560");
  e = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "2"}, {"SLURM_STEP_NODELIST", "n"}};
  EXPECT_EQ(find_identity(e, {}).address, "127.0.0.1:29560");
}

TEST(Identity, ScriptsWithoutTable) {
  Identity i = find_identity({{"RANK_ID", "1"}, {"RANK_SIZE", "2"}, {"DEVICE_ID", "5"}}, {});
  EXPECT_EQ(i.rank, 1);
  EXPECT_EQ(i.size, 2);
  EXPECT_EQ(i.device, 5);
  EXPECT_EQ(i.address, "127.0.0.1:29560");
  Environment e = {{"MS_WORKER_NUM", "4"}, {"MS_SCHED_HOST", "10.3.3.3"}, {"MS_SCHED_PORT", "8118"}, {"MS_ROLE", "MS_WORKER"}};
  i = find_identity(e, {});
  EXPECT_EQ(i.rank, -1);  // ranks are numbered in order of arrival
  EXPECT_EQ(i.size, 4);
  EXPECT_EQ(i.address, "10.3.3.3:8118");
  EXPECT_FALSE(i.keeps_store);
  e["MS_NODE_ID"] = "node-a";
  EXPECT_EQ(find_identity(e, {}).rank, -1);
  e["MS_NODE_ID"] = "0";
  EXPECT_EQ(find_identity(e, {}).rank, 0);
  EXPECT_FALSE(find_identity(e, {}).keeps_store);  // the scheduler does
  e["MS_ROLE"] = "MS_SCHED";
  EXPECT_TRUE(find_identity(e, {}).scheduler);
  EXPECT_TRUE(find_identity(e, {}).keeps_store);
  e["MS_ROLE"] = "MS_PSERVER";
  EXPECT_THAT(error_of(e), HasSubstr("parameter servers are not supported"));
}

TEST(Identity, FirstCompleteSourceWinsAndAgreeingOnesAreFine) {
  const Table table;
  const Environment e = {{"SINDRI_RANK", "2"},
                         {"SINDRI_WORLD_SIZE", "4"},
                         {"SINDRI_MASTER", "127.0.0.1:5000"},
                         {"RANK_TABLE_FILE", table.file},
                         {"RANK_ID", "2"},
                         {"RANK_SIZE", "4"},
                         {"DEVICE_ID", "0"},
                         {"RANK", "1"},  // incomplete
                         {"SLURM_PROCID", "0"},
                         {"SLURM_NTASKS", "1"},
                         {"SLURM_LOCALID", "0"},
                         {"SLURM_STEP_TASKS_PER_NODE", "1"}};
  EXPECT_EQ(find_identity(e, {}).source, "SINDRI_*");
}

TEST(Identity, SourcesThatDisagreeAreAnErrorThatPrintsBoth) {
  const Environment e = {{"SINDRI_RANK", "2"}, {"SINDRI_WORLD_SIZE", "4"}, {"SINDRI_MASTER", "h:5000"}, {"RANK", "1"},
                         {"WORLD_SIZE", "4"},  {"MASTER_ADDR", "h"},       {"MASTER_PORT", "5000"}};
  const std::string text = error_of(e);
  EXPECT_THAT(text, HasSubstr("E2010"));
  EXPECT_THAT(text, HasSubstr("SINDRI_* says rank 2 of 4 at h:5000 (SINDRI_RANK=2"));
  EXPECT_THAT(text, HasSubstr("torchrun) says rank 1 of 4 at h:5000"));
  const Environment size = {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"RANK_ID", "0"}, {"RANK_SIZE", "4"}};
  EXPECT_THAT(error_of(size), HasSubstr("Open MPI says rank 0 of 2"));
  const Environment slurm = {{"SINDRI_RANK", "0"},  {"SINDRI_WORLD_SIZE", "2"}, {"SINDRI_MASTER", "h:5000"},       {"SLURM_PROCID", "1"},
                             {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "1"},     {"SLURM_STEP_TASKS_PER_NODE", "2"}};
  EXPECT_THAT(error_of(slurm), HasSubstr("Slurm says rank 1 of 2"));
}

TEST(Identity, EightRanksInTheTableAndFourStarted) {
  const Table table;
  const Environment e = {{"RANK_TABLE_FILE", table.file}, {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  EXPECT_THAT(error_of(e), HasSubstr("has 4 ranks, but Open MPI says rank 0 of 2"));
}

// mpirun and torchrun inside of srun: Slurm's variables describe the daemons it started.
TEST(Identity, LaunchersUnderSlurmHideItsNumbers) {
  const Environment e = {
      {"OMPI_COMM_WORLD_RANK", "3"},          {"OMPI_COMM_WORLD_SIZE", "4"},    {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"},
      {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}, {"SLURM_STEP_NODELIST", "n[1-2]"}};
  EXPECT_EQ(find_identity(e, {}).rank, 3);
}

TEST(Identity, LaunchedAsOneOfSeveralButAlone) {
  const Environment slurm = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}};
  const std::string text = error_of(slurm);
  EXPECT_THAT(text, HasSubstr("E7008 launched as 1 of 4 by Slurm but no rendezvous address found"));
  EXPECT_THAT(text, HasSubstr("set MASTER_ADDR or start with --mpi=pmix"));
  EXPECT_THAT(text, HasSubstr("SLURM_PROCID=0"));
  EXPECT_THAT(error_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}}), HasSubstr("E7008 launched as 2 of 2 by RANK, WORLD_SIZE (torchrun)"));
  EXPECT_THAT(error_of({{"SINDRI_RANK", "1"}, {"SINDRI_WORLD_SIZE", "2"}}), HasSubstr("E7008"));
  EXPECT_THAT(error_of({{"RANK_SIZE", "2"}}), HasSubstr("RANK_ID not found"));
  // A rank without a world size is one of several, unless it is rank 0.
  EXPECT_THAT(error_of({{"SINDRI_RANK", "1"}}), HasSubstr("E7008 launched as rank 1 by SINDRI_* but SINDRI_WORLD_SIZE not found"));
  EXPECT_THAT(error_of({{"SINDRI_RANK", "0"}, {"SINDRI_MASTER", "h:1"}}), HasSubstr("E7008 launched as rank 0 by SINDRI_*"));
  EXPECT_THAT(error_of({{"RANK_ID", "3"}}), HasSubstr("E7008 launched as rank 3 by RANK_ID, RANK_SIZE but RANK_SIZE not found"));
  EXPECT_THAT(error_of({{"MS_ROLE", "MS_WORKER"}}), HasSubstr("E7008 launched as one of several by MS_ROLE but MS_WORKER_NUM"));
  EXPECT_EQ(find_identity({{"RANK", "0"}}, {}).size, 1);
  // Incomplete sources that are also set are named.
  EXPECT_THAT(error_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MS_ROLE", "MS_WORKER"}}), HasSubstr("MS_ROLE: MS_ROLE=MS_WORKER"));
  // With an explicitly requested backend it is not an error.
  EXPECT_EQ(find_identity(slurm, with_backend("single")).size, 1);
  EXPECT_EQ(find_identity(slurm, with_backend("mpi")).size, 4);
  Environment pmix = slurm;
  pmix["PMIX_RANK"] = "0";
  EXPECT_EQ(find_identity(pmix, {}).size, 4);
}

TEST(Identity, ValuesThatAreNoNumbersOrOutOfRange) {
  const auto with = [](const std::string& rank, const std::string& size, const std::string& master) {
    return error_of({{"SINDRI_RANK", rank}, {"SINDRI_WORLD_SIZE", size}, {"SINDRI_MASTER", master}});
  };
  EXPECT_THAT(with("x7", "8", "h:1"), HasSubstr("E2010 SINDRI_RANK is 'x7', expected a whole number"));
  EXPECT_THAT(with("7 ", "8", "h:1"), HasSubstr("E2010"));
  EXPECT_THAT(with("-1", "8", "h:1"), HasSubstr("E2010"));
  EXPECT_THAT(with("8", "8", "h:1"), HasSubstr("SINDRI_RANK is 8, but SINDRI_WORLD_SIZE is 8"));
  EXPECT_THAT(with("0", "0", "h:1"), HasSubstr("E2010"));
  EXPECT_THAT(with("0", "99999999999", "h:1"), HasSubstr("E2010"));
  for (const char* master : {"h", "h:", ":1", "h:0", "h:70000", "h:x", "::1:5", "2001:db8::1:29560"})
    EXPECT_THAT(with("0", "2", master), HasSubstr("expected host:port")) << master;
  EXPECT_THAT(error_of({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "0"}}), HasSubstr("MASTER_PORT"));
  EXPECT_THAT(error_of({{"SINDRI_RANK", "0"}, {"SINDRI_WORLD_SIZE", "2"}, {"SINDRI_MASTER", "h:1"}, {"SINDRI_LOCAL_RANK", "2"}, {"SINDRI_LOCAL_SIZE", "2"}}),
              HasSubstr("SINDRI_LOCAL_RANK is 2"));
}

TEST(Identity, Token) {
  const Table table;
  const auto token = [](const Environment& e, const Options& o = {}) { return job_token(e, o, find_identity(e, o)); };
  const Environment a = {{"RANK_ID", "0"}, {"RANK_SIZE", "2"}}, b = {{"RANK_ID", "1"}, {"RANK_SIZE", "2"}}, c = {{"RANK_ID", "1"}, {"RANK_SIZE", "3"}};
  EXPECT_EQ(token(a), token(b));
  EXPECT_NE(token(a), token(c));
  EXPECT_NE(token({{"RANK_TABLE_FILE", table.file}, {"RANK_ID", "0"}}), token(a));
  Options job;
  job.job_id = "night-7";
  EXPECT_NE(token(a, job), token(a));
  Environment secret = a;
  secret["SINDRI_JOB_TOKEN"] = "s3cret";
  EXPECT_EQ(token(secret, job), "s3cret");
}

TEST(Token, KnownDigests) {
  // FIPS 180-4 examples, and RFC 4231 cases 2 and 6.
  const auto hex = [](std::string_view text) {
    std::string out;
    for (const uint8_t b : sha256(text)) out += std::string(1, "0123456789abcdef"[b >> 4]) + "0123456789abcdef"[b & 15];
    return out;
  };
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?"), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_TRUE(same_proof("abc", "abc"));
  EXPECT_FALSE(same_proof("abc", "abd"));
  EXPECT_FALSE(same_proof("abc", "ab"));
  EXPECT_NE(random_text(), random_text());
}

}  // namespace identity_test
}  // namespace sindri::comm
