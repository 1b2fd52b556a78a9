// The study n-body: the same protection where every task touches everything.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "src/studies/n_body/n_body_claims.hpp"
#include "src/studies/n_body/n_body_forces.hpp"
#include "src/studies/n_body/n_body_gpu.hpp"
#include "src/studies/rows.hpp"
#include "src/studies/sharing/hardware_transactions.hpp"
#include "src/studies/sharing/transaction_options.hpp"
#include "src/studies/study_record.hpp"
#include "src/studies/thread_team.hpp"

namespace tessera {
namespace {

/// One way to sum forces, and the motion that follows from them, with a team of threads.
class Motion {
 public:
  Motion(const Particles& start, ForceSums sums, int threads, const StudyOptions& options)
      : start_(start), threads_(threads) {
    forces_.emplace(sums, start.size(), threads,
                    transaction_states(options, threads, transaction_lock_));
    put_back();
  }

  /// Particles at rest at their start.
  void put_back() {
    now_ = start_;
    velocities_.assign(start_.size(), {});
  }

  /// So many steps of the leapfrog: v += dt/2 f/m, x += dt v, forces, v += dt/2 f/m. All threads
  /// of a team call it; the forces must be those of the positions.
  void step(int thread, int steps) {
    for (int n = 0; n < steps; ++n) {
      kick(thread);
      drift(thread);
#pragma omp barrier
      forces_->add_up(thread, now_, PairForce::gravity);
      kick(thread);
#pragma omp barrier
    }
  }

  void add_up(int thread, PairForce force) { forces_->add_up(thread, now_, force); }

  const ForceSummation& forces() const { return *forces_; }
  void reset_counts() { forces_->reset_counts(); }

  double energy() const { return tessera::energy(now_, velocities_); }

 private:
  // Contiguous parts of the particles, one a thread.
  std::size_t first_of(int thread) const { return now_.size() * thread / threads_; }

  void kick(int thread) {
    for (std::size_t i = first_of(thread); i < first_of(thread + 1); ++i) {
      const PlaneVector& force = forces_->forces()[i];
      velocities_[i].x += 0.5 * kTimeStep / now_.mass[i] * force.x;
      velocities_[i].y += 0.5 * kTimeStep / now_.mass[i] * force.y;
    }
  }
  void drift(int thread) {
    for (std::size_t i = first_of(thread); i < first_of(thread + 1); ++i) {
      now_.x[i] += kTimeStep * velocities_[i].x;
      now_.y[i] += kTimeStep * velocities_[i].y;
    }
  }

  std::optional<ForceSummation> forces_;
  const Particles& start_;
  int threads_;
  SpinLock transaction_lock_;
  Particles now_;
  std::vector<PlaneVector> velocities_;
};

/// All ways on one set of particles.
class ParticleStudy {
 public:
  ParticleStudy(StudyRecord& record, std::size_t particles)
      : record_(record),
        start_(make_particles(particles, record.options().seed)),
        steps_(static_cast<int>(record.options().own.number("steps"))),
        timed_steps_(std::max(steps_ / 2, 1)),
        reference_(forces_at_start(ForceSums::serial, 1)) {}

  void measure() {
    const bool is_on_gpu = record_.options().processor == Processor::gpu;
    for (const NamedForceSums& way : force_sums()) {
      // Beside a GPU's rows only the serial ones of the CPU stand.
      if (!record_.options().selects(way.name) || (is_on_gpu && way.sums != ForceSums::serial)) {
        continue;
      }
      for (const int threads : record_.options().threads) {
        if (way.sums == ForceSums::serial && threads > 1) continue;
        measure(way, threads);
      }
    }
    if (is_on_gpu) measure_gpu_forces(record_, start_, steps_, timed_steps_, reference_);
  }

 private:
  static bool has_transactions(ForceSums sums) {
    return sums == ForceSums::basic_transaction || sums == ForceSums::blocked_transaction;
  }

  std::vector<PlaneVector> forces_at_start(ForceSums sums, int threads) const {
    Motion motion(start_, sums, threads, record_.options());
    run_team(threads, [&](int thread) { motion.add_up(thread, PairForce::gravity); });
    return {motion.forces().forces().begin(), motion.forces().forces().end()};
  }

  void measure(const NamedForceSums& way, int threads) {
    StudyRow row{
        .variant = way.name, .threads = threads, .parameters = {std::to_string(start_.size())}};
    row.processor = Processor::cpu;
    row.not_measured = has_transactions(way.sums) ? why_no_transactions() : "";
    if (row.not_measured.empty()) row.not_measured = why_no_team(threads);
    if (!row.not_measured.empty()) return record_.add(std::move(row));
    record_.show_status(
        fmt::format("{}, {} particles, {} threads", way.name, start_.size(), threads));
    row.wrong = what_is_wrong(way.sums, threads);
    if (!row.wrong.empty()) row.correctness = Correctness::wrong;
    time(way.sums, threads, row);
    record_.add(std::move(row));
  }

