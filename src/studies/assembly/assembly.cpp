// The study assembly: which way of protecting shared entries assembles fastest?
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mesh/partition.hpp"
#include "solvers/configuration.hpp"
#include "solvers/memory/device.hpp"
#include "src/studies/assembly/assembly_check.hpp"
#include "src/studies/assembly/assembly_claims.hpp"
#include "src/studies/assembly/assembly_gpu.hpp"
#include "src/studies/assembly/assembly_method.hpp"
#include "src/studies/assembly/delaunay_square.hpp"
#include "src/studies/assembly/paper_times.hpp"
#include "src/studies/rows.hpp"
#include "src/studies/sharing/hardware_transactions.hpp"
#include "src/studies/sharing/transaction_options.hpp"
#include "src/studies/study_record.hpp"
#include "src/studies/thread_team.hpp"

namespace tessera {
namespace {

const char* storage_name(MatrixStorage storage) {
  return storage == MatrixStorage::full ? "full" : "csr";
}

double mebibytes(Index bytes) { return static_cast<double>(bytes) / double(1U << 20U); }

/// "always [madvise] never", or that the system does not say.
std::string huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text;
  std::getline(file, text);
  return text.empty() ? "not known" : text;
}

TriangleMesh study_mesh(Index refinements, const std::string& numbering, std::uint64_t seed) {
  TriangleMesh mesh = delaunay_square();
  for (Index k = 0; k < refinements; ++k) mesh = refined(mesh);
  if (numbering == "hilbert") {
    number_along_hilbert_curve(mesh);
  } else {
    number_randomly(mesh, seed);
  }
  return mesh;
}

/// The rows of one mesh and one storage of the matrix.
class TargetRows {
 public:
  /// @param copy_bandwidth of the GPU in bytes per second; 0: the rows are of the CPU
  TargetRows(StudyRecord& record, const TriangleMesh& mesh,
             const std::vector<std::vector<Index>>& colors, MatrixStorage storage,
             double copy_bandwidth)
      : record_(record),
        mesh_(mesh),
        colors_(colors),
        target_(assembly_target(mesh, storage)),
        counts_(addition_counts(mesh, target_)),
        values_(target_.entries),
        serial_(serial_values()) {
    if constexpr (kHasCuda) {
      if (copy_bandwidth > 0.0) {
        gpu_.emplace(record, task(), counts_, serial_, copy_bandwidth);
      }
    }
  }

  void measure(int operations) {
    for (const AssemblyInfo& info : assembly_table()) {
      const bool is_stored =
          target_.storage == MatrixStorage::csr || info.storages == AssemblyInfo::Storages::both;
      if (!record_.options().selects(std::string(info.name)) || !is_stored) continue;
      if (info.sharing == Sharing::one_thread) {
        record_.add(measured(info, operations, 1));
        continue;
      }
      if (gpu_) {
        if (info.on_gpu) record_.add(gpu_->measured(info, operations, parameters(operations)));
        continue;
      }
      if (info.make == nullptr) continue;
      for (const int threads : record_.options().threads) {
        record_.add(measured(info, operations, threads));
      }
    }
  }

 private:
  [[nodiscard]] AssemblyTask task() {
    return {.mesh = mesh_, .target = target_, .colors = colors_, .values = values_};
  }

  [[nodiscard]] std::vector<std::string> parameters(int operations) const {
    return assembly_parameters(storage_name(target_.storage), operations,
                               std::ssize(mesh_.triangles),
                               record_.options().own.text("numbering"));
  }

  std::vector<double> serial_values() {
    const AssemblyInfo& serial = assembly_table().front();
    assemble(*serial.make(task(), {Contribution::Kind::stiffness, 1}, {}), 1);
    return values_;
  }

  void prepare(AssemblyMethod& method, int thread, int threads) {
    const Range part = partition(target_.entries, thread, threads);
    std::fill(values_.begin() + part.begin, values_.begin() + part.end, 0.0);
    method.prepare(thread);
  }

  /// Once, without a clock.
  void assemble(AssemblyMethod& method, int threads) {
    run_team(threads, [&](int thread) { prepare(method, thread, threads); });
    run_team(threads, [&](int thread) { method.assemble(thread); });
  }

