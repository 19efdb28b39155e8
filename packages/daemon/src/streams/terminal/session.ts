import type { Duplex } from 'node:stream';
import { encodeTerminalFrame, encodeTerminalJson, FRAME, terminalFrames } from '@stagi/contract/terminalFrames.ts';
import { TERMINAL_KEPT_BYTES, type TerminalEvent, TerminalSize } from '@stagi/contract/terminals.ts';
import { errorText, log } from '../../log.ts';
import { parseJson } from '../../parseJson.ts';
import { outputRing } from './outputRing.ts';
import type { ShellProcess } from './shellProcess.ts';

/** A shell, its last output, and whoever looks at it. */
export interface Session {
  /** Shows it to a viewer, in place of an earlier one. `offset`: how much they have seen; `isNew`: they have started it. */
  attach(stream: Duplex, view: { offset: number; isNew: boolean }): void;
  /** Since when nobody looks at it, by the clock given; null while somebody does. */
  unseenSince(): number | null;
  hasEnded(): boolean;
  resize(size: TerminalSize): Promise<void>;
  /** Ends the shell; the viewer gets the reason. */
  end(reason: string | null): Promise<void>;
}

/** `now`: in ms. `onEnd` is called when the shell has ended. */
export function startSession(shell: ShellProcess, now: () => number, onEnd: () => void): Session {
  const { terminal } = shell;
  const output = outputRing(TERMINAL_KEPT_BYTES);
  let viewer: Duplex | null = null;
  let unseenSince: number | null = now();
  /** The end of the output that some viewer was sent. */
  let answered = 0;
  let exit: Extract<TerminalEvent, { type: 'exit' }> | null = null;
  let endReason: string | null = null;

  terminal.on('data', (bytes: Buffer) => {
    output.push(bytes);
    if (viewer) answered = output.end();
    if (!viewer || viewer.write(encodeTerminalFrame(FRAME.output, bytes))) return;
    // The program waits for a viewer that reads slowly.
    terminal.pause();
    viewer.once('drain', () => terminal.resume());
  });
  terminal.once('end', () => terminal.destroy());
  terminal.on('error', (error) => log(`a terminal broke off: ${errorText(error)}`));
  terminal.once('close', () => {
    shell
      .exitCode()
      .catch((error: unknown) => {
        log(`the exit code of a shell is not known: ${errorText(error)}`);
        return null;
      })
      .then((code) => {
        exit = { type: 'exit', code, reason: endReason };
        if (viewer) showEnd(viewer);
        onEnd();
      });
  });

  const tell = (to: Duplex, event: TerminalEvent): boolean => to.write(encodeTerminalJson(FRAME.event, event));

  function showEnd(to: Duplex): void {
    if (exit) to.end(encodeTerminalJson(FRAME.event, exit));
  }

  function detach(from: Duplex): void {
    if (viewer !== from) return;
    viewer = null;
    unseenSince = now();
    terminal.resume();
  }

  async function take(kind: number, payload: Uint8Array, from: Duplex): Promise<void> {
    if (exit) return;
    switch (kind) {
      case FRAME.input:
        if (terminal.destroyed || terminal.write(payload)) return;
        from.pause();
        terminal.once('drain', () => from.resume());
        return;
      case FRAME.resize:
        return resize(TerminalSize.parse(parseJson(Buffer.from(payload).toString())));
      case FRAME.close:
        return end(null);
      default:
        throw new RangeError('unknown kind of frame');
    }
  }

  async function resize(size: TerminalSize): Promise<void> {
    try {
      await shell.resize(size);
    } catch (error) {
      // It may just have ended.
      log(`a terminal was not resized: ${errorText(error)}`);
    }
  }

  async function end(reason: string | null): Promise<void> {
    endReason ??= reason;
    await shell.kill();
    terminal.destroy();
  }

  return {
    attach(stream, { offset, isNew }) {
      viewer?.destroy();
      terminal.resume();
      viewer = stream;
      unseenSince = null;
      stream.on('close', () => detach(stream));
      stream.on('error', () => detach(stream));
      stream.on('end', () => stream.destroy());
      const frames = terminalFrames();
      const broken = (error: unknown): void => {
        log(`a terminal was closed: ${errorText(error)}`);
        stream.destroy();
      };
      stream.on('data', (bytes: Buffer) => {
        try {
          for (const { kind, payload } of frames.take(bytes)) take(kind, payload, stream).catch(broken);
        } catch (error) {
          broken(error);
        }
      });
      const seen = output.from(offset);
      const dropped = seen.offset - Math.min(offset, seen.offset);
      const resumed = { type: 'resumed', shell: shell.shell, offset: seen.offset, dropped, answered } as const;
      answered = output.end();
      tell(stream, isNew ? { type: 'opened', shell: shell.shell } : resumed);
      if (seen.bytes.length > 0 && !stream.write(encodeTerminalFrame(FRAME.output, seen.bytes))) {
        terminal.pause();
        stream.once('drain', () => terminal.resume());
      }
      showEnd(stream);
    },
    unseenSince: () => unseenSince,
    hasEnded: () => exit !== null,
    resize,
    end,
  };
}
