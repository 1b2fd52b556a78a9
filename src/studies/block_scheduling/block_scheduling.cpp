// The study block-scheduling: where do the blocks of kernels go?
#include "solvers/configuration.hpp"
#include "src/studies/block_scheduling/scheduling_cases.hpp"
#include "src/studies/block_scheduling/scheduling_columns.hpp"
#include "src/studies/operator_launches/operator_launches.hpp"
#include "src/studies/rows.hpp"

namespace tessera {
namespace {

std::vector<OwnOption> options() {
  std::vector<OwnOption> options = {
      {.name = "sequences",
       .placeholder = "N",
       .preset = "200",
       .help = "random sequences of kernels on the GPU",
       .min = 1,
       .max = 100'000,
       .quick_preset = "20",
       .processors = {Processor::gpu}},
      {.name = "mismatches",
       .placeholder = "FILE.json",
       .preset = "",
       .help = "keeps sequences that were predicted wrongly, cut down to the fewest kernels",
       .numbers = OwnOption::Numbers::none,
       .processors = {Processor::gpu},
       .writes_file = true}};
  for (OwnOption& option : launch_options()) options.push_back(std::move(option));
  return options;
}

void measure_model(StudyRecord& record) {
  for (const GpuModel* gpu : {&rtx_3090(), &compute_capability_90()}) {
    for (const SchedulingCase& scheduling : scheduling_cases(*gpu)) {
      record.add({.variant = kModel,
                  .part = kCasesPart,
                  .parameters = case_parameters(scheduling.number, gpu->name),
                  .metrics = cells_in(record.table().layout().metrics,
                                      {{"predicted", predicted_result(*gpu, scheduling)},
                                       {"document", std::string(scheduling.result)},
                                       {"kernels", kernels_text(scheduling.kernels)}})});
    }
  }
}

void measure(StudyRecord& record) {
  const StudyOptions& options = record.options();
  record.say(
      "model: Algorithm 1 of the document, repaired, for its GPU and, scaled, for sm_90 (H100, "
      "H200)\n"
      "kernels: blocks x threads, registers a thread, shared memory a block; each in a stream of "
      "its\n"
      "own, even ones of more than three end before the last starts\n");
  if (options.processor == Processor::cpu) {
    record.say("probe, sequences, tail: not measured: they need a GPU, --device cuda\n");
  }
  if (options.selects(kModel)) measure_model(record);
  if constexpr (kHasCuda) {
    if (options.processor == Processor::cpu) return;
    if (options.selects(kProbe) || options.selects(kSequences)) measure_probe(record);
    if (options.selects(kTail)) measure_tails(record);
  }
}

}  // namespace

StudyInfo block_scheduling_study() {
  return {.name = "block-scheduling",
          .question = "where do blocks go, and which launches leave multiprocessors idle?",
          .document = "document 001",
          .needs = "CPU: a model; GPU: kernels side by side, and the launches of operators",
          .processors = {Processor::cpu, Processor::gpu},
          .variants = {kModel, kProbe, kSequences, kTail},
          .options = options(),
          .layout = scheduling_layout(),
          .claims = scheduling_claims(),
          .measure = measure};
}

}  // namespace tessera
