#pragma once
#include <emmy/kernel/impl/folds.ipp>

namespace emmy::kernel::detail {

/// How the cells of the grid become items of the team, for every form but the tiled contraction.
class grid_plan : public lowering {
public:
    using lowering::lowering;

    void build() {
        block& top = new_block();
        point& root = new_point(nullptr, top);
        const bool strips = facts_.form == fork::cpu_form::map ? row_.tile.form == knob::tile_form::scalar : facts_.form == fork::cpu_form::columns && coop_;
        vectors_ = strips ? (facts_.form == fork::cpu_form::map ? row_.tile.fn : row_.reduce.vector) : 1;
        width_ = strips ? target_.lanes() : 1;
        const expr_id stream = strips ? stream_condition() : no_expr;
        if (stream == no_expr) {
            items(root);
        } else {
            // The same items twice: around the caches where the outputs outgrow them, else through them.
            block &around = new_block(), &through = new_block();
            point &a = new_point(&root, around), &b = new_point(&root, through);
            streaming_ = true;
            items(a);
            streaming_ = false;
            items(b);
            guard(top, stream, around, &through);
        }
        p_.body.insert(p_.body.end(), top.nodes.begin(), top.nodes.end());
    }

private:
    /// When stores go around the caches: outputs beyond the last cache, at vector alignment. no_expr: never.
    expr_id stream_condition() {
        expr_id bytes = num(0), aligned = no_expr;
        bool any = false;
        for (std::uint32_t s = 0; s < k_.body.stmts.size(); ++s) {
            if (k_.body.stmts[s].kind != loop::stmt_kind::write || !may_stream(s)) continue;
            any = true;
            aligned = both(aligned, name("b" + std::to_string(memory_of(k_.body.stmts[s].buffer)) + "_aligned"));
        }
        if (!any) return no_expr;
        for (const loop::buffer& b : k_.outputs) {
            expr_id x = num(static_cast<std::int64_t>(byte_size(b.type)));
            for (const dim& d : b.shape) x = mul(x, size(d));
            bytes = add(bytes, x);
        }
        std::int64_t known = 0;
        const auto cache = static_cast<std::int64_t>(target_.last_cache_bytes);
        if (is_num(bytes, known)) return known > cache ? aligned : no_expr;
        return both(less(num(cache), bytes), aligned);
    }

    void decode(node& tile, point& p, std::span<const std::uint32_t> axes, expr_id flat) {
        for (std::size_t i = axes.size(); i-- > 0;) {
            const name_id c = fresh("c");
            tile.bind.emplace_back(c, i == 0 ? flat : mod(flat, extent(axes[i])));
            bind(p, axes[i], p_.exprs.name(c));
            if (i > 0) flat = div(flat, extent(axes[i]));
        }
    }
    expr_id product(std::span<const std::uint32_t> axes) {
        expr_id out = num(1);
        for (std::uint32_t a : axes) out = mul(out, extent(a));
        return out;
    }

