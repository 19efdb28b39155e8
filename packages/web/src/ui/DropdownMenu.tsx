import type { FloatingPosition } from '@mantine/core';
import { useMergedRef } from '@mantine/hooks';
import {
  cloneElement,
  lazy,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  type Ref,
  Suspense,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { MENU_HIDE_DELAY_MS } from './kitConstants.ts';
import { whenUsed } from './whenIdle.ts';

export interface MenuItem {
  label: string;
  onClick(): void;
  icon?: ReactNode;
  /** At the right: a shortcut, a count, what is chosen. */
  end?: ReactNode;
  danger?: boolean;
  /** Why it is impossible now; it is listed all the same. */
  reason?: string | null;
  testId?: string;
}

/** Something to tick; the menu stays open, as one often ticks several. */
export interface MenuCheck {
  label: string;
  checked: boolean;
  onToggle(): void;
}

/** A choice of a group; exactly one is chosen. */
export interface MenuChoice {
  label: string;
  chosen: boolean;
  onClick(): void;
}

/** Words above the items that follow, or a line between them. */
export type MenuEntry = MenuItem | MenuCheck | MenuChoice | { heading: string } | 'divider';

interface ButtonProps {
  id?: string;
  ref?: Ref<HTMLElement>;
  'aria-haspopup'?: 'menu';
  'aria-expanded'?: boolean;
  'aria-controls'?: string;
  onClick?(event: MouseEvent<HTMLElement>): void;
  onMouseEnter?(): void;
  onMouseLeave?(): void;
  onFocus?(): void;
}

interface Props {
  /** A function is called only when the menu opens. */
  items: readonly MenuEntry[] | (() => readonly MenuEntry[]);
  /** The button that opens it; it needs a name. */
  children: ReactElement<ButtonProps>;
  /** `hover` opens it on hover too, and closes it with a delay. */
  trigger?: 'click' | 'hover';
  position?: FloatingPosition;
}

const load = async () => ({ default: (await import('./MenuPopup.tsx')).MenuPopup });
const Popup = lazy(load);

/** A list of actions that opens below its button. Until then only the button is rendered. */
export function DropdownMenu({ items, children, trigger = 'click', position = 'bottom-start' }: Props) {
  const id = useId();
  const button = useRef<HTMLElement>(null);
  const [state, setState] = useState<'unused' | 'open' | 'closed'>('unused');
  const hiding = useRef<number>(undefined);
  const opened = state === 'open';
  useEffect(() => {
    whenUsed(load);
    return () => window.clearTimeout(hiding.current);
  }, []);

  // The list cannot close itself before it is loaded and has the focus.
  useEffect(() => {
    if (!opened) return;
    const popup = () => document.getElementById(`${id}-dropdown`);
    const ended = new AbortController();
    const { signal } = ended;
    const close = () => setState('closed');
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape' && !popup()?.contains(document.activeElement)) close();
    };
    const onPress = ({ target }: PointerEvent) => {
      if (!popup() && !button.current?.contains(target as Node)) close();
    };
    document.addEventListener('keydown', onKey, { capture: true, signal });
    document.addEventListener('pointerdown', onPress, { capture: true, signal });
    return () => ended.abort();
  }, [opened, id]);

  function show(open: boolean): void {
    window.clearTimeout(hiding.current);
    setState(open ? 'open' : 'closed');
  }

  const hover = trigger === 'hover' && {
    onMouseEnter: () => show(true),
    onMouseLeave: () => {
      window.clearTimeout(hiding.current);
      hiding.current = window.setTimeout(() => setState('closed'), MENU_HIDE_DELAY_MS);
    },
  };
  return (
    <>
      {cloneElement(children, {
        ref: useMergedRef(button, children.props.ref),
        id,
        'aria-haspopup': 'menu',
        'aria-expanded': opened,
        'aria-controls': opened ? `${id}-dropdown` : undefined,
        onClick: (event) => {
          children.props.onClick?.(event);
          show(trigger === 'hover' || !opened);
        },
        ...hover,
      })}
      {state !== 'unused' && (
        <Suspense>
          <Popup
            id={id}
            button={button}
            opened={opened}
            onClose={() => show(false)}
            position={position}
            items={items}
            {...hover}
          />
        </Suspense>
      )}
    </>
  );
}
