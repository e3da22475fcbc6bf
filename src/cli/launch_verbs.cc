// See launch_verbs.h.
#include "src/cli/launch_verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "sindri/app/app.h"
#include "src/cli/checks.h"
#include "src/cli/process.h"

void LaunchVerbs::add_to(CLI::App* app) {
  add_run(app);
  add_script(app);
  add_table(app);
  folder_ = app->add_subcommand("scripts",
                                "Print the folder of the launch scripts and example rank tables\n\nExamples:\n"
                                "  sindri scripts\n  bash \"$(sindri scripts)/run_stage_1.sh\" ./imagenet\n");
  docs_ = app->add_subcommand("docs", "Print the folder of the documentation\n\nExamples:\n  sindri docs\n  less \"$(sindri docs)/errors.md\"\n");
}

void LaunchVerbs::add_run(CLI::App* app) {
  run_ = app->add_subcommand("run",
                             "Start the ranks of a job on this host, or on several hosts with mpirun or srun, and stop them together\n\nExamples:\n"
                             "  sindri run -n 2 -- sindri train --config configs/digits.yaml\n"
                             "  sindri run --hosts a:4,b:4 --log-dir logs -- sindri train --config configs/resnet20_cifar10.yaml\n");
  run_->footer("Write the program after --. Exit code: that of the rank that caused the failure (128 + s for signal s); 124 after --timeout.");
  const auto whole = CLI::Range(1, 65536);
  run_->add_option("-n,--ranks", request_.ranks, "number of ranks (default: those of the hosts or the table, otherwise 1)")
      ->type_name("N")
      ->check(whole)
      ->group("Ranks");
  run_->add_option("--hosts", request_.hosts, "hosts with their slots; ranks are started by mpirun, or by srun inside a Slurm allocation")
      ->type_name("a:4,b:4")
      ->group("Ranks");
  run_->add_option("--rank-table", request_.rank_table, "start this host's ranks of a rank table (default: RANK_TABLE_FILE)")
      ->type_name("FILE")
      ->group("Ranks");
  run_->add_option("--engine", request_.engine, "auto, local, mpi or slurm; auto: local without --hosts")
      ->check(CLI::IsMember({"auto", "local", "mpi", "slurm"}))
      ->capture_default_str()
      ->group("Ranks");
  run_->add_option("--interface", request_.interface, "subnet for mpirun's connections between hosts")->type_name("10.0.0.0/24")->group("Ranks");
  run_->add_option("--bind", request_.bind, "none, or core: give each rank a share of the cores, if there are at least as many cores as ranks")
      ->check(CLI::IsMember({"none", "core"}))
      ->capture_default_str()
      ->group("Ranks");
  run_->add_option("--log-dir", request_.log_dir, "folder of rank_<r>.log; rank 0's output is also shown")
      ->type_name("DIR")
      ->capture_default_str()
      ->group("Folders");
  run_->add_option("--work-dir", request_.work_dir, "working folder of each rank; may contain {rank}, {local} or {device}")
      ->type_name("PATTERN")
      ->group("Folders");
  run_->add_option("--log-file", request_.log_file, "log of each rank, relative to its folder; replaces --log-dir")->type_name("PATTERN")->group("Folders");
  run_->add_option("--env-file", request_.env_file, "file to write each rank's environment to, without the job's secret")
      ->type_name("PATTERN")
      ->group("Folders");
  run_->add_option("--max-restarts", request_.max_restarts, "restart after exit code 7 or a signal; sindri train continues from its newest checkpoint")
      ->type_name("K")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str()
      ->group("Failures");
  run_->add_option("--timeout", request_.timeout, "time limit of the job in seconds (default: none)")
      ->type_name("S")
      ->check(kSeconds)
      ->check(CLI::PositiveNumber)
      ->group("Failures");
  run_->add_option("--term-grace", request_.term_grace, "seconds between SIGINT or SIGTERM and killing the ranks, which have 5 more to exit on their own")
      ->type_name("S")
      ->check(kSeconds)
      ->check(CLI::NonNegativeNumber)
      ->envname("SINDRI_DIST_TERM_GRACE")
      ->capture_default_str()
      ->group("Failures");
  run_->add_flag("--with-parent", request_.with_parent, "kill the ranks when the parent process of this one ends")->group("Failures");
  run_->add_flag("--dry-run", request_.dry_run, "print the commands and environments; start nothing")->group("Failures");
  run_->add_flag("--inside", inside_, "")->group("");  // started by mpirun and srun instead of the rank's program
}

