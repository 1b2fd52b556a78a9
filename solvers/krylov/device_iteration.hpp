// A DeviceIteration is an iterative method whose scalars stay on the GPU.
#pragma once

#include <limits>
#include <memory>

#include "solvers/krylov/cg.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/vector_layout.hpp"

namespace tessera {

/// The number of iterations whose records the GPU keeps for the host.
inline constexpr int kMaxIterationsPerBatch = 128;

enum class DeviceStatus : int {
  running,
  converged,
  indefinite,
  not_finite,
  iteration_limit,
  diverged
};

/// What one iteration leaves for the host.
struct IterationRecord {
  double rr;      // ||r||^2 after it
  double energy;  // alpha r.z: the gain in the squared energy norm of the error
};

/// What ends an iteration.
struct IterationLimits {
  double target_rr;
  double max_rr;  // beyond this r.r the iteration has diverged
  int max_iterations;
};

/// The scalars of an iteration, on the GPU. All solvers use the limits and the last group; of the
/// others each solver uses those that it needs.
struct IterationState : IterationLimits {
  double rz;           // r.M r
  double previous_rz;  // the same of the iteration before
  double rr;           // r.r where it is computed from b - A x
  double alpha;
  double pq;
  double dots[3];  // sums that an operator makes
  double beta;
  double of_rank[3];  // of several ranks: this one's sums, before those of the others are added
  double of_all[3];   // the sums of all
  double pending;     // alpha where x still lacks alpha p; with fused operations c of c (p - r)
  double energy;      // of an iteration whose r.r is still to be added over ranks
  int unfinished;     // whether there is such an iteration

  int iteration;  // since the start
  DeviceStatus status;
  IterationRecord records[kMaxIterationsPerBatch];
};

// The host reads the whole state after every batch.
static_assert(sizeof(IterationState) < 4096);

/// An iteration whose scalars stay on the GPU. Of several ranks each has the same bits of them, and
/// all queue the same. Kernels that change x or the state do so only while
/// the state's status is `running`, because some are still queued when the status changes.
class DeviceIteration {
 public:
  DeviceIteration() : state_(1) { zero_on_device(state_.data(), state_.bytes()); }
  virtual ~DeviceIteration() = default;
  DeviceIteration(const DeviceIteration&) = delete;
  DeviceIteration& operator=(const DeviceIteration&) = delete;

  /// Completes x, and queues r = b - A x, whose r.r goes into the state.
  virtual void enqueue_residual() = 0;
  /// Prepares vectors and scalars for a first iteration from that r. The state has iteration 0 and
  /// status `running`.
  virtual void start() {}
  /// Queues iterations_per_call() iterations; after the first call it can be captured.
  virtual void enqueue() = 0;
  /// Queues what is left to be done after the last of several calls of enqueue(), before the state
  /// is looked at.
  virtual void enqueue_end() {}
  /// Queues so many iterations, a multiple of what one call queues, and their end.
  void enqueue_all(int iterations) {
    for (int i = 0; i < iterations; i += iterations_per_call()) enqueue();
    enqueue_end();
  }
  virtual int iterations_per_call() const { return 1; }
  /// Lets a call queue no more than so many iterations, where it would queue many in one kernel.
  virtual void limit_call(int /*iterations*/) {}
  /// Queues r = b - A x, from which the iteration goes on.
  virtual void enqueue_replacement() = 0;
  /// The iteration has diverged if the residual is more than this many times the initial one.
  virtual double max_growth() const { return std::numeric_limits<double>::infinity(); }
  /// Whether p.Ap <= 0. This is asked where the state says so, because some solvers have p.Ap by
  /// recurrence only.
  virtual bool is_indefinite() { return true; }

  /// That of the vectors, which says what ranks iterate together.
  virtual VectorLayout layout() const = 0;

  /// The state on the GPU.
  IterationState* state() { return state_.data(); }

 private:
  DeviceArray<IterationState> state_;
};

// Of iteration_graph.hpp.
struct RecordedIteration;

/// Runs an iteration to its end, by replays of graphs of it, which it keeps for the next solve;
/// where ranks cannot capture their messages, iterations are queued one by one. What hangs on the
/// clock of a rank is decided by rank 0 for all.
class DeviceRun {
 public:
  DeviceRun();
  ~DeviceRun();
  DeviceRun(const DeviceRun&) = delete;
  DeviceRun& operator=(const DeviceRun&) = delete;

  /// Iterates to the end as the options say. @throws DeviceError
  SolveReport solve(DeviceIteration& iteration, const SolveOptions& options);
  /// To be called when what the iteration queues has changed.
  void forget_graphs();

 private:
  std::unique_ptr<RecordedIteration> recorded_;
};

}  // namespace tessera
