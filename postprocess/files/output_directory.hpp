// An OutputDirectory is checked before anything is computed.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/files/directory_claim.hpp"
#include "postprocess/files/unfinished_paths.hpp"
#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// What to do about results that a directory already holds.
enum class Overwrite { no, yes };

/// The directory of a run's results, which is checked before anything is computed: it is created
/// with its parents, a file is written to it on trial, and it is claimed until the end
/// (DirectoryClaim), so that two runs never mix their files. Directories that were created here are
/// removed at the end if they are still empty, so that a run that fails leaves nothing behind.
///
/// Of several ranks, which make it together, rank 0 creates it, and all of them try to write there,
/// once they have seen what rank 0 wrote: it has to be one directory that they share.
class OutputDirectory {
 public:
  /// @throws OutputError if the directory holds results and overwriting is not allowed (the message
  ///         says `--overwrite`), if another run is writing to it, or if it cannot be created or
  ///         written to. Nothing is created
  ///         where results are in the way. All ranks throw the same, that of the lowest that fails.
  OutputDirectory(const std::filesystem::path& directory, Overwrite overwrite,
                  const Communicator& ranks = single_rank());
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;
  ~OutputDirectory();

 private:
  void make(const std::filesystem::path& directory, Overwrite overwrite);
  void remove_if_empty() noexcept;

  std::vector<std::filesystem::path> made_;  // innermost first
  // The same directories, in a deque because they must not move.
  std::deque<UnfinishedPath> unfinished_;
  std::optional<DirectoryClaim> claim_;  // of rank 0
};

/// The names of the results that are in the directory, those of pieces with their folder.
std::vector<std::string> results_in(const std::filesystem::path& directory);

/// Removes the results of an earlier run, so that files of two runs never stand side by side;
/// anything else in the directory stays.
/// @param kept names of files that stay as well, those of pieces with their folder
/// @return whether there were any results
/// @throws OutputError
bool remove_results(const std::filesystem::path& directory,
                    const std::vector<std::string>& kept = {});

/// The names, with the folder, of the pieces of a .pvtu file that are in the directory.
std::vector<std::string> piece_files(const std::filesystem::path& directory,
                                     const std::string& pvtu_name);

}  // namespace tessera
