# SPDX-License-Identifier: Apache-2.0
"""A plan of ten short points, for tests of sweeps."""
from cli_support import topology

PLAN = f"""
options:
  topology: {topology("small.yaml")}
  kernel: gemm
  param.k: 64
over:
  links: [ideal, flit]
  param.n: {{from: 32, to: 96, step: 32}}
  param.m: [32, 64]
where:
  - param.m * param.n < 96 * 64
"""
POINTS = 10
