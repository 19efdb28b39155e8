import { PLAIN_TAGS, type WrittenElement, type WrittenNode } from '@stagi/contract/writtenTags.ts';
import { type ReactNode, useEffect } from 'react';
import { useLocation } from 'react-router';
import colours from '../../ui/tokenColours.module.css';
import { ChosenTab } from './ChosenTab.tsx';
import { WrittenCode } from './WrittenCode.tsx';
import { WrittenLink } from './WrittenLink.tsx';
import { WrittenTabs } from './WrittenTabs.tsx';
import classes from './WrittenText.module.css';

/** A text of `content/`. */
export function WrittenText({ text }: { text: readonly WrittenNode[] }) {
  const { hash } = useLocation();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a place in the text exists once the text does
  useEffect(() => {
    if (hash) document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView();
  }, [text, hash]);

  return (
    <div className={`${classes.text} ${colours.code}`}>
      <ChosenTab>{text.map(draw)}</ChosenTab>
    </div>
  );
}

/** What is an element of HTML with a class of its own name. */
const STYLED = { title: 'p', call: 'div', method: 'span', callers: 'span' } as const;

function draw(node: WrittenNode, key: number): ReactNode {
  if (typeof node === 'string') return node;
  const { tag, id, href = '', label = '', kind, language, isUnset, children = [] } = node;
  const inside = children.map(draw);
  switch (tag) {
    case 'a':
      return (
        <WrittenLink key={key} to={href}>
          {inside}
        </WrittenLink>
      );
    case 'h2':
    case 'h3': {
      const Heading = tag;
      return (
        <Heading key={key} id={id}>
          <a className={classes.anchor} href={`#${id}`}>
            {inside}
          </a>
        </Heading>
      );
    }
    case 'table':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is scrolled with the keyboard
        <section key={key} className={classes.table} tabIndex={0} aria-label={label}>
          <table>{inside}</table>
        </section>
      );
    case 'pre':
      return (
        <WrittenCode key={key} code={textOf(node)} language={language}>
          {inside}
        </WrittenCode>
      );
    case 'token':
      return (
        <span key={key} data-kind={kind}>
          {inside}
        </span>
      );
    case 'callout':
      return (
        <aside key={key} data-kind={kind} role="note">
          {inside}
        </aside>
      );
    case 'tabs':
      return (
        <WrittenTabs key={key} panels={children.filter(isElement).map((tab) => [tab.label ?? '', contentOf(tab)])} />
      );
    case 'title':
    case 'call':
    case 'method':
    case 'callers': {
      const Styled = STYLED[tag];
      return (
        <Styled key={key} className={classes[tag]}>
          {inside}
        </Styled>
      );
    }
    case 'place':
      return (
        <span key={key} data-place={kind} data-unset={isUnset ? '' : undefined}>
          {inside}
        </span>
      );
    default: {
      // Whatever else an answer may name is not drawn.
      const Plain = PLAIN_TAGS.find((one) => one === tag);
      return Plain && (children.length > 0 ? <Plain key={key}>{inside}</Plain> : <Plain key={key} />);
    }
  }
}

const isElement = (node: WrittenNode): node is WrittenElement => typeof node !== 'string';
const contentOf = ({ children = [] }: WrittenElement): ReactNode => children.map(draw);
const textOf = (node: WrittenNode): string => (isElement(node) ? (node.children ?? []).map(textOf).join('') : node);
