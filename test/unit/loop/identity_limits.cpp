// Bodies made to be hard: long chains of values, many buffers that nothing tells apart.
#include <emmy/loop/identity.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

using namespace emmy;

namespace {
struct maker {
    loop::kernel k;
    std::vector<loop::stmt_id> top;
    name_id name(const std::string& text) { return k.body.names.intern(text); }
    name_id load(int i) {
        const name_id from = name("x" + std::to_string(i)), value = name("in" + std::to_string(i));
        k.inputs.push_back({.name = from, .type = dtype::f32, .shape = {}});
        top.push_back(k.body.add({.kind = loop::stmt_kind::load, .name = value, .buffer = from}));
        return value;
    }
    name_id assign(loop::op o, std::vector<name_id> args) {
        const name_id value = name("v" + std::to_string(top.size()));
        top.push_back(k.body.add({.kind = loop::stmt_kind::assign, .op = o, .name = value, .args = k.body.add_names(args)}));
        return value;
    }
    loop::kernel store(name_id value) {
        const name_id y = name("y");
        k.outputs.push_back({.name = y, .type = dtype::f32, .shape = {}});
        const name_id values[] = {value};
        top.push_back(k.body.add({.kind = loop::stmt_kind::write, .buffer = y, .args = k.body.add_names(values)}));
        k.body.top = k.body.add_statements(top);
        return k;
    }
};
loop::kernel chain(int steps) {
    maker m;
    name_id v = m.load(0);
    for (int i = 0; i < steps; ++i) v = m.assign(loop::op::exp, {v});
    return m.store(v);
}
/// A balanced sum: every input can stand for every other of its half.
loop::kernel alike(int inputs) {
    maker m;
    std::vector<name_id> level;
    for (int i = 0; i < inputs; ++i) level.push_back(m.load(i));
    for (; level.size() > 1;) {
        std::vector<name_id> next;
        for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(m.assign(loop::op::add, {level[i], level[i + 1]}));
        level = next;
    }
    return m.store(level[0]);
}
}  // namespace

BOOST_AUTO_TEST_CASE(long_chains_have_identities) {
    BOOST_CHECK(loop::identity(chain(4000)) != loop::identity(chain(4001)));
    BOOST_CHECK(loop::identity(chain(100000)) != loop::identity(chain(100001)));  // as written
}

BOOST_AUTO_TEST_CASE(like_buffers_are_interchangeable) {
    for (int inputs : {2, 8, 32}) {
        loop::kernel k = alike(inputs);
        const digest128 id = loop::identity(k);
        std::reverse(k.inputs.begin(), k.inputs.end());
        BOOST_CHECK(loop::identity(k) == id);
        std::rotate(k.inputs.begin(), k.inputs.begin() + 1, k.inputs.end());
        BOOST_CHECK(loop::identity(k) == id);
    }
    BOOST_CHECK(loop::identity(alike(8)) != loop::identity(alike(16)));
    BOOST_CHECK(bool(loop::identity(alike(512))));  // ends within its limit of work
}
