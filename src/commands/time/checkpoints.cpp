// This file gives checkpoints their names.
#include "src/commands/time/checkpoints.hpp"

#include <cmath>

#include "src/case/time/time_case.hpp"

namespace tessera {

Checkpoints::Checkpoints(const CaseParameters& parameters, ResultSet& files, const Restart* restart)
    : parameters_(parameters), files_(files) {
  look_for_next(restart != nullptr ? restart->t() : parameters.time->start);
  if (restart == nullptr || restart->place == RestartPlace::other_directory) return;
  last_time_ = restart->t();
  keeps_last_ = restart->found.path.filename() == kCheckpointName;
}

void Checkpoints::look_for_next(double t) {
  const TimeParameters& time = *parameters_.time;
  if (!time.checkpoint_interval) return;
  const double interval = *time.checkpoint_interval;
  double number = std::floor((t - time.start) / interval);
  // Rounding may have taken it too far or not far enough.
  while (number > 0.0 && time.start + number * interval > t) --number;
  while (time.start + number * interval <= t + time_rounding(time)) ++number;
  next_ = time.start + number * interval;
}

void Checkpoints::write(const Checkpoint& checkpoint, const HostVector<double>& w) {
  const double t = checkpoint.time.end;
  look_for_next(t);
  if (last_time_ == t) return;
  files_.add(
      kCheckpointName, [&](AtomicFile& file) { write_checkpoint(file, checkpoint, w); },
      [&] { finish_checkpoint(w); });
  if (keeps_last_) {
    files_.commit_keeping(kCheckpointName, kPreviousCheckpointName);
  } else {
    files_.commit();
  }
  last_time_ = t;
  keeps_last_ = true;
}

}  // namespace tessera
