#pragma once
// The stored kernels of the peer's golden files, read once for all tests of this folder.
#include "support/data.hpp"

#include <emmy/core/file.hpp>
#include <emmy/loop.hpp>

#include <string>
#include <vector>

namespace emmy::test {

struct stored_kernel {
    std::string file, reference;
    bool formed = false;
    json::value loop_ir;
};
struct stored_file {
    std::string path;
    json::document document;
    std::vector<stored_kernel> kernels;
};

inline const std::vector<stored_file>& stored_files() {
    static const std::vector<stored_file> all = [] {
        std::vector<stored_file> out;
        for (const auto& path : peer_goldens()) {
            stored_file file;
            file.path = std::filesystem::relative(path, shared_data() / "golden").string();
            auto text = read_file(path.string());
            BOOST_REQUIRE(text);
            auto document = json::document::parse(*text, file.path);
            BOOST_REQUIRE_MESSAGE(document, (document ? std::string() : std::string(document.error().message())));
            file.document = *document;
            for (const json::value& entry : file.document.root().find("kernels")->items()) {
                const json::value* key = entry.find("key");
                const json::value* name = entry.find("name");
                file.kernels.push_back({file.path, std::string(key && key->size() == 0 && !key->text().empty() ? key->text() : name->text()), entry.find("formed")->boolean(), *entry.find("loop_ir")});
            }
            out.push_back(std::move(file));
        }
        return out;
    }();
    return all;
}

/// Equal as JSON values: key order is no matter, integers and reals differ, numbers compare by canonical spelling.
inline bool same_json(const json::value& a, const json::value& b) {
    if (a.type() != b.type()) return false;
    switch (a.type()) {
        case json::kind::null: return true;
        case json::kind::boolean: return a.boolean() == b.boolean();
        case json::kind::integer:
        case json::kind::string: return a.text() == b.text();
        case json::kind::real: return *a.real() == *b.real();
        case json::kind::array:
            if (a.size() != b.size()) return false;
            for (std::size_t i = 0; i < a.size(); ++i)
                if (!same_json(a.items()[i], b.items()[i])) return false;
            return true;
        case json::kind::object:
            if (a.size() != b.size()) return false;
            for (const json::member& m : a.members()) {
                const json::value* other = b.find(m.key);
                if (!other || !same_json(m.item, *other)) return false;
            }
            return true;
    }
    return false;
}

}  // namespace emmy::test
