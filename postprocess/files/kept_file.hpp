// A KeptFile keeps a file whose name another one is about to take.
#pragma once

#include <filesystem>
#include <optional>

#include "postprocess/files/unfinished_paths.hpp"

namespace tessera {

/// A second name for a file that has one and is about to lose it to a newer file: temporary at
/// first, so that it is nothing that stays if the newer one does not come. The file is copied where
/// the file system has no hard links.
class KeptFile {
 public:
  /// @param path a file @param new_path in the same directory @throws OutputError
  KeptFile(const std::filesystem::path& path, std::filesystem::path new_path);
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;
  ~KeptFile();

  /// Gives it the new name, in place of a file that has it. @throws OutputError
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_path_;
  std::optional<UnfinishedPath> unfinished_;
};

}  // namespace tessera
