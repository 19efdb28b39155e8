import { createHash } from 'node:crypto';
import { TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';

export const INPUT_PREFIX = 'input/';
/** The input of every task, by path below the prefix. */
export const INPUT: Record<string, string> = { 'a.txt': 'one\ntwo\n', 'deep/b.txt': 'three\n' };
export const INPUT_SEEN = Object.values(INPUT).join('');

/**
 * What every task runs: `work.sh TENTHS BYTES EXIT`. A number that it draws at its start is both printed and put out, so
 * that the log and the output tell whether it ran once. `first` as the exit fails the first run alone.
 */
export const WORK = `set -e
read -r nonce < /proc/sys/kernel/random/uuid
out="$STAGI_OUTPUT_PATH"
echo "ran $STAGI_TASK_ID $STAGI_RUN $nonce $STAGI_COMMIT"
echo "$STAGI_TASK_ID $STAGI_RUN $nonce $STAGI_COMMIT" >> "$out/ran.txt"
mkdir "$out/seen"
cat "$STAGI_INPUT_PATH/a.txt" "$STAGI_INPUT_PATH/deep/b.txt" > "$out/seen/input.txt"
n=0
while [ $n -lt "$1" ]; do n=$((n+1)); echo "step $n"; sleep 0.1; done
head -c "$2" /dev/urandom > "$out/noise.bin"
set -- "$1" "$2" "$3" $(busybox sha256sum "$out/noise.bin")
echo "noise $4"
if [ "$3" = first ]; then [ "$STAGI_RUN" -gt 1 ] || { echo "end"; exit 7; }; set -- "$1" "$2" 0; fi
echo "end"
exit "$3"
`;

/** One task of a run, and how it should end. */
export interface Work {
  cpus: number;
  tenths: number;
  bytes: number;
  exit: number | 'first';
  retries: number;
  priority: 'low' | 'normal' | 'high';
  /** After so many milliseconds somebody cancels it; null: nobody does. */
  cancelAfterMs: number | null;
}

export const EASY: Work = {
  cpus: 0.1,
  tenths: 0,
  bytes: 100,
  exit: 0,
  retries: 0,
  priority: 'normal',
  cancelAfterMs: null,
};

/** The fields of a task but its places. */
export function fieldsOf({ cpus, tenths, bytes, exit, retries, priority }: Work) {
  return {
    inputUrlPath: INPUT_PREFIX,
    inputPath: '/data/in',
    outputPath: '/data/out',
    command: `sh work.sh ${tenths} ${bytes} ${exit}`,
    commit: 'main',
    image: TEST_IMAGE,
    cpus,
    gpuCount: 0,
    retries,
    retryOnFailure: exit === 'first',
    priority,
  };
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
