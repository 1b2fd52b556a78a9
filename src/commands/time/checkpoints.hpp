// Checkpoints are written while a run in time goes on.
#pragma once

#include <optional>

#include "postprocess/checkpoint/checkpoint.hpp"
#include "src/commands/run/result_set.hpp"
#include "src/commands/time/restart.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The checkpoints of a run, the last two of which stay: checkpoint.h5 and checkpoint_previous.h5.
/// Where one cannot be written, the earlier ones stay as they are.
class Checkpoints {
 public:
  /// All are referred to. @param restart what the run goes on from; null if it begins
  Checkpoints(const CaseParameters& parameters, ResultSet& files, const Restart* restart);

  /// Whether the case wants one after a step that ends at t: it is the first at or after a
  /// multiple of the interval.
  bool is_due(double t) const { return next_ && t >= *next_; }
  /// Writes one, unless the last one is of the same time. All ranks that share w call it together;
  /// rank 0 writes. @throws OutputError
  void write(const Checkpoint& checkpoint, const HostVector<double>& w);
  /// Whether the case wants one at the end, whatever ends the run.
  bool are_wanted() const { return next_.has_value(); }
  /// Of the last one; empty if there is none.
  const std::optional<double>& last_time() const { return last_time_; }

 private:
  void look_for_next(double t);

  const CaseParameters& parameters_;
  ResultSet& files_;
  std::optional<double> next_;
  std::optional<double> last_time_;
  // Whether checkpoint.h5 is worth keeping as the previous one.
  bool keeps_last_ = false;
};

}  // namespace tessera
