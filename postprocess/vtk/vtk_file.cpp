// This file drives VTK's writer, compresses in parallel and collects errors.
#include "postprocess/vtk/vtk_file.hpp"

#include <omp.h>
#include <vtkCallbackCommand.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkErrorCode.h>
#include <vtkExecutive.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLUnstructuredGridWriter.h>
#include <vtkZLibDataCompressor.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "mesh/first_failure.hpp"
#include "mesh/index.hpp"

namespace tessera {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr Index kBlocksPerThread = 4;

// A file buffer that remembers why it first failed; VTK itself takes every failure for a full disk.
class FileBuffer : public std::filebuf {
 public:
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    const int_type result = std::filebuf::overflow(c);
    return note(result, traits_type::eq_int_type(result, traits_type::eof()));
  }
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    const std::streamsize written = std::filebuf::xsputn(text, n);
    return note(written, written != n);
  }
  int sync() override {
    const int result = std::filebuf::sync();
    return note(result, result != 0);
  }
  pos_type seekoff(off_type offset, std::ios_base::seekdir from,
                   std::ios_base::openmode which) override {
    const pos_type result = std::filebuf::seekoff(offset, from, which);
    return note(result, result == pos_type(off_type(-1)));
  }

 private:
  template <class Result>
  Result note(Result result, bool failed) {
    if (failed && error_ == 0) error_ = errno;
    return result;
  }

  int error_ = 0;
};

// Writes to a stream of ours in place of the one that VTK opens.
class GridWriter : public vtkXMLUnstructuredGridWriter {
 public:
  static GridWriter* New();

  void set_stream(std::ostream* stream) { stream_ = stream; }

 protected:
  int StartFile() override {
    vtk_stream_ = std::exchange(Stream, stream_);
    return check(vtkXMLUnstructuredGridWriter::StartFile());
  }
  int WriteAPiece() override { return check(vtkXMLUnstructuredGridWriter::WriteAPiece()); }
  int EndFile() override {
    const int result = check(vtkXMLUnstructuredGridWriter::EndFile());
    Stream = vtk_stream_;
    return result;
  }

 private:
  // VTK reports a failing stream in most places, not in all.
  int check(int result) const { return result == 1 && stream_->good() ? 1 : 0; }

  std::ostream* stream_ = nullptr;
  std::ostream* vtk_stream_ = nullptr;
};
vtkStandardNewMacro(GridWriter);

// Compresses a run of blocks on all threads when the writer asks for the first of them. The writer
// walks through arrays in blocks of one size, so the next blocks are known; only their end is not,
// which is why the arrays are announced. (Keeps its parent's class name: it goes into the file.)
class ParallelCompressor : public vtkZLibDataCompressor {
 public:
  static ParallelCompressor* New();

  void announce(vtkDataArray* array) {
    if (array == nullptr) return;
    const auto* begin = static_cast<const unsigned char*>(array->GetVoidPointer(0));
    arrays_.emplace_back(begin, static_cast<std::size_t>(array->GetNumberOfValues()) *
                                    static_cast<std::size_t>(array->GetDataTypeSize()));
  }

 protected:
  size_t CompressBuffer(const unsigned char* block, size_t size, unsigned char* out,
                        size_t space) override {
    if (block != expected_ || next_ == blocks_.size()) look_ahead(block, size);
    if (blocks_.empty()) return vtkZLibDataCompressor::CompressBuffer(block, size, out, space);
    const std::vector<unsigned char>& compressed = blocks_[next_++];
    expected_ = block + size;
    if (compressed.size() > space) return 0;
    std::copy(compressed.begin(), compressed.end(), out);
    return compressed.size();
  }

