#include "src/studies/operator_launches/operator_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/choices.hpp"
#include "src/case/dispatch.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/parameters/messages/diagnostics.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/solve/preconditioning.hpp"
#include "src/solve/solve_launches.hpp"
#include "src/study/measurement.hpp"
#include "src/study/solver_measurement.hpp"

namespace tessera {
namespace {

/// The size of the multigrid cycles: large enough to have several levels, small to be made soon.
constexpr Index kCycleDofs = 1'000'000;

class Visit {
 public:
  Visit(const StudyOptions& options, WaveStep step,
        const std::function<void(const std::string&)>& show_status,
        const std::function<void(const OperatorLaunches&)>& visit)
      : options_(options), step_(step), show_status_(show_status), visit_(visit) {}

  void all() const {
    for (const StudyGeometry geometry : {StudyGeometry::mapped, StudyGeometry::uniform}) {
      const StudyParameters study = study_on(geometry);
      for (const StudyProblem& problem : study_problems(study)) strategies(study, problem);
    }
    const StudyParameters study = study_on(StudyGeometry::mapped);
    for (const StudyProblem& problem : study_problems(study)) {
      if (problem.target_dofs == kCycleDofs) cycle(study, problem);
    }
  }

  void of_case(const std::string& file) const {
    LoadedCase loaded = make_case_registry().load(
        file, {{.assignment = "run.device=\"cuda\"", .shown_as = "--device cuda"}});
    CaseParameters& parameters = loaded.parameters;
    static_cast<void>(resolve_choices(parameters));
    show_status_(file);
    with_case_errors(loaded, [&] { of_parameters(parameters); });
  }

 private:
  void of_parameters(const CaseParameters& parameters) const {
    const CaseModel model = make_case_model(parameters, Processor::gpu);
    const BilinearForm form = stiffness_form(model.problem, model.discretization);
    with_scalar_and_space(parameters.operation.precision, Processor::gpu,
                          [&]<class T, class Space>() {
                            if constexpr (std::is_same_v<Space, Device>) {
                              this->template of_form<T>(parameters, form);
                            }
                          });
  }

  StudyParameters study_on(StudyGeometry geometry) const {
    StudyParameters study;
    study.device = RunDevice::cuda;
    study.geometry = {geometry};
    study.kernels = {"kronecker"};
    if (geometry == StudyGeometry::mapped) study.kernels = {"tensor", "local", "csr"};
    study.scatters.clear();
    for (const StrategyName& name : all_strategies(Processor::gpu)) {
      const auto known = std::find(study.scatters.begin(), study.scatters.end(), name.scatter);
      if (known == study.scatters.end()) study.scatters.push_back(name.scatter);
    }
    study.degrees.clear();
    for (const std::int64_t degree : options_.own.numbers("degrees")) {
      study.degrees.push_back(static_cast<int>(degree));
    }
    study.dofs = options_.own.numbers("dofs");
    study.applications = 1;
    study.repetitions = 1;
    return study;
  }

  void strategies(const StudyParameters& study, const StudyProblem& problem) const {
    show_status_(fmt::format("degree {}, {} DoFs", problem.degree, problem.target_dofs));
    const Index free = free_bytes();
    if (gpu_bench_bytes(problem) > free) {
      visit_({.name = "all",
              .degree = problem.degree,
              .dofs = problem.target_dofs,
              .report = {.work = "apply", .not_measured = "too little memory on the GPU"}});
      return;
    }
    const StudyRanks ranks;
    Bench bench(study, problem, ranks, step_);
    for (const StrategyName& strategy : study_strategies(study, problem)) {
      stop_if_requested();
      OperatorLaunches launches{.name = strategy.text(),
                                .degree = problem.degree,
                                .dofs = bench.dofs(),
                                .report = {.work = "apply"}};
      launches.report = measured(bench, strategy);
      visit_(launches);
    }
  }

  static Index free_bytes() {
    if constexpr (kHasCuda) return require_device().free_bytes;
    return 0;
  }

  static LaunchReport measured(Bench& bench, const StrategyName& strategy) {
    LaunchReport failed{.work = "apply"};
    try {
      const Measurement measurement = bench.measure(strategy, free_bytes());
      if (measurement.launches) return *measurement.launches;
      failed.not_measured =
          !measurement.unsuitable.empty() ? measurement.unsuitable : "too little memory on the GPU";
    } catch (const UnsuitableChoice& error) {
      failed.not_measured = error.what();
    } catch (const DeviceOutOfMemory& error) {
      failed.not_measured = error.what();
    }
    return failed;
  }

