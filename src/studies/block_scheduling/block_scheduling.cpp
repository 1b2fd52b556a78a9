// The study block-scheduling: where do the blocks of kernels go?
#include <fmt/format.h>

#include <string>
#include <vector>

#include "src/studies/block_scheduling/scheduling_cases.hpp"
#include "src/studies/rows.hpp"
#include "src/studies/study_record.hpp"

namespace tessera {
namespace {

constexpr char kModel[] = "model";

const std::vector<const GpuModel*>& gpus() {
  static const std::vector<const GpuModel*> all = {&rtx_3090(), &compute_capability_90()};
  return all;
}

std::vector<std::string> parameters(const SchedulingCase& scheduling, const GpuModel& gpu) {
  return {std::string(scheduling.number), std::string(gpu.name)};
}

/// "41x256, 32 registers, 48 KiB" of the kernels, equal neighbors as "8 of 82x32".
std::string kernels_text(const std::vector<KernelLaunch>& kernels) {
  std::vector<std::string> texts;
  for (std::size_t first = 0, next = 0; first < kernels.size(); first = next) {
    const KernelLaunch& kernel = kernels[first];
    while (next < kernels.size() && kernels[next] == kernel) ++next;
    texts.push_back(fmt::format("{}{}x{} {}",
                                next - first > 1 ? fmt::format("{} of ", next - first) : "",
                                kernel.blocks, kernel.threads, kernel.registers));
    if (kernel.shared_bytes > 0) {
      texts.back() += fmt::format(" {}K", kernel.shared_bytes / 1024);
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

void measure(StudyRecord& record) {
  record.say(
      "model: Algorithm 1 of the document, repaired, for its GPU and, scaled, for sm_90 (H100, "
      "H200)\n"
      "kernels: blocks x threads, registers a thread, shared memory a block; each in a stream of "
      "its\n"
      "own, even ones of more than three end before the last starts\n"
      "whether a GPU does the same (claims B10 and B11) is left out: it needs kernels that record\n"
      "where and when their blocks run, which this study does not have\n");
  if (!record.options().selects(kModel)) return;
  for (const GpuModel* gpu : gpus()) {
    for (const SchedulingCase& scheduling : scheduling_cases(*gpu)) {
      const std::string predicted = predicted_result(*gpu, scheduling);
      StudyRow row{
          .variant = kModel,
          .parameters = parameters(scheduling, *gpu),
          .metrics = {predicted, std::string(scheduling.result), kernels_text(scheduling.kernels)}};
      record.add(std::move(row));
    }
  }
}

/// Whether the model gives a case's result for all GPUs.
Finding judge_case(const StudyTable& table, std::size_t number) {
  std::vector<std::string> here;
  bool agrees = true;
  for (const GpuModel* gpu : gpus()) {
    const SchedulingCase scheduling = scheduling_cases(*gpu).at(number);
    const StudyRow& row = table.at(kModel, 1, parameters(scheduling, *gpu));
    const auto& predicted = std::get<std::string>(row.metrics.front());
    agrees = agrees && predicted == scheduling.result;
    here.push_back(fmt::format("{}: {}", gpu->name, predicted));
  }
  return finding(verdict_of(agrees), fmt::format("{}", fmt::join(here, "; ")));
}

std::vector<Claim> claims() {
  std::vector<Claim> claims;
  const std::vector<SchedulingCase> cases = scheduling_cases(rtx_3090());
  for (std::size_t number = 0; number < cases.size(); ++number) {
    claims.push_back(
        {.number = fmt::format("B{}", number + 1),
         .statement = fmt::format("Algorithm 1 explains case {}: {}", cases[number].number,
                                  cases[number].shows),
         .document = std::string(cases[number].result),
         .rule = "the model gives that result for both GPUs",
         .judge = [number](const StudyTable& table) { return judge_case(table, number); }});
  }
  return claims;
}

}  // namespace

StudyInfo block_scheduling_study() {
  return {.name = "block-scheduling",
          .question = "where do the blocks of kernels go that share a GPU?",
          .document = "document 001",
          .needs = "CPU: a model; nothing is timed",
          .processors = {Processor::cpu},
          .variants = {kModel},
          .options = {},
          .layout = {.parameters = {{"case"}, {"gpu"}},
                     .metrics = {{"predicted"}, {"document"}, {"kernels"}},
                     .time_unit = ""},
          .claims = claims(),
          .measure = measure};
}

}  // namespace tessera
