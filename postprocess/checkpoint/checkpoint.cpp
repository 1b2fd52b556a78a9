// This file has the content of a checkpoint.
#include "postprocess/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <system_error>

#include "postprocess/checkpoint/hdf5_storage.hpp"
#include "solvers/ranks/whole_vector.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFormat = 2;
// Bytes of 1 MiB have a checksum.
constexpr Index kChunkNumbers = 1 << 17;
constexpr char kDamaged[] = "it is damaged or not complete";

void check(herr_t status) {
  if (status < 0) throw Hdf5Failure();
}

// Numbers first, first + 1, ... of a data set's space, and as many in memory.
Hdf5Handle select(hid_t space, Index first, std::size_t count) {
  const auto start = static_cast<hsize_t>(first);
  const hsize_t size = count;
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &size, nullptr));
  return {H5Screate_simple(1, &size, nullptr), H5Sclose};
}

// Attributes and data sets of a file that is written, all in one direction of a pair: a Writer and
// a Reader have the same functions, so that the list of what is in the file stands once.
class Writer {
 public:
  explicit Writer(hid_t file) : file_(file) {}

  void number(const char* name, const double& value) const {
    attribute(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
  }
  void number(const char* name, const std::int64_t& value) const {
    attribute(name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
  }
  void number(const char* name, const int& value) const { number(name, std::int64_t{value}); }
  void number(const char* name, const std::optional<double>& value) const {
    if (value) number(name, *value);
  }
  void text(const char* name, const std::string& value) const {
    data(name, H5T_STD_U8LE, H5T_NATIVE_UCHAR, value.data(), value.size());
  }
  void numbers(const char* name, const std::vector<double>& values) const {
    data(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), values.size());
  }
  void data(const char* name, hid_t type, hid_t memory_type, const void* values,
            std::size_t count) const {
    const Hdf5Handle set = make_set(name, type, count);
    if (count > 0) check(H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }
  // Chunk after chunk, the vector of all ranks.
  void vector(const char* name, const HostVector<double>& w) const {
    const auto size = static_cast<hsize_t>(w.layout().whole_size());
    const Hdf5Handle set = make_set(name, H5T_IEEE_F64LE, size);
    gather_whole(w, kChunkNumbers, [&](Index first, std::span<const double> values) {
      const Hdf5Handle space(H5Dget_space(set), H5Sclose);
      const Hdf5Handle part = select(space, first, values.size());
      check(H5Dwrite(set, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, values.data()));
    });
  }

 private:
  Hdf5Handle make_set(const char* name, hid_t type, hsize_t size) const {
    const std::size_t count = size;
    const Hdf5Handle space(count == 0 ? H5Screate(H5S_NULL) : H5Screate_simple(1, &size, nullptr),
                           H5Sclose);
    const Hdf5Handle options(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    // The same checkpoint has the same bytes.
    check(H5Pset_obj_track_times(options, false));
    if (count > 0) {
      const hsize_t chunk = std::min(size, hsize_t{kChunkNumbers});
      check(H5Pset_chunk(options, 1, &chunk));
      check(H5Pset_fletcher32(options));
    }
    return {H5Dcreate2(file_, name, type, space, H5P_DEFAULT, options, H5P_DEFAULT), H5Dclose};
  }
  void attribute(const char* name, hid_t type, hid_t memory_type, const void* value) const {
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Handle made(H5Acreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(H5Awrite(made, memory_type, value));
  }

  hid_t file_;
};

class Reader {
 public:
  explicit Reader(hid_t file) : file_(file) {}

  void number(const char* name, double& value) const { attribute(name, H5T_NATIVE_DOUBLE, &value); }
  void number(const char* name, std::int64_t& value) const {
    attribute(name, H5T_NATIVE_INT64, &value);
  }
  void number(const char* name, int& value) const {
    std::int64_t wide = 0;
    number(name, wide);
    value = static_cast<int>(wide);
  }
  void number(const char* name, std::optional<double>& value) const {
    const htri_t is_there = H5Aexists(file_, name);
    check(is_there);
    if (is_there > 0) number(name, value.emplace());
  }
  void text(const char* name, std::string& value) const {
    const Hdf5Handle set(H5Dopen2(file_, name, H5P_DEFAULT), H5Dclose);
    value.resize(size(set));
    if (!value.empty()) read(set, H5T_NATIVE_UCHAR, value.data());
  }
  void numbers(const char* name, std::vector<double>& values) const {
    const Hdf5Handle set(H5Dopen2(file_, name, H5P_DEFAULT), H5Dclose);
    values.resize(size(set));
    if (!values.empty()) read(set, H5T_NATIVE_DOUBLE, values.data());
  }
  static std::size_t size(hid_t set) {
    const Hdf5Handle space(H5Dget_space(set), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count < 0) throw Hdf5Failure();
    return static_cast<std::size_t>(count);
  }

 private:
  static void read(hid_t set, hid_t memory_type, void* values) {
    check(H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }
  void attribute(const char* name, hid_t memory_type, void* value) const {
    const Hdf5Handle there(H5Aopen(file_, name, H5P_DEFAULT), H5Aclose);
    check(H5Aread(there, memory_type, value));
  }

  hid_t file_;
};

// All but the vector, read or written.
template <class Direction, class State>
void transfer(Direction file, State& state) {
  auto& time = state.time;
  file.text("program", state.program);
  file.text("case.toml", state.case_text);
  file.number("dimension", state.dimension);
  file.number("degree", state.degree);
  file.number("dofs", state.dofs);
  file.number("t", time.end);
  file.number("steps", time.steps);
  file.number("rejected", time.rejected);
  file.number("outputs", time.outputs);
  file.number("linear_iterations", time.linear_iterations);
  file.number("nonlinear_iterations", time.nonlinear_iterations);
  file.number("smallest_step", time.smallest_step);
  file.number("largest_step", time.largest_step);
  file.number("next_step", state.next_step);
  file.number("last_output", state.last_output);
  file.number("last_solution", state.series.last_number);
  file.number("smallest_value", state.series.range.first);
  file.number("largest_value", state.series.range.second);
}

// The same of what the structs have in another form than the file.
struct Converted {
  std::string names;
  std::vector<double> times;
  std::optional<double> l2;
  std::optional<double> h1_seminorm;
  std::optional<double> max;
};

template <class Direction, class State>
void transfer_converted(Direction file, State& converted) {
  file.text("solutions", converted.names);
  file.numbers("solution_times", converted.times);
  file.number("max_error_l2", converted.l2);
  file.number("max_error_h1_seminorm", converted.h1_seminorm);
  file.number("max_error_max", converted.max);
}

// Goes through the vector, a chunk at a time, for its checksums.
void check_vector(hid_t file, Index dofs) {
  const Hdf5Handle set(H5Dopen2(file, "w", H5P_DEFAULT), H5Dclose);
  const hsize_t size = Reader::size(set);
  if (size != static_cast<hsize_t>(dofs)) throw Hdf5Failure();
  const Hdf5Handle space(H5Dget_space(set), H5Sclose);
  std::vector<double> chunk(std::min(size, hsize_t{kChunkNumbers}));
  for (hsize_t first = 0; first < size; first += kChunkNumbers) {
    const std::size_t count = std::min(size - first, hsize_t{kChunkNumbers});
    const Hdf5Handle part = select(space, static_cast<Index>(first), count);
    check(H5Dread(set, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, chunk.data()));
  }
}

template <class Work>
void with_file(const fs::path& path, const Work& work) {
  try {
    Hdf5Storage storage(path);
    const Hdf5Handle file(storage.open(), H5Fclose);
    work(file);
  } catch (const Hdf5Failure&) {
    throw CheckpointError(path, kDamaged);
  } catch (const std::system_error& error) {
    throw CheckpointError(path, error.code().message());
  }
}

// Whether this rank reads and writes the files of all ranks that share w.
bool has_files(const HostVector<double>& w) {
  const auto& shared = w.layout().shared;
  return shared == nullptr || shared->ranks().rank() == 0;
}

// Reads the vector on the rank that has the file, for all; says what is wrong, if anything is.
std::string why_not_read(const fs::path& path, HostVector<double>& w) {
  bool is_begun = false;
  try {
    with_file(path, [&](hid_t file) {
      const Hdf5Handle set(H5Dopen2(file, "w", H5P_DEFAULT), H5Dclose);
      const auto size = static_cast<std::size_t>(w.layout().whole_size());
      if (Reader::size(set) != size) {
        throw CheckpointError(
            path, fmt::format("it has {} DoFs and the case {}", Reader::size(set), size));
      }
      is_begun = true;
      scatter_whole(
          kChunkNumbers,
          [&](Index first, std::span<double> values) {
            const Hdf5Handle space(H5Dget_space(set), H5Sclose);
            const Hdf5Handle part = select(space, first, values.size());
            check(H5Dread(set, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, values.data()));
          },
          w);
    });
    return "";
  } catch (const CheckpointError& error) {
    if (!is_begun) scatter_whole(kChunkNumbers, {}, w);
    return error.what();
  }
}

}  // namespace

CheckpointError::CheckpointError(const fs::path& path, const std::string& why)
    : std::runtime_error(fmt::format("cannot read {}: {}", path.string(), why)) {}

void write_checkpoint(AtomicFile& file, const Checkpoint& checkpoint, const HostVector<double>& w) {
  Hdf5Storage storage(file);
  try {
    const Hdf5Handle opened(storage.open(), H5Fclose);
    Writer writer(opened);
    writer.number("format", kFormat);
    transfer(writer, checkpoint);
    Converted converted;
    for (const auto& [t, name] : checkpoint.series.files) {
      converted.names += name + '\n';
      converted.times.push_back(t);
    }
    if (const auto& error = checkpoint.time.max_error) {
      converted.l2 = error->l2;
      converted.h1_seminorm = error->h1_seminorm;
      converted.max = error->max;
    }
    transfer_converted(writer, std::as_const(converted));
    writer.vector("w", w);
    check(H5Fflush(opened, H5F_SCOPE_GLOBAL));
  } catch (const Hdf5Failure&) {
    storage.rethrow();
    throw OutputError(file.path(), "HDF5 cannot make it");
  }
  storage.rethrow();
}

Checkpoint read_checkpoint(const fs::path& path) {
  Checkpoint checkpoint;
  with_file(path, [&](hid_t file) {
    Reader reader(file);
    std::int64_t format = 0;
    reader.number("format", format);
    if (format != kFormat) {
      throw CheckpointError(
          path, fmt::format("its format is {}, this program reads {}", format, kFormat));
    }
    transfer(reader, checkpoint);
    Converted converted;
    transfer_converted(reader, converted);
    std::istringstream names(converted.names);
    std::string name;
    for (const double t : converted.times) {
      if (!std::getline(names, name)) throw Hdf5Failure();
      checkpoint.series.files.push_back({t, name});
    }
    if (converted.l2 && converted.h1_seminorm && converted.max) {
      checkpoint.time.max_error = {*converted.l2, *converted.h1_seminorm, *converted.max};
    }
    check_vector(file, checkpoint.dofs);
  });
  return checkpoint;
}

void finish_checkpoint(const HostVector<double>& w) {
  if (w.layout().shared == nullptr) return;
  // Rank 0 refuses at once what it has no use for.
  while (gather_whole(w, kChunkNumbers, {}) != Gathering::refused) {
  }
}

void read_checkpoint_vector(const fs::path& path, HostVector<double>& w) {
  const auto& shared = w.layout().shared;
  const std::string why = has_files(w) ? why_not_read(path, w) : "";
  if (!has_files(w)) scatter_whole(kChunkNumbers, {}, w);
  const Agreement agreement = shared == nullptr ? Agreement{why.empty() ? 0 : 1, 0, why}
                                                : shared->ranks().agree(why.empty() ? 0 : 1, why);
  if (agreement.code != 0) throw CheckpointError(agreement.message);
}

FoundCheckpoint find_checkpoint(const fs::path& directory) {
  const fs::path last = directory / kCheckpointName;
  try {
    return {last, read_checkpoint(last), ""};
  } catch (const CheckpointError& error) {
    const fs::path previous = directory / kPreviousCheckpointName;
    std::error_code ignored;
    if (!fs::exists(previous, ignored)) throw;
    try {
      return {previous, read_checkpoint(previous), error.what()};
    } catch (const CheckpointError& earlier) {
      throw CheckpointError(fmt::format("{}; {}", error.what(), earlier.what()));
    }
  }
}

}  // namespace tessera
