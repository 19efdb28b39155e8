import '../../i18n/englishPlurals.ts';
import { lazy, Suspense } from 'react';
import { NavLink, useParams } from 'react-router';
import { paths } from '../../paths.ts';
import { ThemeChoice } from '../../preferences/PreferenceControls.tsx';
import classes from './Kit.module.css';
import { SECTIONS } from './sections.ts';

const PAGES = SECTIONS.map(({ name, load }) => ({ name, Section: lazy(load) }));

/** The gallery: each control of the kit in each of its states. For development and tests; its words are not translated. */
export function KitPage() {
  const { tab: section } = useParams();
  const shown = PAGES.find(({ name }) => name === section) ?? PAGES[0];
  return (
    <div className={classes.page}>
      <nav className={classes.sections} aria-label="Sections of the kit">
        {PAGES.map(({ name }) => (
          <NavLink key={name} to={paths.kit(name)} className={classes.section ?? ''}>
            {name}
          </NavLink>
        ))}
        <ThemeChoice />
      </nav>
      <div className={classes.body} data-testid={`kit-${shown?.name}`}>
        {shown && (
          <>
            <h1 className={classes.title}>{shown.name}</h1>
            <Suspense>
              <shown.Section />
            </Suspense>
          </>
        )}
      </div>
    </div>
  );
}
