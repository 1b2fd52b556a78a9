// This file compares what ranks have read.
#include "src/case/ranks/shared_text.hpp"

#include "src/parameters/messages/diagnostics.hpp"
#include "src/parameters/toml/reader.hpp"

namespace tessera {

std::string shared_text(const std::string& path, const Communicator& ranks) {
  std::string text = read_text_file(path);
  if (ranks.any(text != ranks.broadcast(text))) {
    throw InputError({{.file = path, .message = "is not the same on all hosts"}});
  }
  return text;
}

}  // namespace tessera
