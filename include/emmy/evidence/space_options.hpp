#pragma once
#include <emmy/evidence/pick.hpp>
#include <emmy/knob/row_parse.hpp>
#include <emmy/knob/space/space.hpp>

/// The options of a fork are the rows of a space: what a generator with families of its own hands to the pick.
namespace emmy::evidence {

/// (key, value) texts of a row, families in the row's order: what stores keep.
template <knob::family... Fs>
store::knob_list texts_of(const knob::row<Fs...>& row) {
    store::knob_list out;
    row.template visit([&]<class F>(const typename F::value_type& value) { out.emplace_back(F::name, F::spell(value).view()); });
    return out;
}

/// The row that texts name, or nothing: a foreign key, a value that is not canonical, a family missing.
template <knob::any_row Row>
std::optional<Row> row_of_texts(const store::knob_list& texts) {
    knob::detail::row_reader<Row> in;
    for (const auto& [key, value] : texts)
        if (in.add(key, value)) return {};
    const auto row = in.finish();
    if (!row) return {};
    return *row;
}

/// A space as the options of a fork. It is kept by reference and outlives this; freeze it where picks are many.
template <knob::row_space Space>
class space_options final : public option_space {
public:
    using row_type = knob::row_of<Space>;
    explicit space_options(const Space& space, bool pinned = false) : space_(space), pinned_(pinned) {}

    std::optional<store::knob_list> option_for(const store::knob_list& measured) const override {
        const auto row = row_of_texts<row_type>(measured);
        if (!row || !space_.contains(*row)) return {};
        return texts_of(*row);
    }
    result<store::knob_list> first() const override {
        if (space_.empty()) return refuse(fault_kind::user, "found no row in the space, expected at least one (the pins leave none)");
        return texts_of(space_.unrank(0));
    }
    bool single() const override { return space_.size() == 1; }
    bool pinned() const override { return pinned_; }
    std::optional<std::uint64_t> size() const override { return space_.size(); }

private:
    const Space& space_;
    bool pinned_;
};

}  // namespace emmy::evidence
