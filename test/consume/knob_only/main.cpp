#include <emmy/knob.hpp>

int main() { return 0; }
