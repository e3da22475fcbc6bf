// Scripts for batch systems: sbatch (docs/guide/distributed.md, "Slurm") and an MPIJob of Kubernetes' MPI operator.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sindri/app/app.h"
#include "sindri/app/launch.h"
#include "sindri/core/error.h"
#include "src/app/launch_plan.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

void check_common(const ScriptRequest& r, const char* where) {
  if (r.command.empty()) throw refuse("no program to run", where, "write it after --: -- sindri train --config configs/resnet20_cifar10.yaml");
  if (r.nodes < 1 || r.ranks_per_node < 1 || r.cpus_per_rank < 1)
    throw refuse("nodes, ranks per node and cpus per rank are at least 1", where, "give whole numbers from 1");
  const bool plain = !r.name.empty() && r.name.size() <= 50 && r.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos &&
      r.name.front() != '-' && r.name.back() != '-';
  if (!plain) throw refuse(fmt::format("\"{}\" is not a valid job name", r.name), "--name", "use up to 50 of a-z, 0-9 and - (Kubernetes allows no others)");
}

bool is_training(const ScriptRequest& r) {
  return r.command.size() >= 2 && (r.command[0] == "sindri" || r.command[0].ends_with("/sindri")) && r.command[1] == "train";
}

// Lets the training command resume its run folder, which every start of the job finds under the same name.
std::vector<std::string> restartable(const ScriptRequest& r, const std::string& run_dir) {
  std::vector<std::string> words = r.command;
  if (!is_training(r)) return words;
  if (std::find(words.begin(), words.end(), "--resume") == words.end()) words.push_back("--resume");
  words.insert(words.end(), {"--set", "train.run_dir=" + run_dir});
  return words;
}

