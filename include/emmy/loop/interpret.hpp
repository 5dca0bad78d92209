#pragma once
#include <emmy/core/dtype.hpp>
#include <emmy/core/result.hpp>
#include <emmy/loop/body.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The interpreter: what a kernel body means. The reference for everything that runs one.
namespace emmy::loop {

enum class numeric_mode : std::uint8_t {
    typed,       ///< every rounding that the body spells: each value to its dtype where it is defined, each write to its buffer's
    relaxed_f32  ///< every float in f32: roundings to f16, bf16 and f8 are ignored, f8 and f4 encode and decode still happen
};

struct symbol_size {
    std::string symbol = {};
    std::int64_t size = 0;
};

struct interpret_options {
    numeric_mode mode = numeric_mode::typed;
    std::vector<symbol_size> sizes;  ///< symbols not named have their hint
    bool bounds = false;             ///< keep error bounds (bounded_cell): about twice the work
    std::int64_t reduce_steps = 0;   ///< > 0: every loop that reduces or carries a state runs this many of its first steps at most
    std::uint64_t budget = 0;        ///< > 0: values that one call of run() or cell() may compute; a dearer one ends with a fault (user)
};

/// Where the elements of an input buffer come from. Bytes must outlive the interpreter's use of them.
struct input_data {
    using function = double (*)(const void* state, std::uint64_t element);  ///< row-major place to value; rounded to the buffer's type
    enum class form : std::uint8_t { absent, bytes, seeded, computed };

    form from = form::absent;
    std::span<const std::byte> bytes;  ///< row-major elements of the declared type
    std::uint64_t seed = 0;            ///< seeded: the same element has the same value whatever is asked and in which order
    double low = -1, high = 1;         ///< seeded: uniform in [low, high), integers in low … high - 1
    function compute = nullptr;
    const void* state = nullptr;

    static input_data of_bytes(std::span<const std::byte> b) {
        input_data out;
        return out.from = form::bytes, out.bytes = b, out;
    }
    static input_data of_seed(std::uint64_t seed, double low = -1, double high = 1) {
        input_data out;
        return out.from = form::seeded, out.seed = seed, out.low = low, out.high = high, out;
    }
    static input_data of_function(function f, const void* state = nullptr) {
        input_data out;
        return out.from = form::computed, out.compute = f, out.state = state, out;
    }
};

struct sampled_cell;  // loop/sample.hpp

/// A typed value and how far the relaxed mode's may lie from it.
struct bounded_value {
    double value = 0, bound = 0;
};

/// A body compiled for one mode and one set of sizes. Movable; one thread at a time.
///
/// Semantics: loops run in order; accumulators start at the operator's identity each time their loop is entered (maximum
/// -1e30, minimum +1e30); a state's Pre sees what the previous step left. A division by zero in an index gives 0. Every read and write is
/// checked: an index out of bounds is a fault naming buffer, dimension, index and statement.
/// Values are computed once per combination of the axes they depend on (a softmax's row statistics once a row, also across calls of
/// cell() in row order).
class interpreter {
public:
    /// Validates (loop/validate.hpp), binds sizes, compiles. Errors: input: an invalid body, one that reads its own output, ZeroPrologue;
    /// user: a size below 1 or of a symbol that the kernel does not have.
    EMMY_DECL static result<interpreter> make(const kernel& k, const interpret_options& options = {});
    EMMY_DECL interpreter(interpreter&&) noexcept;
    EMMY_DECL interpreter& operator=(interpreter&&) noexcept;
    EMMY_DECL ~interpreter();

    /// One for every declared input, in declared order; an unread input may be absent. Errors (user): count, absent, byte size.
    EMMY_DECL result<void> bind(std::span<const input_data> inputs);

    /// Concrete shapes, in elements, under the bound sizes.
    EMMY_DECL std::span<const std::int64_t> input_shape(std::size_t input) const;
    EMMY_DECL std::span<const std::int64_t> output_shape(std::size_t output) const;

    /// The whole kernel: bytes of every declared output in order; cells that no statement writes are zero.
    EMMY_DECL result<std::vector<std::vector<std::byte>>> run();

    /// One cell of one output, without computing the others. Typed mode: rounded to the output's type; relaxed: as computed, in f32.
    /// Errors: user: coordinate outside the shape, cell that no statement writes.
    EMMY_DECL result<double> cell(std::size_t output, std::span<const std::int64_t> at);

    /// The same with a bound on its distance to the relaxed mode's cell (impl/interpret_bound.ipp states the rules): the tolerance that
    /// a kernel which keeps f32 where the body rounds may use. Infinite where nothing can be said (a code computed from rounded
    /// values), and without interpret_options::bounds.
    EMMY_DECL result<bounded_value> bounded_cell(std::size_t output, std::span<const std::int64_t> at);

    /// Statement executions of a whole run, every statement counted each time its loops reach it, nothing shared (saturating).
    EMMY_DECL std::uint64_t run_cost() const;
    /// Evaluations that one cell needs when each value is computed once per combination of the varying axes it depends on: statements
    /// but Loads, the dearest Write of the output (saturating). reduce_steps is taken into account.
    EMMY_DECL std::uint64_t cell_cost(std::size_t output) const;
    /// Values computed so far by run() and cell(): what the two above estimate.
    EMMY_DECL std::uint64_t evaluations() const;

private:
    struct implementation;
    explicit interpreter(std::unique_ptr<implementation> made);
    friend std::vector<sampled_cell> sample_cells(const interpreter& compiled, std::uint64_t seed, std::size_t count);
    std::unique_ptr<implementation> impl_;
};

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/interpret.ipp>
#endif