 private:
  void look_ahead(const unsigned char* first, size_t size) {
    blocks_.clear();
    next_ = 0;
    const auto holds = [first](std::span<const unsigned char> array) {
      return std::less_equal<>()(array.data(), first) &&
             std::less<>()(first, array.data() + array.size());
    };
    const auto array = std::find_if(arrays_.begin(), arrays_.end(), holds);
    if (array == arrays_.end()) return;
    const Index rest = array->data() + array->size() - first;
    const Index block = static_cast<Index>(size);
    const Index count = std::min(ceil_div(rest, block), kBlocksPerThread * omp_get_max_threads());
    blocks_.resize(static_cast<std::size_t>(count));
    FirstFailure failure;
#pragma omp parallel for schedule(dynamic)
    for (Index b = 0; b < count; ++b) {
      failure.guard(b, [&] {
        const auto length = static_cast<std::size_t>(std::min(block, rest - b * block));
        std::vector<unsigned char>& compressed = blocks_[b];
        compressed.resize(GetMaximumCompressionSpace(length));
        compressed.resize(vtkZLibDataCompressor::CompressBuffer(
            first + b * block, length, compressed.data(), compressed.size()));
      });
    }
    failure.rethrow();
  }

  std::vector<std::span<const unsigned char>> arrays_;
  std::vector<std::vector<unsigned char>> blocks_;
  std::size_t next_ = 0;
  const unsigned char* expected_ = nullptr;
};
vtkStandardNewMacro(ParallelCompressor);

void announce_all(ParallelCompressor& compressor, vtkUnstructuredGrid& grid) {
  compressor.announce(grid.GetPoints()->GetData());
  compressor.announce(grid.GetCells()->GetConnectivityArray());
  for (int i = 0; i < grid.GetPointData()->GetNumberOfArrays(); ++i) {
    compressor.announce(grid.GetPointData()->GetArray(i));
  }
  for (int i = 0; i < grid.GetCellData()->GetNumberOfArrays(); ++i) {
    compressor.announce(grid.GetCellData()->GetArray(i));
  }
}

// Collects what VTK would otherwise print to the terminal.
void collect_message(vtkObject*, unsigned long, void* messages, void* text) {
  static_cast<std::string*>(messages)->append(static_cast<const char*>(text));
}

}  // namespace

Index vtk_compression_bytes(int threads) {
  return (kBlocksPerThread * threads + 1) * static_cast<Index>(kBlockBytes);
}

std::string write_vtk_file(const std::filesystem::path& path, vtkUnstructuredGrid& grid) {
  FileBuffer buffer;
  std::ostream stream(&buffer);
  if (buffer.open(path, std::ios::out | std::ios::binary | std::ios::trunc) == nullptr) {
    return std::strerror(errno);
  }

  std::string messages;
  vtkNew<vtkCallbackCommand> observer;
  observer->SetCallback(collect_message);
  observer->SetClientData(&messages);

  vtkNew<ParallelCompressor> compressor;
  compressor->AddObserver(vtkCommand::ErrorEvent, observer);
  announce_all(*compressor, grid);

  vtkNew<GridWriter> writer;
  writer->AddObserver(vtkCommand::ErrorEvent, observer);
  writer->AddObserver(vtkCommand::WarningEvent, observer);
  writer->GetExecutive()->AddObserver(vtkCommand::ErrorEvent, observer);
  writer->set_stream(&stream);
  // With this setting VTK opens no file, and so deletes none either.
  writer->WriteToOutputStringOn();
  writer->SetInputData(&grid);
  writer->SetDataModeToAppended();
  writer->EncodeAppendedDataOff();
  writer->SetHeaderTypeToUInt64();
  writer->SetIdTypeToInt64();
  // At 2.1 million DoFs of degree 4, LZ4 takes a third of zlib's time but makes files 1.7 times as
  // large; larger blocks are both faster and smaller than VTK's 32 KiB.
  writer->SetCompressor(compressor);
  writer->SetCompressionLevel(1);
  writer->SetBlockSize(kBlockBytes);

  const bool complete = writer->Write() == 1 && writer->GetErrorCode() == vtkErrorCode::NoError;
  const bool closed = buffer.close() != nullptr;
  if (buffer.error() != 0) return std::strerror(buffer.error());
  if (!closed) return std::strerror(errno);
  if (!complete) return messages.empty() ? "VTK could not write the grid" : messages;
  return "";
}

}  // namespace tessera