    void items(point& root) {
        const std::span<const std::uint32_t> grid(t_.grid);
        const bool whole_cells = facts_.form == fork::cpu_form::rows || grid.empty();
        const std::span<const std::uint32_t> outer = whole_cells ? grid : grid.first(grid.size() - 1);
        const name_id item = fresh("item");
        block& body = new_block();
        node team{.kind = node_kind::team, .var = item};
        node tile{.kind = node_kind::tile};
        if (whole_cells) {
            const std::int64_t q = coop_ ? row_.work.m : 1;
            const expr_id total = product(outer);
            if (q == 1) {
                point& p = new_point(&root, body);
                decode(tile, p, outer, p_.exprs.name(item));
                cell(p);
                tile.body = std::move(body.nodes);
                block& deal_body = new_block();
                add(deal_body, std::move(tile));
                team.end = total, team.how = deal::runs, team.body = std::move(deal_body.nodes);
            } else {
                block& deal_body = new_block();
                const name_id r = fresh("r");
                point& p = new_point(&root, body);
                decode(tile, p, outer, p_.exprs.name(r));
                cell(p);
                tile.body = std::move(body.nodes);
                block& loop_body = new_block();
                add(loop_body, std::move(tile));
                const expr_id first = mul(p_.exprs.name(item), num(q));
                loop(deal_body, r, first, divides(q, total) ? builder::add(first, num(q)) : min(builder::add(first, num(q)), total), 1, loop_body);
                team.end = ceil_div(total, q), team.how = deal::rounds, team.body = std::move(deal_body.nodes);
            }
            add(*root.where, std::move(team));
            return;
        }
        const std::uint32_t inner = grid.back();
        const expr_id length = extent(inner);
        const std::int64_t strip = std::int64_t{vectors_} * width_;
        const int per_item = facts_.form == fork::cpu_form::columns ? (coop_ ? row_.work.m : 0) : row_.work.form == knob::work_form::threads ? row_.work.n : 0;
        point& p = new_point(&root, body);
        if (per_item > 0) {
            const std::int64_t chunk = strip * per_item;
            const expr_id chunks = ceil_div(length, chunk);
            const name_id c = fresh("c");
            decode(tile, p, outer, div(p_.exprs.name(item), chunks));
            tile.bind.emplace_back(c, outer.empty() ? p_.exprs.name(item) : mod(p_.exprs.name(item), chunks));
            const expr_id first = mul(p_.exprs.name(c), num(chunk));
            const expr_id last = divides(chunk, length) ? builder::add(first, num(chunk)) : min(builder::add(first, num(chunk)), length);
            range(p, inner, first, last, strip);
            team.end = mul(product(outer), chunks), team.how = deal::rounds;
        } else if (!outer.empty()) {
            decode(tile, p, outer, p_.exprs.name(item));
            range(p, inner, num(0), length, strip);
            team.end = product(outer), team.how = deal::runs;
        } else {
            const name_id c = fresh("c");
            tile.bind.emplace_back(c, mul(p_.exprs.name(item), num(strip)));
            if (divides(strip, length)) {
                strips(p, body, inner, p_.exprs.name(c), vectors_, width_);
            } else {
                block &full = new_block(), &rest = new_block();
                strips(p, full, inner, p_.exprs.name(c), vectors_, width_);
                single(p, rest, inner, p_.exprs.name(c), length);
                guard(body, at_most(builder::add(p_.exprs.name(c), num(strip)), length), full, &rest);
            }
            team.end = ceil_div(length, strip), team.how = deal::runs;
        }
        tile.body = std::move(body.nodes);
        block& deal_body = new_block();
        add(deal_body, std::move(tile));
        team.body = std::move(deal_body.nodes);
        add(*root.where, std::move(team));
    }
    using builder::add;
    using builder::loop;

    void cell(point& p) {
        point* one[] = {&p};
        run(t_.terms[t_.root], one);
    }
    /// The strip at `at`: one point a vector.
    void strips(point& up, block& where, std::uint32_t axis, expr_id at, int vectors, int width) {
        std::vector<point*> here;
        for (int c = 0; c < vectors; ++c) here.push_back(&step_point(up, where, axis, builder::add(at, num(std::int64_t{c} * width)), width));
        run(t_.terms[t_.root], here);
    }
    void single(point& up, block& where, std::uint32_t axis, expr_id from, expr_id to) {
        block& body = new_block();
        const name_id i = fresh("i");
        strips(up, body, axis, p_.exprs.name(i), 1, 1);
        loop(where, i, from, to, 1, body);
    }
    /// Cells from … to - 1 of the inner axis; `from` is a multiple of the strip.
    void range(point& up, std::uint32_t axis, expr_id from, expr_id to, std::int64_t strip) {
        block& where = *up.where;
        const bool exact = strip == 1 || divides(strip, extent(axis));
        const expr_id main_end = exact ? to : whole(to, strip);
        block& body = new_block();
        const name_id i = fresh("i");
        strips(up, body, axis, p_.exprs.name(i), vectors_, width_);
        loop(where, i, from, main_end, strip, body);
        if (!exact) single(up, where, axis, main_end, to);
    }

    int vectors_ = 1, width_ = 1;
};

/// Macro tiles of register tiles over packed panels.
class contraction_plan : public lowering {
public:
    using lowering::lowering;
    using builder::add;
    using builder::loop;

