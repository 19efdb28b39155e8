import type { EndpointStatus } from '@stagi/contract/modelEndpoints.ts';
import { text } from '@stagi/contract/text.ts';

/** What happens now, and what comes next. */
export const ENDPOINT_WORDS: Record<EndpointStatus, string> = {
  'waiting for server': text('The server is being rented. The container is made as soon as it is online.'),
  creating: text('The image of the engine is pulled and its container started.'),
  loading: text('The engine fetches the weights and loads them. Its log shows how far it is.'),
  ready: text('The engine answers its health check.'),
  'not answering': text('The engine has answered before, and does not now.'),
  stopped: text('Its container does not run. Start it to use the model.'),
  failed: text('It cannot be used.'),
};