  StudyRow measured(const AssemblyInfo& info, int operations, int threads) {
    StudyRow row{.variant = std::string(info.name),
                 .threads = threads,
                 .parameters = parameters(operations),
                 .shown_per_second = 1e3,
                 .processor = Processor::cpu};
    row.not_measured = why_no_team(threads);
    if (info.needs == AssemblyInfo::Needs::transactions && row.not_measured.empty()) {
      row.not_measured = why_no_transactions();
    }
    if (!row.not_measured.empty()) return row;
    record_.show_status(fmt::format("{}, {}, {} operations, {} threads", info.name,
                                    storage_name(target_.storage), operations, threads));
    const AssemblyTeam team{.state = transaction_state(record_.options(), 0, lock_),
                            .add_together = add_together,
                            .threads = threads};
    std::unique_ptr<AssemblyMethod> method =
        info.make(task(), {Contribution::Kind::stiffness, operations}, team);
    row.seconds = time_team(
        threads, record_.options().pace, [&](int thread) { prepare(*method, thread, threads); },
        [&](int thread) { method->assemble(thread); });
    row.metrics = metrics(info, row, *method, operations);
    method.reset();
    judge(row, info, team);
    return row;
  }

  std::vector<StudyCell> metrics(const AssemblyInfo& info, const StudyRow& row,
                                 const AssemblyMethod& method, int operations) const {
    std::vector<StudyCell> metrics = {record_.table().times_faster("serial", row),
                                      record_.table().times_faster(row.variant, row)};
    const auto paper = paper_milliseconds(row.variant, operations, row.threads);
    const bool is_the_papers =
        std::ssize(mesh_.triangles) == kSquareTriangles && target_.storage == MatrixStorage::full;
    metrics.push_back(is_the_papers && paper ? StudyCell(*paper) : StudyCell());
    metrics.push_back(cost(row));
    std::vector<StudyCell> aborts(transaction_columns().size() + 1);
    if (info.needs == AssemblyInfo::Needs::transactions) {
      const TransactionCounts counts = method.transactions();
      aborts = transaction_cells(counts);
      aborts.emplace_back(percent(counts.fallbacks, counts.wanted));
    }
    metrics.insert(metrics.end(), aborts.begin(), aborts.end());
    metrics.emplace_back(mebibytes(method.extra_bytes()));
    const bool has_colors = info.name == "coloring";
    metrics.push_back(has_colors ? StudyCell(double(colors_.size())) : StudyCell());
    metrics.push_back(has_colors ? StudyCell(double(largest_degree(mesh_))) : StudyCell());
    metrics.resize(record_.table().layout().metrics.size());
    return metrics;
  }

  /// Nanoseconds of an addition over serial, on one thread.
  [[nodiscard]] StudyCell cost(const StudyRow& row) const {
    if (row.threads > 1 || row.variant == "serial") return {};
    try {
      const StudyRow& serial = record_.table().at("serial", 1, row.parameters);
      return 1e9 * (row.seconds.median - serial.seconds.median) /
             static_cast<double>(kLocalEntries * std::ssize(mesh_.triangles));
    } catch (const NotMeasured&) {
      return {};
    }
  }

  /// Judges the stiffness matrix of the last repetition, and what adding ones gives.
  void judge(StudyRow& row, const AssemblyInfo& info, const AssemblyTeam& team) {
    const std::string fault = stiffness_fault(target_, values_, serial_);
    const std::unique_ptr<AssemblyMethod> counting =
        info.make(task(), {Contribution::Kind::ones, 0}, team);
    const bool races = info.sharing == Sharing::unprotected && team.threads > 1;
    judge_assembly(row, races ? Races::yes : Races::no, fault, [&] {
      assemble(*counting, team.threads);
      return counting_result(target_, counts_, values_);
    });
  }

