// An Hdf5Storage is where HDF5 keeps the bytes of a file of ours.
#pragma once

#include <hdf5.h>

#include <exception>
#include <filesystem>
#include <utility>

#include "postprocess/files/atomic_file.hpp"

namespace tessera {

/// A function of HDF5 failed.
struct Hdf5Failure {};

/// An object of HDF5, closed at the end.
class Hdf5Handle {
 public:
  /// @throws Hdf5Failure if the id is that of no object
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw Hdf5Failure();
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { close_(id_); }

  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// The bytes of an HDF5 file: an AtomicFile that is being written, or a file that is read. HDF5
/// cannot close a file, nor end with the process, while writing to it fails: what fails here is
/// kept, and HDF5 is told that all is well.
class Hdf5Storage {
 public:
  /// @param file empty; must outlive this. @throws OutputError
  explicit Hdf5Storage(AtomicFile& file);
  /// @throws std::system_error if the file cannot be opened
  explicit Hdf5Storage(const std::filesystem::path& path);
  Hdf5Storage(const Hdf5Storage&) = delete;
  Hdf5Storage& operator=(const Hdf5Storage&) = delete;
  ~Hdf5Storage();

  /// Opens the file: a new one if it is written. All objects in it must be closed before this ends.
  /// @throws Hdf5Failure
  hid_t open();
  /// Throws what writing has failed with, if it has.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  friend struct StorageDriver;

  AtomicFile* file_ = nullptr;
  int descriptor_ = -1;
  std::exception_ptr failure_;
};

}  // namespace tessera
