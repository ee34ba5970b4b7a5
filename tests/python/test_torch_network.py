#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models of torch as networks of integers: what is read, how near its codes are, and what is named where it is not taken.
PYTHONPATH says where the package is. Exit 77, a skip, without torch.

usage: test_torch_network.py PWLC
"""
import dataclasses
import importlib.util
import math
import os
import pathlib
import sys
import tempfile
import warnings

import gguf_models
from harness import end, equal, np, page_program, printed_by, refused, test

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from torch import nn
from torch.nn import functional

import pwl
import pwl.torch
from pwl.network import Widths, quantise
from pwl.torch.network import real_network

os.environ["PWLC"] = os.path.realpath(sys.argv[1])
warnings.filterwarnings("ignore", module="torch")
warnings.filterwarnings("ignore", "The tensor attributes")
torch.manual_seed(51)
torch.set_num_threads(1)


def kinds(network):
    return [op.kind for op in network.ops]


FEW = dataclasses.replace(Widths.all(16), segments=(16, 16))  # tables that are fitted quickly


def near(model, batches, worst, widths=FEW, **flags):
    """Makes a network of a model, and holds its numbers, relative to the largest, within `worst` of the model's; that the real
    network is the model's was seen when it was read."""
    network, ranges = real_network(model.eval(), batches, **flags)
    made = quantise(network, ranges, widths)
    for batch in batches:
        inputs = list(batch.values()) if isinstance(batch, dict) else batch if isinstance(batch, tuple) else (batch,)
        with torch.no_grad():
            exact = model(*inputs).numpy()
        found = made.real(*[x.numpy() for x in inputs])
        error = np.abs(found - exact).max() / np.abs(exact).max()
        assert error <= worst, f"{error:.5f}"
    return network


class Block(nn.Module):
    """A block as decoders have it: causal attention, spelled RMSNorm, a gated pair."""

    def __init__(self, how, width=32, heads=4):
        super().__init__()
        self.how, self.heads = how, heads
        self.words = nn.Embedding(50, width)
        self.weight = nn.Parameter(1 + torch.rand(width))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = nn.Linear(width, 48), nn.Linear(width, 48), nn.Linear(48, width)

    def norm(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    def attend(self, q, k, v, keep):
        length = q.shape[-2]
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        if self.how == "fused":
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        if self.how == "booleans":
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=causal & (keep[:, None, None] != 0))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if self.how == "filled":
            scores = scores.masked_fill(~causal, float("-inf"))
        elif self.how == "added":
            scores = scores + torch.zeros(length, length).masked_fill(~causal, torch.finfo(torch.float32).min)
        elif self.how == "padded":
            scores = scores + (1.0 - keep[:, None, None].to(scores.dtype)) * torch.finfo(torch.float32).min
        return scores.softmax(-1) @ v

    def forward(self, ids, keep):
        x = self.words(ids)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        x = x + self.out(self.attend(q, k, v, keep).transpose(1, 2).flatten(-2))
        x = x + self.down(functional.silu(self.gate(self.norm(x))) * self.up(self.norm(x)))
        count = keep.unsqueeze(-1).to(x.dtype)
        return functional.normalize((x * count).sum(1) / count.sum(1).clamp(min=1e-9))


