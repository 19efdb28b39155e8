/** What the made-up workspace has written: the code of its projects, the lines of its logs, its tables. */

export const DETECTOR_COMMITS: readonly { message: string; files: Record<string, string> }[] = [
  {
    message: 'Begin with the baseline',
    files: {
      'README.md': `# Weld inspector

Finds faulty welds in pictures of a production line.

| step | command |
|---|---|
| train | \`python train.py --config configs/base.yaml\` |
| evaluate | \`python evaluate.py --split test\` |
| serve | \`python serve.py --port 8000\` |

## Data

Pictures lie in the storage **Datasets**, below \`welds/\`. Labels are one CSV for each split.

## Results

| model | mAP@50 | ms per picture |
|---|---|---|
| baseline | 0.871 | 11.4 |
| + augmentation | 0.902 | 11.4 |
| + larger backbone | 0.931 | 18.9 |
`,
      'train.py': `"""Trains the detector of faulty welds."""

import argparse
import os
from pathlib import Path

import torch
import yaml

from inspector.data import Welds
from inspector.model import Detector


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--epochs", type=int)
    args = parser.parse_args()
    config = yaml.safe_load(args.config.read_text())
    epochs = args.epochs or config["epochs"]

    data = Path(os.environ.get("STAGI_INPUT_PATH", "data"))
    output = Path(os.environ.get("STAGI_OUTPUT_PATH", "output"))
    output.mkdir(parents=True, exist_ok=True)

    model = Detector(**config["model"]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    train = Welds(data / "train.csv", augment=config["augment"]).loader(config["batch"])

    for epoch in range(1, epochs + 1):
        loss = train_epoch(model, optimizer, train)
        print(f"epoch {epoch}/{epochs} loss {loss:.4f}", flush=True)
        if epoch % 5 == 0:
            torch.save(model.state_dict(), output / f"epoch-{epoch}.pt")


def train_epoch(model: Detector, optimizer: torch.optim.Optimizer, batches) -> float:
    model.train()
    total = 0.0
    for pictures, boxes in batches:
        loss = model.loss(pictures.cuda(), boxes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(batches)


if __name__ == "__main__":
    main()
`,
      'configs/base.yaml': `epochs: 40
batch: 32
lr: 3.0e-4
augment: false
model:
  backbone: small
  classes: [crack, pore, undercut, spatter]
`,
      'requirements.txt': 'torch==2.9.1\ntorchvision==0.24.1\npyyaml==6.0.3\n',
    },
  },
  {
    message: 'Evaluate on the test split and write a table',
    files: {
      'evaluate.py': `"""Measures precision and recall, and writes metrics.csv."""

import argparse
import csv
import os
from pathlib import Path

from inspector.data import Welds
from inspector.metrics import mean_average_precision
from inspector.model import Detector


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--split", default="test")
    args = parser.parse_args()
    data = Path(os.environ["STAGI_INPUT_PATH"])
    output = Path(os.environ["STAGI_OUTPUT_PATH"])

    model = Detector.load(data / "model.pt").cuda().eval()
    rows = mean_average_precision(model, Welds(data / f"{args.split}.csv"))
    with open(output / "metrics.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["class", "precision", "recall", "map50"])
        writer.writerows(rows)
    print(f"mAP@50 {sum(row[3] for row in rows) / len(rows):.3f}")


if __name__ == "__main__":
    main()
`,
    },
  },
  {
    message: 'Augment: flips, blur and glare',
    files: {
      'configs/base.yaml': `epochs: 40
batch: 32
lr: 3.0e-4
augment: true
model:
  backbone: small
  classes: [crack, pore, undercut, spatter]
`,
      'inspector/augment.py': `"""What a camera over a production line does to a picture."""

from torchvision.transforms import v2

AUGMENT = v2.Compose(
    [
        v2.RandomHorizontalFlip(),
        v2.RandomApply([v2.GaussianBlur(5)], p=0.2),
        v2.ColorJitter(brightness=0.4, contrast=0.2),
    ]
)
`,
    },
  },
  {
    message: 'Use the larger backbone where there is a GPU for it',
    files: {
      'configs/large.yaml': `epochs: 60
batch: 16
lr: 1.0e-4
augment: true
model:
  backbone: large
  classes: [crack, pore, undercut, spatter]
`,
    },
  },
];

export const ASSISTANT_README = `# Service assistant

Answers questions of technicians from the manuals of their machines.
`;

export const METRICS_CSV = `class,precision,recall,map50
crack,0.948,0.921,0.944
pore,0.917,0.889,0.912
undercut,0.951,0.934,0.949
spatter,0.926,0.903,0.919
`;

export const REPORT_JSON = `{
  "split": "test",
  "pictures": 1840,
  "map50": 0.931,
  "msPerPicture": 18.9
}
`;

/** Lines of a training run. */
export function trainingLines(epochs: number, of: number): string[] {
  const lines = ['Reading train.csv: 14,720 pictures, 4 classes', 'Using 2 GPUs: NVIDIA A100 80GB'];
  for (let epoch = 1; epoch <= epochs; epoch += 1) {
    for (const step of [115, 230, 345, 460]) {
      const loss = 1.9 * Math.exp(-(epoch + step / 460) / 14) + 0.21 + 0.01 * Math.sin(epoch * 7 + step);
      lines.push(
        `epoch ${epoch}/${of} step ${step}/460 loss ${loss.toFixed(4)} lr ${(1e-4 * (1 - epoch / of)).toExponential(2)}`,
      );
    }
    if (epoch % 5 === 0) lines.push(`saved /output/epoch-${epoch}.pt (412 MB)`);
  }
  return lines;
}

/** Lines of a server of a language model. */
export function servingLines(count: number): string[] {
  const lines = [
    'INFO  Loading weights: 4 of 4 shards',
    'INFO  KV cache: 41,216 tokens, 10.4x concurrency at 4,096 tokens',
    'INFO  Listening on http://0.0.0.0:8000',
  ];
  for (let n = 0; n < count; n += 1) {
    const running = 3 + ((n * 5) % 7);
    lines.push(
      n % 3 === 0
        ? `INFO  throughput: prompt ${(310 + 40 * Math.sin(n)).toFixed(1)} tokens/s, generation ${(182 + 21 * Math.cos(n / 2)).toFixed(1)} tokens/s, running ${running}, waiting ${n % 5 === 0 ? 1 : 0}`
        : `INFO  POST /v1/chat/completions 200 ${(840 + 410 * Math.abs(Math.sin(n * 1.7))).toFixed(0)} ms`,
    );
    if (n % 41 === 40)
      lines.push('WARN  POST /v1/chat/completions 400: prompt of 5,210 tokens exceeds the limit of 4,096');
  }
  return lines;
}
