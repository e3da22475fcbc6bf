// `sindri ranktable` and `sindri launch-script`: their output, and refused arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "sindri/comm/rank_table.h"
#include "tests/app/program.h"

namespace sindri::app::rank_table_tools_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Tools : public testing::Test {
 protected:
  Tools() {
    for (const char* name : {"RANK_TABLE_FILE", "SERVER_ID", "RANK_SIZE", "RANK_ID", "DEVICE_NUM", "DEVICE_ID"}) unsetenv(name);
  }
  Result table(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {}) const {
    arguments.insert(arguments.begin(), "ranktable");
    return run(arguments, {.environment = std::move(environment), .directory = temp_.path()});
  }
  Result script(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "launch-script");
    return run(arguments, {.directory = temp_.path()});
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(temp_.file(name)) << text; }
  comm::RankTable read(const std::string& name) const { return comm::read_rank_table(temp_.file(name)); }
  const TempFolder temp_;
};

TEST_F(Tools, GenerateWritesAServersTable) {
  const Result r = table({"generate", "--device-num", "[0,8)", "--server-ip", "10.0.0.1"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("\n   7       0  10.0.0.1      7       7  10.0.0.1\nhccl_8p_01234567_10.0.0.1.json\n"));
  const comm::RankTable t = read("hccl_8p_01234567_10.0.0.1.json");
  EXPECT_EQ(t.size(), 8);
  EXPECT_EQ(t.servers[0].devices[5].device_id, 5);
  EXPECT_EQ(t.servers[0].devices[5].device_ip, "10.0.0.1");
}

TEST_F(Tools, GenerateMapsDevices) {
  EXPECT_EQ(table({"generate", "--device-num", "[1,3)", "--visible-devices", "4,12,7,6", "--server-ip", "host-a", "--device-ips", "10.1.0.1,10.1.0.2"}).code,
            0);
  const comm::RankTable t = read("hccl_2p_127_host-a.json");
  EXPECT_EQ(t.servers[0].devices[0].device_id, 12);
  EXPECT_EQ(t.servers[0].devices[1].device_id, 7);
  EXPECT_EQ(t.servers[0].devices[1].device_ip, "10.1.0.2");
  // Numbers with several digits, and more devices than a file name can list.
  EXPECT_EQ(table({"generate", "--device-num", "[9,13)", "--server-ip", "::1"}).code, 0);
  EXPECT_EQ(read("hccl_4p_9101112_::1.json").servers[0].devices[3].device_id, 12);
  EXPECT_EQ(table({"generate", "--device-num", "[0,200)", "--server-ip", "10.0.0.1"}).code, 0);
  EXPECT_EQ(read("hccl_200p_0-199_10.0.0.1.json").size(), 200);
}

TEST_F(Tools, GenerateReadsAddresses) {
  write("hccn.conf", "# of the cards\naddress_0=192.168.100.101\r\nnetmask_0=255.255.255.0\n address_1 = 192.168.101.101\n");
  EXPECT_EQ(table({"generate", "--device-num", "[0,2)", "--server-ip", "10.0.0.1", "--conf", "hccn.conf", "--out", "t.json"}).code, 0);
  EXPECT_EQ(read("t.json").servers[0].devices[0].device_ip, "192.168.100.101");
  EXPECT_EQ(read("t.json").servers[0].devices[1].device_ip, "192.168.101.101");
  expect_error(table({"generate", "--device-num", "[0,6)", "--server-ip", "10.0.0.1", "--conf", "hccn.conf"}), 2, "E2020",
               {"no address for device 2 in hccn.conf"});
}

TEST_F(Tools, GenerateRefuses) {
  const auto refused = [&](std::vector<std::string> flags, const std::string& number, const std::string& text) {
    flags.insert(flags.begin(), "generate");
    expect_error(table(flags), 2, number, {text});
  };
  refused({"--device-num", "[6,3)"}, "E2020", "device num \"[6,3)\": start must not exceed end");
  refused({"--device-num", "[3,3)"}, "E2020", "device num \"[3,3)\": the range is empty");
  for (const char* bad : {"8", "[0,8]", "[0,8", "[0;8)", "[a,8)", "[-1,8)", "[0,8,9)", ""})
    refused({"--device-num", bad, "--server-ip", "10.0.0.1"}, "E2020", "device");
  refused({"--device-num", "[0,5000)", "--server-ip", "10.0.0.1"}, "E2020", "more than 4096 devices");
  refused({"--device-num", "[0,8)", "--visible-devices", "4,5,6,7"}, "E2020", "visible devices has 4 entries, range needs 8");
  refused({"--device-num", "[0,2)", "--visible-devices", "4,x"}, "E2020", "\"x\" is not a device number");
  refused({"--device-num", "[0,2)", "--visible-devices", "4,4"}, "E2020", "4 is given twice");
  refused({"--device-num", "[0,2)", "--server-ip", "10.0.0.300"}, "E2210", "RT10 \"10.0.0.300\" is neither");
  refused({"--device-num", "[0,2)", "--server-ip", "10.0.0.1", "--device-ips", "10.0.0.1"}, "E2020", "device ips has 1 entry, range needs 2");
  refused({"--device-num", "[2,6)", "--server-ip", "10.0.0.1", "--strict-groups"}, "E2020", "a range across device 4 has to be [0,8)");
  EXPECT_EQ(table({"generate", "--device-num", "[4,8)", "--server-ip", "10.0.0.1", "--strict-groups"}).code, 0);
  EXPECT_EQ(table({"generate", "--device-num", "[0,8)", "--server-ip", "10.0.0.1", "--strict-groups"}).code, 0);
}

TEST_F(Tools, MergeNumbersRanksAnew) {
  ASSERT_EQ(table({"generate", "--device-num", "[0,2)", "--server-ip", "10.0.0.9", "--out", "a.json"}).code, 0);
  ASSERT_EQ(table({"generate", "--device-num", "[4,7)", "--server-ip", "10.0.0.10", "--out", "b.json"}).code, 0);
  EXPECT_EQ(table({"merge", "b.json", "a.json"}).code, 0);
  const comm::RankTable t = read("hccl_2s_5p.json");
  EXPECT_EQ(t.servers[0].server_id, "10.0.0.10");
  EXPECT_EQ(t.servers[1].devices[0].rank, 3);
  EXPECT_EQ(table({"merge", "--by-address", "--out", "c.json", "b.json", "a.json"}).code, 0);
  // As run_node2.sh calls it: RANK_ID is not set yet, which does not mean rank 0 on another server.
  EXPECT_EQ(table({"check", "c.json"}, {{"RANK_SIZE", std::to_string(t.size())}, {"SERVER_ID", "1"}}).code, 0);
  EXPECT_EQ(read("c.json").servers[0].server_id, "10.0.0.9") << "by value, not alphabetically";
  expect_error(table({"merge", "a.json", "c.json"}), 2, "E2211", {"RT11 server_id 10.0.0.9 appears twice", "a.json and c.json"});
  write("bad.json", "{}");
  expect_error(table({"merge", "a.json", "bad.json"}), 2, "E2202", {"4 problems:", "RT02 missing field \"server_list\"", "bad.json"});
}

TEST_F(Tools, CheckListsAllProblems) {
  ASSERT_EQ(table({"generate", "--device-num", "[0,8)", "--server-ip", "127.0.0.1", "--out", "t.json"}).code, 0);
  Result r = table({"check", "t.json"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, "t.json: 8 ranks on 1 server, no errors\n");
  EXPECT_THAT(table({"show", "t.json"}).out,
              HasSubstr("rank  server  address    local  device  device address\n   0       0  127.0.0.1      0       0  127.0.0.1\n"));
  expect_error(table({"check", "t.json"}, {{"RANK_SIZE", "16"}}), 2, "E2212", {"RT12 RANK_SIZE=16 but the table has 8 devices"});
  expect_error(table({"check", "t.json"}, {{"RANK_ID", "9"}}), 2, "E2213", {"RT13 RANK_ID=9 not in the table (0..7)"});
  expect_error(table({"check", "t.json"}, {{"RANK_ID", "3"}, {"DEVICE_ID", "4"}}), 2, "E2214", {"RT14 DEVICE_ID=4 does not belong to rank 3 (table: 3)"});
  std::string text = read_text(temp_.file("t.json"));
  const auto replace = [&](const std::string& from, const std::string& to) { text.replace(text.find(from), from.size(), to); };
  replace("\"rank_id\": \"2\"", "\"rank_id\": \"1\"");
  replace("completed", "initializing");
  replace("127.0.0.1", "10.0.0.300");
  write("t.json", text);
  r = table({"check", "t.json"});
  expect_error(r, 2, "E2205",
               {"4 problems:\n  RT05 status is \"initializing\"", "\n  RT07 rank_id 1 appears twice", "\n  RT08 ", "\n  RT10 server_id \"10.0.0.300\""});
  write("t.json", "{\n  \"version\": \"1.0\"\n  \"status\": 1}");
  expect_error(table({"check", "t.json"}), 2, "E2201", {"RT01 t.json:3:3: not valid JSON: expected ',' or '}'"});
  expect_error(table({"check", "no.json"}), 2, "E2010", {"no.json"});
}

TEST_F(Tools, SlurmScript) {
  const Result r = script({"slurm", "--nodes", "2", "--ranks-per-node", "8", "--run-dir", "runs/a b", "--", "sindri", "train", "--config", "my net.yaml"});
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char* line : {"#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=8\n", "#SBATCH --requeue\n", "#SBATCH --signal=TERM@120\n",
                           "#SBATCH --open-mode=append\n", "RUN_DIR='runs/a b'\n",
                           "\nsrun --kill-on-bad-exit=1 --mpi=pmix sindri train --config 'my net.yaml' --resume --set train.run_dir=\"$RUN_DIR\"\nstatus=$?\n",
                           "rm -f \"$RUN_DIR/resume.json\"\nsrun ", "[ -f \"$RUN_DIR/resume.json\" ] && scontrol requeue \"$SLURM_JOB_ID\"\n"})
    EXPECT_THAT(r.out, HasSubstr(line));
  EXPECT_THAT(script({"slurm", "--run-dir", "a", "--backend", "gloo", "--", "train.sh"}).out, HasSubstr("--mpi=none train.sh\n"));
  // The script runs: with srun and scontrol that print their arguments.
  fs::create_directories(temp_.file("bin"));
  for (const char* name : {"srun", "scontrol"}) {
    write(std::string("bin/") + name, std::string("#!/bin/sh\necho ") + name + " \"$@\" >> calls\n");
    fs::permissions(temp_.file(std::string("bin/") + name), fs::perms::owner_all);
  }
  write("job.sh", r.out);
  fs::create_directories(temp_.file("runs/a b"));
  const auto is_run = [&](const std::string& srun, int code) {
    write("bin/srun", "#!/bin/sh\necho srun \"$@\" >> calls\n" + srun);
    fs::remove(temp_.file("calls"));
    const std::string run_it = "cd " + temp_.path() + " && PATH=" + temp_.file("bin") + ":$PATH SLURM_JOB_ID=77 bash job.sh";
    EXPECT_EQ(WEXITSTATUS(std::system(run_it.c_str())), code);
    return read_text(temp_.file("calls"));
  };
  const std::string started = "srun --kill-on-bad-exit=1 --mpi=pmix sindri train --config my net.yaml --resume --set train.run_dir=runs/a b\n";
  EXPECT_EQ(is_run("echo {} > 'runs/a b/resume.json'; exit 143\n", 143), started + "scontrol requeue 77\n");
  EXPECT_EQ(is_run("exit 3\n", 3), started) << "resume.json of the previous start is not a reason to queue again";
  expect_error(script({"slurm", "--", "sindri", "train"}), 2, "E2020", {"the run folder is missing"});
  expect_error(script({"slurm", "--run-dir", "a"}), 2, "E2020", {"no program to run"});
  expect_error(script({"slurm", "--run-dir", "a", "--backend", "ucx", "--", "x"}), 2, "E2020", {"backend ucx is not mpi or gloo"});
  expect_error(script({"slurm", "--run-dir", "a", "--nodes", "0", "--", "x"}), 2, "E2020", {"at least 1"});
}

std::set<std::string> keys(const YAML::Node& n) {
  std::set<std::string> out;
  for (const auto& entry : n) out.insert(entry.first.as<std::string>());
  return out;
}

// The fields are those of kubeflow/mpi-operator, pkg/apis/kubeflow/v2beta1/types.go.
TEST_F(Tools, MpiJob) {
  const Result r = script({"mpijob", "--nodes", "2", "--ranks-per-node", "4", "--cpus-per-rank", "3", "--name", "net-1", "--image", "reg/sindri:1",
                           "--volume-claim", "data", "--", "sindri", "train", "--config", "/data/a \"b\".yaml"});
  ASSERT_EQ(r.code, 0) << r.err;
  const YAML::Node job = YAML::Load(r.out);
  EXPECT_EQ(job["apiVersion"].as<std::string>(), "kubeflow.org/v2beta1");
  EXPECT_EQ(job["kind"].as<std::string>(), "MPIJob");
  EXPECT_EQ(job["metadata"]["name"].as<std::string>(), "net-1");
  EXPECT_EQ(keys(job["spec"]), (std::set<std::string>{"slotsPerWorker", "mpiImplementation", "runPolicy", "mpiReplicaSpecs"}));
  EXPECT_EQ(job["spec"]["slotsPerWorker"].as<int>(), 4);
  EXPECT_EQ(job["spec"]["runPolicy"]["backoffLimit"].as<int>(), 3);
  const YAML::Node replicas = job["spec"]["mpiReplicaSpecs"];
  EXPECT_EQ(keys(replicas), (std::set<std::string>{"Launcher", "Worker"}));
  for (const char* role : {"Launcher", "Worker"}) {
    EXPECT_EQ(keys(replicas[role]), (std::set<std::string>{"replicas", "restartPolicy", "template"}));
    const YAML::Node pod = replicas[role]["template"]["spec"];
    EXPECT_EQ(pod["containers"][0]["image"].as<std::string>(), "reg/sindri:1");
    EXPECT_EQ(pod["containers"][0]["volumeMounts"][0]["name"].as<std::string>(), pod["volumes"][0]["name"].as<std::string>());
    EXPECT_EQ(pod["volumes"][0]["persistentVolumeClaim"]["claimName"].as<std::string>(), "data");
  }
  EXPECT_EQ(replicas["Worker"]["replicas"].as<int>(), 2);
  EXPECT_EQ(replicas["Worker"]["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"].as<int>(), 12);
  const auto command = replicas["Launcher"]["template"]["spec"]["containers"][0]["command"].as<std::vector<std::string>>();
  ASSERT_GT(command.size(), 10u);
  EXPECT_THAT(std::vector<std::string>(command.begin(), command.begin() + 6),
              testing::ElementsAre("mpirun", "-np", "8", "--oversubscribe", "--bind-to", "none"));
  EXPECT_THAT(command, testing::IsSupersetOf({"sindri", "train", "/data/a \"b\".yaml", "--resume", "train.run_dir=/data/net-1"}));
  expect_error(script({"mpijob", "--image", "x", "--volume-claim", "y", "--name", "Net_1", "--", "x"}), 2, "E2020", {"\"Net_1\" is not a valid job name"});
  expect_error(script({"mpijob", "--image", "x", "--", "x"}), 2, "E2020", {"--volume-claim is required", "see sindri launch-script mpijob --help"});
  EXPECT_EQ(script({"mpijob", "--image", "x", "--volume-claim", "y", "--output", "job.yaml", "--", "x"}).code, 0);
  EXPECT_THAT(read_text(temp_.file("job.yaml")), HasSubstr("kind: MPIJob\n"));
}

}  // namespace
}  // namespace sindri::app::rank_table_tools_test
