import { type KeyboardEvent, type ReactNode, useId } from 'react';
import { useChosenTab } from './ChosenTab.tsx';
import { useHydrated } from './useHydrated.ts';
import classes from './WrittenText.module.css';

/**
 * Panels of which one is shown, as the ARIA practices describe tabs: arrow keys move. Without code all panels are
 * shown, each below its name.
 */
export function WrittenTabs({ panels }: { panels: [name: string, content: ReactNode][] }) {
  const names = panels.map(([name]) => name);
  const [shown, choose] = useChosenTab(names);
  const isHydrated = useHydrated();
  const id = useId();
  if (!isHydrated)
    return panels.map(([name, content]) => (
      <section key={name}>
        <p className={classes.title}>{name}</p>
        {content}
      </section>
    ));
  return (
    <div>
      <div role="tablist" className={classes.tabList} onKeyDown={move}>
        {names.map((name, at) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}${at}`}
            aria-selected={name === shown}
            tabIndex={name === shown ? 0 : -1}
            onClick={() => choose(name)}
          >
            {name}
          </button>
        ))}
      </div>
      {panels.map(([name, content], at) => (
        <div key={name} role="tabpanel" aria-labelledby={`${id}${at}`} hidden={name !== shown}>
          {content}
        </div>
      ))}
    </div>
  );

  function move(event: KeyboardEvent<HTMLElement>): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (names.indexOf(shown) + step + names.length) % names.length;
    choose(names[next] ?? '');
    event.currentTarget.querySelectorAll('button')[next]?.focus();
  }
}
