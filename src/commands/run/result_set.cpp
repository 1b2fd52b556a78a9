// This file names the files of a run all at once.
#include "src/commands/run/result_set.hpp"

#include <exception>
#include <system_error>

#include "postprocess/files/output_directory.hpp"

namespace tessera {

void ResultSet::add_once(const std::string& name, const std::function<void(AtomicFile&)>& write) {
  auto file = std::make_unique<AtomicFile>(directory_ / name);
  write(*file);
  file->complete();
  files_.push_back(std::move(file));
}

void ResultSet::add(const std::string& name, const std::function<void(AtomicFile&)>& write) {
  try {
    add_once(name, write);
    return;
  } catch (const OutputError& error) {
    if (!error.is_for_lack_of_space() || !remove_results(directory_, kept_)) throw;
  }
  add_once(name, write);
}

void ResultSet::add(const std::string& name, std::string_view text) {
  add(name, [&](AtomicFile& file) { file.write(text); });
}

void ResultSet::commit() {
  if (files_.empty()) return;
  if (!has_named_) {
    std::vector<std::string> names = kept_;
    for (const auto& file : files_) names.push_back(file->path().filename().string());
    remove_results(directory_, names);
  }
  std::exception_ptr failure;
  for (const auto& file : files_) {
    try {
      file->commit();
      kept_.push_back(file->path().filename().string());
      has_named_ = true;
    } catch (const OutputError&) {
      failure = std::current_exception();
    }
  }
  files_.clear();
  if (failure) std::rethrow_exception(failure);
}

void ResultSet::rename(const std::string& name, const std::string& new_name) {
  std::error_code error;
  if (!std::filesystem::exists(directory_ / name, error)) return;
  std::filesystem::rename(directory_ / name, directory_ / new_name, error);
  if (error) throw OutputError(directory_ / new_name, error.message());
  kept_.push_back(new_name);
}

}  // namespace tessera
