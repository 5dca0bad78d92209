#pragma once
#include <emmy/core/json.hpp>

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <vector>

namespace emmy::json {
namespace detail {

constexpr std::size_t max_depth = 256;

/// What every value of a document points into: the source text (most strings and numbers are views of it) and blocks for the rest.
struct storage {
    std::atomic<long> owners{1};
    std::string source;
    std::vector<std::unique_ptr<char[]>> blocks;
    char* next = nullptr;
    std::size_t left = 0;

    void* take(std::size_t bytes) {
        bytes = (bytes + 7) & ~std::size_t{7};
        if (bytes > left) {
            const std::size_t block = std::max<std::size_t>(bytes, std::size_t{64} << 10);
            blocks.push_back(std::make_unique<char[]>(block));
            next = blocks.back().get();
            left = block;
        }
        void* out = next;
        next += bytes;
        left -= bytes;
        return out;
    }
    template <class T>
    T* copy(const T* first, std::size_t count) {
        T* out = static_cast<T*>(take(count * sizeof(T)));
        std::uninitialized_copy(first, first + count, out);
        return out;
    }
};

struct handler {
    static constexpr std::size_t max_object_size = std::size_t(-1) >> 33;
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;

    struct frame {
        std::size_t first_value, first_key;
        bool object;
    };
    storage* store = nullptr;
    std::vector<value> values;
    std::vector<std::string_view> keys;  // of open objects; values of an open object stand in step with its keys
    std::vector<frame> frames;
    std::string part;
    std::string refusal;  // set when the handler itself refuses
    using error_code = boost::system::error_code;
    using text = boost::json::string_view;

