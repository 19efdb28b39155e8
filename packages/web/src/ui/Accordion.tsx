import { Accordion as MantineAccordion } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Accordion.module.css';

export interface AccordionItem {
  key: string;
  title: ReactNode;
  content: ReactNode;
  disabled?: boolean;
}

interface Props {
  items: readonly AccordionItem[];
  /** The keys of those open at first. */
  open?: readonly string[];
  /** The level of the titles in the outline of the page. */
  level?: 2 | 3 | 4 | 5 | 6;
}

/** Titles that open to what they name, each by itself. */
export function Accordion({ items, open = [], level = 3 }: Props) {
  return (
    <MantineAccordion
      multiple
      defaultValue={[...open]}
      order={level}
      transitionDuration={140}
      classNames={{ item: classes.item, control: classes.control, label: classes.label, content: classes.content }}
    >
      {items.map(({ key, title, content, disabled }) => (
        <MantineAccordion.Item key={key} value={key}>
          <MantineAccordion.Control disabled={disabled}>{title}</MantineAccordion.Control>
          <MantineAccordion.Panel>{content}</MantineAccordion.Panel>
        </MantineAccordion.Item>
      ))}
    </MantineAccordion>
  );
}