    void build() {
        W_ = target_.lanes(), fn_ = row_.tile.fn, fm_ = row_.tile.fm, NR_ = std::int64_t{fn_} * W_;
        const bool threads = row_.work.form == knob::work_form::threads;
        Tn_ = threads ? row_.work.n : 1, Tm_ = threads ? row_.work.m : 1;
        M_ = extent(facts_.m_axis), N_ = extent(facts_.lane_axis), K_ = extent(facts_.k_axis);
        pack_b_ = row_.stage.by != knob::transport::direct;
        pack_a_ = row_.stage.by == knob::transport::async;
        chunk_ = std::int64_t{128} * row_.stage.depth;
        std::int64_t k = 0;
        one_chunk_ = !pack_b_ || (is_num(K_, k) && k <= chunk_);
        if (pack_b_ && one_chunk_) chunk_ = k;

        block& top = new_block();
        point& root = new_point(nullptr, top);
        if (pack_b_) slab_b_ = slab(top, space::part_slab, static_cast<std::uint64_t>(Tn_ * NR_ * chunk_));
        if (pack_a_) slab_a_ = slab(top, space::part_slab, static_cast<std::uint64_t>(Tm_ * fm_ * chunk_));
        if (!one_chunk_) slab_c_ = slab(top, space::part_slab, static_cast<std::uint64_t>(Tn_ * NR_ * Tm_ * fm_));
        if (ragged()) slab_edge_ = slab(top, space::part_slab, static_cast<std::uint64_t>(NR_ * fm_));

        const name_id item = fresh("item");
        std::vector<std::uint32_t> batch;
        for (std::uint32_t g : t_.grid)
            if (g != facts_.m_axis && g != facts_.lane_axis) batch.push_back(g);
        block& body = new_block();
        point& p = new_point(&root, body);
        node tile{.kind = node_kind::tile};
        const expr_id nm = ceil_div(M_, Tm_ * fm_), nn = ceil_div(N_, Tn_ * NR_);
        expr_id flat = div(p_.exprs.name(item), mul(nm, nn)), blocks = mul(nm, nn);
        for (std::size_t i = batch.size(); i-- > 0;) {
            const name_id c = fresh("c");
            tile.bind.emplace_back(c, i == 0 ? flat : mod(flat, extent(batch[i])));
            bind(p, batch[i], p_.exprs.name(c));
            flat = div(flat, extent(batch[i]));
            blocks = mul(blocks, extent(batch[i]));
        }
        const expr_id place = batch.empty() ? p_.exprs.name(item) : mod(p_.exprs.name(item), mul(nm, nn));
        expr_id ib = no_expr, jb = no_expr;
        if (row_.raster.along == knob::raster_axis::m) {
            const std::int64_t g = row_.raster.group;
            const expr_id stripe = mul(num(g), nn);
            const expr_id first = named(tile, "g", mul(div(place, stripe), num(g)));
            const expr_id in_stripe = mod(place, stripe), high = named(tile, "g", min(num(g), sub(nm, first)));
            ib = builder::add(first, mod(in_stripe, high)), jb = div(in_stripe, high);
        } else {
            ib = div(place, nn), jb = mod(place, nn);
        }
        m0_ = named(tile, "m", mul(ib, num(Tm_ * fm_)));
        n0_ = named(tile, "n", mul(jb, num(Tn_ * NR_)));
        mt_ = Tm_ == 1 ? num(1) : named(tile, "mt", min(num(Tm_), ceil_div(sub(M_, m0_), fm_)));
        nt_ = Tn_ == 1 ? num(1) : named(tile, "nt", min(num(Tn_), ceil_div(sub(N_, n0_), NR_)));
        if (one_chunk_) {
            macro(p, body, num(0), K_);
        } else {
            block &chunk_body = new_block(), &inside = new_block();
            const name_id k0 = fresh("k");
            point& q = new_point(&p, inside);
            node chunk_tile{.kind = node_kind::tile};
            const expr_id length = named(chunk_tile, "kn", min(num(chunk_), sub(K_, p_.exprs.name(k0))));
            macro(q, inside, p_.exprs.name(k0), length);
            chunk_tile.body = std::move(inside.nodes);
            add(chunk_body, std::move(chunk_tile));
            loop(body, k0, num(0), K_, chunk_, chunk_body);
        }
        tile.body = std::move(body.nodes);
        block& deal_body = new_block();
        add(deal_body, std::move(tile));
        add(top, {.kind = node_kind::team, .var = item, .end = blocks, .how = deal::runs, .body = std::move(deal_body.nodes)});
        p_.body.insert(p_.body.end(), top.nodes.begin(), top.nodes.end());
    }

private:
    expr_id named(node& tile, std::string_view stem, expr_id e) {
        std::int64_t x = 0;
        if (is_num(e, x)) return e;
        const name_id n = fresh(stem);
        tile.bind.emplace_back(n, e);
        return p_.exprs.name(n);
    }
    bool full_rows() const { return divides(fm_, M_); }
    bool full_columns() const { return divides(NR_, N_); }
    bool ragged() const { return !full_rows() || !full_columns(); }

