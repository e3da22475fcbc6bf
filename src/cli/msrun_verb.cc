// See msrun_verb.h.
#include "src/cli/msrun_verb.h"

#include <fmt/format.h>

#include <filesystem>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "src/cli/process.h"

namespace {

// Python's literals, as accepted by MindSpore's launcher.
bool read_bool(const std::string& flag, const std::string& text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  throw sindri::SettingsError(sindri::ErrorCode::kUsage, fmt::format("{}={} is neither True nor False", flag, text), "msrun",
                              flag == "--join" ? "write --join=True or --join=False"
                                               : "write True or False; cores for each worker by hand: taskset in the script, or sindri run --bind core");
}

}  // namespace

void MsrunVerb::add_to(CLI::App* app) {
  verb_ = app->add_subcommand("msrun",
                              "Start the workers of a job with the arguments of MindSpore's msrun; also installed as msrun\n\nExamples:\n"
                              "  sindri msrun --worker_num=2 --local_worker_num=2 --join=True train.py --epochs 3\n"
                              "  sindri msrun --worker_num=16 --local_worker_num=8 --node_rank=1 --master_addr=10.0.0.1 --log_dir=logs train.py\n");
  verb_->footer("SCRIPT and its arguments come last. Exit code with --join=True: the job's, as of sindri run; else 0 once the workers are started.");
  verb_->add_option("--worker_num", request_.worker_num, "workers of the whole job")->type_name("N")->capture_default_str()->group("Workers");
  verb_->add_option("--local_worker_num", request_.local_worker_num, "workers on this host")->type_name("N")->capture_default_str()->group("Workers");
  verb_->add_option("--node_rank", request_.node_rank, "index of this host, from 0; required if the job has several hosts")
      ->type_name("N")
      ->capture_default_str()
      ->group("Workers");
  verb_->add_option("--master_addr", request_.master_addr, "address of host 0; unused by a job on one host")
      ->type_name("HOST")
      ->capture_default_str()
      ->group("Workers");
  verb_->add_option("--master_port", request_.master_port, "port on host 0; a job on one host uses a free one")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str()
      ->group("Workers");
  verb_->add_option("--rank_table_file", request_.rank_table_file, "start this host's ranks of a rank table")->type_name("FILE")->group("Workers");
  verb_->add_option("--cluster_time_out", request_.cluster_time_out, "seconds until all workers have joined; negative: a day")
      ->type_name("S")
      ->capture_default_str()
      ->group("Workers");
  verb_->add_option("--bind_core", bind_core_, "True: give each worker a share of the cores")->type_name("True|False")->capture_default_str()->group("Workers");
  verb_->add_option("--bind_numa", bind_numa_, "no effect: --bind_core=True assigns neighbouring cores")
      ->type_name("True|False")
      ->capture_default_str()
      ->group("Workers");
  verb_->add_option("--join", join_, "True: show the workers' output, wait, and return the job's exit code; False: return at once")
      ->type_name("True|False")
      ->capture_default_str()
      ->group("Output");
  verb_->add_option("--log_dir", request_.log_dir, "folder of worker_<rank>.log and scheduler.log (default: the current folder)")
      ->type_name("DIR")
      ->group("Output");
  verb_->add_option("--worker_log_name", request_.worker_log_name, "write NAME_<rank>.log instead of worker_<rank>.log; may contain {ip} and {hostname}")
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Output");
  verb_->add_option("--tail_worker_log", request_.tail_worker_log, "local workers to show with --join=True: -1 for all, or 0,2")
      ->type_name("LIST")
      ->capture_default_str()
      ->group("Output");
  verb_->add_option("--sim_level", sim_level_, "refused: workers are not simulated")->type_name("N")->group("Output");
  verb_->add_option("--sim_rank_id", sim_rank_id_, "refused: workers are not simulated")->type_name("N")->group("Output");
  verb_->prefix_command();
}

int MsrunVerb::run() {
  request_.command = verb_->remaining();
  if (!request_.command.empty() && request_.command[0] == "--") request_.command.erase(request_.command.begin());
  if (!request_.command.empty() && request_.command[0].starts_with("-")) {
    std::vector<std::string> flags;
    for (const CLI::Option* o : verb_->get_options())
      for (const std::string& name : o->get_lnames()) flags.push_back("--" + name);
    const std::string flag = request_.command[0].substr(0, request_.command[0].find('='));
    const std::string near = sindri::did_you_mean(flag, flags);
    throw sindri::SettingsError(sindri::ErrorCode::kUsage, fmt::format("unknown flag {}", flag), "msrun",
                                near.empty() ? "see msrun --help; the script's own arguments come after the script" : near);
  }
  if (sim_level_ >= 0 || sim_rank_id_ >= 0)
    throw sindri::SettingsError(sindri::ErrorCode::kUsage, "workers are not simulated", sim_level_ >= 0 ? "--sim_level" : "--sim_rank_id",
                                "remove it; sindri run --dry-run prints what would be started");
  request_.join = read_bool("--join", join_);
  request_.bind_core = read_bool("--bind_core", bind_core_);
  if (read_bool("--bind_numa", bind_numa_)) print_err("msrun: --bind_numa has no effect; --bind_core=True gives each worker neighbouring cores\n");
  request_.launcher = std::filesystem::read_symlink("/proc/self/exe").string();
  return sindri::app::msrun(request_);
}

bool is_msrun(const char* program) { return std::filesystem::path(program).filename() == "msrun"; }
