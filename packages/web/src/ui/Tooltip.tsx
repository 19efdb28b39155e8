import type { FloatingPosition } from '@mantine/core';
import { useMergedRef } from '@mantine/hooks';
import { cloneElement, type ReactElement, type ReactNode, type Ref, Suspense, useRef } from 'react';
import { lazyComponent } from '../lazyChunks.ts';
import { TOOLTIP_DELAY_MS } from './kitConstants.ts';
import { useHoverOrFocus } from './useHoverOrFocus.ts';

interface Props {
  label: ReactNode;
  /** An element that takes a ref. */
  children: ReactElement<{ ref?: Ref<HTMLElement> }>;
  position?: FloatingPosition;
  disabled?: boolean;
  /** Milliseconds that the pointer must stay; the keyboard never waits. */
  openDelay?: number;
  /** Stays open after a press: for impossible actions, and texts that change with the press. */
  keepOnPress?: boolean;
  ref?: Ref<HTMLElement>;
}

/** The code that renders it is loaded at the first hover or focus: few first pages need it. */
const Bubble = lazyComponent(async () => (await import('./TooltipBubble.tsx')).TooltipBubble);

/** Words about a control while it is pointed at or focused. A press or Escape takes them away. */
export function Tooltip(props: Props) {
  const {
    label,
    children,
    position = 'top',
    disabled = false,
    openDelay = TOOLTIP_DELAY_MS,
    keepOnPress = false,
    ref,
    ...others
  } = props;
  const target = useRef<HTMLElement>(null);
  const { used, pointedAt } = useHoverOrFocus(target, { openDelay, keepOnPress });
  return (
    <>
      {cloneElement(children, { ...others, ref: useMergedRef(target, children.props.ref, ref) })}
      {used && (
        <Suspense>
          <Bubble target={target} opened={pointedAt && !disabled} label={label} position={position} />
        </Suspense>
      )}
    </>
  );
}
