// This file carries an exception of one rank to the others.
#include "operators/form/on_all_ranks.hpp"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>

#include "mesh/errors.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"

namespace tessera::internal {
namespace {

// As which exception a failure is thrown again.
enum class Kind {
  interrupted,
  memory,
  device_memory,
  device,
  carried,
  field_value,
  inverted_cell,
  lost_digits,
  unsuitable_choice,
  breakdown,
  other
};

// What of an exception other ranks have to know, but for its texts.
struct Values {
  Kind kind = Kind::other;
  Point where{};
  double value = 0.0;
  IndexTriple cell{};
  Choice choice{};
};
static_assert(std::is_trivially_copyable_v<Values>);

struct Failure {
  Values values;
  ErrorCarrier::Texts texts = {};
};

Failure of_message(const Values& values, const std::exception& error) {
  return {values, {"", error.what()}};
}

// Of what no carrier knows.
Failure failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted&) {
    return {{.kind = Kind::interrupted}};
  } catch (const std::bad_alloc&) {
    return {{.kind = Kind::memory}};
  } catch (const std::length_error&) {
    return {{.kind = Kind::memory}};
  } catch (const DeviceOutOfMemory& error) {
    return of_message({.kind = Kind::device_memory}, error);
  } catch (const DeviceError& error) {
    return of_message({.kind = Kind::device}, error);
  } catch (const BadFieldValue& error) {
    return {{.kind = Kind::field_value, .where = error.where(), .value = error.value()},
            {error.key(), error.what()}};
  } catch (const InvertedCell& error) {
    return of_message({.kind = Kind::inverted_cell, .cell = error.cell()}, error);
  } catch (const LostDigits& error) {
    return of_message({.kind = Kind::lost_digits}, error);
  } catch (const UnsuitableChoice& error) {
    return of_message({.kind = Kind::unsuitable_choice, .choice = error.choice()}, error);
  } catch (const NumericalBreakdown& error) {
    return of_message({.kind = Kind::breakdown}, error);
  } catch (const std::exception& error) {
    return of_message({.kind = Kind::other}, error);
  } catch (...) {
    return {{.kind = Kind::other}, {"", "an unknown exception"}};
  }
}

std::optional<ErrorCarrier::Texts> carried_texts(const std::exception_ptr& thrown,
                                                 const ErrorCarrier* carrier) {
  if (carrier == nullptr) return std::nullopt;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return carrier->texts_of(error);
  } catch (...) {
    return std::nullopt;
  }
}

Failure read(const std::exception_ptr& thrown, const ErrorCarrier* carrier) {
  if (auto texts = carried_texts(thrown, carrier)) {
    return {{.kind = Kind::carried}, *std::move(texts)};
  }
  return failure_of(thrown);
}

[[noreturn]] void throw_again(const Failure& failure, const ErrorCarrier* carrier) {
  const Values& values = failure.values;
  const std::string& text = failure.texts[1];
  switch (values.kind) {
    case Kind::interrupted:
      throw Interrupted();
    case Kind::memory:
      throw std::bad_alloc();
    case Kind::device_memory:
      throw DeviceOutOfMemory(text);
    case Kind::device:
      throw DeviceError(text);
    case Kind::carried:
      carrier->throw_again(failure.texts);
      break;
    case Kind::field_value:
      throw BadFieldValue(BadFieldValue::WholeText{text, failure.texts[0]}, values.where,
                          values.value);
    case Kind::inverted_cell:
      throw InvertedCell(values.cell, text);
    case Kind::lost_digits:
      throw LostDigits(text);
    case Kind::unsuitable_choice:
      throw UnsuitableChoice(values.choice, text);
    case Kind::breakdown:
      throw NumericalBreakdown(text);
    case Kind::other:
      break;
  }
  throw std::runtime_error(text);
}

// The values, the first text, a 0 and the second text.
std::string packed(const Failure& failure) {
  std::string message(sizeof(Values), '\0');
  std::memcpy(message.data(), &failure.values, sizeof(Values));
  return message + failure.texts[0] + '\0' + failure.texts[1];
}

Failure unpacked(std::string_view message) {
  Failure failure;
  std::memcpy(&failure.values, message.data(), sizeof(Values));
  message.remove_prefix(sizeof(Values));
  const std::size_t end = message.find('\0');
  failure.texts = {std::string(message.substr(0, end)), std::string(message.substr(end + 1))};
  return failure;
}

}  // namespace

void agree_on_failure(const Communicator& ranks, const std::exception_ptr& failure,
                      const ErrorCarrier* carrier) {
  const bool has_failed = failure != nullptr;
  const Agreement agreement =
      ranks.agree(has_failed ? 1 : 0, has_failed ? packed(read(failure, carrier)) : "");
  if (agreement.code != 0) throw_again(unpacked(agreement.message), carrier);
}

}  // namespace tessera::internal
