import { it } from 'vitest';
import { isFirst } from './once.ts';

it('ends its process', () => {
  if (isFirst('worker dies')) process.kill(process.pid, 'SIGKILL');
});