    std::string where() const {
        std::string out;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const frame& f = frames[i];
            const std::size_t value_end = i + 1 < frames.size() ? frames[i + 1].first_value : values.size();
            if (f.object) {
                const std::size_t key_end = i + 1 < frames.size() ? frames[i + 1].first_key : keys.size();
                if (key_end > f.first_key) (out += out.empty() ? "" : ".") += keys[key_end - 1];
            } else {
                out += '[' + std::to_string(value_end - f.first_value) + ']';
            }
        }
        return out;
    }
    std::string_view keep(text tail) {
        if (part.empty()) {
            const char* begin = store->source.data();
            if (tail.data() >= begin && tail.data() < begin + store->source.size()) return {tail.data(), tail.size()};
        }
        part.append(tail.data(), tail.size());
        const char* kept = store->copy(part.data(), part.size());
        const std::string_view out(kept, part.size());
        part.clear();
        return out;
    }
    bool scalar(kind k, text tail) {
        const std::string_view kept = keep(tail);
        values.push_back(value::make_scalar(k, kept.data(), static_cast<std::uint32_t>(kept.size())));
        return true;
    }
    bool number(text tail) {
        const std::string_view kept = keep(tail);
        const bool real = kept.find_first_of(".eE") != std::string_view::npos;
        values.push_back(value::make_scalar(real ? kind::real : kind::integer, kept.data(), static_cast<std::uint32_t>(kept.size())));
        return true;
    }

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_array_begin(error_code&) {
        frames.push_back({values.size(), keys.size(), false});
        return true;
    }
    bool on_array_end(std::size_t, error_code&) {
        const frame f = frames.back();
        frames.pop_back();
        const std::size_t count = values.size() - f.first_value;
        const value out = value::make_array(store->copy(values.data() + f.first_value, count), static_cast<std::uint32_t>(count));
        values.resize(f.first_value);
        values.push_back(out);
        return true;
    }
    bool on_object_begin(error_code&) {
        frames.push_back({values.size(), keys.size(), true});
        return true;
    }
    bool on_object_end(std::size_t, error_code& ec) {
        const frame f = frames.back();
        const std::size_t count = values.size() - f.first_value;
        if (const auto twice = duplicate(f.first_key, count); !twice.empty()) {
            keys.resize(f.first_key);  // the path of the object itself
            frames.pop_back();
            refusal = "found the key \"" + std::string(twice) + "\" twice, expected distinct keys";
            ec = boost::json::make_error_code(boost::json::error::syntax);
            return false;
        }
        auto* out = static_cast<member*>(store->take(count * sizeof(member)));
        for (std::size_t i = 0; i < count; ++i) new (out + i) member{keys[f.first_key + i], values[f.first_value + i]};
        frames.pop_back();
        keys.resize(f.first_key);
        values.resize(f.first_value);
        values.push_back(value::make_object(out, static_cast<std::uint32_t>(count)));
        return true;
    }
    std::string_view duplicate(std::size_t first, std::size_t count) const {
        const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(first), end = begin + static_cast<std::ptrdiff_t>(count);
        if (count <= 24) {
            for (auto a = begin; a != end; ++a)
                if (std::find(begin, a, *a) != a) return *a;
            return {};
        }
        std::unordered_set<std::string_view> seen;
        for (auto a = begin; a != end; ++a)
            if (!seen.insert(*a).second) return *a;
        return {};
    }
    bool on_string_part(text t, std::size_t, error_code&) { part.append(t.data(), t.size()); return true; }
    bool on_string(text t, std::size_t, error_code&) { return scalar(kind::string, t); }
    bool on_key_part(text t, std::size_t, error_code&) { part.append(t.data(), t.size()); return true; }
    bool on_key(text t, std::size_t, error_code&) { keys.push_back(keep(t)); return true; }
    bool on_number_part(text t, error_code&) { part.append(t.data(), t.size()); return true; }
    bool on_int64(std::int64_t, text t, error_code&) { return number(t); }
    bool on_uint64(std::uint64_t, text t, error_code&) { return number(t); }
    bool on_double(double, text t, error_code&) { return number(t); }
    bool on_bool(bool b, error_code&) { values.push_back(value::make_boolean(b)); return true; }
    bool on_null(error_code&) { values.push_back(value()); return true; }
    bool on_comment_part(text, error_code&) { return true; }
    bool on_comment(text, error_code&) { return true; }
};

inline std::string line_and_column(std::string_view text, std::size_t offset) {
    offset = std::min(offset, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
    const auto start = text.substr(0, offset).rfind('\n');
    const auto column = offset - (start == std::string_view::npos ? 0 : start + 1) + 1;
    return "line " + std::to_string(line) + " column " + std::to_string(column);
}
}  // namespace detail

EMMY_DECL std::string_view kind_name(kind k) {
    switch (k) {
        case kind::null: return "null";
        case kind::boolean: return "a boolean";
        case kind::integer: return "an integer";
        case kind::real: return "a real number";
        case kind::string: return "a string";
        case kind::array: return "an array";
        case kind::object: return "an object";
    }
    return "nothing";
}

EMMY_DECL const value* value::find(std::string_view key) const {
    for (const member& m : members())
        if (m.key == key) return &m.item;
    return nullptr;
}

EMMY_DECL result<std::int64_t> value::integer() const {
    std::int64_t out = 0;
    const std::string_view t = text();
    if (kind_ != kind::integer) return refuse(fault_kind::input, "found " + std::string(kind_name(kind_)) + ", expected an integer");
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), out);
    if (error != std::errc() || end != t.data() + t.size()) return refuse(fault_kind::input, "found the integer " + std::string(t) + ", expected one of 64 bits");
    return out;
}

EMMY_DECL result<double> value::real() const {
    double out = 0;
    const std::string_view t = text();
    if (kind_ != kind::integer && kind_ != kind::real) return refuse(fault_kind::input, "found " + std::string(kind_name(kind_)) + ", expected a number");
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), out);
    if (error != std::errc() || end != t.data() + t.size()) return refuse(fault_kind::input, "found the number " + std::string(t) + ", expected one within the range of a double");
    return out;
}

EMMY_DECL result<document> document::parse(std::string_view text, std::string_view file) {
    document out;
    detail::storage* const store = out.storage_ = new detail::storage;
    store->source = text;
    boost::json::parse_options options;
    options.max_depth = detail::max_depth;
    boost::json::basic_parser<detail::handler> parser(options);
    detail::handler& h = parser.handler();
    h.store = store;
    boost::system::error_code ec;
    const std::size_t used = parser.write_some(false, store->source.data(), store->source.size(), ec);
    if (!ec && used < store->source.size()) {
        const auto rest = store->source.find_first_not_of(" \t\r\n", used);
        if (rest != std::string::npos)
            return refuse(fault_kind::input, "found text after the document at " + detail::line_and_column(text, rest) + ", expected its end", {}, std::string(file));
    }
    if (ec) {
        std::string message = h.refusal;
        if (message.empty()) {
            message = "not JSON: " + ec.message() + " at " + detail::line_and_column(text, used);
            if (ec == boost::json::error::too_deep) message = "found nesting deeper than 256 at " + detail::line_and_column(text, used) + ", expected at most 256";
        }
        return refuse(fault_kind::input, std::move(message), h.where(), std::string(file));
    }
    out.root_ = h.values.back();
    return out;
}

