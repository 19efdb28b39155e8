import type { Provider } from '../../providers/provider.ts';
import type { CloudApp } from '../../testing/cloudApp.ts';

/** Another cloud beside the simulated one, for as long as `during` runs. */
export async function withCloud(app: CloudApp, change: Partial<Provider>, during: () => Promise<void>): Promise<void> {
  const providers = app.ctx.providers as Map<string, Provider>;
  const other: Provider = { ...providers.get('fake')!, name: 'other', title: 'Other cloud', ...change };
  providers.set(other.name, other);
  try {
    await during();
  } finally {
    providers.delete(other.name);
  }
}
