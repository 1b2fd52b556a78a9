// An AtomicFile gets its name only when it is complete.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mesh/index.hpp"
#include "postprocess/files/unfinished_paths.hpp"

namespace tessera {

/// A result could not be written: says which path and why.
class OutputError : public std::runtime_error {
 public:
  OutputError(const std::filesystem::path& path, const std::string& cause);

  const std::filesystem::path& path() const { return path_; }
  /// The reason, in the words of the system if it gave one ("No space left on device").
  const std::string& cause() const { return cause_; }
  /// Whether more space on the disk would have helped.
  bool is_for_lack_of_space() const;

 private:
  std::filesystem::path path_;
  std::string cause_;
};

/// A file under construction: it has a temporary name in the directory of its final one, and takes
/// the final name, all at once, when it is complete and on disk. If it is destroyed before that, it
/// leaves nothing behind, and an older file of the final name is untouched. The same is true if a
/// signal handler that calls remove_unfinished_paths() ends the process. It never takes the name of
/// a device, a pipe or a socket.
class AtomicFile {
 public:
  /// Creates the temporary file, empty. @throws OutputError
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary_path() const { return temporary_path_; }

  /// Appends text. @throws OutputError on a short write (disk full, quota, ...).
  void write(std::string_view text);
  /// Writes bytes at an offset, wherever the end of the file is; the disk gets whole pages of them
  /// at once. @throws OutputError
  void write_at(Index offset, std::string_view bytes);
  /// Flushes to disk; nothing may be written afterwards. commit() then needs no more space.
  /// @throws OutputError
  void complete();
  /// Completes the file if that is not done yet, and renames it. @throws OutputError
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_path_;
  std::optional<UnfinishedPath> unfinished_;
  int descriptor_ = -1;
};

/// Writes a whole file through an AtomicFile. @throws OutputError
void write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace tessera
