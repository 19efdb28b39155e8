import { Title, type TitleProps } from '@mantine/core';
import type { HEADING_LEVELS } from './kitConstants.ts';

type Level = (typeof HEADING_LEVELS)[number];

interface Props extends Omit<TitleProps, 'order' | 'size'> {
  level: Level;
  /** Looks like another level, where the outline of the page asks for this one. */
  as?: Level;
}

export function Heading({ level, as = level, ...others }: Props) {
  return <Title {...others} order={level} size={`h${as}`} />;
}
