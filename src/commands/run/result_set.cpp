// This file names the files of a run all at once.
#include "src/commands/run/result_set.hpp"

#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "postprocess/files/kept_file.hpp"
#include "postprocess/files/output_directory.hpp"
#include "postprocess/ranks/output_on_all_ranks.hpp"
#include "postprocess/vtk/pvtu_writer.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<AtomicFile> written(const fs::path& path,
                                    const std::function<void(AtomicFile&)>& write) {
  auto file = std::make_unique<AtomicFile>(path);
  write(*file);
  file->complete();
  return file;
}

}  // namespace

ResultSet::ResultSet(fs::path directory, std::vector<std::string> kept, const Communicator& ranks)
    : directory_(std::move(directory)), ranks_(ranks) {
  for (std::string& name : kept) {
    if (name.ends_with(".pvtu")) {
      for (std::string& piece : piece_files(directory_, name)) kept_.push_back(std::move(piece));
    }
    kept_.push_back(std::move(name));
  }
}

void ResultSet::with_space(const std::function<void()>& work) {
  try {
    work();
    return;
  } catch (const OutputError& error) {
    if (!error.is_for_lack_of_space()) throw;
    const bool has_removed =
        output_on_all_ranks(ranks_, [&] { return is_root() && remove_results(directory_, kept_); });
    if (!ranks_.any(has_removed)) throw;
  }
  work();
}

void ResultSet::add(const std::string& name, const std::function<void(AtomicFile&)>& write) {
  with_space([&] {
    output_on_all_ranks(ranks_, [&] {
      if (is_root()) files_.push_back(written(directory_ / name, write));
    });
  });
}

void ResultSet::add(const std::string& name, std::string_view text) {
  add(name, [&](AtomicFile& file) { file.write(text); });
}

void ResultSet::add(const std::string& name, const std::function<void(AtomicFile&)>& write,
                    const std::function<void()>& finish) {
  with_space([&] {
    output_on_all_ranks(ranks_, [&] {
      std::exception_ptr failure;
      try {
        if (is_root()) files_.push_back(written(directory_ / name, write));
      } catch (...) {
        failure = std::current_exception();
      }
      finish();
      if (failure) std::rethrow_exception(failure);
    });
  });
}

std::vector<std::string> ResultSet::piece_names(const std::string& pvtu_name) const {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(ranks_.size()));
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    names.push_back(piece_name(pvtu_name, rank, ranks_.size()));
  }
  return names;
}

void ResultSet::add_pieces(const std::string& pvtu_name,
                           const std::function<void(AtomicFile&)>& write_piece,
                           const std::function<std::string(std::span<const std::string>)>& text) {
  with_space([&] { add_pieces_once(pvtu_name, write_piece, text); });
}

void ResultSet::add_pieces_once(
    const std::string& pvtu_name, const std::function<void(AtomicFile&)>& write_piece,
    const std::function<std::string(std::span<const std::string>)>& text) {
  const std::vector<std::string> names = piece_names(pvtu_name);
  Pieces pieces{pvtu_name, nullptr, nullptr};
  std::exception_ptr failure;
  try {
    output_on_all_ranks(ranks_, [&] {
      std::error_code error;
      const fs::path folder = directory_ / pieces_folder(pvtu_name);
      if (is_root()) fs::create_directory(folder, error);
      if (error) throw OutputError(folder, error.message());
    });
    output_on_all_ranks(ranks_, [&] {
      pieces.piece =
          written(directory_ / names[static_cast<std::size_t>(ranks_.rank())], write_piece);
    });
    output_on_all_ranks(ranks_, [&] {
      if (!is_root()) return;
      pieces.file =
          written(directory_ / pvtu_name, [&](AtomicFile& file) { file.write(text(names)); });
    });
    pieces_.push_back(std::move(pieces));
    return;
  } catch (...) {
    failure = std::current_exception();
  }
  pieces = {};
  ranks_.barrier();
  remove_empty_folder(pvtu_name);
  std::rethrow_exception(failure);
}

void ResultSet::remove_empty_folder(const std::string& pvtu_name) const {
  const fs::path folder = directory_ / pieces_folder(pvtu_name);
  std::error_code not_empty;
  if (is_root() && fs::is_directory(folder, not_empty)) fs::remove(folder, not_empty);
}

void ResultSet::commit() {
  if (!ranks_.any(!files_.empty() || !pieces_.empty())) return;
  output_on_all_ranks(ranks_, [&] {
    if (is_root() && !has_named_) remove_earlier_results();
  });
  std::exception_ptr failure;
  const auto attempt = [&](auto&& work) {
    try {
      work();
    } catch (const OutputError&) {
      failure = std::current_exception();
    }
  };
  attempt([&] { commit_pieces(); });
  attempt([&] { commit_files(); });
  if (failure) std::rethrow_exception(failure);
}

void ResultSet::remove_earlier_results() {
  std::vector<std::string> names = kept_;
  for (const auto& file : files_) names.push_back(file->path().filename().string());
  for (const Pieces& pieces : pieces_) {
    for (std::string& name : piece_names(pieces.name)) names.push_back(std::move(name));
    names.push_back(pieces.name);
  }
  remove_results(directory_, names);
}

void ResultSet::commit_pieces() {
  try {
    output_on_all_ranks(ranks_, [&] {
      for (const Pieces& pieces : pieces_) pieces.piece->commit();
    });
    output_on_all_ranks(ranks_, [&] {
      for (const Pieces& pieces : pieces_) {
        if (is_root()) pieces.file->commit();
      }
    });
  } catch (const OutputError&) {
    take_back_pieces();
    throw;
  }
  for (const Pieces& pieces : pieces_) {
    for (std::string& name : piece_names(pieces.name)) kept_.push_back(std::move(name));
    kept_.push_back(pieces.name);
    has_named_ = true;
  }
  pieces_.clear();
}

void ResultSet::take_back_pieces() {
  std::vector<std::string> names;
  for (const Pieces& pieces : pieces_) {
    std::error_code ignored;
    fs::remove(pieces.piece->path(), ignored);
    if (is_root()) fs::remove(pieces.file->path(), ignored);
    names.push_back(pieces.name);
  }
  pieces_.clear();
  ranks_.barrier();
  for (const std::string& name : names) remove_empty_folder(name);
}

void ResultSet::commit_files() {
  output_on_all_ranks(ranks_, [&] {
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
  });
}

void ResultSet::commit_keeping(const std::string& name, const std::string& new_name) {
  std::optional<KeptFile> earlier;
  try {
    output_on_all_ranks(ranks_, [&] {
      std::error_code error;
      if (!is_root() || !fs::exists(directory_ / name, error)) return;
      earlier.emplace(directory_ / name, directory_ / new_name);
    });
  } catch (const OutputError&) {
    // Or they would be named with the next ones.
    files_.clear();
    throw;
  }
  commit();
  output_on_all_ranks(ranks_, [&] {
    if (!earlier) return;
    earlier->commit();
    kept_.push_back(new_name);
  });
}

}  // namespace tessera
