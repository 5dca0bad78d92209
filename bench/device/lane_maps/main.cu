// lane_maps OUT: asks a card what its matrix instructions, matrix loads, tensor copies and conversions do, and writes the table that the emulated device is tested against
// (test/data/lane_maps/). Nothing in it comes from a manual. Build: nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a *.cu -o lane_maps
#include "check.hpp"
#include "dump.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: lane_maps OUT.txt\n", stderr);
        return 2;
    }
    cudaDeviceProp card{};
    EMMY_CHECK(cudaGetDeviceProperties(&card, 0));
    int driver = 0, runtime = 0;
    EMMY_CHECK(cudaDriverGetVersion(&driver));
    EMMY_CHECK(cudaRuntimeGetVersion(&runtime));
    std::FILE* out = std::fopen(argv[1], "w");
    if (out == nullptr) {
        std::perror(argv[1]);
        return 1;
    }
    std::fprintf(out, "# card %s, compute capability %d.%d, CUDA driver %d, runtime %d\n", card.name, card.major, card.minor, driver, runtime);
    lane_maps::dump_mma(out);
    lane_maps::dump_wgmma(out);
    lane_maps::dump_copies(out);
    lane_maps::dump_conversions(out);
    EMMY_CHECK(cudaDeviceSynchronize());
    std::fclose(out);
    std::printf("%s written\n", argv[1]);
}
