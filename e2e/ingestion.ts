import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AnalyticsEvent {
  event_type: string;
  user_id?: string;
  device_id: string;
  event_properties?: object;
}

/** The analytics service of an operator, which keeps what it is told under one key. */
export interface Ingestion {
  url: string;
  /** Of the platform that tells it what happens on `localhost`. */
  env: Record<string, string>;
  told: AnalyticsEvent[];
  close(): void;
}

const KEY = 'staging-key';

export async function startIngestion(): Promise<Ingestion> {
  const told: AnalyticsEvent[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const { api_key, events } = JSON.parse(text) as { api_key: string; events: AnalyticsEvent[] };
    if (api_key === KEY) told.push(...events);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/2/httpapi`;
  return {
    url,
    env: {
      ANALYTICS_URL: url,
      ANALYTICS_HOSTS: `[{"host":"localhost:{env}","key":"${KEY}"},{"host":"app.example","key":"app-key"}]`,
    },
    told,
    close: () => server.close(),
  };
}
