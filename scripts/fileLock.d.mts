interface Waiting {
  /** Called once, before the wait for another holder. */
  onWait?: () => void;
}

export function lockFile(file: string, options?: Waiting & { wait?: true }): Promise<() => Promise<void>>;
export function lockFile(file: string, options: Waiting & { wait: false }): Promise<(() => Promise<void>) | null>;
