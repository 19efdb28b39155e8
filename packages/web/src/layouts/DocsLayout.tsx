import { Footer } from './Footer.tsx';
import { Guarded } from './Guarded.tsx';
import { Header } from './Header.tsx';
import classes from './layouts.module.css';

/** Pages to read: always with the footer. */
export function DocsLayout() {
  return (
    <div className={classes.frame}>
      <Header />
      <main id="content" className={classes.content} tabIndex={-1}>
        <Guarded />
      </main>
      <Footer />
    </div>
  );
}