    template <class Body>
    void counted(block& where, std::string_view stem, expr_id from, expr_id to, Body&& make) {
        block& body = new_block();
        const name_id i = fresh(stem);
        make(body, p_.exprs.name(i));
        loop(where, i, from, to, 1, body);
    }
    /// A block whose names are bound first.
    template <class Body>
    void scoped(block& where, Body&& make) {
        block& body = new_block();
        node tile{.kind = node_kind::tile};
        make(body, tile);
        tile.body = std::move(body.nodes);
        if (tile.bind.empty()) where.nodes.insert(where.nodes.end(), tile.body.begin(), tile.body.end());
        else add(where, std::move(tile));
    }

    point& factor_point(point& up, block& where, std::uint32_t axis, expr_id at, int lanes, expr_id k) {
        point& p = new_point(&up, where);
        bind(p, axis, at, lanes);
        bind(p, facts_.k_axis, k);
        return p;
    }
    value_id zero(block& b) { return literal(b, 0); }

    /// Chunk k0 … k0 + kn - 1 of every register tile of the item.
    void macro(point& p, block& where, expr_id k0, expr_id kn) {
        if (pack_b_) pack_b(p, where, k0, kn);
        if (pack_a_) pack_a(p, where, k0, kn);
        counted_or_once(where, "j", nt_, [&](block& jb, expr_id j) {
            counted_or_once(jb, "i", mt_, [&](block& ib, expr_id i) {
                scoped(ib, [&](block& b, node& names) { micro(p, b, names, i, j, k0, kn); });
            });
        });
    }
    template <class Body>
    void counted_or_once(block& where, std::string_view stem, expr_id count, Body&& make) {
        std::int64_t x = 0;
        if (is_num(count, x) && x == 1) return make(where, num(0));
        counted(where, stem, num(0), count, make);
    }

    /// Steps of k in vectors, the rest one by one.
    template <class Body>
    void along_k(block& where, expr_id kn, Body&& make) {
        const auto steps = [&](expr_id from, expr_id to, int lanes) {
            block& body = new_block();
            const name_id k = fresh("k");
            make(body, p_.exprs.name(k), lanes);
            loop(where, k, from, to, lanes, body);
        };
        const expr_id main_end = whole(kn, W_);
        steps(num(0), main_end, W_);
        if (!divides(W_, kn)) steps(main_end, kn, 1);
    }
    /// Lanes of a vector at addresses `stride` apart; a value of one lane at all of them.
    void strided(block& b, memory_id m, expr_id at, value_id v, int lanes, std::int64_t stride) {
        if (facts(v).lanes == lanes && lanes > 1) add(b, {.kind = node_kind::write, .args = {v}, .memory = m, .at = at, .stride = stride, .lanes = lanes});
        else
            for (int i = 0; i < lanes; ++i) store(b, m, builder::add(at, num(std::int64_t{i} * stride)), v, 1);
    }
    void pack_b(point& p, block& where, expr_id k0, expr_id kn) {
        counted(where, "j", num(0), nt_, [&](block& jb, expr_id j) {
            scoped(jb, [&](block& b, node& names) {
                const expr_id column = named(names, "col", builder::add(n0_, mul(j, num(NR_)))), panel = named(names, "at", mul(j, num(NR_ * chunk_)));
                const auto vectors = [&](block& to) {
                    counted(to, "k", num(0), kn, [&](block& kb, expr_id k) {
                        for (int c = 0; c < fn_; ++c) {
                            point& x = factor_point(p, kb, facts_.lane_axis, builder::add(column, num(std::int64_t{c} * W_)), W_, builder::add(k0, k));
                            store(kb, slab_b_, builder::add(builder::add(panel, mul(k, num(NR_))), num(std::int64_t{c} * W_)), value_of(facts_.b, x), W_);
                        }
                    });
                };
                const auto singles = [&](block& to) {
                    counted(to, "c", num(0), num(NR_), [&](block& cb, expr_id c) {
                        const auto column_k = [&](block& kb, expr_id k, bool real) {
                            value_id v = 0;
                            if (real) v = value_of(facts_.b, factor_point(p, kb, facts_.lane_axis, builder::add(column, c), 1, builder::add(k0, k)));
                            else v = zero(kb);
                            store(kb, slab_b_, builder::add(builder::add(panel, mul(k, num(NR_))), c), v, 1);
                        };
                        block &inside = new_block(), &outside = new_block();
                        if (facts_.b_along_k) {
                            along_k(inside, kn, [&](block& kb, expr_id k, int lanes) {
                                point& x = new_point(&p, kb);
                                bind(x, facts_.lane_axis, builder::add(column, c)), bind(x, facts_.k_axis, builder::add(k0, k), lanes);
                                strided(kb, slab_b_, builder::add(builder::add(panel, mul(k, num(NR_))), c), value_of(facts_.b, x), lanes, NR_);
                            });
                        } else {
                            counted(inside, "k", num(0), kn, [&](block& kb, expr_id k) { column_k(kb, k, true); });
                        }
                        if (full_columns()) {
                            cb.nodes.insert(cb.nodes.end(), inside.nodes.begin(), inside.nodes.end());
                            return;
                        }
                        counted(outside, "k", num(0), kn, [&](block& kb, expr_id k) { column_k(kb, k, false); });
                        guard(cb, less(builder::add(column, c), N_), inside, &outside);
                    });
                };
                if (!facts_.b_adjacent) return singles(b);
                if (full_columns()) return vectors(b);
                block &full = new_block(), &edge = new_block();
                vectors(full);
                singles(edge);
                guard(b, at_most(builder::add(column, num(NR_)), N_), full, &edge);
            });
        });
    }