  void time(ForceSums sums, int threads, StudyRow& row) const {
    Motion motion(start_, sums, threads, record_.options());
    const double energy = motion.energy();
    const auto prepare = [&](int thread) {
      if (thread == 0) motion.put_back();
#pragma omp barrier
      motion.add_up(thread, PairForce::gravity);
      motion.step(thread, steps_ - timed_steps_);
    };
    motion.reset_counts();
    row.seconds = time_team(threads, record_.options().pace, prepare,
                            [&](int thread) { motion.step(thread, timed_steps_); });
    const double n = static_cast<double>(start_.size());
    const double pairs = 0.5 * n * (n - 1.0) * timed_steps_;
    row.shown_per_second = 1e3;
    row.metrics = {record_.table().times_faster("serial", row),
                   record_.table().times_faster(row.variant, row),
                   1e-6 * pairs / row.seconds.median};
    std::vector<StudyCell> aborts(transaction_columns().size());
    if (has_transactions(sums)) aborts = transaction_cells(motion.forces().transactions());
    row.metrics.insert(row.metrics.end(), aborts.begin(), aborts.end());
    row.metrics.emplace_back(std::abs(motion.energy() - energy) / std::abs(energy));
  }

  // Counts that are not exact, forces that differ from the serial ones, a sum that is not 0.
  std::string what_is_wrong(ForceSums sums, int threads) const {
    Motion counting(start_, sums, threads, record_.options());
    run_team(threads, [&](int thread) { counting.add_up(thread, PairForce::counting); });
    const std::string fault = counting_fault(counting.forces().forces());
    return fault.empty() ? force_fault(forces_at_start(sums, threads), reference_) : fault;
  }

  StudyRecord& record_;
  Particles start_;
  int steps_;
  int timed_steps_;
  std::vector<PlaneVector> reference_;
};

void measure(StudyRecord& record) {
  record.say(
      "particles in a square attract each other: all pairs i < j, each force added to i and taken\n"
      "from j; {} steps of a leapfrog, of which the last half is timed; serial and basic sums are\n"
      "pair by pair, blocked ones 4 particles in a section, private ones one array a thread,\n"
      "twice takes each pair from both sides and shares nothing\n",
      record.options().own.number("steps"));
  if (record.options().processor == Processor::gpu) {
    record.say(
        "on the GPU twice has tiles of particles in shared memory, atomic keeps the sum of i and "
        "adds\n"
        "to that of j by atomicAdd, private has an array for each thread block; serial is the "
        "CPU\n");
  } else {
    say_if_no_transactions(record);
  }
  for (const std::int64_t particles : record.options().own.numbers("particles")) {
    ParticleStudy(record, particles).measure();
  }
}

std::vector<std::string> variants() {
  std::vector<std::string> names;
  for (const NamedForceSums& way : force_sums()) names.push_back(way.name);
  for (const NamedDeviceForceSums& way : device_force_sums()) {
    if (std::find(names.begin(), names.end(), way.name) == names.end()) names.push_back(way.name);
  }
  return names;
}

std::vector<OwnOption> own_options() {
  std::vector<OwnOption> options = {{.name = "particles",
                                     .placeholder = "N,...",
                                     .preset = "1024",
                                     .help = "numbers of particles; the claims are about 1024",
                                     .min = 2,
                                     .max = 1'000'000,
                                     .numbers = OwnOption::Numbers::several},
                                    {.name = "steps",
                                     .placeholder = "N",
                                     .preset = "40",
                                     .help = "steps of an execution, the last half timed",
                                     .min = 2,
                                     .max = 1'000'000,
                                     .quick_preset = "4"}};
  for (OwnOption& option : transaction_options()) options.push_back(std::move(option));
  return options;
}

std::vector<StudyColumn> metric_columns() {
  std::vector<StudyColumn> columns = {{"faster_than_serial", "x serial"},
                                      {"faster_than_on_one_thread", "x itself-on-1"},
                                      {"million_pairs_per_s", "Mpairs/s"}};
  for (StudyColumn& column : transaction_columns()) columns.push_back(std::move(column));
  columns.push_back({"energy_drift", "drift"});
  return columns;
}

}  // namespace

StudyInfo n_body_study() {
  return {
      .name = "n-body",
      .question = "where every task touches everything: is avoiding the conflict worth the memory?",
      .document = "paper I of document 002, section IX",
      .needs = "CPU; hardware transactions (RTM) for the rows of these; or a GPU",
      .processors = {Processor::cpu, Processor::gpu},
      .variants = variants(),
      .options = own_options(),
      .layout = {.parameters = {{"particles"}}, .metrics = metric_columns(), .time_unit = "ms"},
      .claims = n_body_claims(),
      .measure = measure};
}

}  // namespace tessera
