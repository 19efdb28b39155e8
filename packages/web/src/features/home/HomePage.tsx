import { Features } from './Features.tsx';
import { Hero } from './Hero.tsx';
import classes from './HomePage.module.css';
import { Plans } from './Plans.tsx';

/** What visitors see first. What is read from the server has a place of its own height, so that nothing moves. */
export function HomePage() {
  return (
    <div className={classes.page}>
      <Hero />
      <Features />
      <Plans />
    </div>
  );
}
