import { currentLanguage } from '../../i18n/i18n.ts';
import classes from './Features.module.css';
import { SCREEN_SIZE, SCREEN_THEMES, type ScreenName, screenPath } from './screens.ts';

/**
 * A screenshot of the product in the page's language. The style sheet shows the one of the page's theme; browsers do not
 * load a lazy image that is not displayed.
 */
export function Screen({ name, alt }: { name: ScreenName; alt: string }) {
  return (
    <div className={classes.screen}>
      {SCREEN_THEMES.map((theme) => (
        <img
          key={theme}
          className={classes.picture}
          data-theme={theme}
          src={screenPath(name, currentLanguage(), theme)}
          alt={alt}
          loading="lazy"
          decoding="async"
          {...SCREEN_SIZE}
        />
      ))}
    </div>
  );
}
