// SPDX-License-Identifier: 0BSD
// Streams codes.txt through the core in packets of 7 words, with gaps and waits, and compares with expected.txt: one
// code a line, as pwlc eval reads and writes them.

module axis_sigmoid_tb;
  localparam integer Lanes = 2;
  localparam integer Packet = 7;

  logic clk = 1'b0, rst_n = 1'b0;
  logic s_valid = 1'b0, s_ready, s_last, m_valid, m_ready = 1'b0, m_last;
  logic [16*Lanes-1:0] s_data, m_data;

  axis_sigmoid #(.Lanes(Lanes)) dut (
    .aclk(clk), .aresetn(rst_n),
    .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data), .s_axis_tlast(s_last),
    .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tdata(m_data), .m_axis_tlast(m_last)
  );

  always #5 clk = ~clk;

  // Both files, in words of all lanes.
  logic [16*Lanes-1:0] codes [0:65535], expected [0:65535];
  integer words = 0, file, other, value, result, found;
  initial begin
    file = $fopen("codes.txt", "r");
    other = $fopen("expected.txt", "r");
    if (file == 0 || other == 0) $fatal(1, "codes.txt or expected.txt is missing");
    found = 2;
    while (found == 2) begin
      for (integer lane = 0; lane < Lanes && found == 2; lane = lane + 1) begin
        found = $fscanf(file, "%d", value);
        found = found + $fscanf(other, "%d", result);
        codes[words][16*lane+:16] = value[15:0];
        expected[words][16*lane+:16] = result[15:0];
      end
      if (found == 2) words = words + 1;
    end
    if (words == 0) $fatal(1, "codes.txt has no word");
    repeat (3) @(negedge clk);
    rst_n = 1'b1;
  end

  integer sent = 0, received = 0, next;
  logic [15:0] draw = 16'h1;
  always @(posedge clk) if (rst_n) begin
    draw <= {draw[14:0], draw[15] ^ draw[13] ^ draw[12] ^ draw[10]};
    next = (s_valid && s_ready) ? sent + 1 : sent;
    sent <= next;
    if (!s_valid || s_ready) begin
      s_valid <= next < words && draw[0];
      s_data <= codes[next];
      s_last <= next % Packet == Packet - 1 || next == words - 1;
    end
    m_ready <= draw[5] | draw[9];
    if (m_valid && m_ready) begin
      if (m_data !== expected[received]) $fatal(1, "word %0d is %h, expected %h", received, m_data, expected[received]);
      if (m_last !== (received % Packet == Packet - 1 || received == words - 1))
        $fatal(1, "word %0d: TLAST is %b", received, m_last);
      received <= received + 1;
      if (received + 1 == words) begin
        $display("%0d words of %0d codes, no mismatch", words, Lanes);
        $finish;
      end
    end
  end
endmodule
