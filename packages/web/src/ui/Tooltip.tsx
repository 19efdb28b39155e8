import { Tooltip as MantineTooltip, type TooltipProps } from '@mantine/core';
import { type PointerEvent, useState } from 'react';

interface Props extends Omit<TooltipProps, 'disabled'> {
  /** Stays after a press: for what a press cannot do, or what changes with it. */
  keepOnPress?: boolean;
}

/** Words about a control while it is pointed at or focused. A press or Escape takes them away. */
export function Tooltip({ keepOnPress = false, ...props }: Props) {
  const [pressed, setPressed] = useState(false);
  if (keepOnPress) return <MantineTooltip {...props} />;
  return (
    <MantineTooltip
      {...props}
      disabled={pressed}
      // A finger has no other way to read it than to press.
      onPointerDown={(event: PointerEvent) => setPressed(event.pointerType === 'mouse')}
      onMouseLeave={() => setPressed(false)}
    />
  );
}
