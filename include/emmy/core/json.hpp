#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// JSON as this project needs it: key order kept, numbers kept as the text they were written in, duplicate keys refused,
/// nesting up to 256, and every refusal names file and path. Values are views into their document.
namespace emmy::json {

enum class kind : std::uint8_t { null, boolean, integer, real, string, array, object };
EMMY_DECL std::string_view kind_name(kind k);  ///< "an integer", "a string", …: for "found X, expected Y"

struct member;

/// One node, 16 bytes, owned by a document's arena; copying copies the view.
class value {
public:
    constexpr value() = default;

    kind type() const { return kind_; }
    bool is(kind k) const { return kind_ == k; }

    /// Text of a string (unescaped UTF-8) or the spelling of a number; empty otherwise.
    std::string_view text() const { return kind_ >= kind::integer && kind_ <= kind::string ? std::string_view(chars_, size_) : std::string_view(); }
    bool boolean() const { return kind_ == kind::boolean && size_ != 0; }
    std::size_t size() const { return kind_ >= kind::array ? size_ : 0; }  ///< elements or members
    std::span<const value> items() const { return kind_ == kind::array ? std::span<const value>(items_, size_) : std::span<const value>(); }
    inline std::span<const member> members() const;
    EMMY_DECL const value* find(std::string_view key) const;  ///< member of an object, or nullptr

    EMMY_DECL result<std::int64_t> integer() const;  ///< of an integer that fits 64 bits
    EMMY_DECL result<double> real() const;           ///< of an integer or a real, correctly rounded

    // For document builders only.
    static value make_scalar(kind k, const char* chars, std::uint32_t size) { value v; v.kind_ = k; v.chars_ = chars; v.size_ = size; return v; }
    static value make_boolean(bool b) { value v; v.kind_ = kind::boolean; v.size_ = b; return v; }
    static value make_array(const value* first, std::uint32_t count) { value v; v.kind_ = kind::array; v.items_ = first; v.size_ = count; return v; }
    static value make_object(const member* first, std::uint32_t count) { value v; v.kind_ = kind::object; v.members_ = first; v.size_ = count; return v; }

private:
    union {
        const char* chars_ = nullptr;
        const value* items_;
        const member* members_;
    };
    std::uint32_t size_ = 0;
    kind kind_ = kind::null;
};

struct member {
    std::string_view key;
    value item;
};

inline std::span<const member> value::members() const {
    return kind_ == kind::object ? std::span<const member>(members_, size_) : std::span<const member>();
}

namespace detail {
struct storage;
}

/// A parsed text with everything its values point to. Copies share one storage, counted atomically (own count: <memory> would be
/// a fifth of this header's cost); values stay valid while any copy lives.
class document {
public:
    document() = default;  ///< null
    document(const document& other) noexcept : storage_(other.storage_), root_(other.root_) { retain(); }
    document(document&& other) noexcept : storage_(other.storage_), root_(other.root_) { other.storage_ = nullptr; }
    document& operator=(document other) noexcept {
        std::swap(storage_, other.storage_);
        std::swap(root_, other.root_);
        return *this;
    }
    ~document() { release(); }

    /// Errors (input): not JSON, duplicate key, nesting over 256, invalid UTF-8; the fault carries `file` and the JSON path.
    EMMY_DECL static result<document> parse(std::string_view text, std::string_view file = {});

    const value& root() const { return root_; }

private:
    EMMY_DECL void retain() noexcept;
    EMMY_DECL void release() noexcept;
    detail::storage* storage_ = nullptr;
    value root_;
};

/// Where a value stands: a chain on the stack, spelled only when something is refused. A path points at its parent, which must outlive
/// it: one step may be passed on in a call, two steps in a variable need two variables.
///   const json::path rows = where / "rows", row = rows / i;      // not: const json::path row = where / "rows" / i;
struct path {
    const path* up = nullptr;
    std::string_view key = {};
    std::int64_t index = -1;

    path operator/(std::string_view name) const { return {this, name, -1}; }
    path operator/(std::size_t i) const { return {this, {}, static_cast<std::int64_t>(i)}; }
    EMMY_DECL std::string text() const;  ///< "rows[3].knobs.WORK"; "" at the root
};

/// "found an integer, expected a string" at a path.
EMMY_DECL fault expected(const path& where, const value& found, std::string_view wanted);
EMMY_DECL fault problem(const path& where, std::string message);

// Strictly typed reads: a bool is never an integer, an integer is accepted where a real is asked for, NaN never.
EMMY_DECL result<std::string_view> read_string(const value& v, const path& where);
EMMY_DECL result<std::int64_t> read_integer(const value& v, const path& where);
EMMY_DECL result<double> read_real(const value& v, const path& where);
EMMY_DECL result<bool> read_boolean(const value& v, const path& where);
EMMY_DECL result<std::span<const value>> read_array(const value& v, const path& where);
EMMY_DECL result<std::span<const member>> read_object(const value& v, const path& where);

/// Reads an object field by field and refuses what is left over.
///   json::fields f(v, where);  EMMY_TRY(name, f.need("name"));  const value* note = f.may("note");  EMMY_CHECK_OK(f.done());
class fields {
public:
    EMMY_DECL fields(const value& object, const path& where);
    EMMY_DECL result<const value*> need(std::string_view key);  ///< error: not an object, or the key is missing
    EMMY_DECL const value* may(std::string_view key);           ///< nullptr when absent
    EMMY_DECL result<void> done() const;                        ///< error: an unknown key
    path at(std::string_view key) const { return where_ / key; }

private:
    const value& object_;
    const path& where_;
    std::uint64_t seen_ = 0;  // objects of documented shapes have < 64 members; a larger one fails done() by name lookup
};

/// Streaming writer in the two layouts of a golden document: `compact` has no blanks, `spaced` has one after each , and :.
class writer {
public:
    enum class layout : std::uint8_t { compact, spaced };
    explicit writer(std::string& out, layout style = layout::compact) : out_(out), style_(style) {}

    EMMY_DECL writer& begin_object();
    EMMY_DECL writer& end_object();
    EMMY_DECL writer& begin_array();
    EMMY_DECL writer& end_array();
    EMMY_DECL writer& key(std::string_view name);
    EMMY_DECL writer& string(std::string_view text);
    EMMY_DECL writer& integer(std::int64_t number);
    EMMY_DECL writer& real(double number);
    EMMY_DECL writer& boolean(bool b);
    EMMY_DECL writer& null();
    EMMY_DECL writer& spelled(std::string_view number);  ///< a number already in canonical spelling
    EMMY_DECL writer& copy(const value& v);              ///< a parsed value, key order kept, numbers re-spelled canonically

private:
    EMMY_DECL void separate();
    std::string& out_;
    layout style_;
    bool first_ = true, after_key_ = false;
};

/// Shortest digits that read back to the same double: "15.0", "1e-05", "9.223372036854776e+18".
EMMY_DECL std::string spell_real(double number);
/// JSON string with escapes, non-ASCII as \uXXXX (surrogate pairs), quotes included.
EMMY_DECL void append_quoted(std::string& out, std::string_view text);

}  // namespace emmy::json

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/json.ipp>
#endif