  alignas(128) SpinLock lock_;
  StudyRecord& record_;
  const TriangleMesh& mesh_;
  const std::vector<std::vector<Index>>& colors_;
  AssemblyTarget target_;
  std::vector<Index> counts_;
  std::vector<double> values_;
  std::vector<double> serial_;
  std::optional<GpuAssemblyRows> gpu_;
};

/// Says which way of adding in Tessera is like the fastest one that is right, where the choice
/// matters most: csr, with the first number of operations, on the most threads.
void say_use(StudyRecord& record) {
  const StudyRow* fastest = nullptr;
  for (const StudyRow& row : record.table().rows()) {
    if (!row.not_measured.empty() || row.correctness != Correctness::right ||
        row.parameters.front() != storage_name(MatrixStorage::csr) ||
        row.threads != record.table().max_threads()) {
      continue;
    }
    if (fastest == nullptr ||
        (row.parameters == fastest->parameters && row.seconds.median < fastest->seconds.median)) {
      fastest = &row;
    }
  }
  if (fastest == nullptr) return;
  const auto& table = assembly_table();
  const auto info = std::find_if(table.begin(), table.end(), [&](const AssemblyInfo& each) {
    return each.name == fastest->variant;
  });
  const std::string where = !fastest->processor     ? "the GPU"
                            : fastest->threads == 1 ? "1 thread"
                                                    : fmt::format("{} threads", fastest->threads);
  record.say("\nfastest with ops = {}, csr, {} triangles: {} on {}; like it in operators/: {}\n",
             fastest->parameters[1], fastest->parameters[2], fastest->variant, where,
             info->in_operators.empty() ? "nothing" : info->in_operators);
}

void measure(StudyRecord& record) {
  const OwnValues& own = record.options().own;
  record.say(
      "each triangle computes its stiffness matrix, times a 1 that so many operations compute, "
      "and\n"
      "adds nine entries to a matrix of doubles, full or csr; the threads have equal parts\n"
      "ns/add: of one addition over serial, on one thread; failed: transactions begun that did "
      "not\n"
      "commit; conflict, capacity, other: of the failed ones; fallback: sections done without\n"
      "transparent huge pages: {}\n",
      huge_pages());
  double copy_bandwidth = 0.0;
  if constexpr (kHasCuda) {
    if (record.options().processor == Processor::gpu) {
      copy_bandwidth = measure_device_copy_bandwidth();
      record.say(
          "serial is the CPU's; copy%: share of a copy's bandwidth, {:.4g} GB/s, if corners, "
          "points, "
          "places\n"
          "and nonzeros went through memory once\n",
          1e-9 * copy_bandwidth);
    }
  }
  if (copy_bandwidth == 0.0) say_if_no_transactions(record);
  for (const std::int64_t refinements : own.numbers("refine")) {
    const TriangleMesh mesh = study_mesh(refinements, own.text("numbering"), record.options().seed);
    const std::vector<std::vector<Index>> colors = greedy_colors(mesh);
    record.say("mesh: {} points, {} triangles, at most {} at a point, {} colors\n",
               mesh.points.size(), mesh.triangles.size(), largest_degree(mesh), colors.size());
    for (const MatrixStorage storage : {MatrixStorage::full, MatrixStorage::csr}) {
      // Its places have V^2 doubles.
      if (storage == MatrixStorage::full && refinements > 0) continue;
      TargetRows rows(record, mesh, colors, storage, copy_bandwidth);
      for (const std::int64_t operations : own.numbers("ops")) {
        rows.measure(static_cast<int>(operations));
      }
    }
  }
  say_use(record);
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (const AssemblyInfo& info : assembly_table()) names.emplace_back(info.name);
  return names;
}

std::vector<OwnOption> own_options() {
  std::vector<OwnOption> options = {
      {.name = "ops",
       .placeholder = "N,...",
       .preset = "1,100,1000",
       .help = "dependent operations a triangle",
       .min = 1,
       .max = 1'000'000,
       .numbers = OwnOption::Numbers::several},
      {.name = "refine",
       .placeholder = "N,...",
       .preset = "0",
       .help = "how often each triangle is divided into four; a full matrix without only",
       .min = 0,
       .max = 5,
       .numbers = OwnOption::Numbers::several},
      {.name = "numbering",
       .placeholder = "random|hilbert",
       .preset = "random",
       .help = "of points: shuffled, or along a Hilbert curve, as the triangles then are",
       .choices = {"random", "hilbert"}}};
  for (OwnOption& option : transaction_options()) options.push_back(std::move(option));
  return options;
}

}  // namespace

StudyInfo assembly_study() {
  return {.name = "assembly",
          .question =
              "which way of protecting shared entries assembles fastest, and from how much "
              "work a triangle on does it not matter?",
          .document = "paper I of document 002, sections VIII and X; its thesis, 2.2, 2.3.2, 3.3.4",
          .needs = "CPU; hardware transactions (RTM) for the rows of these; or a GPU",
          .processors = {Processor::cpu, Processor::gpu},
          .variants = variant_names(),
          .options = own_options(),
          .layout = assembly_layout(),
          .claims = assembly_claims(),
          .measure = measure};
}

}  // namespace tessera
