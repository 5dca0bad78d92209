#pragma once
#include <emmy/core/archive/crc32.hpp>
#include <emmy/core/archive/zip.hpp>
#include <emmy/core/impl/archive_source.ipp>

#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>

#include <zip.h>

#include <emmy/core/impl/archive_audit.ipp>

namespace emmy::archive {
namespace detail {

/// A byte_source as libzip reads one.
struct zip_input {
    const byte_source* from = nullptr;
    std::uint64_t at = 0;
    zip_error_t error;
};

inline zip_int64_t zip_input_call(void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) {
    auto& in = *static_cast<zip_input*>(state);
    switch (command) {
        case ZIP_SOURCE_SUPPORTS:
            return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, -1);
        case ZIP_SOURCE_OPEN: in.at = 0; return 0;
        case ZIP_SOURCE_CLOSE:
        case ZIP_SOURCE_FREE: return 0;
        case ZIP_SOURCE_READ: {
            const std::uint64_t part = std::min<std::uint64_t>(size, in.from->size() - in.at);
            if (!in.from->read(in.at, {static_cast<std::byte*>(data), part})) {
                zip_error_set(&in.error, ZIP_ER_READ, 0);
                return -1;
            }
            in.at += part;
            return static_cast<zip_int64_t>(part);
        }
        case ZIP_SOURCE_SEEK: {
            const zip_int64_t to = zip_source_seek_compute_offset(in.at, in.from->size(), data, size, &in.error);
            if (to < 0) return -1;
            in.at = static_cast<std::uint64_t>(to);
            return 0;
        }
        case ZIP_SOURCE_TELL: return static_cast<zip_int64_t>(in.at);
        case ZIP_SOURCE_STAT: {
            auto* facts = static_cast<zip_stat_t*>(data);
            zip_stat_init(facts);
            facts->valid = ZIP_STAT_SIZE, facts->size = in.from->size();
            return sizeof *facts;
        }
        case ZIP_SOURCE_ERROR: return zip_error_to_data(&in.error, data, size);
        default: zip_error_set(&in.error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

}  // namespace detail

struct zip_archive::state {
    byte_source source;
    std::vector<zip_member> members;
    std::unordered_map<std::string_view, std::size_t> by_name;
    detail::zip_input input;
    zip_t* library = nullptr;
    bool checksums = false;

    explicit state(byte_source s) : source(std::move(s)) { zip_error_init(&input.error); }
    ~state() {
        if (library) zip_discard(library);
        zip_error_fini(&input.error);
    }

    /// libzip's reading of the same directory.
    result<void> compare() {
        zip_error_t error;
        zip_error_init(&error);
        const auto failed = [&] {
            auto out = detail::bad_zip(source, std::string("libzip refuses it: ") + zip_error_strerror(&error));
            zip_error_fini(&error);
            return out;
        };
        input.from = &source;
        zip_source_t* from = zip_source_function_create(detail::zip_input_call, &input, &error);
        if (!from) return failed();
        library = zip_open_from_source(from, ZIP_RDONLY, &error);
        if (!library) {
            zip_source_free(from);
            if (members.empty() && zip_error_code_zip(&error) == ZIP_ER_NOZIP) {  // an archive of nothing is a zip to us
                zip_error_fini(&error);
                return {};
            }
            return failed();
        }
        zip_error_fini(&error);
        if (zip_get_num_entries(library, 0) != static_cast<zip_int64_t>(members.size())) return detail::bad_zip(source, "two readers find different directories in it");
        for (std::size_t i = 0; i < members.size(); ++i) {
            zip_stat_t facts;
            const zip_member& m = members[i];
            const char* name = zip_get_name(library, i, ZIP_FL_ENC_RAW);
            if (!name || name != m.name || zip_stat_index(library, i, 0, &facts) != 0 || facts.size != m.size || facts.comp_size != m.stored_size || facts.crc != m.crc ||
                facts.comp_method != (m.deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE))
                return detail::bad_zip(source, "two readers find different directories in it", m.name);
        }
        return {};
    }
};

EMMY_DECL zip_archive::~zip_archive() { delete state_; }

EMMY_DECL std::string unsafe_member_name(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.size() > 4096) return "is longer than 4096 bytes";
    if (name.front() == '/') return "is an absolute path";
    for (const char c : name) {
        if (c == '\0') return "holds a NUL";
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "holds a control byte";
        if (c == '\\') return "holds a backslash";
    }
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find('/', at), name.size());
        const std::string_view part = name.substr(at, end - at);
        if (part.empty()) return "holds an empty part";
        if (part == "." || part == "..") return "holds \"" + std::string(part) + "\"";
        at = end + 1;
    }
    return {};
}

EMMY_DECL result<zip_archive> zip_archive::open(const std::string& path, const zip_limits& limits) {
    EMMY_TRY(source, byte_source::open(path));
    return open(std::move(source), limits);
}

EMMY_DECL result<zip_archive> zip_archive::open(byte_source from, const zip_limits& limits) {
    auto s = std::make_unique<state>(std::move(from));
    EMMY_TRY(members, detail::audit(s->source, limits));
    s->members = std::move(members);
    for (std::size_t i = 0; i < s->members.size(); ++i) {
        s->by_name.emplace(s->members[i].name, i);
        s->checksums = s->checksums || s->members[i].crc != 0;
    }
    EMMY_CHECK_OK(s->compare());
    return zip_archive(s.release());
}

