import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import { hasErrorCode } from './atomicFile.ts';
import { errorText } from './log.ts';

type Gpu = MachineFacts['gpus'][number];
const run = promisify(execFile);

/** The NVIDIA GPUs of this machine; `problem` says why the installed driver cannot list them. */
export async function findGpus(): Promise<{ gpus: Gpu[]; problem: string | null }> {
  try {
    const { stdout } = await run(
      'nvidia-smi',
      ['--query-gpu=index,name,memory.total', '--format=csv,noheader,nounits'],
      { timeout: 10_000 },
    );
    return { gpus: parseGpus(stdout), problem: null };
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return { gpus: [], problem: null };
    return { gpus: [], problem: text('nvidia-smi is not responding: {{error}}', { error: errorText(error) }) };
  }
}

/** Reads `0, NVIDIA H200, 143771`, a line a GPU. Memory is in MiB, and `[N/A]` where it is shared with the CPU. */
export function parseGpus(csv: string): Gpu[] {
  return csv
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.trim()))
    .filter((cells) => cells.length >= 3 && /^\d+$/.test(cells[0] ?? ''))
    .map((cells) => ({
      index: Number(cells[0]),
      name: cells.slice(1, -1).join(', '),
      memoryMb: Number.parseInt(cells.at(-1) ?? '', 10) || 0,
    }));
}
