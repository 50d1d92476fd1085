// SPDX-License-Identifier: Apache-2.0
// The description of a record: the one function of a record type that names its fields. Every output form of the record
// uses it.
//
//   void describe(Fields& f, PeTimes& p) {
//     f("id", p.id)("start_ns", p.start_ns, {"start, ns"})("end_ns", p.end_ns, {"end, ns"});
//   }
//
// A new field of a record is one line here: its name with the unit, its value, and its format in tables for people.
//
// JsonFields, CsvFields and TextFields write a record (forms.h); JsonSource reads it from JSON (json_source.h). A value
// that is a variable is read back; one that is an expression ("share", r.share()) is only written.
//
// Legal values:
// - a truth value, a number, a text, an enumeration with a name_of(), an optional;
// - a list, or a tuple (a short list);
// - a list of pairs or a map (an object whose keys are data);
// - a described record, or a lambda without arguments or with Fields&, which describes an object in place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Format of a field in a table for people: the column's heading (a field without one has no column), its decimals, a
/// factor, whether nonnegative values get a sign, and the word for a missing value.
struct Shown {
  std::string_view heading = {};
  int digits = 3;
  double times = 1;
  bool sign = false;
  std::string_view none = "-";
};

/// A value that is already JSON: a number with more digits than a double has.
struct RawJson {
  std::string text;
};

/// Receives the fields of a description.
class Fields {
 public:
  enum class Form : uint8_t { json, csv, text, source };
  explicit Fields(Form form) : form_(form) {}
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  virtual ~Fields() = default;
  /// For the few fields that exist in one form only.
  Form form() const { return form_; }
  bool is(Form form) const { return form_ == form; }

  /// Adds a field.
  template <class T>
  Fields& operator()(std::string_view name, T&& v, const Shown& shown = {}) {
    if (begin(name, shown, kind_of<T>())) value(v);
    return *this;
  }
  /// Adds a field that is omitted if its value is null, false, 0, an empty text or an empty list.
  template <class T>
  Fields& given(std::string_view name, T&& v) {
    if (has(name, !is_none(v))) (*this)(name, std::forward<T>(v));
    return *this;
  }
  /// Adds an enumeration with a name_of() as a text. parse(text) returns an optional value.
  template <class Enum, class Parse>
  Fields& word(std::string_view name, Enum& v, const Parse& parse) {
    std::string text(name_of(v));
    (*this)(name, text);
    if (form_ != Form::source) return *this;
    const auto found = parse(text);
    if (!found) refuse();
    v = *found;
    return *this;
  }
  /// Adds a list whose items are described by each(item), as fields without names.
  template <class List, class Each>
  Fields& list(std::string_view name, List&& list, const Each& each) {
    if (begin(name, {}, Kind::whole)) items(list, each);
    return *this;
  }
  /// Adds a list of objects, each described by each(item).
  template <class List, class Each>
  Fields& each(std::string_view name, List&& list, const Each& record) {
    return this->list(name, list, [&](auto& item) { object([&] { record(item); }); });
  }
  /// Adds an object without a name.
  template <class T>
  void record(const T& r) {
    value(r);
  }
  /// JSON only: the next field, or the items of the next list and its end, begin on new lines, indented by that many
  /// blanks. -1: no new lines.
  virtual Fields& line(int) { return *this; }
  virtual Fields& lines(int, int = -1) { return *this; }

 protected:
  using Scalar =
      std::variant<std::monostate, bool*, int64_t*, uint64_t*, double*, std::string*, std::string_view, const RawJson*>;
  /// Kind of a field's value: a single variable, a single expression, an object or list, or an expression that is one.
  enum class Kind : uint8_t { single, made, whole, made_whole };
  /// Begins a field. Returns false if this form omits it.
  virtual bool begin(std::string_view name, const Shown&, Kind) = 0;
  virtual void scalar(const Scalar&) = 0;
  virtual void open(char bracket) = 0;
  virtual void close(char bracket) = 0;
  /// Begins an item of a list.
  virtual void item(size_t) {}
  // A source overrides these, because it determines whether a field or value exists, how many items there are, and the
  // keys.
  virtual bool has(std::string_view, bool now) { return now; }
  virtual bool present(bool now) { return now; }
  virtual size_t size() { return 0; }
  virtual std::vector<std::string> keys() { return {}; }
  /// Whether the next value has the kind of this alternative of a variant: truth value, whole number, real or text.
  virtual bool is_like(const Scalar&) { return false; }
  /// Reports that the last value read is invalid for the field.
  [[noreturn]] virtual void refuse();

  template <class T>
  void value(T& v);
  template <class Do>
  void object(const Do& fields) {
    open('{');
    fields();
    close('}');
  }
  template <class List, class Each>
  void items(List& list, const Each& each);

 private:
  template <class T, template <class...> class Of>
  struct IsA : std::false_type {};
  template <template <class...> class Of, class... T>
  struct IsA<Of<T...>, Of> : std::true_type {};
  template <class T, class = void>
  struct IsList : std::false_type {};
  template <class T>
  struct IsList<T, std::void_t<decltype(std::begin(std::declval<T&>()))>> : std::true_type {};
  template <class T, class = void>
  struct IsNamed : std::false_type {};  // pairs whose first member is a text
  template <class T>
  struct IsNamed<T, std::void_t<decltype(std::begin(std::declval<T&>())->first)>>
      : std::is_convertible<decltype((std::begin(std::declval<T&>())->first)), std::string_view> {};
  template <class T, class = void>
  struct CanGrow : std::false_type {};
  template <class T>
  struct CanGrow<T, std::void_t<decltype(std::declval<T&>().resize(size_t{}))>> : std::true_type {};
  template <class T>
  static constexpr bool kText = std::is_convertible_v<const T&, std::string_view>;