EMMY_DECL void document::retain() noexcept {
    if (storage_) storage_->owners.fetch_add(1, std::memory_order_relaxed);
}
EMMY_DECL void document::release() noexcept {
    if (storage_ && storage_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete storage_;
}

EMMY_DECL std::string path::text() const {
    if (!up) return {};
    std::string out = up->text();
    if (index >= 0) return out + '[' + std::to_string(index) + ']';
    if (!out.empty()) out += '.';
    return out += key;
}

EMMY_DECL fault problem(const path& where, std::string message) { return fault(fault_kind::input, std::move(message), where.text()); }

EMMY_DECL fault expected(const path& where, const value& found, std::string_view wanted) {
    std::string what(kind_name(found.type()));
    if (found.is(kind::string) && found.text().size() <= 60) (what = "\"") += std::string(found.text()) + "\"";
    if (found.is(kind::integer) || found.is(kind::real)) what = std::string(found.text().substr(0, 60));
    if (found.is(kind::boolean)) what = found.boolean() ? "true" : "false";
    return problem(where, "found " + what + ", expected " + std::string(wanted));
}

EMMY_DECL result<std::string_view> read_string(const value& v, const path& where) {
    if (!v.is(kind::string)) return refuse(expected(where, v, "a string"));
    return v.text();
}
EMMY_DECL result<std::int64_t> read_integer(const value& v, const path& where) {
    if (!v.is(kind::integer)) return refuse(expected(where, v, "an integer"));
    auto out = v.integer();
    if (!out) return refuse(problem(where, out.error().message()));
    return out;
}
EMMY_DECL result<double> read_real(const value& v, const path& where) {
    if (!v.is(kind::integer) && !v.is(kind::real)) return refuse(expected(where, v, "a number"));
    auto out = v.real();
    if (!out) return refuse(problem(where, out.error().message()));
    return out;
}
EMMY_DECL result<bool> read_boolean(const value& v, const path& where) {
    if (!v.is(kind::boolean)) return refuse(expected(where, v, "a boolean"));
    return v.boolean();
}
EMMY_DECL result<std::span<const value>> read_array(const value& v, const path& where) {
    if (!v.is(kind::array)) return refuse(expected(where, v, "an array"));
    return v.items();
}
EMMY_DECL result<std::span<const member>> read_object(const value& v, const path& where) {
    if (!v.is(kind::object)) return refuse(expected(where, v, "an object"));
    return v.members();
}

EMMY_DECL fields::fields(const value& object, const path& where) : object_(object), where_(where) {}

EMMY_DECL const value* fields::may(std::string_view key) {
    const auto members = object_.members();
    for (std::size_t i = 0; i < members.size(); ++i)
        if (members[i].key == key) {
            if (i < 64) seen_ |= std::uint64_t{1} << i;
            return &members[i].item;
        }
    return nullptr;
}
EMMY_DECL result<const value*> fields::need(std::string_view key) {
    if (!object_.is(kind::object)) return refuse(expected(where_, object_, "an object"));
    if (const value* v = may(key)) return v;
    return refuse(problem(where_, "the key \"" + std::string(key) + "\" is missing"));
}
EMMY_DECL result<void> fields::done() const {
    if (!object_.is(kind::object)) return refuse(expected(where_, object_, "an object"));
    const auto members = object_.members();
    for (std::size_t i = 0; i < members.size(); ++i)
        if (i >= 64 || !(seen_ >> i & 1)) return refuse(problem(where_ / members[i].key, "found an unknown key, expected none of this name"));
    return {};
}

EMMY_DECL std::string spell_real(double number) {
    if (!std::isfinite(number)) return std::isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity";
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
    std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
    std::string out;
    if (text.front() == '-') {
        out = "-";
        text.remove_prefix(1);
    }
    const auto e = text.find('e');
    int exponent = 0;
    std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
    std::string digits(1, text[0]);
    if (e > 2) digits += text.substr(2, e - 2);
    const int count = static_cast<int>(digits.size());
    if (exponent < -4 || exponent > 15) {
        out += digits[0];
        if (count > 1) (out += '.') += digits.substr(1);
        const int size = std::abs(exponent);
        out += exponent < 0 ? "e-" : "e+";
        if (size < 10) out += '0';
        return out += std::to_string(size);
    }
    if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    if (count <= exponent + 1) return out + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
    return out + digits.substr(0, static_cast<std::size_t>(exponent + 1)) + "." + digits.substr(static_cast<std::size_t>(exponent + 1));
}

EMMY_DECL void append_quoted(std::string& out, std::string_view text) {
    static constexpr char hex[] = "0123456789abcdef";
    auto unit = [&](unsigned code) {
        out += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4) out += hex[code >> shift & 15];
    };
    out += '"';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        switch (byte) {
            case '"': out += "\\\""; continue;
            case '\\': out += "\\\\"; continue;
            case '\n': out += "\\n"; continue;
            case '\r': out += "\\r"; continue;
            case '\t': out += "\\t"; continue;
            case '\b': out += "\\b"; continue;
            case '\f': out += "\\f"; continue;
            default: break;
        }
        if (byte < 0x20 || byte == 0x7f) {
            if (byte == 0x7f) out += static_cast<char>(byte);
            else unit(byte);
            continue;
        }
        if (byte < 0x80) {
            out += static_cast<char>(byte);
            continue;
        }
        const int extra = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;  // parsed text is valid UTF-8
        unsigned code = byte & (0x3f >> extra);
        for (int k = 0; k < extra && i + 1 < text.size(); ++k) code = code << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f);
        if (code >= 0x10000) {
            code -= 0x10000;
            unit(0xd800 + (code >> 10));
            unit(0xdc00 + (code & 0x3ff));
        } else {
            unit(code);
        }
    }
    out += '"';
}

