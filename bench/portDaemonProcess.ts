/** The daemon of `ports.bench.ts`, a process of its own: it joins, and is then told which container it has. */
import { joinPortDaemon } from '../faults/portDaemon.ts';

const [origin, token] = process.argv.slice(2);
const daemon = await joinPortDaemon(origin!, token!);
process.on('message', ({ containerId, port }: { containerId: number; port: number }) => {
  daemon.bind(containerId, 80, port);
  process.send?.('bound');
});
process.send?.('joined');
