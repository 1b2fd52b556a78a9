// An UnfinishedPath is removed if the process ends at once.
#pragma once

#include <filesystem>
#include <string>

namespace tessera {

/// A file or directory that must not stay behind if the process ends at once while this object
/// exists, such as a file under its temporary name. The path need not exist. A few dozen paths at a
/// time are remembered; more are not.
class UnfinishedPath {
 public:
  explicit UnfinishedPath(const std::filesystem::path& path);
  UnfinishedPath(const UnfinishedPath&) = delete;
  UnfinishedPath& operator=(const UnfinishedPath&) = delete;
  ~UnfinishedPath();

 private:
  std::string path_;
  int slot_ = -1;
};

/// Removes all unfinished files, then those unfinished directories that are empty. May be called by
/// a signal handler, just before it ends the process.
void remove_unfinished_paths() noexcept;

}  // namespace tessera
