// A checkpoint is a file from which a run in time goes on.
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/series/collection.hpp"
#include "postprocess/series/time_summary.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// A run keeps its last two checkpoints.
inline constexpr char kCheckpointName[] = "checkpoint.h5";
inline constexpr char kPreviousCheckpointName[] = "checkpoint_previous.h5";

/// The numbered solutions that a run in time has written.
struct WrittenSeries {
  std::vector<TimedFile> files;
  /// The last number that was given, also to a file that could not be written.
  Index last_number = 0;
  /// Of all values that are finite.
  std::pair<double, double> range = {std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity()};
};

/// What a run in time needs to go on, but for its vector.
struct Checkpoint {
  /// Who wrote it, and the case that was run: the text of its case.toml.
  std::string program;
  std::string case_text;
  /// Of the space, for whoever looks into the file: the case has all of it.
  int dimension = 0;
  int degree = 0;
  Index dofs = 0;
  /// Of the whole run up to `time.end`, where the vector is; of the method's keys nothing is kept.
  TimeSummary time;
  /// The length that the method would give to the next step; 0 if that is not known.
  double next_step = 0.0;
  /// When the last output was made.
  std::optional<double> last_output = std::nullopt;
  WrittenSeries series = {};
};

/// A checkpoint cannot be used; what() says which file, and why.
class CheckpointError : public std::runtime_error {
 public:
  CheckpointError(const std::filesystem::path& path, const std::string& why);
  /// With a complete message.
  explicit CheckpointError(const std::string& message) : std::runtime_error(message) {}
};

/// Writes a checkpoint of the vector w and does not commit the file: HDF5 1.10, in which every byte
/// has a checksum. The numbers are attributes of the root, the texts and tables data sets beside
/// "w". Takes 1 MiB beside w. Where ranks share w, the file has the vector of all of them, with the
/// bytes that it has for one rank, and rank 0 calls this, any number of times.
/// @throws OutputError
void write_checkpoint(AtomicFile& file, const Checkpoint& checkpoint, const HostVector<double>& w);

/// All ranks that share w call this together: rank 0 when it has written a checkpoint or given it
/// up, and the others instead, to send what rank 0 writes until then. Of one rank it does nothing.
void finish_checkpoint(const HostVector<double>& w);

/// Reads the whole file, so that a damaged one is found here, but keeps no vector.
/// @throws CheckpointError
Checkpoint read_checkpoint(const std::filesystem::path& path);

/// @param w has the size of the checkpoint's vector; or is this rank's part of one, whatever ranks
///        wrote it: rank 0 reads the file, and all call this together and throw together
/// @throws CheckpointError
void read_checkpoint_vector(const std::filesystem::path& path, HostVector<double>& w);

/// A checkpoint and where it was found.
struct FoundCheckpoint {
  std::filesystem::path path;
  Checkpoint checkpoint;
  /// Why it is not the last one; empty if it is.
  std::string complaint;
};

/// The last checkpoint in the directory that can be read.
/// @throws CheckpointError, which says of each that is there why it cannot
FoundCheckpoint find_checkpoint(const std::filesystem::path& directory);

}  // namespace tessera
