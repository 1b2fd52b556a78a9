// This file takes failures from one rank to the others.
#include "postprocess/ranks/on_all_ranks.hpp"

#include <new>

#include "mesh/errors.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "solvers/interruption.hpp"

namespace tessera::internal {
namespace {

// As which exception a failure is thrown again; in messages, their first character.
enum class Kind : char { interrupted, out_of_memory, output, value, other };

struct Failure {
  Kind kind;
  std::string text;
  std::string path = {};  // of output
};

Failure read(const std::exception_ptr& failure, const FailureText& text) {
  const auto text_of = [&](const std::exception& error) {
    return text ? text(error) : std::string(error.what());
  };
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted&) {
    return {Kind::interrupted, ""};
  } catch (const std::bad_alloc&) {
    return {Kind::out_of_memory, ""};
  } catch (const std::length_error&) {
    return {Kind::out_of_memory, ""};
  } catch (const OutputError& error) {
    return {Kind::output, error.cause(), error.path().string()};
  } catch (const BadFieldValue& error) {
    return {Kind::value, text_of(error)};
  } catch (const InvertedCell& error) {
    return {Kind::value, text_of(error)};
  } catch (const RankFailure& error) {
    return {Kind::value, error.what()};
  } catch (const std::exception& error) {
    return {Kind::other, error.what()};
  } catch (...) {
    return {Kind::other, "an unknown exception"};
  }
}

[[noreturn]] void throw_again(const Failure& failure, int rank) {
  switch (failure.kind) {
    case Kind::interrupted:
      throw Interrupted();
    case Kind::out_of_memory:
      throw std::bad_alloc();
    case Kind::output:
      throw OutputError(failure.path, failure.text);
    case Kind::value:
      throw RankFailure(failure.text, rank);
    case Kind::other:
      break;
  }
  throw std::runtime_error(failure.text);
}

// The kind, the path, which holds no 0, a 0 and the text.
std::string packed(const Failure& failure) {
  return static_cast<char>(failure.kind) + failure.path + '\0' + failure.text;
}

Failure unpacked(const std::string& message) {
  const std::size_t end_of_path = message.find('\0', 1);
  return {static_cast<Kind>(message[0]), message.substr(end_of_path + 1),
          message.substr(1, end_of_path - 1)};
}

}  // namespace

void agree_on_failure(const Communicator& ranks, const std::exception_ptr& failure,
                      const FailureText& text) {
  if (ranks.size() == 1) {
    if (failure != nullptr) std::rethrow_exception(failure);
    return;
  }
  const bool has_failed = failure != nullptr;
  const Agreement agreement =
      ranks.agree(has_failed ? 1 : 0, has_failed ? packed(read(failure, text)) : "");
  if (agreement.code != 0) throw_again(unpacked(agreement.message), agreement.rank);
}

}  // namespace tessera::internal
