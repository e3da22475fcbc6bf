// See plan_verb.h.
#include "src/cli/plan_verb.h"

#include "src/cli/process.h"

void PlanVerb::add_to(CLI::App* app) {
  sindri::measure::PlanRequest& r = request_;
  verb_ = app->add_subcommand("plan",
                              "Predict how data-parallel training of a network scales: buckets, overlap, efficiency\n\nExamples:\n"
                              "  sindri plan --net resnet50 --scale\n"
                              "  sindri plan --net resnet20 --batch 32 --rate 420 --ranks 8 --suggest-fusion\n");
  verb_->add_option("--net", r.net, "name of the network; sindri summary lists them")->type_name("NET")->required();
  verb_->add_option("--classes", r.num_classes, "number of classes (default: the network's)")->type_name("N");
  verb_->add_flag("--scale", r.scale, "print the efficiency for several rank counts, batch sizes and networks")->group("Output");
  verb_->add_flag("--suggest-fusion", r.suggest_fusion, "print the all_reduce_fusion_config with the shortest predicted step")->group("Output");
  verb_->add_option("--batch", r.batches, "samples per rank and step (default: 256; with --scale 256,32)")
      ->type_name("N[,N...]")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb_->add_option("--rate", r.rate, "samples per second of one rank (default for resnet50: 2470, from the published runs)")->type_name("N");
  verb_->add_option("--ranks", r.ranks, "number of ranks (default: 16; with --scale 16,64,256,1024,4096)")
      ->type_name("N[,N...]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Layout");
  verb_->add_option("--ranks-per-host", r.ranks_per_host, "ranks per host")->type_name("N")->capture_default_str()->group("Layout");
  CLI::Option* network = verb_->add_option("--network", r.network, "Gbit/s of each host's network card (default: 25; with --scale 25,100)")
                             ->type_name("GBIT[,GBIT...]")
                             ->delimiter(',')
                             ->allow_extra_args(false)
                             ->group("Layout");
  verb_->add_flag("--measured", r.measured, "use the link constants that sindri comm-bench measured")->group("Layout")->excludes(network);
  CLI::Option* bucket = verb_->add_option("--bucket-mb", r.bucket_mb, "size of automatic buckets")->type_name("MB")->capture_default_str()->group("Buckets");
  fusion_ = verb_->add_option("--fusion", r.fusion, "all_reduce_fusion_config: the last gradient of each bucket")
                ->type_name("N[,N...]")
                ->delimiter(',')
                ->allow_extra_args(false)
                ->excludes(bucket)
                ->group("Buckets");
  verb_->add_option("--compression", r.compression, "type on the wire between hosts: none, bf16 or fp16")
      ->type_name("TYPE")
      ->capture_default_str()
      ->group("Buckets");
}

int PlanVerb::run() {
  request_.fusion_given = fusion_->count() > 0;
  print_out(sindri::measure::plan(request_));
  return 0;
}
