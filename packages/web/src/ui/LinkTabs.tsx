import { type ComponentType, type ReactNode, useEffect, useRef } from 'react';
import classes from './LinkTabs.module.css';

export interface LinkTab {
  label: string;
  to: string;
  /** Marks the tab only at this exact address, for the first one. */
  end?: boolean;
  icon?: ReactNode;
  count?: number;
  onClick?(): unknown;
}

/** A link that marks itself with `aria-current="page"` at its address; the app passes its router's. */
export type TabLink = ComponentType<{
  to: string;
  end?: boolean;
  className?: string;
  onClick?(): unknown;
  children?: ReactNode;
}>;

/** Tabs that are addresses: they can be opened, shared and gone back from. */
export function LinkTabs({ tabs, link: Link, label }: { tabs: readonly LinkTab[]; link: TabLink; label: string }) {
  const bar = useRef<HTMLElement>(null);
  // On narrow screens the current tab may be scrolled out of view. Measured in the next animation frame: right after
  // rendering it would force another layout.
  useEffect(() => {
    const frame = requestAnimationFrame(() => bar.current && showCurrent(bar.current));
    return () => cancelAnimationFrame(frame);
  });

  return (
    <nav ref={bar} className={classes.tabs} aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.to} to={tab.to} end={tab.end} className={classes.tab} onClick={tab.onClick}>
          {tab.icon}
          <span>{tab.label}</span>
          {tab.count !== undefined && <span className={classes.count}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}

function showCurrent(bar: HTMLElement): void {
  const current = bar.querySelector<HTMLElement>('[aria-current="page"]');
  if (!current) return;
  const { offsetLeft, offsetWidth } = current;
  const { scrollLeft, clientWidth } = bar;
  if (offsetLeft < scrollLeft || offsetLeft + offsetWidth > scrollLeft + clientWidth)
    bar.scrollLeft = offsetLeft - (clientWidth - offsetWidth) / 2;
}
