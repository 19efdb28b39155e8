import { describe, expect, it } from 'vitest';
import { container, slugOf } from './testing/daemon.ts';
import { docker } from './testing/image.ts';
import { aShippingDaemon, upTo } from './testing/shippingDaemon.ts';

const at = aShippingDaemon(9_100_000);
const { lines, numbers, ended } = at;

describe('the log of a container', () => {
  it('continues over a stop and a start, and includes what was printed while the daemon was down', async () => {
    // The shell says on stderr that its child was terminated.
    const script = 'exec 2>/dev/null; trap "echo bye; exit 0" TERM; echo hello; while :; do sleep 0.1; done';
    await at.platform.setDesired([container(1, script)]);
    await at.platform.until('the first line', () => lines(1).length === 1);
    await at.platform.setDesired([container(1, script, { gen: 2, state: 'stopped' })]);
    await ended(1);
    expect(lines(1).map(({ text }) => text)).toEqual(['hello', 'bye']);

    await at.platform.setDesired([container(1, script, { gen: 3 })]);
    await at.platform.until('the next run', () => lines(1).length === 3);
    await at.daemon.end('SIGKILL');
    await docker.getContainer(`stagi-${slugOf(1)}`).stop();
    at.daemon.start();
    await ended(1, 2);
    expect(lines(1).map(({ text }) => text)).toEqual(['hello', 'bye', 'hello', 'bye']);
    expect(at.platform.logs.byEpoch.size).toBe(1);
  });

  it('of a short-lived container arrives even if it exited before the daemon saw it', async () => {
    await at.platform.setDesired(upTo(6).map((id) => container(id, `echo only ${id}`)));
    for (const id of upTo(6)) {
      await ended(id);
      expect(lines(id).map(({ text }) => text)).toEqual([`only ${id}`]);
    }
  });

  it('joins the parts of long lines and includes a last line without a line feed', async () => {
    await at.platform.setDesired([
      container(1, 'head -c 70000 /dev/zero | tr "\\0" x; echo; echo after; echo -n prompt'),
    ]);
    await ended(1);
    const [first, ...rest] = joined(1);
    expect(first).toBe('x'.repeat(70_000));
    expect(rest).toEqual(['after', 'prompt']);
  });

  it('is sent again from a cursor that the platform rewinds to', async () => {
    await at.platform.setDesired([
      container(1, 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo n $i; sleep 0.005; done'),
    ]);
    await at.platform.until('some lines', () => lines(1).length > 40);
    at.platform.logs.rewind(1, 20);
    await ended(1);
    expect(numbers(1, 'stdout')).toEqual(upTo(400));
  });
});

/** Lines as a reader sees them: partial records joined. */
function joined(id: number): string[] {
  const whole: string[] = [];
  let open = '';
  for (const { text, partial } of lines(id)) {
    open += text;
    if (partial) continue;
    whole.push(open);
    open = '';
  }
  return open === '' ? whole : [...whole, open];
}