std::string yaml_text(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string slurm_script(const ScriptRequest& r) {
  check_common(r, "sindri launch-script slurm");
  if (r.run_dir.empty()) throw refuse("the run folder is missing", "--run-dir", "name a run folder on a file system that all nodes share");
  if (r.backend != "mpi" && r.backend != "gloo") throw refuse(fmt::format("backend {} is not mpi or gloo", r.backend), "--backend", "use one of the two");
  for (const std::string& value : {r.time, r.partition}) {
    if (value.find_first_of(" \n\t") != std::string::npos)
      throw refuse(fmt::format("\"{}\" contains white space", value), "sindri launch-script slurm", "remove the white space");
  }
  std::string out = "#!/bin/bash\n";
  const auto option = [&](const std::string& text) { out += "#SBATCH " + text + "\n"; };
  option("--job-name=" + r.name);
  option(fmt::format("--nodes={}", r.nodes));
  option(fmt::format("--ntasks-per-node={}", r.ranks_per_node));
  option(fmt::format("--cpus-per-task={}", r.cpus_per_rank));
  option("--time=" + r.time);
  if (!r.partition.empty()) option("--partition=" + r.partition);
  option("--requeue");
  option("--signal=TERM@120");
  option("--open-mode=append");
  option(fmt::format("--output={}-%j.log", r.name));
  out += fmt::format(
      "# Two minutes before the limit every rank gets SIGTERM, saves, and leaves resume.json: then the job queues itself once more.\n"
      "set -uo pipefail\n\n"
      "RUN_DIR={}\n"
      "OMP_NUM_THREADS=${{OMP_NUM_THREADS:-{}}}\n"
      "SINDRI_DIST_BACKEND={}\n"
      "SINDRI_JOB_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\n"
      "export OMP_NUM_THREADS SINDRI_DIST_BACKEND SINDRI_JOB_TOKEN\n\n",
      shell_word(r.run_dir), r.cpus_per_rank, r.backend);
  std::string line = fmt::format("srun --kill-on-bad-exit=1 --mpi={}", r.backend == "gloo" ? "none" : "pmix");
  for (const std::string& w : restartable(r, "\1")) {
    const size_t folder = w.find('\1');  // marks a variable, which must stay outside the quotes around words
    line += " " + (folder == std::string::npos ? shell_word(w) : w.substr(0, folder) + "\"$RUN_DIR\"");
  }
  // Because of a file left by an earlier start, a job that fails before its first step would be requeued forever.
  return out + "rm -f \"$RUN_DIR/resume.json\"\n" + line +
      "\nstatus=$?\n[ -f \"$RUN_DIR/resume.json\" ] && scontrol requeue \"$SLURM_JOB_ID\"\nexit \"$status\"\n";
}

std::string mpijob(const ScriptRequest& r) {
  check_common(r, "sindri launch-script mpijob");
  if (r.image.empty()) throw refuse("the image is missing", "--image", "name a container image that holds sindri, Open MPI and an ssh server");
  if (r.volume_claim.empty())
    throw refuse("the shared volume is missing", "--volume-claim", "name a PersistentVolumeClaim (ReadWriteMany) for data and checkpoints");
  if (!r.mount.starts_with("/")) throw refuse(fmt::format("mount {} is not an absolute path", r.mount), "--mount", "write a path such as /data");
  const int ranks = r.nodes * r.ranks_per_node;
  std::vector<std::string> line = {"mpirun", "-np", std::to_string(ranks), "--oversubscribe", "--bind-to", "none"};
  for (const char* parameter : {"pml ob1", "btl self,vader,tcp", "oob_tcp_keepalive_time 3", "oob_tcp_keepalive_intvl 1", "oob_tcp_keepalive_probes 3"}) {
    const std::string p = parameter;
    line.insert(line.end(), {"--mca", p.substr(0, p.find(' ')), p.substr(p.find(' ') + 1)});
  }
  line.insert(line.end(), {"--allow-run-as-root", "-x", "OMP_NUM_THREADS"});
  const std::vector<std::string> program = restartable(r, r.run_dir.empty() ? r.mount + "/" + r.name : r.run_dir);
  line.insert(line.end(), program.begin(), program.end());
  std::string command;
  for (const std::string& w : line) command += fmt::format("                - {}\n", yaml_text(w));
  const auto pod = [&](const char* role, const std::string& body) {
    return fmt::format(
        "    {}:\n      replicas: {}\n      restartPolicy: OnFailure\n      template:\n        spec:\n          containers:\n            - name: {}\n"
        "              image: {}\n{}              volumeMounts:\n                - name: shared\n                  mountPath: {}\n          volumes:\n"
        "            - name: shared\n              persistentVolumeClaim:\n                claimName: {}\n",
        role, std::string(role) == "Worker" ? r.nodes : 1, std::string(role) == "Worker" ? "worker" : "launcher", yaml_text(r.image), body, yaml_text(r.mount),
        yaml_text(r.volume_claim));
  };
  return fmt::format(
             "# For Kubernetes' MPI operator. The launcher's pod runs mpirun, which starts {} ranks on {} worker{}; a job that fails starts again from its\n"
             "# newest checkpoint on the shared volume.\n"
             "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: {}\nspec:\n  slotsPerWorker: {}\n  mpiImplementation: OpenMPI\n"
             "  runPolicy:\n    cleanPodPolicy: Running\n    backoffLimit: {}\n  mpiReplicaSpecs:\n",
             ranks, r.nodes, r.nodes == 1 ? "" : "s", r.name, r.ranks_per_node, r.restarts) +
      pod("Launcher",
          "              env:\n                - name: OMP_NUM_THREADS\n                  value: " + yaml_text(std::to_string(r.cpus_per_rank)) +
              "\n              command:\n" + command) +
      pod("Worker", fmt::format("              resources:\n                limits:\n                  cpu: {}\n", r.ranks_per_node * r.cpus_per_rank));
}

void write_script(const std::string& text, const std::string& path) { train::write_file_atomically(path, text, "launch script"); }

}  // namespace sindri::app
