import { text } from '@stagi/contract/text.ts';
import type { Cut } from './pinnedProxy.ts';

const CUTS: Record<Cut, string> = {
  unreachable: text('The server of this address does not answer'),
  idle: text('The server of this address stopped sending'),
  'too large': text('The repository is larger than your plan has room for'),
};

/** What git writes, and what it means to whoever entered the address. */
const MEANINGS: [RegExp, string][] = [
  [/returned error: 30[12378]/, text('The address leads to another one: enter that one')],
  [
    /could not read (Username|Password)|Authentication failed|returned error: 40[13]/,
    text('The repository is private or does not exist: only public ones can be imported'),
  ],
  [/not found|returned error: 404/, text('There is no git repository at this address')],
  [/SSL|certificate|TLS/i, text('The server of this address has no valid certificate')],
  [
    /dumb http|not a valid|unable to update url base|bad line length|not a git repository/i,
    text('There is no git repository at this address'),
  ],
  [
    /fsck error|error in (object|tree|commit|tag)|object of unexpected type|index-pack/i,
    text('The repository holds objects that are damaged or not allowed'),
  ],
];

/** The reason of a failed fetch, for people. */
export function whyItFailed(stderr: string, cut: Cut | null): string {
  if (cut) return CUTS[cut];
  return MEANINGS.find(([pattern]) => pattern.test(stderr))?.[1] ?? text('The repository could not be fetched');
}
