// A ResultSet holds the files of a run until all of them are complete.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "postprocess/files/atomic_file.hpp"

namespace tessera {

/// The files of one run's results. They have temporary names until commit() gives them theirs, all
/// at once, in place of an earlier run's results, which stay until then: but where the disk is too
/// full for both, the earlier ones give way. A run that writes while it goes on commits several
/// times; what it has named stays.
class ResultSet {
 public:
  /// @param kept names of an earlier run's results that stay, because this one goes on with them
  explicit ResultSet(std::filesystem::path directory, std::vector<std::string> kept = {})
      : directory_(std::move(directory)), kept_(std::move(kept)) {}

  /// Adds a file that `write` fills; called once more if the disk was full of earlier results.
  /// @throws OutputError and what `write` throws; the set is then as before
  void add(const std::string& name, const std::function<void(AtomicFile&)>& write);
  void add(const std::string& name, std::string_view text);
  /// Removes what an earlier run left and names the files; without any, does nothing.
  /// @throws OutputError
  void commit();
  /// Gives a file that has its name another one, if it is still there; the file of that name, if
  /// any, goes.
  /// @throws OutputError
  void rename(const std::string& name, const std::string& new_name);

  const std::filesystem::path& directory() const { return directory_; }

 private:
  void add_once(const std::string& name, const std::function<void(AtomicFile&)>& write);

  std::filesystem::path directory_;
  std::vector<std::unique_ptr<AtomicFile>> files_;
  // What stays of an earlier run, and all that this one has named.
  std::vector<std::string> kept_;
  bool has_named_ = false;
};

}  // namespace tessera
