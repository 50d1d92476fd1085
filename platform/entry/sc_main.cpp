// SPDX-License-Identifier: Apache-2.0
// SystemC's library needs an sc_main. A program with its own main(), which only simulates by run(), has none.

[[gnu::weak]] int sc_main(int, char**) {
  return 0;
}
