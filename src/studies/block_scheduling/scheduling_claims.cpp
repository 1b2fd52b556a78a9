// The columns of the study block-scheduling, and its claims.
#include <fmt/format.h>

#include <algorithm>

#include "src/studies/block_scheduling/scheduling_cases.hpp"
#include "src/studies/block_scheduling/scheduling_columns.hpp"

namespace tessera {
namespace {

/// Whether the model gives a case's result for both GPUs, and the GPU in use, where one was probed.
Finding judge_case(const StudyTable& table, std::size_t number) {
  std::vector<std::string> here;
  bool agrees = true;
  const auto take = [&](const StudyRow& row, std::string_view name, std::string_view result) {
    const auto& found = std::get<std::string>(row.metrics.front());
    agrees = agrees && found == result;
    here.push_back(fmt::format("{}: {}", name, found));
  };
  for (const GpuModel* gpu : {&rtx_3090(), &compute_capability_90()}) {
    const SchedulingCase scheduling = scheduling_cases(*gpu).at(number);
    take(table.at(kModel, 1, case_parameters(scheduling.number, gpu->name)), gpu->name,
         scheduling.result);
  }
  for (const StudyRow& row : table.rows()) {
    const SchedulingCase scheduling = scheduling_cases(rtx_3090()).at(number);
    if (row.variant != kProbe || row.parameters.front() != scheduling.number) continue;
    if (!row.not_measured.empty()) throw NotMeasured(row.not_measured);
    take(row, "measured", scheduling.result);
  }
  return finding(verdict_of(agrees), fmt::format("{}", fmt::join(here, "; ")));
}

double exact(const StudyTable& table, const char* predictor) {
  const std::vector<StudyRow>& rows = table.rows();
  if (std::none_of(rows.begin(), rows.end(),
                   [](const StudyRow& row) { return row.variant == kSequences; })) {
    throw NotMeasured("needs a GPU, and the variant sequences");
  }
  return table.metric(table.at(kSequences, 1, predictor_parameters(predictor)), "exact_percent");
}

Finding aligns_perfectly(const StudyTable& table) {
  const double percent = exact(table, kCalibrated);
  return finding(verdict_of(percent == 100.0), fmt::format("{:.3g} %", percent));
}

Finding not_in_turn(const StudyTable& table) {
  const double in_turn = exact(table, kInTurn);
  const double calibrated = exact(table, kCalibrated);
  return finding(verdict_of(in_turn < calibrated),
                 fmt::format("{:.3g} against {:.3g} %", in_turn, calibrated));
}

}  // namespace

StudyLayout scheduling_layout() {
  const auto in_cases = [](const char* name) { return StudyColumn{name, "", {kCasesPart}}; };
  const auto in_sequences = [](const char* name, const char* header) {
    return StudyColumn{name, header, {kSequencesPart}};
  };
  const auto in_tails = [](const char* name, const char* header) {
    return StudyColumn{name, header, {kTailPart}};
  };
  return {.parameters = {in_cases("case"), in_cases("gpu"), in_sequences("predictor", ""),
                         in_tails("operator", ""), in_tails("degree", "p"),
                         in_tails("dofs", "DoFs"), in_tails("work", "")},
          .metrics = {StudyColumn{"predicted", "places", {kCasesPart}},
                      in_cases("document"),
                      in_cases("kernels"),
                      in_sequences("sequences", ""),
                      in_sequences("exact_percent", "exact %"),
                      in_sequences("multiprocessors_percent", "SM-exact %"),
                      in_sequences("company_percent", "co-run-exact %"),
                      in_tails("launches", ""),
                      in_tails("grid", ""),
                      in_tails("threads_per_block", "threads"),
                      in_tails("registers", "regs"),
                      in_tails("shared_bytes", "shared-B"),
                      in_tails("local_bytes", "local-B"),
                      in_tails("blocks_per_multiprocessor", "blocks/SM"),
                      in_tails("limit", ""),
                      in_tails("slots", ""),
                      in_tails("waves", ""),
                      in_tails("last_wave_percent", "last %"),
                      in_tails("idle_percent", "idle %"),
                      in_tails("microseconds", "us"),
                      in_tails("share_percent", "us-of-all %"),
                      in_tails("step_percent", "step %"),
                      in_tails("kernel", "")},
          .time_unit = ""};
}

std::vector<std::string> case_parameters(std::string_view number, std::string_view gpu) {
  return texts_in(scheduling_layout().parameters,
                  {{"case", std::string(number)}, {"gpu", std::string(gpu)}});
}

std::vector<std::string> predictor_parameters(const std::string& predictor) {
  return texts_in(scheduling_layout().parameters, {{"predictor", predictor}});
}

std::vector<Claim> scheduling_claims() {
  std::vector<Claim> claims;
  const std::vector<SchedulingCase> cases = scheduling_cases(rtx_3090());
  for (std::size_t number = 0; number < cases.size(); ++number) {
    claims.push_back(
        {.number = fmt::format("B{}", number + 1),
         .statement = fmt::format("Algorithm 1 explains case {}: {}", cases[number].number,
                                  cases[number].shows),
         .document = std::string(cases[number].result),
         .rule =
             "the model gives that result for both GPUs, and so does the GPU that is probed, if "
             "one is",
         .judge = [number](const StudyTable& table) { return judge_case(table, number); }});
  }
  claims.push_back({.number = "B10",
                    .statement = "Algorithm 1 aligns perfectly with actual scheduling",
                    .document = "no count",
                    .rule = "with the sequence of equals read off the GPU, it is exact for all "
                            "random sequences of kernels",
                    .judge = aligns_perfectly});
  claims.push_back({.number = "B11",
                    .statement = "round-robin does not explain where blocks go",
                    .document = "no count",
                    .rule = "it is exact for fewer sequences than calibrated Algorithm 1",
                    .judge = not_in_turn});
  return claims;
}

}  // namespace tessera
