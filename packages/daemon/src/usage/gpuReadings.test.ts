import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseGpuReadings, readGpus } from './gpuReadings.ts';

const MIB = 2 ** 20;
const unknown = { use: null, memory: null, memoryTotal: null, temperature: null, power: null };

interface Output {
  /** The driver that printed it, where its source tells. */
  driver: string;
  printed: string;
  exitCode?: number;
  gpus: ReturnType<typeof parseGpuReadings>;
}

/**
 * What real machines printed. The figures of the first six are from the captures of utkuozdemir/nvidia_gpu_exporter
 * (internal/captures), reduced to our fields. The others take the words that stand for a figure, or the message, from the
 * source they name; figures that it does not show are filled in.
 */
const OUTPUTS: Record<string, Output> = {
  'a healthy H200': {
    driver: '590.48.01',
    printed: '0, 100, 32362, 143771, 52, 627.40\n',
    gpus: [{ index: 0, use: 100, memory: 32362 * MIB, memoryTotal: 143771 * MIB, temperature: 52, power: 627.4 }],
  },
  'a healthy L40S': {
    driver: '595.80',
    printed: '0, 9, 1235, 46068, 54, 110.23\n',
    gpus: [{ index: 0, use: 9, memory: 1235 * MIB, memoryTotal: 46068 * MIB, temperature: 54, power: 110.23 }],
  },
  'an idle RTX 4080 SUPER': {
    driver: '595.71.05',
    printed: '0, 0, 596, 16376, 43, 26.20\n',
    gpus: [{ index: 0, use: 0, memory: 596 * MIB, memoryTotal: 16376 * MIB, temperature: 43, power: 26.2 }],
  },
  'an RTX 2080 SUPER': {
    driver: '610.57.04',
    printed: '0, 8, 815, 8192, 38, 98.14\n',
    gpus: [{ index: 0, use: 8, memory: 815 * MIB, memoryTotal: 8192 * MIB, temperature: 38, power: 98.14 }],
  },
  'an H100 with MIG': {
    driver: '590.48.01',
    printed: '0, [N/A], 11125, 81559, 53, 433.78\n',
    gpus: [{ index: 0, use: null, memory: 11125 * MIB, memoryTotal: 81559 * MIB, temperature: 53, power: 433.78 }],
  },
  'an H200 with MIG': {
    driver: '590.48.01',
    printed: '0, [N/A], 16959, 143771, 36, 295.01\n',
    gpus: [{ index: 0, use: null, memory: 16959 * MIB, memoryTotal: 143771 * MIB, temperature: 36, power: 295.01 }],
  },
  // mostlygeek/llama-swap issue 782: its memory is shared with the CPU.
  'a GB10': {
    driver: 'not told',
    printed: '0, 0, [N/A], [N/A], 45, 11.02\n',
    gpus: [{ ...unknown, index: 0, use: 0, temperature: 45, power: 11.02 }],
  },
  // enkore/i3pystatus pull request 776: an earlier driver's words for the same.
  'a GeForce of an earlier driver': {
    driver: 'before 440',
    printed: '0, 0, 0, 2004, 44, [Not Supported]\n',
    gpus: [{ index: 0, use: 0, memory: 0, memoryTotal: 2004 * MIB, temperature: 44, power: null }],
  },
  // Quake4/MindMiner issue 627.
  'an RTX 2080 Ti that answers for some fields only': {
    driver: '442.19',
    printed: '0, 100, 6017, 11264, 56, [Unknown Error]\n',
    gpus: [{ index: 0, use: 100, memory: 6017 * MIB, memoryTotal: 11264 * MIB, temperature: 56, power: null }],
  },
  // After an uncorrectable ECC error (Xid 48, 94 or 95); `0 MiB` is printed so in a public report of an H100.
  'a GPU after an ECC error beside a healthy one': {
    driver: 'not told',
    printed:
      '0, [GPU requires reset], 0 MiB, 81559 MiB, [GPU requires reset], [GPU requires reset]\n1, 100, 70012, 81559, 61, 640.10\n',
    gpus: [
      { ...unknown, index: 0, memory: 0, memoryTotal: 81559 * MIB },
      { index: 1, use: 100, memory: 70012 * MIB, memoryTotal: 81559 * MIB, temperature: 61, power: 640.1 },
    ],
  },
  'a GPU whose sensors fail': {
    driver: 'not told',
    printed: '0, ERR!, 58222, 97887, ERR!, ERR!\n',
    gpus: [{ ...unknown, index: 0, memory: 58222 * MIB, memoryTotal: 97887 * MIB }],
  },
  // NVIDIA/nvidia-docker issue 1553 and others (Xid 79): it has fallen off the bus.
  'a lost GPU': {
    driver: '460 to 570',
    printed: 'Unable to determine the device handle for GPU 0000:09:00.0: Unknown Error\n',
    exitCode: 15,
    gpus: [],
  },
  // The driver of a public report (610.57.04) prints the message first and goes on with the other GPUs.
  'a lost GPU beside a healthy one': {
    driver: '610.57.04',
    printed: 'Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error\n0, 0, 2, 97887, 31, 14.02\n',
    exitCode: 15,
    gpus: [{ index: 0, use: 0, memory: 2 * MIB, memoryTotal: 97887 * MIB, temperature: 31, power: 14.02 }],
  },
  // NVIDIA's manual of nvidia-smi, exit code 9.
  'no driver': {
    driver: 'none',
    printed:
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n",
    exitCode: 9,
    gpus: [],
  },
  // anderskm/gputil issue 55: after an upgrade without a restart.
  'a driver that does not fit its library': {
    driver: '535.161',
    printed: 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n',
    exitCode: 18,
    gpus: [],
  },
  'no GPU': { driver: 'any', printed: 'No devices were found\n', exitCode: 6, gpus: [] },
};

const folder = await mkdtemp(join(tmpdir(), 'stagid-smi-'));
afterAll(() => rm(folder, { recursive: true }));

async function program(printed: string, exitCode: number): Promise<string> {
  const path = join(folder, `smi-${Math.random()}`);
  await writeFile(path, `#!/bin/sh\ncat <<'EOF'\n${printed}EOF\nexit ${exitCode}\n`);
  await chmod(path, 0o755);
  return path;
}

describe('the use of GPUs', () => {
  it.each(Object.entries(OUTPUTS))('is read of %s', async (_name, { printed, exitCode = 0, gpus }) => {
    expect(parseGpuReadings(printed)).toEqual(gpus);
    const read = await readGpus(await program(printed, exitCode));
    expect(read.gpus).toEqual(gpus);
    expect(read.problem === null).toBe(exitCode === 0);
    if (exitCode !== 0) expect(read.problem).toBe(printed.trim());
  });

  it('is nothing on a machine without nvidia-smi', async () => {
    expect(await readGpus(join(folder, 'absent'))).toEqual({ gpus: [], problem: null });
    console.log(`outputs of nvidia-smi: n = ${Object.keys(OUTPUTS).length}`);
  });

  it('ignores lines that are no readings', () => {
    expect(parseGpuReadings('0, 1, 2\n64, 1, 1, 1, 1, 1\n-1, 1, 1, 1, 1, 1\n0, -5, 1e9, x, , inf\n')).toEqual([
      { ...unknown, index: 0 },
    ]);
  });
});
