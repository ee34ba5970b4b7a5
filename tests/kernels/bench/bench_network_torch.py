#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_network_torch.py NETWORK.json: a sentence encoder of ids and mask, as docs/networks.md makes it of all-MiniLM-L6-v2, on
a CUDA device by pwl.cuda, beside the same layers in fp16 by PyTorch (transformers' BertModel with weights of its own, by
scaled_dot_product_attention; then the mean and the length 1). Codes are first held against the CPU's. A line of JSON for each
batch of sentences of 32 tokens: microseconds, medians of 50 launches of a CUDA graph. PYTHONPATH says where pwl is."""
import datetime
import json
import sys

import numpy as np
import torch
from transformers import BertConfig, BertModel

import pwl.network
from torch_graph import median

LENGTH, BATCHES = 32, (1, 32, 256)


def drawn(network, batch):
    """Ids, and masks of which some have fewer places."""
    random = np.random.default_rng(batch)
    ids, mask = (network.edges[name].type for name in network.inputs)
    places = np.arange(LENGTH) < random.integers(8, LENGTH + 1, (batch, 1))
    return random.integers(0, ids.qmax + 1, (batch, LENGTH)).astype(ids.dtype), places.astype(mask.dtype)


def main():
    network = pwl.network.load(sys.argv[1])
    config = BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    model = BertModel(config, add_pooling_layer=False).half().cuda().eval()

    def in_fp16(ids, mask):
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
        keep = mask.unsqueeze(-1).to(states.dtype)
        return torch.nn.functional.normalize((states * keep).sum(1) / keep.sum(1).clamp(min=1e-9))

    for batch in BATCHES:
        codes = drawn(network, batch)
        ids, mask = (torch.from_numpy(array).cuda() for array in codes)
        if not (network(ids, mask).cpu().numpy() == network(*codes)).all():
            sys.exit(f"the device's codes are not the CPU's, batch of {batch}")
        with torch.inference_mode():
            row = {"bench": "network", "device": torch.cuda.get_device_name(), "network": sys.argv[1].rpartition("/")[2][:-5],
                   "batch": batch, "length": LENGTH, "us": median(lambda: network(ids, mask)),
                   "fp16_us": median(lambda: in_fp16(ids.long(), mask.long())), "torch": torch.__version__,
                   "date": datetime.date.today().isoformat()}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
