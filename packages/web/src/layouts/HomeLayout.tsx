import { Footer } from './Footer.tsx';
import { Guarded } from './Guarded.tsx';
import { Header } from './Header.tsx';
import classes from './layouts.module.css';
import { Notices } from './Notices.tsx';
import { useRoute } from './useRoute.ts';

/** The start page: as wide as the window. */
export function HomeLayout() {
  const { footer } = useRoute();
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.wide} tabIndex={-1}>
        <Guarded />
      </main>
      {footer && <Footer />}
    </div>
  );
}
