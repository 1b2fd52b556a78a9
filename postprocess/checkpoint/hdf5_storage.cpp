// This file is the driver through which HDF5 reads and writes.
#include "postprocess/checkpoint/hdf5_storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

namespace tessera {

namespace {

// What HDF5 knows of an open file, and we beside it.
struct OpenFile {
  H5FD_t base;
  Hdf5Storage* storage;
  haddr_t end;
};

OpenFile& open_file(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& open_file(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

}  // namespace

struct StorageDriver {
  static H5FD_t* open(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*maximum*/) {
    const void* const info = H5Pget_driver_info(access);
    OpenFile* const file = info == nullptr ? nullptr : new (std::nothrow) OpenFile{};
    if (file == nullptr) return nullptr;
    file->storage = *static_cast<Hdf5Storage* const*>(info);
    return &file->base;
  }
  static herr_t close(H5FD_t* file) {
    delete &open_file(file);
    return 0;
  }
  static int compare(const H5FD_t* a, const H5FD_t* b) { return a < b ? -1 : a > b ? 1 : 0; }
  static herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
  }
  static haddr_t allocated(const H5FD_t* file, H5FD_mem_t /*type*/) { return open_file(file).end; }
  static herr_t set_allocated(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
    open_file(file).end = end;
    return 0;
  }
  static haddr_t size(const H5FD_t* file, H5FD_mem_t /*type*/) {
    struct stat status {};
    const Hdf5Storage& storage = *open_file(file).storage;
    if (fstat(storage.descriptor_, &status) != 0) return 0;
    // What could not be written counts as well.
    const auto bytes = static_cast<haddr_t>(status.st_size);
    return storage.failure_ ? std::max(bytes, open_file(file).end) : bytes;
  }
  static herr_t read(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address,
                     std::size_t bytes, void* buffer) {
    const int descriptor = open_file(file).storage->descriptor_;
    char* to = static_cast<char*>(buffer);
    while (bytes > 0) {
      const ssize_t got = pread(descriptor, to, bytes, static_cast<off_t>(address));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return -1;
      if (got == 0) {
        std::memset(to, 0, bytes);
        break;
      }
      to += got;
      address += static_cast<haddr_t>(got);
      bytes -= static_cast<std::size_t>(got);
    }
    return 0;
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address,
                      std::size_t bytes, const void* buffer) {
    Hdf5Storage& storage = *open_file(file).storage;
    if (storage.file_ == nullptr) return -1;
    if (storage.failure_) return 0;
    try {
      storage.file_->write_at(static_cast<Index>(address),
                              {static_cast<const char*>(buffer), bytes});
    } catch (...) {
      storage.failure_ = std::current_exception();
    }
    return 0;
  }

  static hid_t id() {
    static const hid_t registered = [] {
      // The versions of HDF5 have other members beside these.
      static H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
      driver.version = H5FD_CLASS_VERSION;
      constexpr int kOwnDrivers = 512;
      driver.value = static_cast<H5FD_class_value_t>(kOwnDrivers);
#endif
      driver.name = "tessera";
      driver.maxaddr = HADDR_MAX / 2;
      driver.fc_degree = H5F_CLOSE_STRONG;
      driver.fapl_size = sizeof(void*);
      driver.open = open;
      driver.close = close;
      driver.cmp = compare;
      driver.query = query;
      driver.get_eoa = allocated;
      driver.set_eoa = set_allocated;
      driver.get_eof = size;
      driver.read = read;
      driver.write = write;
      std::fill(std::begin(driver.fl_map), std::end(driver.fl_map), H5FD_MEM_DEFAULT);
      return H5FDregister(&driver);
    }();
    return registered;
  }
};

Hdf5Storage::Hdf5Storage(AtomicFile& file)
    : file_(&file), descriptor_(::open(file.temporary_path().c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw OutputError(file.path(), std::strerror(errno));
}

Hdf5Storage::Hdf5Storage(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
}

Hdf5Storage::~Hdf5Storage() { ::close(descriptor_); }

hid_t Hdf5Storage::open() {
  // Of what fails we say ourselves.
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const Hdf5Storage* const self = this;
  // In this format all that describes the data has a checksum.
  if (H5Pset_driver(access, StorageDriver::id(), &self) < 0 ||
      H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST) < 0) {
    throw Hdf5Failure();
  }
  if (file_ == nullptr) return H5Fopen("checkpoint", H5F_ACC_RDONLY, access);
  // The root group would have the time of its making, and no two files the same bytes.
  const Hdf5Handle options(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  if (H5Pset_obj_track_times(options, false) < 0) throw Hdf5Failure();
  return H5Fcreate("checkpoint", H5F_ACC_TRUNC, options, access);
}

}  // namespace tessera
