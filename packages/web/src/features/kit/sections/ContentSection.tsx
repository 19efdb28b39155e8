import { Anchor, Skeleton } from '@mantine/core';
import { Link, NavLink } from 'react-router';
import { paths } from '../../../paths.ts';
import { Accordion } from '../../../ui/Accordion.tsx';
import { Breadcrumbs } from '../../../ui/Breadcrumbs.tsx';
import { Button } from '../../../ui/Button.tsx';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { Heading } from '../../../ui/Heading.tsx';
import { HEADING_LEVELS } from '../../../ui/kitConstants.ts';
import { LinkTabs } from '../../../ui/LinkTabs.tsx';
import { Note } from '../../../ui/Note.tsx';
import { ProgressSteps } from '../../../ui/ProgressSteps.tsx';
import { SecretFile } from '../../../ui/SecretFile.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { STATUS } from '../../../ui/status.ts';
import { Tabs } from '../../../ui/Tabs.tsx';
import { Specimen, Specimens } from '../Specimen.tsx';

const nothing = () => undefined;

/** What pages are written with: headings, tabs, accordions, notes, code, statuses. */
export default function ContentSection() {
  return (
    <Specimens>
      <Specimen id="headings" title="Headings">
        <div>
          {HEADING_LEVELS.map((level) => (
            // The outline of the gallery stays whole: all are of the third level.
            <Heading key={level} level={3} as={level}>
              Level {level}
            </Heading>
          ))}
        </div>
      </Specimen>
      <Specimen id="breadcrumbs" title="Breadcrumbs and links">
        <div>
          <Breadcrumbs
            link={Link}
            here="alpha"
            above={[
              { to: paths.kit('type'), title: 'Cloud' },
              { to: paths.kit('buttons'), title: 'Instances' },
            ]}
          />
          <p>
            A link in a sentence is underlined: <Link to={paths.kit('type')}>the scale of type</Link>, and so is{' '}
            <Anchor component={Link} to={paths.kit('buttons')}>
              this one
            </Anchor>
            .
          </p>
        </div>
      </Specimen>
      <Specimen id="tabs" title="Tabs">
        <Tabs
          label="Parts of a server"
          tabs={[
            { key: 'overview', label: 'Overview', content: 'What it is' },
            { key: 'containers', label: 'Containers', count: 2, content: 'What runs on it' },
            { key: 'access', label: 'Access', content: 'Who gets in', disabled: true },
          ]}
        />
      </Specimen>
      <Specimen id="link-tabs" title="Tabs that are addresses">
        <LinkTabs
          label="Sections of the kit, as tabs"
          link={NavLink}
          tabs={[
            { label: 'Content', to: paths.kit('content') },
            { label: 'Buttons', to: paths.kit('buttons'), count: 7 },
          ]}
        />
      </Specimen>
      <Specimen id="accordion" title="Accordion">
        <Accordion
          open={['first']}
          items={[
            {
              key: 'first',
              title: 'What is billed',
              content: 'The time that the provider reports the machine running.',
            },
            {
              key: 'second',
              title: 'What a stopped machine costs',
              content: 'Its disk, where the provider asks for it.',
            },
            { key: 'third', title: 'Not to be opened', content: null, disabled: true },
          ]}
        />
      </Specimen>
      <Specimen id="notes" title="Notes">
        <Note title="To know">Prices are per hour.</Note>
        <Note tone="warn" title="To mind" action={<Button size="xs">Top up</Button>}>
          The balance lasts for one more day.
        </Note>
        <Note tone="bad" title="What went wrong">
          The provider has no capacity of this kind.
        </Note>
      </Specimen>
      <Specimen id="statuses" title="Statuses">
        {Object.keys(STATUS).map((status) => (
          <StatusBadge key={status} status={status} />
        ))}
      </Specimen>
      <Specimen id="statuses-prominent" title="Statuses of a page">
        {['online', 'creating', 'unresponsive', 'error', 'stopped', 'deleted'].map((status) => (
          <StatusBadge key={status} status={status} prominent />
        ))}
      </Specimen>
      <Specimen id="code" title="Code and copying" wide>
        <CodeBlock prompt="$" code="ssh root@10.0.0.12" />
        <CodeBlock title="compose.yaml" code={'services:\n  web:\n    image: nginx:1.29\n    ports: ["8080:80"]'} />
        <CodeBlock
          wrap
          code={`curl -fsSL https://stagi.example/install.sh | sh -s -- ${'0123456789abcdef'.repeat(12)}`}
        />
        <span>
          my-first-server <CopyButton value="my-first-server" label="Copy the Unique ID" />
        </span>
      </Specimen>
      <Specimen id="secret" title="A file shown once" wide>
        <SecretFile name="daemon-token.jwt" content="eyJhbGciOiJFZERTQSJ9.e30.signature" onTaken={nothing} />
      </Specimen>
      <Specimen id="progress" title="Progress">
        <ProgressSteps
          since="2026-01-02T03:04:00Z"
          steps={[
            { label: 'Capacity', at: '2026-01-02T03:04:05Z' },
            { label: 'Booting', at: '2026-01-02T03:05:10Z' },
            { label: 'Ready', at: '2026-01-02T03:05:40Z' },
          ]}
        />
      </Specimen>
      <Specimen id="skeletons" title="Skeletons">
        <Skeleton height={20} width="60%" />
        <Skeleton height={12} />
        <Skeleton height={12} width="80%" />
        <Skeleton height={32} circle />
      </Specimen>
    </Specimens>
  );
}
