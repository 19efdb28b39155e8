import { Link } from 'react-router';
import { type T, useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import classes from './Features.module.css';
import { Screen } from './Screen.tsx';
import type { ScreenName } from './screens.ts';

interface Feature {
  screen: ScreenName;
  title: string;
  text: string;
  /** What the picture shows. */
  alt: string;
  link?: { to: string; label: string };
}

/** What one can do, each beside the screen where it is done. */
export function Features() {
  const t = useT();
  return (
    <section className={classes.features} aria-labelledby="features">
      <h2 id="features" className="visually-hidden">
        {t('What you can do')}
      </h2>
      {featuresIn(t).map(({ screen, title, text, alt, link }) => (
        <article key={screen} className={classes.feature}>
          <div className={classes.words}>
            <h3>{title}</h3>
            <p>{text}</p>
            {link && <Link to={link.to}>{link.label}</Link>}
          </div>
          <Screen name={screen} alt={alt} />
        </article>
      ))}
    </section>
  );
}

function featuresIn(t: T): Feature[] {
  return [
    {
      screen: 'server',
      title: t('Rent a server, or attach your own'),
      text: t(
        'Compare offers by price per hour, or attach a machine that you already have with one command. Its CPU, memory, GPUs and network are measured while it runs.',
      ),
      alt: t('A server of the workspace with charts of its CPU, memory and GPUs'),
    },
    {
      screen: 'logs',
      title: t('Run containers and follow their logs'),
      text: t(
        'Choose an image, GPUs, ports and volumes. Lines arrive as they are printed, can be searched, and stay after the container and its server are gone.',
      ),
      alt: t('The log of a container that trains a model'),
    },
    {
      screen: 'code',
      title: t('Keep code, tasks and data together'),
      text: t(
        'Push to a git repository, run any commit as a task on your servers, once or on a schedule, and keep input and output in S3 storages.',
      ),
      alt: t('A project with the files of its repository and their last commits'),
    },
    {
      screen: 'model',
      title: t('Choose a model by memory, speed and price'),
      text: t(
        'See how many GPUs an open model needs, how fast it is there and what a million tokens cost. Then deploy it with one form.',
      ),
      alt: t('The page of a model with the GPUs that it fits and its predicted speed'),
      link: { to: paths.models(), label: t('Browse models') },
    },
  ];
}
