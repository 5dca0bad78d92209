#pragma once
#include <emmy/program/import/archive.hpp>
#include <emmy/program/import/impl/exported.ipp>

#include <algorithm>
#include <deque>

namespace emmy::program::pt2 {

EMMY_DECL std::uint64_t stored_tensor::elements() const {
    std::uint64_t out = 1;
    for (const std::int64_t s : shape) out *= static_cast<std::uint64_t>(s);
    return out;
}

struct pt2_archive::state {
    explicit state(archive::zip_archive z) : zip(std::move(z)) {}
    archive::zip_archive zip;
    exported_program program;
    std::vector<stored_tensor> tensors;
    /// How each tensor is read: by its strides from a raw member, or from an object of a tensor file; without bytes: of no device.
    struct place {
        const archive::zip_member* raw = nullptr;
        const archive::pt_file* file = nullptr;
        archive::object what = {};
    };
    std::vector<place> places;               // by tensor
    std::deque<archive::pt_file> files;      // stay where they are
};

namespace detail {

/// Whether elements at these places lie in a storage; numbers are checked before they are multiplied.
inline bool inside(const stored_tensor& t, std::uint64_t storage_bytes) {
    constexpr std::uint64_t most = std::uint64_t(1) << 56;
    if (t.type == archive::element::none || t.shape.size() != t.strides.size() || t.shape.size() > 64 || t.offset > most) return false;
    std::uint64_t last = t.offset, count = 1;
    for (std::size_t i = 0; i < t.shape.size(); ++i) {
        if (t.shape[i] < 0 || t.strides[i] < 0) return false;
        const auto size = static_cast<std::uint64_t>(t.shape[i]), step = static_cast<std::uint64_t>(t.strides[i]);
        if (size > most || step > most || (size != 0 && count > most / size)) return false;
        count *= size;
        if (size > 1 && step != 0 && size - 1 > (most - last) / step) return false;
        if (size > 1) last += (size - 1) * step;
        if (last > most) return false;
    }
    return count == 0 || last < storage_bytes / archive::byte_size(t.type);
}

class archive_reader {
public:
    explicit archive_reader(pt2_archive::state& s) : s_(s), zip_(s.zip) {}

    result<void> read(std::string_view model) {
        if (zip_.members().empty()) return bad("found no member, expected an exported program", {});
        EMMY_TRY(text_member, find_program(model));
        EMMY_CHECK_OK(byte_order());
        EMMY_TRY(text, zip_.read(*text_member, text_most));
        EMMY_TRY(program, read_exported(std::move(text), zip_.file(), text_member->name));
        s_.program = std::move(program);
        if (old_) {
            EMMY_CHECK_OK(pickled(root_ + "serialized_state_dict.pt", true));
            EMMY_CHECK_OK(pickled(root_ + "serialized_constants.pt", false));
        } else {
            EMMY_CHECK_OK(table("weights", "weights", true));
            EMMY_CHECK_OK(table("constants", "constants", false));
        }
        return sort();
    }

private:
    static constexpr std::uint64_t text_most = std::uint64_t(1) << 30;

