/** The index of the time nearest to a moment; the times ascend. */
export function nearestPoint(times: readonly number[], moment: number): number {
  const after = times.findIndex((time) => time >= moment);
  if (after === -1) return times.length - 1;
  const [before, next] = [times[after - 1], times[after]];
  return before === undefined || next === undefined || next - moment < moment - before ? after : after - 1;
}

/** The index of the point that a key leads to; null: the key is of no meaning here. -1: none is told yet. */
export function pointAfterKey(key: string, index: number, count: number): number | null {
  const from = index === -1 ? count - 1 : index;
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return Math.max(0, from - 1);
    case 'ArrowRight':
    case 'ArrowUp':
      return Math.min(count - 1, from + 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
