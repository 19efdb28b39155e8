import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import classes from './HomePage.module.css';

export function HomePage() {
  const t = useT();
  const things = [
    {
      title: t('Rent a server, or bring yours'),
      text: t('Pick a machine by its price per hour, or join one you already have with a single command.'),
    },
    {
      title: t('Run containers on it'),
      text: t('Choose an image, give it CPUs, memory, ports and volumes. Start, stop and delete from one place.'),
    },
    {
      title: t('Watch the logs'),
      text: t('Log lines arrive as they are printed and stay after the container and its server are gone.'),
    },
  ];
  return (
    <div className={classes.page}>
      <section className={classes.first}>
        <h1 className={classes.sentence}>{t('Servers by the hour, containers on them, logs as they happen.')}</h1>
        <p className={classes.more}>
          {t(
            'Stagi is one console for rented and self-hosted servers: see the price before you rent and the live state of every server.',
          )}
        </p>
        <div className={classes.buttons}>
          <Button component={Link} to={paths.signUp()} size="m">
            {t('Sign up')}
          </Button>
          <Button color="gray" component={Link} to={paths.signIn()} size="m">
            {t('Log in')}
          </Button>
        </div>
      </section>
      <ol className={classes.things}>
        {things.map(({ title, text }, index) => (
          <li key={title}>
            <span className={classes.number}>{index + 1}</span>
            <h2>{title}</h2>
            <p>{text}</p>
          </li>
        ))}
      </ol>
    </div>
  );
}