    tl::unexpected<fault> bad(std::string what, std::string_view member) const { return refuse(fault_kind::input, std::move(what), std::string(member), zip_.file()); }
    /// "<root>/models/<name>.json" of new archives, "serialized_exported_program.json" of older ones.
    result<const archive::zip_member*> find_program(std::string_view model) {
        std::vector<const archive::zip_member*> found;
        std::string names;
        const archive::zip_member *script = nullptr, *tensors = nullptr;
        for (const archive::zip_member& m : zip_.members()) {
            const std::string_view name = m.name;
            const std::size_t slash = name.find('/');
            const std::string_view below = slash == std::string_view::npos ? name : name.substr(slash + 1);
            if (below == "constants.pkl" || (below.starts_with("code/") && name.ends_with(".py"))) script = &m;
            if (below == "data.pkl") tensors = &m;
            if (name == "serialized_exported_program.json" || below == "serialized_exported_program.json") {
                found.push_back(&m);
                old_ = true;
                model_ = "model";
                root_ = name.substr(0, name.size() - std::string_view("serialized_exported_program.json").size());
            } else if (slash != std::string_view::npos && below.starts_with("models/") && below.ends_with(".json") && below.find('/', 7) == std::string_view::npos) {
                const std::string_view one = below.substr(7, below.size() - 12);
                names += (names.empty() ? "" : ", ") + std::string(one);
                if (!model.empty() && one != model) continue;
                found.push_back(&m);
                model_ = one;
                root_ = name.substr(0, slash + 1);
            }
        }
        if (found.empty() && !names.empty()) return refuse(fault_kind::user, "found the models " + names + ", expected one of them", "--model");
        if (found.empty() && script) return bad("found a TorchScript archive (torch.jit.save), expected an exported program (torch.export.save)", script->name);
        if (found.empty() && tensors) return bad("found a tensor file (torch.save), expected an exported program (torch.export.save)", tensors->name);
        if (found.empty())
            return bad("found " + std::to_string(zip_.members().size()) + (zip_.members().size() == 1 ? " member" : " members") +
                           " and no exported program among them, expected <root>/models/<name>.json or serialized_exported_program.json",
                       zip_.members().front().name);
        if (found.size() > 1) return bad("found several exported programs (" + names + "), expected one, or --model to choose it", found[1]->name);
        return found.front();
    }
    result<void> byte_order() const {
        const archive::zip_member* m = zip_.find(root_ + "byteorder");
        if (!m) return {};
        EMMY_TRY(text, zip_.read(*m, 100));
        if (text != "little") return bad(text == "big" ? "found big, expected little" : "found another byte order, expected little", m->name);
        return {};
    }