def tokens(count, length):
    keep = torch.ones(count, length, dtype=torch.int64)
    keep[0, length // 2:] = 0
    return torch.randint(0, 50, (count, length)), keep


@test("a decoder's block, its mask in each way that models write one")
def _():
    for how, causal, masked in (("fused", 1, False), ("booleans", 1, True), ("filled", 1, False), ("added", 1, False),
                                ("padded", 0, True), ("none", 0, False)):
        network = near(Block(how), [tokens(3, 12), tokens(2, 7)], 0.03)
        softmax = next(op for op in network.ops if op.kind == "softmax")
        assert softmax.fields["causal"] == causal and softmax.inputs[1:] == (("keep",) if masked else ()), (how, softmax)
        assert kinds(network).count("rmsnorm") == 3 and "l2norm" in kinds(network) and "scale" not in kinds(network)
        assert [one.role for one in network.inputs] == ["index", "mask"]


@test("torch's own encoder, either order of its norms, with and without padding")
def _():
    batches = [torch.randn(4, 10, 32), torch.randn(3, 7, 32)]
    for first in (False, True):
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=first, activation="gelu")
        near(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), batches, 0.01)

    class Padded(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

        def forward(self, x, keep):
            return self.encoder(x, src_key_padding_mask=keep == 0)

    network = near(Padded(), [(x, tokens(*x.shape[:2])[1]) for x in batches], 0.01)
    assert next(op for op in network.ops if op.kind == "softmax").inputs[1:] == ("keep",)


@test("GRU and LSTM: layers, both directions, either order of axes, the last state")
def _():
    class Last(nn.Module):
        def __init__(self, kind, **flags):
            super().__init__()
            self.layer, self.head = kind(8, 16, **flags), nn.Linear(16, 10)

        def forward(self, x):
            states = self.layer(x)[1]
            return self.head((states[0] if isinstance(states, tuple) else states)[-1])

    class All(Last):
        def forward(self, x):
            return self.layer(x)[0]

    for kind in (nn.GRU, nn.LSTM):
        for flags in ({"batch_first": True}, {"num_layers": 2}, {"bidirectional": True, "num_layers": 2, "batch_first": True},
                      {"bias": False}):
            first = flags.get("batch_first", False)
            sizes = {"x": ("batch", "time", 8) if first else ("time", "batch", 8)}
            batches = [torch.randn(*((4, 10) if first else (10, 4)), 8), torch.randn(*((2, 6) if first else (6, 2)), 8)]
            network = near(All(kind, **flags), batches, 0.02, sizes=sizes)
            assert kinds(network).count("loop") == flags.get("num_layers", 1) * (1 + flags.get("bidirectional", False))
        near(Last(kind, num_layers=2), [torch.randn(10, 4, 8)], 0.02, sizes={"x": ("time", "batch", 8)})


@test("GRU and LSTM give their last states too, of each layer and direction, by libpwl and numpy")
def _():
    class States(nn.Module):
        def __init__(self, kind, cells_alone=False, **flags):
            super().__init__()
            self.layer, self.cells_alone = kind(8, 6, **flags), cells_alone

        def forward(self, x):
            found = self.layer(x)
            return found[1][1] if self.cells_alone else found

    sizes = {"x": ("batch", "time", 8)}
    batches = [torch.randn(4, 10, 8), torch.randn(2, 6, 8)]
    for kind in (nn.GRU, nn.LSTM):
        for flags in ({}, {"num_layers": 2, "bidirectional": True}):
            model = States(kind, batch_first=True, **flags).eval()
            made = pwl.torch.quantize(model, batches, FEW, sizes=sizes)
            for x in batches:
                codes = made.nearest("x", x.numpy())
                wanted = made(codes, by="numpy")
                with torch.no_grad():
                    exact = torch.utils._pytree.tree_leaves(model(x))
                assert len(wanted) == len(exact) == (2 if kind is nn.GRU else 3)
                for name, found, other, real in zip(made.outputs, made(codes), wanted, exact):
                    equal(found, other, f"{kind.__name__}, {name}")
                    assert np.abs(made.edges[name].type.dequantize(found) - real.numpy()).max() < 0.02 * real.abs().max(), name
    near(States(nn.LSTM, cells_alone=True, batch_first=True), batches, 0.02, sizes=sizes)
    refused("projected", lambda: pwl.torch.quantize(States(nn.LSTM, proj_size=3, batch_first=True).eval(), batches, sizes=sizes))


@test("convolutions: batch norm folded, groups, pools, one dimension")
def _():
    two = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.BatchNorm2d(8), nn.Hardswish(), nn.Conv2d(8, 8, 3, padding=1, groups=8),
                        nn.MaxPool2d(2), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(32, 5))
    two[1].running_mean.normal_()
    two[1].running_var.uniform_(0.5, 2)
    network = near(two, [torch.randn(4, 3, 16, 16)], 0.03)
    assert kinds(network) == ["convolution", "function", "convolution", "max_pool", "convolution", "reshape", "linear"]
    near(nn.Sequential(nn.Conv1d(3, 8, 3, padding=2, dilation=2), nn.ReLU(), nn.MaxPool1d(2), nn.AdaptiveAvgPool1d(1), nn.Flatten()),
         [torch.randn(4, 3, 16)], 0.02)


@test("a spelled activation becomes one table, known by its values where pwlc has it")
def _():
    class Spelled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            x = self.layer(x)
            x = 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
            return self.layer(x) * torch.sigmoid(x)

    network = near(Spelled(), [torch.randn(64, 8)], 0.01)
    assert [op.function for op in network.ops if op.kind == "function"] == ["gelu_tanh", "sigmoid"]


