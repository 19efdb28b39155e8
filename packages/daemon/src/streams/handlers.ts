import { pipeline } from 'node:stream/promises';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { type FileDeps, fileStreams } from './fileStreams.ts';
import { portStreams } from './portStreams.ts';
import type { StreamHandlers } from './streamServer.ts';
import { type TerminalDeps, terminalStreams } from './terminal/terminalStreams.ts';

interface Deps extends FileDeps {
  /** Our containers as Docker shows them. */
  actual(): readonly ActualContainer[];
  terminal: Omit<TerminalDeps, 'desired'>;
}

/** What each kind of stream leads to on this server. */
export function streamHandlers(deps: Deps): StreamHandlers {
  return {
    async echo(_, accept) {
      const stream = accept();
      await pipeline(stream, stream);
    },
    file: fileStreams(deps),
    port: portStreams(deps),
    terminal: terminalStreams({ ...deps.terminal, desired: deps.desired }),
  };
}
