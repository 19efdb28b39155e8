/**
 * For events that anybody can cause as often as they like: passes one in so many milliseconds on to `write`, with the
 * number of those left out since the last.
 */
export function createRareLog(everyMs: number): (write: (likeIt: number) => void) => void {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  return (write) => {
    const now = performance.now();
    if (now - writtenAt < everyMs) {
      leftOut += 1;
      return;
    }
    write(leftOut);
    writtenAt = now;
    leftOut = 0;
  };
}