  void cycle(const StudyParameters& study, const StudyProblem& problem) const {
    stop_if_requested();
    show_status_(fmt::format("multigrid, degree {}", problem.degree));
    StudyParameters of_default_strategy = study;
    of_default_strategy.scatters = {kAuto};
    of_default_strategy.kernels = {"tensor", "stencil", "kronecker"};
    const StudyRanks ranks;
    const std::unique_ptr<SolverBench> bench =
        make_solver_bench(of_default_strategy, problem, ranks);
    for (LaunchReport& report : bench->measure(kMultigrid, LaunchReports::yes).launches) {
      if (report.work == "apply") continue;
      visit_({.name = "multigrid " + bench->strategy(),
              .degree = problem.degree,
              .dofs = bench->dofs(),
              .report = std::move(report)});
    }
  }

  template <class T>
  void of_form(const CaseParameters& parameters, const BilinearForm& form) const {
    const auto a = make_operator<T, Device>(case_strategy(parameters), form);
    const auto tell = [&](const std::string& name, LaunchReport report) {
      visit_({.name = name,
              .degree = parameters.space.degree,
              .dofs = form.discretization->lattice.dof_count(),
              .report = std::move(report)});
    };
    tell(a->name(), apply_launches(*a, step_));
    const std::string& name = parameters.solver.preconditioner;
    if (name == kNoPreconditioner) return;
    const PreconditionerSetup<T, Device> made =
        make_preconditioner<T, Device>({parameters, form, *a, 1.0});
    if (made.preconditioner->as_diagonal() != nullptr) return;
    tell(name, preconditioner_launches(*made.preconditioner, name, step_));
  }

  const StudyOptions& options_;
  WaveStep step_;
  const std::function<void(const std::string&)>& show_status_;
  const std::function<void(const OperatorLaunches&)>& visit_;
};

}  // namespace

std::vector<OwnOption> launch_options() {
  return {{.name = "case",
           .placeholder = "CASE.toml",
           .preset = "",
           .help = "the case whose operator and preconditioner are looked at on the GPU",
           .numbers = OwnOption::Numbers::none,
           .processors = {Processor::gpu},
           .reads_file = true},
          {.name = "degrees",
           .placeholder = "P,...",
           .preset = "1,2,4,8",
           .help = "degrees of the operators that are looked at without a case",
           .min = 1,
           .max = 16,
           .numbers = OwnOption::Numbers::several,
           .quick_preset = "2,4",
           .processors = {Processor::gpu}},
          {.name = "dofs",
           .placeholder = "N,...",
           .preset = "10000,100000,1000000,10000000,100000000",
           .help = "their sizes",
           .min = 1000,
           .max = 1'000'000'000,
           .numbers = OwnOption::Numbers::several,
           .quick_preset = "100000,1000000",
           .processors = {Processor::gpu}}};
}

void visit_launches(const StudyOptions& options, WaveStep step,
                    const std::function<void(const std::string&)>& show_status,
                    const std::function<void(const OperatorLaunches&)>& visit) {
  const Visit visiting(options, step, show_status, visit);
  const std::string& file = options.own.text("case");
  if (file.empty()) {
    visiting.all();
  } else {
    visiting.of_case(file);
  }
}

void add_launch_rows(StudyRecord& record, const OperatorLaunches& launches, const StudyRow& head,
                     const std::function<void(const LaunchRecord&, StudyRow&)>& fill) {
  const LaunchReport& report = launches.report;
  const std::vector<StudyColumn>& columns = record.table().layout().parameters;
  std::vector<std::pair<std::string, std::string>> parameters = {
      {"operator", launches.name},
      {"degree", std::to_string(launches.degree)},
      {"dofs", std::to_string(launches.dofs)}};
  if (std::any_of(columns.begin(), columns.end(),
                  [](const StudyColumn& column) { return column.name == "work"; })) {
    parameters.emplace_back("work", report.work);
  }
  StudyRow row = head;
  row.parameters = texts_in(columns, parameters);
  if (!report.not_measured.empty()) {
    row.not_measured = report.not_measured;
    record.add(std::move(row));
    return;
  }
  for (const LaunchRecord& launch : report.launches) {
    StudyRow of_launch = row;
    fill(launch, of_launch);
    record.add(std::move(of_launch));
  }
}

}  // namespace tessera