    /// Rows of register tile i, those beyond the extent read as the last row.
    std::vector<expr_id> tile_rows(node& names, expr_id row) {
        std::vector<expr_id> rows;
        for (int r = 0; r < fm_; ++r) {
            const expr_id at = builder::add(row, num(r));
            rows.push_back(full_rows() ? at : named(names, "r", min(at, sub(M_, num(1)))));
        }
        return rows;
    }

    void pack_a(point& p, block& where, expr_id k0, expr_id kn) {
        counted(where, "i", num(0), mt_, [&](block& ib, expr_id i) {
            scoped(ib, [&](block& b, node& names) {
                const expr_id row = named(names, "row", builder::add(m0_, mul(i, num(fm_)))), panel = named(names, "at", mul(i, num(fm_ * chunk_)));
                const std::vector<expr_id> rows = tile_rows(names, row);
                if (facts_.a_along_k) {
                    along_k(b, kn, [&](block& kb, expr_id k, int lanes) {
                        for (int r = 0; r < fm_; ++r) {
                            point& x = new_point(&p, kb);
                            bind(x, facts_.m_axis, rows[static_cast<std::size_t>(r)]), bind(x, facts_.k_axis, builder::add(k0, k), lanes);
                            strided(kb, slab_a_, builder::add(builder::add(panel, mul(k, num(fm_))), num(r)), value_of(facts_.a, x), lanes, fm_);
                        }
                    });
                    return;
                }
                counted(b, "k", num(0), kn, [&](block& kb, expr_id k) {
                    for (int r = 0; r < fm_; ++r)
                        store(kb, slab_a_, builder::add(builder::add(panel, mul(k, num(fm_))), num(r)), value_of(facts_.a, factor_point(p, kb, facts_.m_axis, rows[static_cast<std::size_t>(r)], 1, builder::add(k0, k))), 1);
                });
            });
        });
    }