EMMY_DECL const std::string& zip_archive::file() const { return state_->source.name(); }
EMMY_DECL const byte_source& zip_archive::source() const { return state_->source; }
EMMY_DECL const std::vector<zip_member>& zip_archive::members() const { return state_->members; }
EMMY_DECL bool zip_archive::checksums() const { return state_->checksums; }

EMMY_DECL const zip_member* zip_archive::find(std::string_view name) const {
    const auto at = state_->by_name.find(name);
    return at == state_->by_name.end() ? nullptr : &state_->members[at->second];
}
EMMY_DECL result<const zip_member*> zip_archive::need(std::string_view name) const {
    if (const zip_member* m = find(name)) return m;
    return detail::bad_zip(state_->source, "found no such member among " + std::to_string(members().size()), name);
}

EMMY_DECL result<void> zip_archive::stream(const zip_member& m, const chunk_sink& sink) const {
    std::uint32_t crc = 0;
    std::uint64_t size = 0;
    const auto take = [&](bytes_view chunk) -> result<void> {
        if (state_->checksums) crc = crc32(chunk, crc);
        size += chunk.size();
        return sink(chunk);
    };
    if (!m.deflated) {
        if (auto done = state_->source.stream(m.offset, m.size, take); !done) return refuse(std::move(done).error().at(detail::shown(m.name)));
    } else {
        const auto index = static_cast<zip_uint64_t>(&m - state_->members.data());
        zip_file_t* file = index < state_->members.size() ? zip_fopen_index(state_->library, index, 0) : nullptr;
        if (!file) return detail::bad_zip(state_->source, std::string("libzip cannot open it: ") + zip_strerror(state_->library), m.name);
        std::vector<std::byte> chunk(std::min(std::max<std::uint64_t>(m.size, 1), detail::chunk_bytes));
        result<void> done;
        while (done) {
            const zip_int64_t got = zip_fread(file, chunk.data(), chunk.size());
            if (got < 0) done = detail::bad_zip(state_->source, std::string("its deflate stream is damaged: ") + zip_file_strerror(file), m.name);
            if (got <= 0) break;
            if (size + static_cast<std::uint64_t>(got) > m.size) done = detail::bad_zip(state_->source, "expands to more than the " + std::to_string(m.size) + " bytes that the directory says", m.name);
            if (done) done = take({chunk.data(), static_cast<std::size_t>(got)});
        }
        zip_fclose(file);
        EMMY_CHECK_OK(std::move(done));
        if (size != m.size) return detail::bad_zip(state_->source, "expands to " + std::to_string(size) + " bytes, the directory says " + std::to_string(m.size), m.name);
    }
    if (state_->checksums && crc != m.crc) return detail::bad_zip(state_->source, "its content does not have the checksum that the directory says: damaged", m.name);
    return {};
}

EMMY_DECL result<std::string> zip_archive::read(const zip_member& m, std::uint64_t most) const {
    if (m.size > most) return detail::bad_zip(state_->source, "found " + std::to_string(m.size) + " bytes, expected at most " + std::to_string(most), m.name);
    std::string out;
    if (!m.deflated) out.reserve(m.size);  // those bytes are in the file
    EMMY_CHECK_OK(stream(m, [&](bytes_view chunk) -> result<void> {
        out.append(as_text(chunk));
        return {};
    }));
    return out;
}

EMMY_DECL result<void> zip_archive::read_into(const zip_member& m, std::span<std::byte> into) const {
    if (m.size != into.size()) return detail::bad_zip(state_->source, "found " + std::to_string(m.size) + " bytes, expected " + std::to_string(into.size()), m.name);
    if (m.deflated) {
        std::byte* to = into.data();
        return stream(m, [&](bytes_view chunk) -> result<void> {
            std::memcpy(to, chunk.data(), chunk.size());
            to += chunk.size();
            return {};
        });
    }
    std::uint32_t crc = 0;
    for (std::uint64_t at = 0; at < m.size; at += detail::chunk_bytes) {
        const auto part = into.subspan(at, std::min(detail::chunk_bytes, m.size - at));
        EMMY_CHECK_OK(read_at(m, at, part));
        if (state_->checksums) crc = crc32(part, crc);  // still in the cache
    }
    if (state_->checksums && crc != m.crc) return detail::bad_zip(state_->source, "its content does not have the checksum that the directory says: damaged", m.name);
    return {};
}

EMMY_DECL result<void> zip_archive::read_at(const zip_member& m, std::uint64_t at, std::span<std::byte> into) const {
    if (m.deflated) return detail::bad_zip(state_->source, "is deflated: parts of it cannot be read", m.name);
    if (at > m.size || into.size() > m.size - at) return detail::bad_zip(state_->source, "found " + std::to_string(m.size) + " bytes, expected " + std::to_string(into.size()) + " at " + std::to_string(at), m.name);
    if (auto done = state_->source.read(m.offset + at, into); !done) return refuse(std::move(done).error().at(detail::shown(m.name)));
    return {};
}

EMMY_DECL result<void> zip_archive::verify(const zip_member& m) const {
    return stream(m, [](bytes_view) -> result<void> { return {}; });
}

}  // namespace emmy::archive