class Turned(Block):
    """Attention whose places have angles, and whose heads share keys, as Llama and Qwen write it; its tokens' scores."""

    def __init__(self, how, width=32, heads=4, kept=2):
        super().__init__(how, width, heads)
        self.kept, self.size = kept, width // heads
        self.qkv, self.head = nn.Linear(width, (heads + 2 * kept) * self.size), nn.Linear(width, 50, bias=False)
        self.register_buffer("frequencies", 100.0 ** -(torch.arange(0, self.size, 2) / self.size))

    def turned(self, x):
        angles = torch.arange(x.shape[-2])[:, None].float() * self.frequencies
        angles = torch.cat((angles, angles), -1)
        one, other = x[..., :self.size // 2], x[..., self.size // 2:]
        return x * angles.cos() + torch.cat((-other, one), -1) * angles.sin()

    def repeated(self, x):
        batch, kept, length, size = x.shape
        return x[:, :, None].expand(batch, kept, self.heads // kept, length, size).reshape(batch, self.heads, length, size)

    def forward(self, ids):
        x = self.words(ids)
        parts = self.qkv(self.norm(x)).unflatten(-1, (self.heads + 2 * self.kept, -1)).transpose(1, 2)
        q, k, v = parts.split([self.heads, self.kept, self.kept], 1)
        q, k = self.turned(q), self.turned(k)
        if self.how == "enabled":
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            y = self.attend(q, self.repeated(k), self.repeated(v), None)
        x = x + self.out(y.transpose(1, 2).flatten(-2))
        return self.head(self.norm(x + self.down(functional.silu(self.gate(self.norm(x))) * self.up(self.norm(x)))))


def decoded(made, ids):
    """Token by token the bits of the whole."""
    growing = pwl.network.Decoding(made.decoder(), len(ids))
    equal(np.concatenate([growing.real(ids[:, k:k + 1]) for k in range(ids.shape[1])], 1), made.real(ids), "token by token")


@test("angles of places and shared heads: few operations, no key repeated, the same bits token by token")
def _():
    for how in ("fused", "enabled", "filled"):
        batches = [torch.randint(0, 50, (3, 12)), torch.randint(0, 50, (2, 7))]
        network = near(Turned(how), batches, 0.03, longest={"length": 20})
        found = kinds(network)
        assert found.count("multiply") == 3 and found.count("concat") == 2 and found.count("constant") == 2 and "scale" not in found, found
        assert [op.shape[1:3] for op in network.ops if op.kind == "matmul"] == [(2, "2*length")] * 2
        assert [op.fields["fraction"] for op in network.ops if op.kind == "constant"] == [14, 14]
    made = pwl.torch.quantize(Turned("enabled").eval(), batches, FEW, longest={"length": 20})
    ids = torch.randint(0, 50, (2, 20)).numpy()  # longer than any batch
    decoded(made, ids)
    growing = pwl.network.Decoding(made.decoder(), 2)
    refused("21 tokens, 0 of them before: the capacity of this network is 20", lambda: growing.real(np.zeros((2, 21), np.int64)))


@test("Llama and Qwen2 of transformers, small ones with drawn weights, come near their float and are decoded to the same bits")
def _():
    try:
        import transformers
    except ImportError:
        return "SKIP: without transformers"

    class Scores(nn.Module):
        def __init__(self, kind, how):
            super().__init__()
            config = getattr(transformers, kind + "Config")(
                vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                max_position_embeddings=64, attn_implementation=how)
            self.model = getattr(transformers, kind + "ForCausalLM")(config)

        def forward(self, ids):
            return self.model(input_ids=ids, use_cache=False).logits

    notes = []
    for kind, how in (("Llama", "sdpa"), ("Qwen2", "eager")):
        model, batches = Scores(kind, how).eval(), [torch.randint(0, 50, (3, 12)), torch.randint(0, 50, (2, 7))]
        made = pwl.torch.quantize(model, batches, FEW, longest={"length": 16})
        with torch.no_grad():
            exact = model(batches[0]).numpy()
        found = made.real(batches[0].numpy())
        cosine = float((found * exact).sum() / np.sqrt((found ** 2).sum() * (exact ** 2).sum()))
        assert cosine > 0.999, cosine
        decoded(made, batches[0].numpy())
        notes.append(f"{cosine:.6f}")
    return "cosine " + ", ".join(notes)


@test("a decoder of a GGUF file is that of transformers, with the same numbers")
def _():
    try:
        import transformers
    except ImportError:
        return "SKIP: without transformers"
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
             "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
             "post_attention_layernorm": "ffn_norm"}
    for kind in ("Llama", "Qwen2"):
        config = getattr(transformers, kind + "Config")(
            vocab_size=40, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=64, rms_norm_eps=1e-6, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 500.0})
        model = getattr(transformers, kind + "ForCausalLM")(config).eval()
        tensors = gguf_models.tensors_of(np.random.default_rng(3), biases=kind == "Qwen2")
        state = {"model.embed_tokens.weight": "token_embd.weight", "lm_head.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
        state.update({f"model.layers.{k}.{theirs}.{what}": f"blk.{k}.{ours}.{what}" for k in range(2) for theirs, ours in names.items()
                      for what in ("weight", "bias") if f"blk.{k}.{ours}.{what}" in tensors})
        model.load_state_dict({name: torch.from_numpy(tensors[ours][1].copy()) for name, ours in state.items()})
        for name, (of, x) in tensors.items():
            if kind == "Llama" and name.endswith(("attn_q.weight", "attn_k.weight")):  # as llama.cpp has them
                heads = 4 if "attn_q" in name else 2
                tensors[name] = of, x.reshape(heads, 2, -1, 32).swapaxes(1, 2).reshape(-1, 32)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.gguf"
            gguf_models.write(path, gguf_models.values_of(kind.lower()), tensors)
            found = pwl.network.llama.real_network(path, longest=16)
        ids = torch.randint(0, 40, (2, 16))
        with torch.no_grad():
            exact = model(input_ids=ids).logits.double().numpy()
        error = np.abs(found(ids.numpy())[0] - exact).max() / np.abs(exact).max()
        assert error < 1e-5, (kind, error)


@test("what networks do not have is named with its module and what would be right")
def _():
    class Bad(nn.Module):
        def __init__(self, what):
            super().__init__()
            self.layer, self.what = nn.Linear(8, 8), what

        def forward(self, x):
            return self.what(self.layer(x))

    class Holder(nn.Module):
        def __init__(self, what):
            super().__init__()
            self.inner = Bad(what)

        def forward(self, x):
            return self.inner(x)

    for what, message in ((lambda y: torch.sort(y)[0], "inner ("), (lambda y: torch.cumsum(y, -1), "an operation that networks do not have"),
                          (lambda y: y.softmax(0), "another axis than the last"), (lambda y: y.sum(1), "a sum that no count divides"),
                          (lambda y: y / y.abs().sum(1, keepdim=True), "inner ("),
                          (lambda y: y.masked_fill(torch.eye(8)[:4] > 0, 3.0), "masked_fill")):
        refused(message, lambda: pwl.torch.quantize(Holder(what).eval(), [torch.randn(4, 8)]))
    model = Holder(lambda y: y).eval()
    refused("in training", lambda: pwl.torch.quantize(model.train(), [torch.randn(4, 8)]))
    model.eval()
    refused("no batches", lambda: pwl.torch.quantize(model, []))
    refused("a batch of no numbers", lambda: pwl.torch.quantize(model, [torch.randn(0, 8)]))
    refused("must be finite", lambda: pwl.torch.quantize(model, [torch.full((4, 8), float("nan"))]))
    refused("a batch is a tensor", lambda: pwl.torch.quantize(model, [(3,)]))
    made = pwl.torch.quantize(model, [torch.randn(4, 8)], longest={"batch": 9})
    refused("batch is 10, must be from 1 to 9", lambda: made.real(np.zeros((10, 8))))


@test("a mask that is no padding and not causal is refused")
def _():
    class Window(Block):
        def attend(self, q, k, v, keep):
            length = q.shape[-2]
            window = torch.ones(length, length, dtype=torch.bool).tril().triu(-2)
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=window)

    refused("neither padding by an input of 0 and 1, nor causal", lambda: pwl.torch.quantize(Window("").eval(), [tokens(3, 12), tokens(2, 7)]))


@test("mappings name inputs; one batch alone keeps all sizes but the batch")
def _():
    model = Block("booleans").eval()
    batches = [dict(zip(("ids", "keep"), tokens(3, 12)))]
    made = pwl.torch.quantize(model, batches)
    assert made.sizes == {"batch": 3} and made.edges["ids"].shape == ("batch", 12)
    ids, keep = (x.numpy() for x in batches[0].values())
    equal(made.real(ids, keep), made.real(ids.astype(np.int32), keep.astype(np.uint8)), "codes of other integers")


@test("docs/networks.md shows what runs")
def _():
    names = ["encoder.py", *["decoder.py"] * (importlib.util.find_spec("transformers") is not None)]
    for name in names:
        program, shown = page_program("networks.md", name)
        printed = printed_by(program)
        assert shown and printed == shown, printed
    return ", ".join(names)


end()