    void micro(point& p, block& b, node& names, expr_id i, expr_id j, expr_id k0, expr_id kn) {
        const expr_id row = named(names, "row", builder::add(m0_, mul(i, num(fm_)))), column = named(names, "col", builder::add(n0_, mul(j, num(NR_))));
        const std::vector<expr_id> rows = pack_a_ ? std::vector<expr_id>() : tile_rows(names, row);
        std::vector<value_id> acc(static_cast<std::size_t>(fm_ * fn_));
        const auto at = [&](int r, int c) -> value_id& { return acc[static_cast<std::size_t>(r * fn_ + c)]; };
        const auto in_tile = [&](int r, int c) { return num((std::int64_t{r} * NR_) + std::int64_t{c} * W_); };
        const expr_id saved = one_chunk_ ? no_expr : named(names, "at", mul(builder::add(mul(j, num(Tm_)), i), num(fm_ * NR_)));
        const auto every = [&](auto&& f) {
            for (int r = 0; r < fm_; ++r)
                for (int c = 0; c < fn_; ++c) f(r, c);
        };
        every([&](int r, int c) { at(r, c) = start(b, dtype::f32, W_, 0); });
        if (!one_chunk_) {
            block& more = new_block();
            every([&](int r, int c) { update(more, at(r, c), loop::op::none, {load(more, slab_c_, builder::add(saved, in_tile(r, c)), W_)}); });
            guard(b, less(num(0), k0), more);
        }
        const expr_id panel_b = pack_b_ ? named(names, "pb", mul(j, num(NR_ * chunk_))) : no_expr, panel_a = pack_a_ ? named(names, "pa", mul(i, num(fm_ * chunk_))) : no_expr;
        counted(b, "k", num(0), kn, [&](block& kb, expr_id k) {
            std::vector<value_id> vectors;
            for (int c = 0; c < fn_; ++c) {
                if (pack_b_) vectors.push_back(load(kb, slab_b_, builder::add(builder::add(panel_b, mul(k, num(NR_))), num(std::int64_t{c} * W_)), W_));
                else vectors.push_back(value_of(facts_.b, factor_point(p, kb, facts_.lane_axis, builder::add(column, num(std::int64_t{c} * W_)), W_, builder::add(k0, k))));
            }
            for (int r = 0; r < fm_; ++r) {
                const value_id a = pack_a_ ? load(kb, slab_a_, builder::add(builder::add(panel_a, mul(k, num(fm_))), num(r)), 1)
                                           : value_of(facts_.a, factor_point(p, kb, facts_.m_axis, rows[static_cast<std::size_t>(r)], 1, builder::add(k0, k)));
                for (int c = 0; c < fn_; ++c) update(kb, at(r, c), loop::op::add, {a, vectors[static_cast<std::size_t>(c)]});
            }
        });
        if (one_chunk_) return epilogue(p, b, row, column, acc);
        block &last = new_block(), &save = new_block();
        point& q = new_point(&p, last);
        epilogue(q, last, row, column, acc);
        every([&](int r, int c) { store(save, slab_c_, builder::add(saved, in_tile(r, c)), at(r, c), W_); });
        guard(b, less(builder::add(k0, num(chunk_)), K_), save, &last);
    }

    void epilogue(point& p, block& b, expr_id row, expr_id column, const std::vector<value_id>& acc) {
        const fold::term& root = t_.terms[t_.root];
        const fold::value_id state = t_.terms[facts_.product].states[0];
        const auto cells = [&](block& where) {
            for (int r = 0; r < fm_; ++r)
                for (int c = 0; c < fn_; ++c) {
                    point& x = new_point(&p, where);
                    bind(x, facts_.m_axis, builder::add(row, num(r)));
                    bind(x, facts_.lane_axis, builder::add(column, num(std::int64_t{c} * W_)), W_);
                    x.values[state] = acc[static_cast<std::size_t>(r * fn_ + c)];
                    stores(root, x);
                }
        };
        if (!ragged()) return cells(b);
        block &full = new_block(), &edge = new_block();
        cells(full);
        for (int r = 0; r < fm_; ++r)
            for (int c = 0; c < fn_; ++c) store(edge, slab_edge_, num(std::int64_t{r} * NR_ + std::int64_t{c} * W_), acc[static_cast<std::size_t>(r * fn_ + c)], W_);
        counted(edge, "r", num(0), min(num(fm_), sub(M_, row)), [&](block& rb, expr_id r) {
            counted(rb, "c", num(0), min(num(NR_), sub(N_, column)), [&](block& cb, expr_id c) {
                point& x = new_point(&p, cb);
                bind(x, facts_.m_axis, builder::add(row, r));
                bind(x, facts_.lane_axis, builder::add(column, c));
                x.values[state] = load(cb, slab_edge_, builder::add(mul(r, num(NR_)), c), 1);
                stores(root, x);
            });
        });
        expr_id inside = no_expr;
        if (!full_rows()) inside = both(inside, at_most(builder::add(row, num(fm_)), M_));
        if (!full_columns()) inside = both(inside, at_most(builder::add(column, num(NR_)), N_));
        guard(b, inside, full, &edge);
    }
    void stores(const fold::term& root, point& x) {
        for (const fold::step& s : root.steps)
            if (!s.is_term && k_.body.stmts[s.id].kind == loop::stmt_kind::write) write(s.id, x);
    }

    int W_ = 1, fn_ = 1, fm_ = 1;
    std::int64_t NR_ = 1, Tn_ = 1, Tm_ = 1, chunk_ = 0;
    expr_id M_ = no_expr, N_ = no_expr, K_ = no_expr, m0_ = no_expr, n0_ = no_expr, mt_ = no_expr, nt_ = no_expr;
    bool pack_a_ = false, pack_b_ = false, one_chunk_ = true;
    memory_id slab_a_ = kernel::none, slab_b_ = kernel::none, slab_c_ = kernel::none, slab_edge_ = kernel::none;
};

}  // namespace emmy::kernel::detail
