#!/usr/bin/env python3
"""The training log of a job of known truth, as Megatron-LM writes it, for compare.

    python3 make_log.py FILE [--iterations 40] [--seed 1] [--ms 100] [--noise 0.3] [--grow 0]
                        [--world 8] [--batch 16] [--forward 60] [--every 1] [--no-arguments]

Times in ms, noise in percent; the first iteration takes ten times as long. `--grow` makes each
iteration that much longer than the one before; `--forward` is the timer of the forward pass;
`--every` is the log's interval.
"""
import argparse
import random


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    for name, default in (("--iterations", 40), ("--seed", 1), ("--world", 8), ("--batch", 16),
                          ("--every", 1)):
        parser.add_argument(name, type=int, default=default)
    for name, default in (("--ms", 100.0), ("--noise", 0.3), ("--grow", 0.0), ("--forward", 60.0)):
        parser.add_argument(name, type=float, default=default)
    parser.add_argument("--no-arguments", action="store_true")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    lines = []
    if not options.no_arguments:
        lines.append("------------------------ arguments ------------------------")
        for name, value in (("global_batch_size", options.batch), ("tensor_model_parallel_size", 2),
                            ("world_size", options.world)):
            lines.append(f"  {name} {'.' * (40 - len(name))} {value}")
        lines.append("-------------------- end of arguments ---------------------")
    last = options.iterations * options.every
    for i in range(1, options.iterations + 1):
        noise = 1 + draw.gauss(0, options.noise / 100)
        ms = (options.ms + options.grow * i) * noise * (10 if i == 1 else 1)
        lines.append(f" iteration {i * options.every:8d}/{last:8d} | "
                     f"consumed samples: {i * options.batch:12d} | "
                     f"elapsed time per iteration (ms): {ms:.1f} | learning rate: 1.0E-04 | "
                     f"global batch size: {options.batch:5d} | lm loss: {8 - i / 100:.6E} |")
        lines.append("(min, max) time across ranks (ms):")
        forward = options.forward * noise
        lines.append(f"    forward-compute {'.' * 32}: ({forward - 1:.2f}, {forward:.2f})")
    with open(options.file, "w", encoding="utf-8") as log:
        log.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
