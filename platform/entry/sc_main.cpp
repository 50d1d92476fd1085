// SPDX-License-Identifier: Apache-2.0
// SystemC's library calls an sc_main. A program with a main() of its own, which simulates by run() alone, has none.

[[gnu::weak]] int sc_main(int, char**) {
  return 0;
}
