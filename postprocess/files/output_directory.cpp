// This file creates result directories, and removes old results.
#include "postprocess/files/output_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/series/collection.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 14> kResultNames = {"result.json",
                                                      "solution.vtu",
                                                      "solution.pvd",
                                                      "view.py",
                                                      "view.png",
                                                      "solution.png",
                                                      "residuals.csv",
                                                      "timings.csv",
                                                      "case.toml",
                                                      "probes.csv",
                                                      "steps.csv",
                                                      "checkpoint.h5",
                                                      "checkpoint_previous.h5",
                                                      "animation.png"};

std::vector<std::string> results_in(const fs::path& directory) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const char* name : kResultNames) {
    if (fs::exists(directory / name, ignored)) found.emplace_back(name);
  }
  const auto single = static_cast<std::ptrdiff_t>(found.size());
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    std::string name = entry.path().filename().string();
    if (solution_number(name)) found.push_back(std::move(name));
  }
  std::sort(found.begin() + single, found.end());
  return found;
}

}  // namespace

OutputDirectory::OutputDirectory(const fs::path& directory, Overwrite overwrite) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    throw OutputError(directory, "it exists and is not a directory");
  }
  if (overwrite == Overwrite::no) {
    std::vector<std::string> names = results_in(directory);
    if (!names.empty()) {
      // Of a series there may be thousands.
      if (names.size() > kResultNames.size()) names[kResultNames.size() - 1] = "...";
      names.resize(std::min(names.size(), kResultNames.size()));
      throw OutputError(directory, fmt::format("it already holds results ({}); choose another "
                                               "directory or add --overwrite",
                                               fmt::join(names, ", ")));
    }
  }
  for (fs::path above = directory; !above.empty() && !fs::exists(above, error);
       above = above.parent_path()) {
    made_.push_back(above);
    unfinished_.emplace_back(above);
  }
  fs::create_directories(directory, error);
  if (error) {
    remove_if_empty();
    throw OutputError(directory, error.message());
  }
  // Permission bits do not tell of read-only mounts, quotas or root: only writing does.
  try {
    AtomicFile(directory / "write_test").write("x");
  } catch (const OutputError& failure) {
    remove_if_empty();
    throw OutputError(directory, failure.cause());
  }
}

OutputDirectory::~OutputDirectory() { remove_if_empty(); }

void OutputDirectory::remove_if_empty() noexcept {
  std::error_code not_empty;
  for (const fs::path& directory : made_) fs::remove(directory, not_empty);
}

bool remove_results(const fs::path& directory, const std::vector<std::string>& kept) {
  bool any = false;
  for (const std::string& name : results_in(directory)) {
    if (std::find(kept.begin(), kept.end(), name) != kept.end()) continue;
    std::error_code error;
    fs::remove(directory / name, error);
    if (error) throw OutputError(directory / name, error.message());
    any = true;
  }
  return any;
}

}  // namespace tessera
