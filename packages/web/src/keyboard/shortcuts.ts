import { ROUTES, type Route } from '@stagi/contract/routes.ts';

/** `g`, then one of these letters. */
export const GO_TO_PAGES: readonly { letter: string; route: Route }[] = [
  { letter: 'm', route: ROUTES.marketplace },
  { letter: 'i', route: ROUTES.instances },
  { letter: 's', route: ROUTES.selfInstances },
  { letter: 'o', route: ROUTES.storages },
  { letter: 'c', route: ROUTES.containers },
  { letter: 'p', route: ROUTES.projects },
  { letter: 'a', route: ROUTES.account },
  { letter: 'w', route: ROUTES.team },
  { letter: 'b', route: ROUTES.balance },
  { letter: 'u', route: ROUTES.usage },
  { letter: 't', route: ROUTES.tokens },
  { letter: 'k', route: ROUTES.sshKeys },
  { letter: 'l', route: ROUTES.audit },
];

export const GO_KEY = 'g';
export const SEARCH = '/';
export const HELP_KEY = '?';

const OFF = 'singleKeysOff';

/** Shortcuts without a modifier can be switched off: dictation and slips trigger them. */
export const singleKeyShortcuts = {
  areOn: () => localStorage.getItem(OFF) === null,
  switch(on: boolean) {
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '1');
  },
};

type Press = Pick<KeyboardEvent, 'key' | 'code'>;

/** The pressed key as the shortcuts name it, also on keyboard layouts of another script. */
export function pressedKey({ key, code }: Press): string {
  if (/^[\x20-\x7e]$/.test(key)) return key.toLowerCase();
  return /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? '';
}

/** How this machine writes the palette's key. */
export function paletteKeys(platform = navigator.platform): string[] {
  return /^(Mac|iP)/.test(platform) ? ['⌘', 'K'] : ['Ctrl', 'K'];
}
