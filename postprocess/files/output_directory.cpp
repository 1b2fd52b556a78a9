// This file creates result directories, and removes old results.
#include "postprocess/files/output_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/ranks/output_on_all_ranks.hpp"
#include "postprocess/series/collection.hpp"
#include "postprocess/vtk/pvtu_writer.hpp"
#include "solvers/ranks/launched_processes.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 16> kResultNames = {"result.json",   "solution.vtu",
                                                      "solution.pvtu", "solution.pvd",
                                                      "view.py",       "view.png",
                                                      "solution.png",  "residuals.csv",
                                                      "timings.csv",   "case.toml",
                                                      "probes.csv",    "steps.csv",
                                                      "checkpoint.h5", "checkpoint_previous.h5",
                                                      "animation.png", "launches.csv"};

// Permission bits do not tell of read-only mounts, quotas or root: only writing does.
void try_to_write(const fs::path& directory) {
  try {
    AtomicFile(directory / "write_test").write("x");
  } catch (const OutputError& failure) {
    throw OutputError(directory, failure.cause());
  }
}

void require_no_results(const fs::path& directory) {
  std::vector<std::string> names = results_in(directory);
  if (names.empty()) return;
  // Of a series there may be thousands.
  if (names.size() > kResultNames.size()) names[kResultNames.size() - 1] = "...";
  names.resize(std::min(names.size(), kResultNames.size()));
  throw OutputError(directory, fmt::format("it already holds results ({}); choose another "
                                           "directory or add --overwrite",
                                           fmt::join(names, ", ")));
}

// A file that nobody can have seen before, which rank 0 writes and takes away again.
class Token {
 public:
  Token(const fs::path& directory, const Communicator& ranks) : ranks_(ranks) {
    std::random_device random;
    content_ = ranks.broadcast(fmt::format("{:08x}{:08x}", random(), random()));
    path_ = directory / (".tessera_" + content_);
    if (ranks.rank() == 0) unfinished_.emplace(path_);
    output_on_all_ranks(ranks, [&] {
      if (ranks.rank() == 0) write_text_file(path_, content_);
    });
  }
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;
  ~Token() {
    std::error_code ignored;
    if (ranks_.rank() == 0) fs::remove(path_, ignored);
  }

  // A network's file system may be late.
  bool is_seen() const {
    constexpr int kTries = 20;
    constexpr std::chrono::milliseconds kPause(50);
    std::error_code ignored;
    for (int i = 0; i < kTries && !fs::exists(path_, ignored); ++i) {
      std::this_thread::sleep_for(kPause);
    }
    return fs::exists(path_, ignored);
  }

 private:
  const Communicator& ranks_;
  std::string content_;
  fs::path path_;
  std::optional<UnfinishedPath> unfinished_;
};

void require_shared(const fs::path& directory, const Communicator& ranks) {
  const std::string first_host = ranks.broadcast(host_name());
  const Token token(directory, ranks);
  output_on_all_ranks(ranks, [&] {
    if (ranks.rank() == 0) return;
    if (!token.is_seen()) {
      throw OutputError(directory,
                        fmt::format("rank {} on {} does not see what rank 0 on {} wrote there; "
                                    "all ranks need one directory that their hosts share",
                                    ranks.rank(), host_name(), first_host));
    }
    try_to_write(directory);
  });
}

}  // namespace

OutputDirectory::OutputDirectory(const fs::path& directory, Overwrite overwrite,
                                 const Communicator& ranks) {
  output_on_all_ranks(ranks, [&] {
    if (ranks.rank() == 0) make(directory, overwrite);
  });
  if (ranks.size() == 1) return;
  try {
    require_shared(directory, ranks);
  } catch (const OutputError&) {
    claim_.reset();
    remove_if_empty();
    throw;
  }
}

void OutputDirectory::make(const fs::path& directory, Overwrite overwrite) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    throw OutputError(directory, "it exists and is not a directory");
  }
  for (const char* name : kResultNames) {
    if (!fs::is_directory(directory / name, error)) continue;
    throw OutputError(directory / name, "a directory has the name of a result");
  }
  if (overwrite == Overwrite::no) require_no_results(directory);
  for (fs::path above = directory; !above.empty() && !fs::exists(above, error);
       above = above.parent_path()) {
    if (fs::is_symlink(above, error)) {
      throw OutputError(directory,
                        fmt::format("{} is a link to {}, which is not there", above.string(),
                                    fs::read_symlink(above, error).string()));
    }
    made_.push_back(above);
    unfinished_.emplace_back(above);
  }
  fs::create_directories(directory, error);
  if (error) {
    remove_if_empty();
    throw OutputError(directory, error.message());
  }
  try {
    try_to_write(directory);
    claim_.emplace(directory);
    // Those of a run that ended in between.
    if (overwrite == Overwrite::no) require_no_results(directory);
  } catch (const OutputError&) {
    claim_.reset();
    remove_if_empty();
    throw;
  }
}

OutputDirectory::~OutputDirectory() {
  claim_.reset();
  remove_if_empty();
}

void OutputDirectory::remove_if_empty() noexcept {
  std::error_code not_empty;
  for (const fs::path& directory : made_) fs::remove(directory, not_empty);
}

std::vector<std::string> results_in(const fs::path& directory) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const char* name : kResultNames) {
    if (fs::exists(directory / name, ignored)) found.emplace_back(name);
  }
  const auto single = static_cast<std::ptrdiff_t>(found.size());
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    std::string name = entry.path().filename().string();
    const std::string of_pieces = name + ".pvtu";
    if (of_pieces == "solution.pvtu" || solution_number(of_pieces)) {
      for (std::string& piece : piece_files(directory, of_pieces)) {
        found.push_back(std::move(piece));
      }
    } else if (solution_number(name)) {
      found.push_back(std::move(name));
    }
  }
  std::sort(found.begin() + single, found.end());
  return found;
}

bool remove_results(const fs::path& directory, const std::vector<std::string>& kept) {
  bool any = false;
  for (const std::string& name : results_in(directory)) {
    if (std::find(kept.begin(), kept.end(), name) != kept.end()) continue;
    std::error_code error;
    fs::remove(directory / name, error);
    if (error) throw OutputError(directory / name, error.message());
    // A folder of pieces goes with the last of them.
    const fs::path folder = fs::path(name).parent_path();
    if (!folder.empty()) fs::remove(directory / folder, error);
    any = true;
  }
  return any;
}

std::vector<std::string> piece_files(const fs::path& directory, const std::string& pvtu_name) {
  const std::string folder = pieces_folder(pvtu_name);
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory / folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_piece_name(name)) names.push_back((fs::path(folder) / name).string());
  }
  return names;
}

}  // namespace tessera