void LaunchVerbs::add_script(CLI::App* app) {
  script_ =
      app->add_subcommand("launch-script",
                          "Write a job script for Slurm or Kubernetes\n\nExamples:\n"
                          "  sindri launch-script slurm --nodes 2 --ranks-per-node 8 --run-dir runs/a -- sindri train --config configs/digits.yaml > job.sh\n"
                          "  sindri launch-script mpijob --nodes 2 --image sindri:1 --volume-claim data -- sindri train --config /data/c.yaml\n");
  script_->require_subcommand(1);
  slurm_ =
      script_->add_subcommand("slurm",
                              "Write an sbatch script that saves before its time limit and queues itself again\n\nExamples:\n"
                              "  sindri launch-script slurm --nodes 2 --ranks-per-node 8 --run-dir runs/a -- sindri train --config configs/digits.yaml\n"
                              "  sindri launch-script slurm --run-dir runs/a --backend gloo --output job.sh -- sindri train --config configs/digits.yaml\n");
  mpijob_ = script_->add_subcommand("mpijob",
                                    "Write an MPIJob (kubeflow.org/v2beta1) with a launcher, workers and a shared volume\n\nExamples:\n"
                                    "  sindri launch-script mpijob --nodes 2 --image sindri:1 --volume-claim data -- sindri train --config /data/c.yaml\n"
                                    "  sindri launch-script mpijob --image sindri:1 --volume-claim data --output job.yaml -- sindri train\n");
  for (CLI::App* verb : {slurm_, mpijob_}) {
    verb->add_option("--nodes", batch_.nodes, "hosts")->type_name("N")->capture_default_str();
    verb->add_option("--ranks-per-node", batch_.ranks_per_node, "ranks of each")->type_name("N")->capture_default_str();
    verb->add_option("--cpus-per-rank", batch_.cpus_per_rank, "cores of each rank")->type_name("N")->capture_default_str();
    verb->add_option("--name", batch_.name, "of the job")->type_name("NAME")->capture_default_str();
    verb->add_option("--run-dir", batch_.run_dir, "train.run_dir of the training, on a shared file system")->type_name("DIR");
    verb->add_option("--output", output_, "file to write (default: standard output)")->type_name("FILE");
  }
  slurm_->add_option("--backend", batch_.backend, "mpi (srun --mpi=pmix) or gloo (--mpi=none)")->type_name("NAME")->capture_default_str();
  slurm_->add_option("--time", batch_.time, "limit of the job")->type_name("H:M:S")->capture_default_str();
  slurm_->add_option("--partition", batch_.partition, "partition (default: the system's)")->type_name("NAME");
  mpijob_->add_option("--image", batch_.image, "container image with sindri, Open MPI and an ssh server")->type_name("IMAGE")->required();
  mpijob_->add_option("--volume-claim", batch_.volume_claim, "PersistentVolumeClaim for data and checkpoints")->type_name("NAME")->required();
  mpijob_->add_option("--mount", batch_.mount, "mount point")->type_name("PATH")->capture_default_str();
  mpijob_->add_option("--restarts", batch_.restarts, "runPolicy.backoffLimit")->type_name("K")->check(CLI::Range(0, 1000))->capture_default_str();
}

