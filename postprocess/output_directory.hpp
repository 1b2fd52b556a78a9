#pragma once

#include <filesystem>

namespace tessera {

/// What to do about results that a directory already holds.
enum class Overwrite { no, yes };

/// Makes sure, before anything is computed, that results can be written to the directory: creates
/// it (and its parents) and tries to write a file.
/// @throws OutputError if it holds results and overwriting is not allowed (the message says
///         `--overwrite`), or if it cannot be created or written to. Nothing is created where
///         results are in the way.
void check_output_directory(const std::filesystem::path& directory, Overwrite overwrite);

/// Removes the results of an earlier run, so that files of two runs never stand side by side;
/// anything else in the directory stays. @throws OutputError
void remove_results(const std::filesystem::path& directory);

}  // namespace tessera