  template <class T>
  static constexpr Kind kind_of();
  template <class T>
  static bool is_none(const T& v);
  template <class Wide, class T>
  void number(T& v);
  template <class T>
  void named(T& values);
  template <class... T>
  std::variant<T...> like(const std::variant<T...>&);

  Form form_;
};

template <class T>
constexpr Fields::Kind Fields::kind_of() {
  using V = std::decay_t<T>;
  constexpr bool variable = std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>;
  constexpr bool single = std::is_arithmetic_v<V> || std::is_enum_v<V> || kText<V> || std::is_same_v<V, RawJson> ||
                          IsA<V, std::optional>::value || IsA<V, std::variant>::value ||
                          std::is_same_v<V, std::nullopt_t>;
  if constexpr (std::is_invocable_v<T&>) return Kind::whole;
  return single ? variable ? Kind::single : Kind::made : variable ? Kind::whole : Kind::made_whole;
}

template <class T>
bool Fields::is_none(const T& v) {
  if constexpr (IsList<const T>::value && !kText<T>) {
    return std::begin(v) == std::end(v);
  } else if constexpr (kText<T>) {
    return std::string_view(v).empty();
  } else {
    return !v;
  }
}

template <class Wide, class T>
void Fields::number(T& v) {
  auto wide = static_cast<Wide>(v);
  scalar(&wide);
  if constexpr (!std::is_const_v<T>) {
    if (form_ != Form::source) return;
    v = static_cast<T>(wide);
    if (static_cast<Wide>(v) != wide) refuse();
  }
}

template <class List, class Each>
void Fields::items(List& list, const Each& each) {
  open('[');
  if constexpr (CanGrow<List>::value) {
    if (form_ == Form::source) list.resize(size());
  }
  size_t i = 0;
  for (auto&& x : list) {
    item(i++);
    each(x);
  }
  close(']');
}

template <class T>
void Fields::named(T& values) {
  open('{');
  using Key = std::decay_t<decltype(std::begin(values)->first)>;
  if constexpr (!std::is_const_v<T> && std::is_same_v<Key, std::string>) {
    if (form_ == Form::source) {
      values.clear();
      for (const std::string& key : keys()) {
        std::decay_t<decltype(std::begin(values)->second)> v{};
        (*this)(key, v);
        values.insert(values.end(), {key, std::move(v)});
      }
    }
  }
  if (form_ != Form::source) {
    for (auto& [key, v] : values) (*this)(key, v);
  }
  close('}');
}

/// The first alternative of the variant that fits the next value.
template <class... T>
std::variant<T...> Fields::like(const std::variant<T...>&) {
  std::variant<T...> found;
  bool done = false;
  const auto take = [&](auto alternative) {
    bool can = std::is_same_v<decltype(alternative), std::monostate> && !present(true);
    if constexpr (std::is_constructible_v<Scalar, decltype(&alternative)>) can = is_like(&alternative);
    if (!done && can) found = alternative;
    done = done || can;
  };
  (take(T()), ...);
  if (!done) refuse();
  return found;
}

template <class T>
void Fields::value(T& v) {
  using V = std::remove_const_t<T>;
  if constexpr (std::is_invocable_v<T&>) {
    object(v);
  } else if constexpr (std::is_invocable_v<T&, Fields&>) {
    object([&] { v(*this); });
  } else if constexpr (std::is_same_v<V, std::monostate> || std::is_same_v<V, std::nullopt_t>) {
    scalar({});
  } else if constexpr (std::is_same_v<V, bool> || std::is_floating_point_v<V>) {
    number<std::conditional_t<std::is_same_v<V, bool>, bool, double>>(v);
  } else if constexpr (std::is_integral_v<V>) {
    number<std::conditional_t<std::is_signed_v<V>, int64_t, uint64_t>>(v);
  } else if constexpr (std::is_enum_v<V>) {
    scalar(std::string_view(name_of(v)));
  } else if constexpr (std::is_same_v<T, std::string>) {
    scalar(&v);
  } else if constexpr (kText<V>) {
    scalar(std::string_view(v));
  } else if constexpr (std::is_same_v<V, RawJson>) {
    scalar(&v);
  } else if constexpr (IsA<V, std::optional>::value || IsA<V, std::shared_ptr>::value) {
    if (!present(static_cast<bool>(v))) {
      if (form_ != Form::source) return scalar({});
      if constexpr (!std::is_const_v<T>) v.reset();
    } else if (form_ != Form::source) {
      value(*v);
    } else if constexpr (!std::is_const_v<T>) {
      if constexpr (IsA<V, std::optional>::value) {
        value(v.emplace());
      } else {
        const auto read = std::make_shared<std::remove_const_t<typename V::element_type>>();
        value(*read);
        v = read;
      }
    }
  } else if constexpr (IsA<V, std::variant>::value) {
    if constexpr (!std::is_const_v<T>) {
      if (form_ == Form::source) v = like(v);
    }
    std::visit([this](auto& x) { this->value(x); }, v);
  } else if constexpr (IsA<V, std::tuple>::value) {
    open('[');
    size_t i = 0;
    std::apply([&](auto&... x) { ((item(i++), this->value(x)), ...); }, v);
    close(']');
  } else if constexpr (IsNamed<T>::value) {
    named(v);
  } else if constexpr (IsList<T>::value) {
    items(v, [this](auto& x) { this->value(x); });
  } else {
    // A writing form assigns nothing, so descriptions also accept constant records.
    object([&] { describe(*this, const_cast<V&>(v)); });
  }
}

}  // namespace kernbench::phase2
