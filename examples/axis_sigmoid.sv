// SPDX-License-Identifier: 0BSD
// A streaming core around an emitted module: sigmoid of 16-bit codes, Lanes of them in a word of an AXI4-Stream.
//
//   pwlc emit sigmoid.json --format sv --stages 2 --rtl-handshake ready --name pwl_sigmoid_s16 -o pwl_sigmoid_s16.sv
//
// Every lane sees the same handshake, so that all of them stand still and move together. TLAST goes beside them through a
// queue, for the module carries codes alone.

module axis_sigmoid #(
  parameter integer Lanes = 2
) (
  input  logic                aclk,
  input  logic                aresetn,
  input  logic                s_axis_tvalid,
  output logic                s_axis_tready,
  input  logic [16*Lanes-1:0] s_axis_tdata,
  input  logic                s_axis_tlast,
  output logic                m_axis_tvalid,
  input  logic                m_axis_tready,
  output logic [16*Lanes-1:0] m_axis_tdata,
  output logic                m_axis_tlast
);
  logic [Lanes-1:0] lane_ready, lane_valid;

  for (genvar lane = 0; lane < Lanes; lane++) begin : g_lane
    pwl_sigmoid_s16 u_sigmoid (
      .clk_i  (aclk),
      .rst_ni (aresetn),
      .valid_i(s_axis_tvalid),
      .ready_o(lane_ready[lane]),
      .x_i    (s_axis_tdata[16*lane+:16]),
      .valid_o(lane_valid[lane]),
      .ready_i(m_axis_tready),
      .y_o    (m_axis_tdata[16*lane+:16])
    );
  end

  assign s_axis_tready = &lane_ready;
  assign m_axis_tvalid = &lane_valid;

  // As many places as the module can have stages, or more: it holds no more codes than it has stages.
  logic [3:0] last_q;
  logic [1:0] write_q, read_q;

  always_ff @(posedge aclk or negedge aresetn) begin
    if (!aresetn) begin
      write_q <= 2'd0;
      read_q  <= 2'd0;
    end else begin
      if (s_axis_tvalid && s_axis_tready) write_q <= write_q + 2'd1;
      if (m_axis_tvalid && m_axis_tready) read_q <= read_q + 2'd1;
    end
  end

  always_ff @(posedge aclk) begin
    if (s_axis_tvalid && s_axis_tready) last_q[write_q] <= s_axis_tlast;
  end

  assign m_axis_tlast = last_q[read_q];
endmodule