EMMY_DECL void writer::separate() {
    if (!first_ && !after_key_) out_ += style_ == layout::compact ? "," : ", ";
    first_ = false;
    after_key_ = false;
}
EMMY_DECL writer& writer::begin_object() { separate(); out_ += '{'; first_ = true; return *this; }
EMMY_DECL writer& writer::end_object() { out_ += '}'; first_ = false; return *this; }
EMMY_DECL writer& writer::begin_array() { separate(); out_ += '['; first_ = true; return *this; }
EMMY_DECL writer& writer::end_array() { out_ += ']'; first_ = false; return *this; }
EMMY_DECL writer& writer::key(std::string_view name) {
    separate();
    append_quoted(out_, name);
    out_ += style_ == layout::compact ? ":" : ": ";
    after_key_ = true;
    return *this;
}
EMMY_DECL writer& writer::string(std::string_view text) { separate(); append_quoted(out_, text); return *this; }
EMMY_DECL writer& writer::integer(std::int64_t number) { separate(); out_ += std::to_string(number); return *this; }
EMMY_DECL writer& writer::real(double number) { separate(); out_ += spell_real(number); return *this; }
EMMY_DECL writer& writer::boolean(bool b) { separate(); out_ += b ? "true" : "false"; return *this; }
EMMY_DECL writer& writer::null() { separate(); out_ += "null"; return *this; }
EMMY_DECL writer& writer::spelled(std::string_view number) { separate(); out_ += number; return *this; }
EMMY_DECL writer& writer::copy(const value& v) {
    switch (v.type()) {
        case kind::null: return null();
        case kind::boolean: return boolean(v.boolean());
        case kind::integer: return spelled(v.text());
        case kind::real: {
            const auto number = v.real();
            return number ? real(*number) : spelled(v.text());
        }
        case kind::string: return string(v.text());
        case kind::array:
            begin_array();
            for (const value& item : v.items()) copy(item);
            return end_array();
        case kind::object:
            begin_object();
            for (const member& m : v.members()) key(m.key).copy(m.item);
            return end_object();
    }
    return *this;
}

}  // namespace emmy::json
