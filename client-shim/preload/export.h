// How the shim defines a function that stands in front of the C library's.
#pragma once

// A definition under another name than the header's declaration, which may say more of it.
#define RINGDEAL_EXPORT(result, name, ...)          \
  extern "C" __attribute__((visibility("default"))) \
  result ringdeal_##name(__VA_ARGS__) asm(#name);   \
  result ringdeal_##name(__VA_ARGS__)

// One line for each that only chooses the descriptor to ask, or passes its arguments on.
#define RINGDEAL_PASS(name, arguments, call) \
  RINGDEAL_EXPORT(int, name, RINGDEAL_STRIP arguments) { return call; }
#define RINGDEAL_STRIP(...) __VA_ARGS__
