// SPDX-License-Identifier: Apache-2.0
// An output-stationary systolic array: N x N multiply-accumulate cells, i8 x i8 -> i32. Operands come in at the left and at
// the top, row i and column i one cycle later than the one before, and go on by one cell a cycle. A pass takes K + 2N - 2
// cycles to multiply and N cycles to shift the results out, one row a cycle.
module systolic_array #(parameter N = 8) (
    input clk,
    input start,                      // with k: a pass begins
    input [31:0] k,
    output [31:0] step,               // which column of A and which row of B are wanted now
    input [8*N-1:0] a,                // A[0..N-1][step], row 0 in the lowest byte
    input [8*N-1:0] b,                // B[step][0..N-1]
    output valid,                     // row `row` of the result is there
    output [31:0] row,
    output [32*N-1:0] c,
    output busy);

  localparam IDLE = 0, MULTIPLY = 1, SHIFT = 2;
  reg [1:0] state = IDLE;
  reg [31:0] count = 0, depth = 0;
  reg signed [7:0] a_skew [0:N-1][0:N-1], b_skew [0:N-1][0:N-1];  // [i][d]: row i, d cycles ago
  reg signed [7:0] a_cell [0:N-1][0:N-1], b_cell [0:N-1][0:N-1];  // what a cell hands on
  reg signed [31:0] sum [0:N-1][0:N-1];

  assign step = count;
  assign valid = state == SHIFT;
  assign row = count;
  assign busy = state != IDLE;

  // What comes to a cell from its left and from above.
  wire feeds = count < depth;
  wire signed [7:0] left [0:N-1][0:N-1], top [0:N-1][0:N-1];
  genvar x, y;
  generate
    for (x = 0; x < N; x = x + 1) begin : rows
      assign c[32*x +: 32] = sum[0][x];
      if (x == 0) assign left[x][0] = feeds ? a[7:0] : 0;
      else assign left[x][0] = a_skew[x][x-1];
      if (x == 0) assign top[0][x] = feeds ? b[7:0] : 0;
      else assign top[0][x] = b_skew[x][x-1];
      for (y = 1; y < N; y = y + 1) begin : cells
        assign left[x][y] = a_cell[x][y-1];
        assign top[y][x] = b_cell[y-1][x];
      end
    end
  endgenerate

  integer i, j, d;
  always @(posedge clk) begin
    if (start) begin
      state <= MULTIPLY;
      count <= 0;
      depth <= k;
      for (i = 0; i < N; i = i + 1)
        for (j = 0; j < N; j = j + 1) begin
          a_skew[i][j] <= 0;
          b_skew[i][j] <= 0;
          a_cell[i][j] <= 0;
          b_cell[i][j] <= 0;
          sum[i][j] <= 0;
        end
    end else if (state == MULTIPLY) begin
      for (i = 0; i < N; i = i + 1) begin
        a_skew[i][0] <= feeds ? a[8*i +: 8] : 0;
        b_skew[i][0] <= feeds ? b[8*i +: 8] : 0;
        for (d = 1; d < N; d = d + 1) begin
          a_skew[i][d] <= a_skew[i][d-1];
          b_skew[i][d] <= b_skew[i][d-1];
        end
      end
      for (i = 0; i < N; i = i + 1)
        for (j = 0; j < N; j = j + 1) begin
          a_cell[i][j] <= left[i][j];
          b_cell[i][j] <= top[i][j];
          sum[i][j] <= sum[i][j] + left[i][j] * top[i][j];
        end
      if (count == depth + 2*N - 3) begin
        state <= SHIFT;
        count <= 0;
      end else count <= count + 1;
    end else if (state == SHIFT) begin
      for (i = 0; i + 1 < N; i = i + 1)
        for (j = 0; j < N; j = j + 1) sum[i][j] <= sum[i+1][j];
      if (count == N - 1) state <= IDLE;
      else count <= count + 1;
    end
  end
endmodule