    void add(stored_tensor t, pt2_archive::state::place p) {
        s_.tensors.push_back(std::move(t));
        s_.places.push_back(std::move(p));
    }
    result<const archive::pt_file*> open_file(const archive::zip_member& m) {
        archive::byte_source source = archive::byte_source::of_bytes({}, {});
        const std::string name = zip_.file() + ": " + m.name;
        if (m.deflated) {
            EMMY_TRY(bytes, zip_.read(m));
            source = archive::byte_source::of_bytes(std::move(bytes), name);
        } else {
            EMMY_TRY(part, zip_.source().part(m.offset, m.size, name));
            source = std::move(part);
        }
        EMMY_TRY(file, archive::pt_file::open(std::move(source)));
        s_.files.push_back(std::move(file));
        return &s_.files.back();
    }
    static stored_tensor described(std::string path, const archive::object& o, std::string member, bool parameter) {
        return {std::move(path), o.type(), o.shape(), o.strides(), o.offset(), std::move(member), parameter};
    }
    /// A tensor file of one dict by path: what older exporters write for all weights, and for all constants.
    result<void> pickled(const std::string& name, bool parameter) {
        const archive::zip_member* m = zip_.find(name);
        if (!m || m->size == 0) return {};
        EMMY_TRY(file, open_file(*m));
        const archive::object root = file->root();
        if (!root.is(archive::object_kind::dict)) return bad("found " + std::string(archive::object_kind_name(root.kind())) + ", expected a dict of tensors", name);
        for (std::size_t i = 0; i < root.size(); ++i) {
            const archive::object key = root.key(i), value = root[i];
            if (!key.is(archive::object_kind::text)) return bad("found a key that is no text, expected paths", name);
            if (!value.is(archive::object_kind::tensor)) continue;  // constants may be other things; who reads one is refused by its name
            add(described(std::string(key.text()), value, name, parameter), {.file = file, .what = value});
        }
        return {};
    }
    /// data/<folder>/: "<model>_<kind>_config.json" over one member a storage, or a tensor file "<model>.pt" of a dict.
    result<void> table(std::string_view folder, std::string_view kind, bool parameter) {
        const std::string base = root_ + "data/" + std::string(folder) + "/";
        const archive::zip_member* config = zip_.find(base + model_ + "_" + std::string(kind) + "_config.json");
        if (!config) return pickled(base + model_ + ".pt", parameter);
        EMMY_TRY(text, zip_.read(*config, text_most));
        EMMY_TRY(document, [&]() -> result<json::document> {
            auto parsed = json::document::parse(text);
            return parsed ? std::move(parsed) : result<json::document>(refuse(std::move(parsed).error().at(config->name).in_file(zip_.file())));
        }());
        auto done = entries(document.root(), base, config->name, parameter);
        return done ? std::move(done) : result<void>(refuse(std::move(done).error().in_file(zip_.file())));
    }
    result<void> entries(const json::value& root, const std::string& base, const std::string& config, bool parameter) {
        const json::path top, start = top / config, at = start / "config";
        const json::value* list = root.find("config");
        if (!list) return refuse(json::problem(start, "found no config, expected one"));
        EMMY_TRY(members, json::read_object(*list, at));
        for (const json::member& m : members) {
            const json::path one = at / m.key, meta_at = one / "tensor_meta";
            EMMY_TRY(fields, json::read_object(m.item, one));
            (void)fields;
            const json::value *name = m.item.find("path_name"), *meta = m.item.find("tensor_meta"), *pickle = m.item.find("use_pickle");
            if (!name || !name->is(json::kind::string)) return refuse(json::problem(one, "found no path_name, expected one"));
            const archive::zip_member* data = zip_.find(base + std::string(name->text()));
            if (pickle && pickle->boolean()) {
                if (!data) return refuse(json::problem(one, "found no member " + base + std::string(name->text()) + ", expected the tensor's bytes"));
                EMMY_TRY(file, open_file(*data));
                if (!file->root().is(archive::object_kind::tensor)) {
                    if (parameter) return bad("found " + std::string(archive::object_kind_name(file->root().kind())) + ", expected a tensor", data->name);
                    continue;
                }
                add(described(std::string(m.key), file->root(), data->name, parameter), {.file = file, .what = file->root()});
                continue;
            }
            if (!meta) continue;  // no tensor
            EMMY_TRY(facts, read_tensor_facts(*meta, meta_at));
            stored_tensor made{.path = std::string(m.key), .type = facts.type, .member = data ? data->name : std::string(), .parameter = parameter};
            for (const size_text& s : facts.sizes) {
                if (!s.is_number) return refuse(json::problem(meta_at, "found a symbolic size, expected numbers"));
                made.shape.push_back(s.number);
            }
            for (const size_text& s : facts.strides) made.strides.push_back(s.number);
            if (facts.offset.number < 0) return refuse(json::problem(meta_at, "found a negative storage offset"));
            made.offset = static_cast<std::uint64_t>(facts.offset.number);
            const bool absent = facts.device == "meta" || (data && data->size == 0);
            if (absent && facts.type != archive::element::none && !inside(made, UINT64_MAX)) return refuse(json::problem(meta_at, "found sizes, strides and an offset of no tensor"));
            if (!absent) {
                if (!data) return refuse(json::problem(one, "found no member " + base + std::string(name->text()) + ", expected the tensor's bytes"));
                if (facts.type != archive::element::none && !inside(made, data->size))
                    return refuse(json::problem(one, "found " + std::to_string(data->size) + " bytes in " + data->name + ", expected the storage of " + archive::describe(made.type, made.shape)));
            }
            add(std::move(made), {.raw = absent ? nullptr : data});
        }
        return {};
    }
    result<void> sort() {
        std::vector<std::size_t> order(s_.tensors.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return s_.tensors[a].path < s_.tensors[b].path; });
        std::vector<stored_tensor> tensors;
        std::vector<pt2_archive::state::place> places;
        for (const std::size_t i : order) {
            if (!tensors.empty() && tensors.back().path == s_.tensors[i].path) return bad("found the tensor \"" + tensors.back().path + "\" twice, expected each path once", s_.tensors[i].member);
            tensors.push_back(std::move(s_.tensors[i]));
            places.push_back(s_.places[i]);
        }
        s_.tensors = std::move(tensors), s_.places = std::move(places);
        return {};
    }

