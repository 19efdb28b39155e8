import { ROUTES, type Route } from '@stagi/contract/routes.ts';

/** `g`, then one of these letters. */
export const GO_TO: readonly { letter: string; route: Route }[] = [
  { letter: 'm', route: ROUTES.marketplace },
  { letter: 'i', route: ROUTES.instances },
  { letter: 's', route: ROUTES.selfInstances },
  { letter: 'c', route: ROUTES.containers },
  { letter: 'a', route: ROUTES.account },
  { letter: 'w', route: ROUTES.team },
  { letter: 'b', route: ROUTES.balance },
  { letter: 'u', route: ROUTES.usage },
  { letter: 't', route: ROUTES.tokens },
  { letter: 'k', route: ROUTES.sshKeys },
  { letter: 'l', route: ROUTES.audit },
];

export const GO = 'g';
export const SEARCH = '/';
export const HELP = '?';

const OFF = 'singleKeysOff';

/** Somebody who dictates, or whose hand slips, can switch the keys without a modifier off. */
export const singleKeys = {
  areOn: () => localStorage.getItem(OFF) === null,
  switch(on: boolean) {
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '1');
  },
};

type Press = Pick<KeyboardEvent, 'key' | 'code'>;

/** The letter or sign of a press as this map names it, also where the layout has another script. */
export function signOf({ key, code }: Press): string {
  if (/^[\x20-\x7e]$/.test(key)) return key.toLowerCase();
  return /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? '';
}

/** How this machine writes the palette's key. */
export function paletteKeys(platform = navigator.platform): string[] {
  return /^(Mac|iP)/.test(platform) ? ['⌘', 'K'] : ['Ctrl', 'K'];
}
