import { isDeepStrictEqual } from 'node:util';
import type { PortAccess } from '../containerAccess/accessibleContainer.ts';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';

/** An access is looked up again after this time, and at once when it may have ended. */
const FRESH_MS = 1_000;
const RECHECK_MS = 30_000;
const SPREAD_MS = 500;

/** Looks up what somebody may reach now; `null` or a PublicError if nothing. */
export type Look = () => Promise<PortAccess | null>;

/** What one pass, one token, or everybody may reach, with the requests that go on because of it. */
export interface Grant {
  access: PortAccess;
  /** `cut` is called once the access has ended, until the returned function is called. */
  hold(cut: () => void): () => void;
}

export interface Grants {
  /** The access of this credential at this port. Throws what `look` throws. */
  find(key: string, look: Look): Promise<Grant | null>;
  stop(): void;
}

interface Entry extends Grant {
  look: Look;
  checkedAt: number;
  /** When a request asked for it last. */
  usedAt: number;
  isOver: boolean;
  checking: Promise<PortAccess | null> | null;
  live: Set<() => void>;
}

/**
 * Remembers for a second what was authorized, and ends what is open when it no longer is. As for streams of the browser,
 * a look that fails is repeated: while the database is away nothing can be revoked.
 */
export function createGrants({ bus, log }: Pick<Context, 'bus' | 'log'>): Grants {
  const entries = new Map<string, Entry>();
  const retries = new Set<NodeJS.Timeout>();
  /** Grows with everything that may end an access: a look during which it grew is repeated. */
  let endings = 0;
  const recheck = (applies: (access: PortAccess) => boolean): void => {
    endings += 1;
    for (const [key, entry] of entries) if (applies(entry.access)) recheckEntry(key, entry);
  };
  const stops = [
    bus.subscribe('access', ({ userId }) => recheck((access) => access.userId === userId)),
    bus.subscribe('changed', ({ entity, id }) => {
      if (entity === 'docker-container') recheck(({ containerId }) => containerId === id);
    }),
    bus.subscribe('missed', () => recheckSoon(() => recheck(() => true))),
  ];
  const interval = setInterval(() => {
    const unused = performance.now() - RECHECK_MS;
    for (const [key, { live, usedAt }] of entries) if (live.size === 0 && usedAt < unused) entries.delete(key);
    recheck(() => true);
  }, RECHECK_MS);

  /** For one that nothing goes on with the next request asks. */
  function recheckEntry(key: string, entry: Entry): void {
    if (entry.isOver) return;
    entry.checkedAt = Number.NEGATIVE_INFINITY;
    if (entry.live.size === 0) return;
    check(key, entry).catch((error: unknown) => {
      if (error instanceof PublicError) return;
      log.warn({ err: error }, 'the access to a port cannot be looked at; trying again');
      recheckSoon(() => recheckEntry(key, entry));
    });
  }

  function recheckSoon(again: () => void): void {
    const timer = setTimeout(() => {
      retries.delete(timer);
      again();
    }, Math.random() * SPREAD_MS);
    retries.add(timer);
  }

  async function check(key: string, entry: Entry): Promise<PortAccess | null> {
    const before = entry.checking;
    const endingsBefore = endings;
    const checking = (before ? before.then(entry.look, entry.look) : entry.look()).then(
      (access) => {
        if (endings !== endingsBefore) recheckSoon(() => recheckEntry(key, entry));
        return settle(key, entry, access);
      },
      (error: unknown) => {
        if (error instanceof PublicError) settle(key, entry, null);
        throw error;
      },
    );
    entry.checking = checking;
    try {
      return await checking;
    } finally {
      if (entry.checking === checking) entry.checking = null;
    }
  }

  function settle(key: string, entry: Entry, access: PortAccess | null): PortAccess | null {
    const isSame = access !== null && isDeepStrictEqual(targetOf(access), targetOf(entry.access));
    if (access) entry.access = access;
    entry.checkedAt = performance.now();
    if (isSame) return access;
    entry.isOver = true;
    if (entries.get(key) === entry) entries.delete(key);
    for (const cut of entry.live) cut();
    return access;
  }

  return {
    async find(key, look) {
      const known = entries.get(key);
      if (known) known.usedAt = performance.now();
      if (known && performance.now() - known.checkedAt < FRESH_MS) return known;
      if (known) {
        // Requests that come meanwhile wait for the same look.
        const access = await (known.checking ?? check(key, known));
        if (entries.get(key) === known) return access && known;
      }
      const endingsBefore = endings;
      const access = await look();
      if (!access) return null;
      const raced = entries.get(key);
      if (raced) return raced;
      const live = new Set<() => void>();
      const entry: Entry = {
        access,
        look,
        checkedAt: performance.now(),
        usedAt: performance.now(),
        isOver: false,
        checking: null,
        live,
        hold(cut) {
          live.add(cut);
          // It ended, or may have, since it was found.
          if (entry.isOver) queueMicrotask(cut);
          else if (entry.checkedAt === Number.NEGATIVE_INFINITY) recheckEntry(key, entry);
          return () => live.delete(cut);
        },
      };
      entries.set(key, entry);
      if (endings !== endingsBefore) recheckSoon(() => recheckEntry(key, entry));
      return entry;
    },
    stop() {
      clearInterval(interval);
      for (const timer of retries) clearTimeout(timer);
      for (const end of stops) end();
    },
  };
}

/** The status may change while a request goes on. */
const targetOf = ({ containerId, instanceId, port }: PortAccess) => ({ containerId, instanceId, port });
