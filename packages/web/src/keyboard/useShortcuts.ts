import type { Permission } from '@stagi/contract/permissions.ts';
import { useEffect, useRef } from 'react';
import { useNavigate } from 'react-router';
import { canOpen } from '../access/permissionChecks.ts';
import { useUserState } from '../api/user.ts';
import { overlays } from './overlays.ts';
import { GO_KEY, GO_TO_PAGES, HELP_KEY, pressedKey, SEARCH, singleKeyShortcuts } from './shortcuts.ts';

/** The keys of the whole app. Those without a modifier are off while one types, in menus and under a dialog. */
export function useShortcuts(): void {
  const navigate = useNavigate();
  const state = useUserState();
  const permissions = useRef<readonly Permission[] | null>(null);
  permissions.current = state.is === 'signed-in' ? state.user.permissions : null;

  useEffect(() => {
    let going = false;

    function press(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.isComposing || isModifier(event.key)) return;
      const wasGoing = going;
      going = false;
      const sign = pressedKey(event);
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && sign === 'k') {
        event.preventDefault();
        if (!isUnderDialog() || isPalette(event.target)) overlays.toggle('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (!singleKeyShortcuts.areOn() || wantsLetters(event.target) || isUnderDialog()) return;
      if (wasGoing) go(event, sign);
      else if (sign === GO_KEY && permissions.current) going = true;
      else if (sign === SEARCH) search(event);
      else if (sign === HELP_KEY) {
        event.preventDefault();
        overlays.open('keys');
      }
    }

    function go(event: KeyboardEvent, letter: string): void {
      const target = GO_TO_PAGES.find((place) => place.letter === letter);
      if (!target || !canOpen(target.route, permissions.current ?? [])) return;
      event.preventDefault();
      void navigate(target.route.path);
    }

    const forget = () => {
      going = false;
    };
    window.addEventListener('keydown', press);
    window.addEventListener('pointerdown', forget);
    window.addEventListener('blur', forget);
    return () => {
      window.removeEventListener('keydown', press);
      window.removeEventListener('pointerdown', forget);
      window.removeEventListener('blur', forget);
    };
  }, [navigate]);
}

/** The search of the page; where it has none, that of the app. */
function search(event: KeyboardEvent): void {
  event.preventDefault();
  const box = [...document.querySelectorAll<HTMLInputElement>('main input[type="search"]:not(:disabled)')].find(
    (input) => input.checkVisibility(),
  );
  if (!box) overlays.open('palette');
  else {
    box.focus();
    box.select();
  }
}

const isModifier = (key: string) => ['Shift', 'Control', 'Alt', 'Meta', 'AltGraph', 'CapsLock'].includes(key);

const isUnderDialog = () => document.querySelector('[aria-modal="true"]') !== null;

const isPalette = (target: EventTarget | null) =>
  target instanceof Element && target.closest('[data-palette]') !== null;

/** Fields take the letter themselves; menus and lists jump to the entry that begins with it. */
function wantsLetters(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest('[role="menu"], [role="listbox"], [role="combobox"]')) return true;
  if (target instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button', 'range', 'file'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
