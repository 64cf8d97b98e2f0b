#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Train the demo's small convolutional network on scikit-learn's handwritten digits.

Usage: digits_train.py [OUTDIR]      (needs torch, onnx, onnxscript, scikit-learn, numpy)

Writes OUTDIR/digits.onnx (input "image": float32, N x 1 x 8 x 8, in 0..1; output "scores": N x 10) and
OUTDIR/digits_heldout.npz ("image": uint8, N x 8 x 8, in 0..16; "label": uint8), the quarter of the images that training
never saw. Both files are kept in the tree; the demo needs neither PyTorch nor scikit-learn.
"""
import os
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

EPOCHS = 60
BATCH = 64


def network():
    """Three convolutions, two poolings, one linear layer: 26,000 parameters."""

    def block(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*block(1, 16), *block(16, 32), nn.MaxPool2d(2), *block(32, 64), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Dropout(0.3), nn.Linear(256, 10))


def shifted(images):
    """Each image moved by up to one pixel, so that the network does not learn positions by heart."""
    dy, dx = np.random.randint(-1, 2, size=2)
    return torch.roll(images, (int(dy), int(dx)), dims=(2, 3))


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    torch.manual_seed(1)
    np.random.seed(1)
    digits = load_digits()
    train_x, held_x, train_y, held_y = train_test_split(
        digits.images.astype(np.uint8), digits.target.astype(np.uint8), test_size=0.25, random_state=1,
        stratify=digits.target)

    images = torch.from_numpy(train_x.astype(np.float32) / 16).unsqueeze(1)
    labels = torch.from_numpy(train_y.astype(np.int64))
    held_images = torch.from_numpy(held_x.astype(np.float32) / 16).unsqueeze(1)
    held_labels = torch.from_numpy(held_y.astype(np.int64))

    model = network()
    steps = EPOCHS * ((len(images) + BATCH - 1) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    loss_function = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(EPOCHS):
        model.train()
        order = torch.randperm(len(images))
        for start in range(0, len(images), BATCH):
            chosen = order[start:start + BATCH]
            optimizer.zero_grad()
            loss = loss_function(model(shifted(images[chosen])), labels[chosen])
            loss.backward()
            optimizer.step()
            schedule.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}, held-out accuracy "
                  f"{accuracy(model, held_images, held_labels):.4f}")

    model.eval()
    path = os.path.join(out, "digits.onnx")
    torch.onnx.export(model, (held_images[:2],), path, input_names=["image"], output_names=["scores"], dynamo=True,
                      opset_version=18, external_data=False, verbose=False,
                      dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=65536)},))
    np.savez_compressed(os.path.join(out, "digits_heldout.npz"), image=held_x, label=held_y)
    print(f"{path}: {os.path.getsize(path)} bytes; {len(held_y)} held-out images")


if __name__ == "__main__":
    main()
