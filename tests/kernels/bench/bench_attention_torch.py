#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_attention_torch.py: PyTorch's scaled_dot_product_attention in fp16, of the shapes of bench_attention, by each of its
ways and by that which it chooses. A line of JSON for each shape and way: microseconds, medians of 31 launches of a CUDA
graph."""
import datetime
import json

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from torch_graph import median

HEADS, LONGEST, REPETITIONS = 32, 4096, 31
WAYS = {"chosen": None, "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
        "efficient": SDPBackend.EFFICIENT_ATTENTION}


def main():
    for channels in (64, 128):
        for tokens in (LONGEST, 1024):
            batch = 4 * LONGEST // tokens
            q, k, v = (torch.randn(batch, HEADS, tokens, channels, device="cuda", dtype=torch.float16) for _ in range(3))
            for causal in (False, True):
                for name, way in WAYS.items():
                    seen = tokens * (tokens + 1) / 2 if causal else tokens * tokens
                    try:
                        with torch.inference_mode(), sdpa_kernel(list(filter(None, WAYS.values())) if way is None else way):
                            us = median(lambda: scaled_dot_product_attention(q, k, v, is_causal=causal), REPETITIONS)
                    except RuntimeError:
                        continue  # a way that does not have this shape
                    print(json.dumps({"bench": "attention_torch", "device": torch.cuda.get_device_name(), "way": name,
                                      "channels": channels, "tokens": tokens, "heads": batch * HEADS, "causal": int(causal),
                                      "us": round(us, 1), "tflops": round(4 * seen * channels * batch * HEADS / us / 1e6, 1),
                                      "torch": torch.__version__, "date": datetime.date.today().isoformat()}), flush=True)


main()
