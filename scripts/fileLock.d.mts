interface Waiting {
  /** Called once, before the wait for another holder. */
  onWait?: () => void;
  /** Ends the wait with an error. */
  signal?: AbortSignal;
}

export function lockFile(file: string, options?: Waiting & { wait?: true }): Promise<() => Promise<void>>;
export function lockFile(file: string, options: Waiting & { wait: false }): Promise<(() => Promise<void>) | null>;
