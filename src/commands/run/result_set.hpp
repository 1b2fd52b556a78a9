// A ResultSet holds the files of a run until all of them are complete.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "postprocess/files/atomic_file.hpp"
#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// The files of one run's results. They have temporary names until commit() gives them theirs, all
/// at once, in place of an earlier run's results, which stay until then: but where the disk is too
/// full for both, the earlier ones give way. A run that writes while it goes on commits several
/// times; what it has named stays.
///
/// With several ranks all of them call each function together, and what one throws all throw
/// (output_on_all_ranks()). Rank 0 writes the files but for the pieces of a .pvtu file, one of each
/// rank.
class ResultSet {
 public:
  /// @param kept names of an earlier run's results that stay, because this one goes on with them;
  /// a .pvtu file's pieces stay with it
  /// @param ranks must outlive this
  explicit ResultSet(std::filesystem::path directory, std::vector<std::string> kept = {},
                     const Communicator& ranks = single_rank());

  /// Adds a file that `write` fills, on rank 0 alone, so it must not communicate; called once more
  /// if the disk was full of earlier results.
  /// @throws OutputError and what `write` throws; the set is then as before
  void add(const std::string& name, const std::function<void(AtomicFile&)>& write);
  void add(const std::string& name, std::string_view text);
  /// The same of a file that rank 0 writes from what the others send: `finish` is called by rank 0
  /// after `write`, whatever became of it, and by the others instead.
  void add(const std::string& name, const std::function<void(AtomicFile&)>& write,
           const std::function<void()>& finish);
  /// Adds a .pvtu file and its pieces: each rank fills its own, and rank 0, once all are complete,
  /// the file that names them. Neither function may communicate; else as add().
  /// @param text of the file, of the pieces' names as it has to have them
  void add_pieces(const std::string& pvtu_name, const std::function<void(AtomicFile&)>& write_piece,
                  const std::function<std::string(std::span<const std::string>)>& text);
  /// Removes what an earlier run left and names the files; without any, does nothing. Where a piece
  /// or its .pvtu file cannot be named, none of them stays.
  /// @throws OutputError
  void commit();
  /// commit(), after which the file that has had the name until then, if any, has the new one, in
  /// place of a file of that name. If the commit fails, both files are as before.
  /// @throws OutputError
  void commit_keeping(const std::string& name, const std::string& new_name);

  const std::filesystem::path& directory() const { return directory_; }
  const Communicator& ranks() const { return ranks_; }

 private:
  // A .pvtu file and this rank's piece.
  struct Pieces {
    std::string name;  // of the .pvtu file
    std::unique_ptr<AtomicFile> piece;
    std::unique_ptr<AtomicFile> file;  // on rank 0
  };

  bool is_root() const { return ranks_.rank() == 0; }
  // Calls work() and, if the disk is full of earlier results, removes them and calls it again.
  void with_space(const std::function<void()>& work);
  void add_pieces_once(const std::string& pvtu_name,
                       const std::function<void(AtomicFile&)>& write_piece,
                       const std::function<std::string(std::span<const std::string>)>& text);
  std::vector<std::string> piece_names(const std::string& pvtu_name) const;
  void remove_earlier_results();
  void commit_pieces();
  void take_back_pieces();
  void remove_empty_folder(const std::string& pvtu_name) const;
  void commit_files();

  std::filesystem::path directory_;
  const Communicator& ranks_;
  std::vector<std::unique_ptr<AtomicFile>> files_;  // on rank 0
  std::vector<Pieces> pieces_;
  // What stays of an earlier run, and all that this one has named; on rank 0.
  std::vector<std::string> kept_;
  bool has_named_ = false;
};

}  // namespace tessera
