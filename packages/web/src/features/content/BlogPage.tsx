import { ROUTES } from '@stagi/contract/routes.ts';
import { IconRss } from '@tabler/icons-react';
import { Link, useParams } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { useLanguage } from '../../preferences/preferences.ts';
import { Button } from '../../ui/Button.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { EntryList } from './EntryList.tsx';
import { PostDate } from './PostDate.tsx';
import { useWrittenList, useWrittenPage } from './useWritten.ts';
import classes from './Written.module.css';
import { Written } from './Written.tsx';

/** The posts, or one of them. */
export function BlogPage() {
  return useParams()['*'] ? <Post /> : <Posts />;
}

function Posts() {
  const t = useT();
  const { language } = useLanguage();
  return (
    <div className={classes.narrow}>
      <PageHeader
        title={t('Blog')}
        actions={
          <Button
            component="a"
            href={`${ROUTES.blog.path}/feed.xml?lang=${language}`}
            color="gray"
            icon={<IconRss size={16} aria-hidden="true" />}
          >
            {t('Atom feed')}
          </Button>
        }
      >
        {t('What was built here, how it was measured, and what did not work.')}
      </PageHeader>
      <EntryList of={useWrittenList('blog')} />
    </div>
  );
}

function Post() {
  const t = useT();
  return (
    <div className={classes.narrow}>
      <Written
        of={useWrittenPage()}
        intro={({ date }) =>
          date && (
            <p className="muted">
              <PostDate date={date} />
            </p>
          )
        }
      />
      <p className={classes.end}>
        <Link to={ROUTES.blog.path}>{t('All posts')}</Link>
      </p>
    </div>
  );
}
