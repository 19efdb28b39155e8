import type { Model } from '@stagi/contract/models.ts';
import { portUrl } from '../../../api/portUrl.ts';
import { useSite } from '../../../api/site.ts';
import { ModelSnippets } from '../snippets/ModelSnippets.tsx';
import { useEndpoints } from './useEndpoints.ts';

/** The snippets with the address of the newest deployed model that is ready, if there is one. */
export function MemberSnippets({ model }: { model: Model }) {
  const { appsOrigin } = useSite();
  const { endpoints } = useEndpoints(model.id);
  const ready = endpoints.find(({ status }) => status === 'ready');
  if (!ready?.container || !appsOrigin) return <ModelSnippets model={model} />;
  const url = portUrl(appsOrigin, ready.container.slug, ready.port).replace(/\/$/, '');
  const { modelName, hasKey, visibility } = ready;
  return (
    <ModelSnippets model={model} endpoint={{ url, model: modelName, hasKey, isPrivate: visibility !== 'public' }} />
  );
}