void LaunchVerbs::add_table(CLI::App* app) {
  table_ =
      app->add_subcommand("ranktable",
                          "Generate, merge, check and show rank tables\n\nExamples:\n  sindri ranktable generate --device-num \"[0,8)\" --server-ip 10.0.0.1\n"
                          "  sindri ranktable merge hccl_8p_01234567_10.0.0.1.json hccl_8p_01234567_10.0.0.2.json\n");
  table_->require_subcommand(1);
  generate_ = table_->add_subcommand("generate",
                                     "Write the table of one server\n\nExamples:\n  sindri ranktable generate --device-num \"[0,8)\"\n"
                                     "  sindri ranktable generate --device-num \"[0,4)\" --visible-devices 4,5,6,7 --server-ip 10.0.0.1\n");
  generate_->add_option("--device-num", table_request_.device_num, "half-open range of logical devices")->type_name("[A,B)")->required();
  generate_->add_option("--visible-devices", table_request_.visible_devices, "physical device of each logical number")->type_name("4,5,6,7");
  generate_->add_option("--server-ip", table_request_.server_ip, "address of this server (default: of the default route)")->type_name("A");
  generate_->add_option("--device-ips", table_request_.device_ips, "addresses for data (default: the server's)")->type_name("A,B,...");
  generate_->add_option("--conf", table_request_.conf, "file with lines address_<device>=<ip>, in place of --device-ips")->type_name("FILE");
  generate_->add_flag("--strict-groups", table_request_.strict_groups, "a range across device 4 has to be [0,8)");
  generate_->add_option("--out", output_, "file to write (default: hccl_<n>p_<devices>_<server>.json)")->type_name("FILE");
  merge_ = table_->add_subcommand("merge",
                                  "Merge the tables of several servers; ranks are renumbered in the order of the files\n\nExamples:\n  sindri ranktable merge "
                                  "a.json b.json\n  sindri ranktable merge --by-address --out table.json hccl_*.json\n");
  merge_->add_option("files", files_, "rank tables")->type_name("FILE...")->required();
  merge_->add_flag("--by-address", by_address_, "servers in the order of their addresses");
  merge_->add_option("--out", output_, "file to write (default: hccl_<servers>s_<ranks>p.json)")->type_name("FILE");
  check_ = table_->add_subcommand(
      "check", "List every problem of rank tables\n\nExamples:\n  sindri ranktable check table.json\n  RANK_SIZE=16 sindri ranktable check table.json\n");
  check_->add_option("files", files_, "rank tables")->type_name("FILE...")->required();
  show_ = table_->add_subcommand(
      "show", "Print rank, server and device of each rank\n\nExamples:\n  sindri ranktable show table.json\n  sindri ranktable show table.json | head\n");
  show_->add_option("files", files_, "rank tables")->type_name("FILE...")->required();
}

void LaunchVerbs::take_command(std::vector<std::string>* arguments) {
  if (arguments->size() < 2 || ((*arguments)[1] != "run" && (*arguments)[1] != "launch-script")) return;
  const auto dashes = std::find(arguments->begin(), arguments->end(), "--");
  if (dashes == arguments->end()) return;
  command_.assign(dashes + 1, arguments->end());
  arguments->erase(dashes, arguments->end());
}

int LaunchVerbs::run() {
  if (folder_->parsed()) {
    print_out(sindri::app::scripts_folder() + "\n");
    return 0;
  }
  if (docs_->parsed()) {
    print_out(sindri::app::docs_folder() + "\n");
    return 0;
  }
  if (table_->parsed()) return run_table();
  if (run_->parsed()) {
    request_.command = command_;
    request_.launcher = std::filesystem::read_symlink("/proc/self/exe").string();
    return inside_ ? sindri::app::launch_inside(request_) : sindri::app::launch(request_);
  }
  batch_.command = command_;
  const std::string text = slurm_->parsed() ? sindri::app::slurm_script(batch_) : sindri::app::mpijob(batch_);
  if (output_.empty()) print_out(text);
  else sindri::app::write_script(text, output_);
  return 0;
}

int LaunchVerbs::run_table() {
  using namespace sindri::app;
  if (generate_->parsed() || merge_->parsed()) {
    const sindri::comm::RankTable table = generate_->parsed() ? generate_rank_table(table_request_) : merge_rank_tables(files_, by_address_);
    const std::string path = !output_.empty() ? output_ : generate_->parsed() ? generated_name(table) : merged_name(table);
    write_rank_table(table, path);
    print_out(show_rank_table(table) + path + "\n");
    return 0;
  }
  for (const std::string& file : files_) print_out(check_->parsed() ? check_rank_table_report(file) : show_rank_table(sindri::comm::read_rank_table(file)));
  return 0;
}
