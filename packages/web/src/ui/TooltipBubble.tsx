import { type FloatingPosition, Tooltip } from '@mantine/core';
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react';

interface Props {
  target: RefObject<HTMLElement | null>;
  opened: boolean;
  label: ReactNode;
  position: FloatingPosition;
}

/** The words themselves, beside `target`, which they describe while they are there. */
export function TooltipBubble({ target, opened, label, position }: Props) {
  return (
    <Tooltip
      target={target}
      opened={opened}
      label={<Words of={target}>{label}</Words>}
      position={position}
      middlewares={isBeside(position) ? AMPLE : undefined}
    />
  );
}

/** On a narrow screen there may be no room on either side: then above or below, or the words would be cut off. */
const AMPLE = { flip: { fallbackPlacements: ['left', 'right', 'top', 'bottom'] satisfies FloatingPosition[] } };

const isBeside = (position: FloatingPosition): boolean => /^(left|right)/.test(position);

function Words({ of, children }: { of: Props['target']; children: ReactNode }) {
  const words = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const id = words.current?.closest('[role="tooltip"]')?.id;
    const element = of.current;
    if (!id || !element) return;
    const others = element.getAttribute('aria-describedby');
    element.setAttribute('aria-describedby', others ? `${others} ${id}` : id);
    return () => {
      if (others) element.setAttribute('aria-describedby', others);
      else element.removeAttribute('aria-describedby');
    };
  }, [of]);
  return <span ref={words}>{children}</span>;
}
