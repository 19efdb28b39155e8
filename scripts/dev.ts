import { join } from 'node:path';
import { listenForStop, ROOT, run, stopSignal } from './run.ts';
import { vite } from './web.ts';

// Both come up again by themselves when a file changes; Vite passes calls on to the server.
listenForStop();
void run(process.execPath, [join(ROOT, 'scripts/daemon.ts')]);
const server = process.env.STAGI_DEV_SERVER ?? `http://localhost:${process.env.PORT ?? 4400}`;
const both = [
  run(process.execPath, [
    '--watch',
    '--watch-preserve-output',
    'packages/server/src/main.ts',
    ...process.argv.slice(2),
  ]),
  run(process.execPath, [vite()], {
    cwd: join(ROOT, 'packages/web'),
    env: { ...process.env, STAGI_DEV_SERVER: server },
  }),
];
const code = await Promise.race(both);
if (!stopSignal()) process.kill(process.pid, 'SIGTERM');
await Promise.all(both);
process.exit(code);