    pt2_archive::state& s_;
    const archive::zip_archive& zip_;
    bool old_ = false;
    std::string root_, model_;
};

}  // namespace detail

EMMY_DECL result<pt2_archive> pt2_archive::open(const std::string& path, std::string_view model, const archive::zip_limits& limits) {
    EMMY_TRY(source, archive::byte_source::open(path));
    return open(std::move(source), model, limits);
}
EMMY_DECL result<pt2_archive> pt2_archive::open(archive::byte_source source, std::string_view model, const archive::zip_limits& limits) {
    EMMY_TRY(zip, archive::zip_archive::open(std::move(source), limits));
    pt2_archive out(new state(std::move(zip)));
    EMMY_CHECK_OK(detail::archive_reader(*out.state_).read(model));
    return out;
}
EMMY_DECL pt2_archive::~pt2_archive() { delete state_; }

EMMY_DECL const std::string& pt2_archive::file() const { return state_->zip.file(); }
EMMY_DECL const exported_program& pt2_archive::program() const { return state_->program; }
EMMY_DECL const std::vector<stored_tensor>& pt2_archive::tensors() const { return state_->tensors; }
EMMY_DECL const stored_tensor* pt2_archive::find(std::string_view path) const {
    const auto& list = state_->tensors;
    const auto at = std::lower_bound(list.begin(), list.end(), path, [](const stored_tensor& t, std::string_view p) { return t.path < p; });
    return at == list.end() || at->path != path ? nullptr : &*at;
}

EMMY_DECL result<std::vector<std::byte>> pt2_archive::read(const stored_tensor& t, std::uint64_t most) const {
    const state::place& from = state_->places[static_cast<std::size_t>(&t - state_->tensors.data())];
    if (from.file) return from.file->read(from.what, most);
    const auto bad = [&](std::string what) { return refuse(fault_kind::input, std::move(what), t.member.empty() ? t.path : t.member, file()); };
    if (t.type == archive::element::none) return bad("found the tensor " + t.path + " of a type without arithmetic here, expected reals, integers or bools");
    const std::uint64_t each = archive::byte_size(t.type);
    std::vector<std::byte> out;
    if (!from.raw) {
        if (t.elements() == 0) return out;
        return bad("found the shape of " + t.path + " without its elements, expected an archive with weights (or a checkpoint beside it)");
    }
    if (most == 0) most = std::max<std::uint64_t>(from.raw->size, 1u << 20);
    if (t.elements() > most / each) return bad("found a tensor of " + std::to_string(t.elements()) + " elements, expected at most " + std::to_string(most) + " bytes");
    if (t.elements() == 0) return out;
    std::int64_t next = 1;
    bool dense = true;
    for (std::size_t d = t.shape.size(); d-- > 0; next *= t.shape[d]) dense = dense && (t.shape[d] == 1 || t.strides[d] == next);
    if (dense && t.offset == 0 && from.raw->size == t.elements() * each) {
        out.resize(t.elements() * each);
        EMMY_CHECK_OK(state_->zip.read_into(*from.raw, out));
        return out;
    }
    EMMY_TRY(all, state_->zip.read(*from.raw));
    out.reserve(t.elements() * each);
    EMMY_CHECK_OK(archive::stream_strided(archive::as_bytes(all), t.offset, t.shape, t.strides, each, [&](archive::bytes_view chunk) -> result<void> {
        out.insert(out.end(), chunk.begin(), chunk.end());
        return {};
    }));
    return out;
}

}  // namespace emmy::program::pt2
