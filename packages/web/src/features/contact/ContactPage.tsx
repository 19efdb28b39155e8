import type { ContactTopic } from '@stagi/contract/contactTopics.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { Suspense, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useSite } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { RequestDemoButton } from '../../navigation/RequestDemoButton.tsx';
import { Button } from '../../ui/Button.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import classes from './ContactPage.module.css';

const ContactForm = lazyComponent(async () => (await import('./ContactForm.tsx')).ContactForm);

/** What `?topic=` may name. */
const TOPICS: Record<string, ContactTopic> = {
  model: 'A model',
  demo: 'A demo',
  plans: 'Prices and plans',
  help: 'Help',
  other: 'Something else',
};

/** The contact form, also for requests of a demo: `/contact?topic=demo`. */
export function ContactPage() {
  const t = useT();
  const [params] = useSearchParams();
  const topic = TOPICS[params.get('topic') ?? ''];
  const [sentFrom, setSentFrom] = useState<string | null>(null);

  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <h1 className={classes.title}>{topic === 'A demo' ? t('Request a demo') : t(ROUTES.contact.title)}</h1>
        <p className={classes.lead}>
          {topic === 'A demo'
            ? t('Tell us what you want to run. We show it to you on this platform, with the prices of today.')
            : t('Ask about a model, prices, a demo or a problem. You need no account.')}
        </p>
      </header>
      <div className={classes.columns}>
        <div className={classes.card}>
          {sentFrom === null ? (
            <Suspense fallback={<PanelSkeleton rows={4} />}>
              <ContactForm topic={topic} onSent={setSentFrom} />
            </Suspense>
          ) : (
            <Sent email={sentFrom} onAgain={() => setSentFrom(null)} />
          )}
        </div>
        <Aside isDemo={topic === 'A demo'} />
      </div>
    </div>
  );
}

function Sent({ email, onAgain }: { email: string; onAgain(): void }) {
  const t = useT();
  const heading = useRef<HTMLHeadingElement>(null);
  // The focused button is gone, and a screen reader should hear what happened.
  useEffect(() => heading.current?.focus(), []);
  return (
    <div className={classes.sent} data-testid="contact-sent">
      <h2 ref={heading} tabIndex={-1} className={classes.subtitle}>
        {t('Thanks, we have your message')}
      </h2>
      <p className={classes.text}>
        {t('A person reads it and answers to {{email}}. No confirmation is mailed before that.', { email })}
      </p>
      <Button color="gray" onClick={onAgain} data-testid="contact-again">
        {t('Write another message')}
      </Button>
    </div>
  );
}

/** What happens to a message, and the other ways. */
function Aside({ isDemo }: { isDemo: boolean }) {
  const t = useT();
  const { supportEmail, issueTrackerUrl } = useSite();
  return (
    <aside className={classes.aside}>
      <section>
        <h2 className={classes.subtitle}>{t('What happens next')}</h2>
        <p className={classes.text}>
          {t('A person of this platform reads your message and answers by email. Nothing else is sent to you.')}
        </p>
      </section>
      {!isDemo && (
        <section>
          <h2 className={classes.subtitle}>{t('See it first')}</h2>
          <p className={classes.text}>{t('We show you the platform with what you want to run.')}</p>
          <RequestDemoButton />
        </section>
      )}
      {(supportEmail || issueTrackerUrl) && (
        <section>
          <h2 className={classes.subtitle}>{t('Other ways')}</h2>
          {supportEmail && (
            <a className={classes.way} href={`mailto:${supportEmail}`}>
              {supportEmail}
            </a>
          )}
          {issueTrackerUrl && (
            <a className={classes.way} href={issueTrackerUrl} target="_blank" rel="noopener noreferrer">
              {t('Report an issue')}
            </a>
          )}
        </section>
      )}
    </aside>
  );
}
