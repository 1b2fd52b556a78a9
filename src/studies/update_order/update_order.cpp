// The study update-order: in which order does this GPU update a vector in place, and what does the
// order do to a relaxation without barriers?
#include "src/studies/rows.hpp"
#include "src/studies/study_record.hpp"
#include "src/studies/update_order/probe_rows.hpp"
#include "src/studies/update_order/relaxation_problems.hpp"
#include "src/studies/update_order/relaxation_rows.hpp"
#include "src/studies/update_order/update_order_claims.hpp"
#include "src/studies/update_order/update_order_table.hpp"

namespace tessera {
namespace {

void measure(StudyRecord& record) {
  if (record.options().processor == Processor::gpu) {
    measure_order_probes(record);
  } else {
    record.say("probe, start: not measured: they need a GPU\n");
  }
  measure_relaxation(record);
}

std::vector<std::string> variants() {
  std::vector<std::string> names = probe_variants();
  for (std::string& name : relaxation_variants()) names.push_back(std::move(name));
  return names;
}

std::vector<OwnOption> own_options() {
  std::vector<std::string> problems = {"all"};
  for (const RelaxationProblem& problem : relaxation_problems()) problems.push_back(problem.name);
  return {{.name = "executions",
           .placeholder = "N",
           .preset = "20000",
           .help = "of each probe kernel, in batches of 100; the document has 1000000",
           .min = 1,
           .max = 1'000'000'000,
           .quick_preset = "1000",
           .processors = {Processor::gpu}},
          {.name = "problem",
           .placeholder = "NAME",
           .preset = "all",
           .help = "that is relaxed: degree, cells along each axis",
           .choices = std::move(problems),
           .quick_preset = relaxation_problems().front().name}};
}

}  // namespace

StudyInfo update_order_study() {
  return {.name = "update-order",
          .question =
              "in which order does this GPU update a vector in place, and what does the order do "
              "to a relaxation without barriers?",
          .document = "document 000; the last two claims are our own manual's (operators/)",
          .needs = "a GPU; the relaxation runs on the CPU, too",
          .processors = {Processor::cpu, Processor::gpu},
          .variants = variants(),
          .options = own_options(),
          .layout = update_order_layout(),
          .claims = update_order_claims(),
          .measure = measure};
}

}  // namespace tessera
