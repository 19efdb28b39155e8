import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { UsageSample } from '@stagi/contract/usageSample.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { errorText } from '../log.ts';
import { oneAtATime } from './oneAtATime.ts';

type GpuReading = UsageSample['gpus'][number];
const run = promisify(execFile);

const FIELDS = 'index,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw';
const TIMEOUT_MS = 10_000;
/** After the end that the timeout asks for. */
const ENDED_WITHIN_MS = 2_000;
const MEBIBYTE = 2 ** 20;

/**
 * The use of each NVIDIA GPU that the driver still lists. `problem` is set when it cannot list all: `nvidia-smi` then
 * ends with an error, and may have printed the lines of the healthy ones.
 */
export async function readGpus(program = 'nvidia-smi'): Promise<{ gpus: GpuReading[]; problem: string | null }> {
  try {
    const { stdout } = await run(program, [`--query-gpu=${FIELDS}`, '--format=csv,noheader,nounits'], {
      timeout: TIMEOUT_MS,
    });
    return { gpus: parseGpuReadings(stdout), problem: null };
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return { gpus: [], problem: null };
    const printed = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    return { gpus: parseGpuReadings(printed), problem: printed.trim() || errorText(error) };
  }
}

/** Reads the GPUs again and again; with a GPU that hangs, `nvidia-smi` does not end, not even when it is killed. */
export function gpuReader(program?: string): () => ReturnType<typeof readGpus> {
  return oneAtATime(
    {
      what: 'asking nvidia-smi',
      timeoutMs: TIMEOUT_MS + ENDED_WITHIN_MS,
      unknown: { gpus: [], problem: null },
    },
    () => readGpus(program),
  );
}

/**
 * Reads lines such as `0, 100, 32362, 143771, 52, 627.40`. What a GPU does not tell stands as words in brackets (`[N/A]`,
 * `[Not Supported]`, `[Unknown Error]`, `[GPU requires reset]`, `ERR!`) and becomes null. Other lines are messages.
 */
export function parseGpuReadings(csv: string): GpuReading[] {
  return csv
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.trim()))
    .filter((cells) => cells.length === FIELDS.split(',').length && /^\d{1,2}$/.test(cells[0] ?? ''))
    .map(([index, use, memory, total, temperature, power]) => ({
      index: Number(index),
      use: figure(use),
      memory: inBytes(figure(memory)),
      memoryTotal: inBytes(figure(total)),
      temperature: figure(temperature),
      power: figure(power),
    }))
    .filter(({ index }) => index <= 63);
}

/** With `nounits` a driver may still print the unit of a field: `0 MiB`. */
function figure(cell: string | undefined): number | null {
  const digits = /^(\d+(?:\.\d+)?)(?: (?:%|MiB|W|C))?$/.exec(cell ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

const inBytes = (mebibytes: number | null): number | null => (mebibytes === null ? null : mebibytes * MEBIBYTE);
