// A PictureSeries is what a run in time draws.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/ranks/rank_painter.hpp"
#include "solvers/memory/vector.hpp"
#include "src/commands/run/result_set.hpp"
#include "src/commands/run/run_notes.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// "TITLE, t = 0.5".
std::string title_at(const std::string& title, double t);

/// Draws each output of a run in time into a file of its own, with its own range of colors, and in
/// the end all of them, with one range, into animation.png. Until then it keeps what the pixels
/// show: of at most kMaxAnimationFrames outputs, equally spread where there are more.
///
/// Nothing throws for what fails: the first failure of its kind becomes a note.
class PictureSeries {
 public:
  /// All are referred to. @param discretization in any frame
  /// @param part as RankPainter's
  PictureSeries(const CaseParameters& parameters, const Discretization& discretization,
                ResultSet& files, RunNotes& notes, const RankPart* part)
      : parameters_(parameters),
        discretization_(discretization),
        files_(files),
        notes_(notes),
        part_(part) {}

  /// @param status as in PictureText
  void add(const std::string& name, double t, const HostVector<double>& u,
           const std::string& status);
  /// Writes animation.png, if there is more than one output.
  void finish();

 private:
  struct Frame {
    double t;
    SampledSolution solution;
  };

  void keep(Frame frame);
  double seconds_of(std::size_t frame) const;

  const CaseParameters& parameters_;
  const Discretization& discretization_;
  ResultSet& files_;
  RunNotes& notes_;
  const RankPart* part_;
  std::optional<RankPainter> painter_;
  std::vector<Frame> frames_;
  // The last output, whether it is among the frames or not.
  std::optional<Frame> last_;
  // One output of so many is kept.
  Index stride_ = 1;
  Index outputs_ = 0;
};

}  // namespace tessera
