import type { Banner } from '@stagi/contract/site.ts';
import { IconArrowRight, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useSite } from '../api/site.ts';
import { useT } from '../i18n/i18n.ts';
import { useRoute } from '../navigation/useRoute.ts';
import { IconButton } from '../ui/IconButton.tsx';
import classes from './Banners.module.css';
import { dismissBanner, notDismissed } from './dismissedBanners.ts';

/** The operator's banners for this layout. A dismissed banner stays dismissed in this browser. */
export function Banners() {
  const { layout } = useRoute();
  const [, setDismissals] = useState(0);
  const { banners } = useSite();
  const ofLayout = banners.filter((banner) => banner.layout === layout);
  const shown = ofLayout.length === 0 ? [] : notDismissed(ofLayout);
  return shown.map((banner) => (
    <OneBanner
      key={banner.title}
      banner={banner}
      onDismiss={() => {
        dismissBanner(banner);
        setDismissals((count) => count + 1);
      }}
    />
  ));
}

function OneBanner({ banner, onDismiss }: { banner: Banner; onDismiss(): void }) {
  const t = useT();
  return (
    <aside className={classes.banner} aria-label={banner.title} data-testid="banner">
      <div className={classes.inner}>
        {banner.image && <img className={classes.image} src={banner.image} alt="" height={32} />}
        <p className={classes.text}>
          <strong>{banner.title}</strong> {banner.description}
          {banner.link && (
            <>
              {' '}
              <BannerLink to={banner.link} />
            </>
          )}
        </p>
        <IconButton size="xs" plain label={t('Hide this message')} onClick={onDismiss}>
          <IconX size={16} />
        </IconButton>
      </div>
    </aside>
  );
}

function BannerLink({ to }: { to: string }) {
  const t = useT();
  const words = (
    <>
      {t('Learn more')} <IconArrowRight size={14} aria-hidden="true" />
    </>
  );
  if (to.startsWith('/')) {
    return (
      <Link to={to} className={classes.link}>
        {words}
      </Link>
    );
  }
  return (
    <a href={to} className={classes.link} target="_blank" rel="noopener noreferrer">
      {words}
    </a>
  );
}
