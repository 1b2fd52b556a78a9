// The study finishing-time: by when is a kernel surely done, and how far below its bound is it?
#include <fmt/format.h>

#include <string>
#include <vector>

#include "solvers/configuration.hpp"
#include "src/studies/finishing_time/gpu_bounds.hpp"
#include "src/studies/finishing_time/gpu_rows.hpp"
#include "src/studies/finishing_time/schedule_search.hpp"
#include "src/studies/operator_launches/operator_launches.hpp"
#include "src/studies/rows.hpp"
#include "src/studies/study_record.hpp"

namespace tessera {
namespace {

constexpr char kFair[] = "fair";
constexpr char kUnfair[] = "unfair";

/// The part of the model's rows.
constexpr char kModel[] = "model";

/// A column of some parts; on the screen others have none.
StudyColumn in_part(const char* name, const char* header, const char* part) {
  return {.name = name, .header = header, .parts = {part}};
}

const std::vector<StudyColumn>& parameter_columns() {
  static const std::vector<StudyColumn> columns = {
      {"n", "", {kModel, kProgram}},   {"W", "", {kModel, kProgram}},
      {"rep", "", {kModel, kProgram}}, in_part("scalar", "", kProgram),
      in_part("memory", "", kProgram), in_part("blocks", "", kBlocks),
      in_part("slots", "", kBlocks),   in_part("operator", "", kKernel),
      in_part("degree", "p", kKernel), in_part("dofs", "DoFs", kKernel)};
  return columns;
}

std::vector<StudyColumn> metric_columns() {
  return {in_part("formula", "", kModel),
          in_part("safe", "", kModel),
          in_part("worst", "", kModel),
          in_part("best", "", kModel),
          in_part("warp_after_warp", "in turn", kModel),
          in_part("cycles_per_load", "c_LS", kProgram),
          in_part("cycles_per_multiply_add", "c_C", kProgram),
          in_part("chain", "", kProgram),
          in_part("bound_cycles", "bound", kProgram),
          in_part("cycles", "", kProgram),
          in_part("largest_cycles", "largest", kProgram),
          in_part("of_bound", "/bound", kProgram),
          in_part("graham_us", "bound us", kBlocks),
          in_part("all_us", "us", kBlocks),
          in_part("of_graham", "/bound", kBlocks),
          in_part("grid", "", kKernel),
          in_part("waves", "", kKernel),
          in_part("lower_us", "", kKernel),
          in_part("measured_us", "", kKernel),
          in_part("upper_us", "", kKernel),
          in_part("of_upper", "/upper", kKernel),
          in_part("of_lower", "/lower", kKernel),
          in_part("kernel", "", kKernel)};
}

/// As rows have it in their parameters.
std::vector<std::string> parameters(int threads, int repetitions) {
  return texts_in(parameter_columns(),
                  {{"n", std::to_string(threads)},
                   {"W", std::to_string(WarpProgram::of_threads(threads, 1).warps)},
                   {"rep", std::to_string(repetitions)}});
}

std::string row_text(const StudyRow& row) {
  return fmt::format("{} schedule, {} threads, {} repetitions", row.variant, row.parameters[0],
                     row.parameters[2]);
}

StudyRow searched(const std::string& variant, int threads, int repetitions) {
  StudyRow row{.variant = variant, .part = kModel, .parameters = parameters(threads, repetitions)};
  const WarpProgram program = WarpProgram::of_threads(threads, repetitions);
  if (program.warps > kLargestSearch / repetitions) {
    row.metrics = cells_in(metric_columns(), {{"formula", double(formula_cycles(program))},
                                              {"safe", double(safe_cycles(program))}});
    return row;
  }
  const bool is_fair = variant == kFair;
  const ScheduleRange range =
      search_schedules(program, is_fair ? Fairness::by_repetition : Fairness::none);
  row.metrics =
      cells_in(metric_columns(),
               {{"formula", double(formula_cycles(program))},
                {"safe", double(safe_cycles(program))},
                {"worst", double(range.worst)},
                {"best", double(range.best)},
                {"warp_after_warp",
                 is_fair ? StudyCell(double(warp_after_warp_cycles(program))) : StudyCell()}});
  if (range.worst > safe_cycles(program)) {
    row.correctness = Correctness::wrong;
    row.wrong = "a schedule exceeds the safe bound";
  }
  return row;
}

void measure_on_gpu(StudyRecord& record) {
  if (record.options().selects(kProgram)) measure_programs(record);
  if (record.options().selects(kBlocks)) measure_waiting_blocks(record);
  if (record.options().selects(kKernel)) measure_kernels(record);
}

void measure(StudyRecord& record) {
  const OwnValues& own = record.options().own;
  record.say(
      "model: one multiprocessor, W = n / 16 warps, program C (L L C)^rep S, each instruction one\n"
      "cycle; in a cycle two warps execute a C, and one an L or S; no unit idles while a warp "
      "waits\n"
      "formula: W (2 rep + 1) + 2 cycles; safe: W (2 rep + 1) + rep + 1; worst and best of all\n"
      "schedules, searched up to W rep = {}; fair: earlier repetitions go first\n",
      kLargestSearch);
  if (record.options().processor == Processor::cpu) {
    record.say("program, blocks, kernel: not measured: they need a GPU, --device cuda\n");
  }
  for (const char* const variant : {kFair, kUnfair}) {
    if (!record.options().selects(variant)) continue;
    for (const std::int64_t threads : own.numbers("threads-per-sm")) {
      for (const std::int64_t repetitions : own.numbers("rep")) {
        record.show_status(
            fmt::format("{}, {} threads, {} repetitions", variant, threads, repetitions));
        record.add(searched(variant, static_cast<int>(threads), static_cast<int>(repetitions)));
      }
    }
  }
  if constexpr (kHasCuda) {
    if (record.options().processor == Processor::gpu) measure_on_gpu(record);
  }
}

bool was_searched(const StudyTable& table, const StudyRow& row) {
  try {
    static_cast<void>(table.metric(row, "worst"));
    return true;
  } catch (const NotMeasured&) {
    return false;
  }
}

/// Rows whose schedules were searched. @throws NotMeasured if there are none
std::vector<const StudyRow*> searched_rows(const StudyTable& table) {
  std::vector<const StudyRow*> rows;
  for (const StudyRow& row : table.rows()) {
    if (was_searched(table, row)) rows.push_back(&row);
  }
  if (rows.empty()) throw NotMeasured("no row was searched");
  return rows;
}

Finding example(const StudyTable& table) {
  const StudyRow& row = table.at(kFair, 1, parameters(64, 1));
  const double worst = table.metric(row, "worst");
  const double best = table.metric(row, "best");
  return finding(verdict_of(worst == 14 && best == 13), fmt::format("{}, {}", worst, best));
}

Finding further_repetitions(const StudyTable& table) {
  const double second = table.metric(table.at(kFair, 1, parameters(64, 2)), "worst");
  const double third = table.metric(table.at(kFair, 1, parameters(64, 3)), "worst");
  return finding(verdict_of(second == 22 && third == 30), fmt::format("{}, {}", second, third));
}

Finding formula_bounds(const StudyTable& table) {
  const std::vector<const StudyRow*> rows = searched_rows(table);
  int exceeding = 0;
  std::string first;
  for (const StudyRow* row : rows) {
    const double worst = table.metric(*row, "worst");
    const double formula = table.metric(*row, "formula");
    if (worst <= formula) continue;
    if (exceeding++ == 0) first = fmt::format("; {}: {} > {}", row_text(*row), worst, formula);
  }
  return finding(verdict_of(exceeding == 0),
                 fmt::format("{} of {} rows exceed it{}", exceeding, rows.size(), first));
}

Finding warp_after_warp_is_worst(const StudyTable& table) {
  int compared = 0;
  int better = 0;
  for (const StudyRow* row : searched_rows(table)) {
    if (row->variant != kFair) continue;
    ++compared;
    if (table.metric(*row, "warp_after_warp") != table.metric(*row, "worst")) ++better;
  }
  if (compared == 0) throw NotMeasured("no fair schedule was searched");
  return finding(verdict_of(better == 0),
                 fmt::format("{} of {} rows have a worse one", better, compared));
}

std::vector<Claim> claims() {
  return {{.number = "F1",
           .statement = "64 threads, one repetition: the worst takes 14 cycles, another 13",
           .document = "14, 13",
           .rule = "the search gives 14 and 13",
           .judge = example},
          {.number = "F2",
           .statement = "each further repetition adds 8 for 64 threads",
           .document = "8",
           .rule = "the worst for 2 and 3 repetitions are 22 and 30",
           .judge = further_repetitions},
          {.number = "F3",
           .statement = "the formula bounds every schedule of the model",
           .document = "conjecture",
           .rule = "no row, fair or not, has a worst above it",
           .judge = formula_bounds},
          {.number = "F4",
           .statement = "the worst order is warp after warp",
           .document = "conjecture",
           .rule = "its number of cycles is the worst in all fair rows",
           .judge = warp_after_warp_is_worst},
          {.number = "F5",
           .statement = "the method carries over to hardware",
           .document = "open problem v",
           .rule = "no program takes more cycles than its bound, in any of its launches",
           .judge = programs_keep_bounds},
          {.number = "F6",
           .statement = "waves bound a real kernel",
           .document = "ours",
           .rule = "no kernel takes longer than its waves one after another from a cold cache",
           .judge = kernels_keep_bounds}};
}

std::vector<OwnOption> options() {
  std::vector<OwnOption> options = {{.name = "threads-per-sm",
                                     .placeholder = "N,...",
                                     .preset = "16,32,48,64,80,96",
                                     .help = "threads on a multiprocessor",
                                     .min = 1,
                                     .max = 2048,
                                     .numbers = OwnOption::Numbers::several},
                                    {.name = "rep",
                                     .placeholder = "N,...",
                                     .preset = "1,2,3,4,5",
                                     .help = "repetitions of the loop",
                                     .min = 1,
                                     .max = 1000,
                                     .numbers = OwnOption::Numbers::several},
                                    {.name = "memory",
                                     .placeholder = "MEMORY",
                                     .preset = "shared",
                                     .help = "where the programs on the GPU load from",
                                     .choices = {"shared", "l1", "l2", "dram"},
                                     .processors = {Processor::gpu}}};
  for (OwnOption& option : launch_options()) options.push_back(std::move(option));
  return options;
}

}  // namespace

StudyInfo finishing_time_study() {
  return {
      .name = "finishing-time",
      .question = "by when is a kernel surely done, and how far below its bound is it?",
      .document = "document 003",
      .needs = "CPU: a model; GPU: clocks of programs, and the launches of operators",
      .processors = {Processor::cpu, Processor::gpu},
      .variants = {kFair, kUnfair, kProgram, kBlocks, kKernel},
      .options = options(),
      .layout = {.parameters = parameter_columns(), .metrics = metric_columns(), .time_unit = ""},
      .claims = claims(),
      .measure = measure};
}

}  // namespace tessera
