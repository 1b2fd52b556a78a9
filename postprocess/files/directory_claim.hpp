// A DirectoryClaim keeps other runs out of a directory.
#pragma once

#include <filesystem>
#include <optional>

#include "postprocess/files/unfinished_paths.hpp"

namespace tessera {

/// The exclusive claim of this process on a directory: a lock on the file `.tessera_lock` in it,
/// which is there while the claim is. The lock is the system's and ends with the process, so that a
/// run that is killed may leave the file, but locks nobody out. On a network's file system that has
/// locks the claim holds for all hosts; where there are no locks, nothing is claimed.
class DirectoryClaim {
 public:
  /// @throws OutputError if another one has claimed the directory, or the file cannot be made
  explicit DirectoryClaim(const std::filesystem::path& directory);
  DirectoryClaim(const DirectoryClaim&) = delete;
  DirectoryClaim& operator=(const DirectoryClaim&) = delete;
  ~DirectoryClaim();

 private:
  void lock(const std::filesystem::path& directory);
  bool has_its_name() const;

  std::filesystem::path path_;
  std::optional<UnfinishedPath> unfinished_;
  int descriptor_ = -1;
};

}  // namespace tessera
