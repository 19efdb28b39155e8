import { request } from 'node:http';
import { api } from '@stagi/contract/api.ts';
import { freeHostPort, freePort } from '@stagi/contract/testing/freePort.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { anApiToken, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs } from './people.ts';
import { until } from './waitUntil.ts';

test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };

/** One request on standard input: a page, or a WebSocket that says hello. */
const SERVE = `read -r method path protocol
key=
while read -r name value; do
  case "$name" in "$(printf '\\r')"|"") break ;; [Ss]ec-[Ww]eb[Ss]ocket-[Kk]ey:) key=\${value%?} ;; esac
done
if [ -n "$key" ]; then
  accept=$(printf '%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11' "$key" | busybox sha1sum | busybox cut -c1-40 | busybox xxd -r -p | busybox base64)
  printf 'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: %s\\r\\n\\r\\n' "$accept"
  printf '\\201\\005hello'
  cat > /dev/null
else
  printf 'HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\nConnection: close\\r\\n\\r\\n%s' "$PAGE"
fi`;
const PAGE = `<!doctype html><html lang="en"><title>Notebook</title><h1>Notebook</h1><p id="said"></p><script>
new WebSocket('ws://' + location.host + '/ws').onmessage = ({ data }) => { said.textContent = 'the socket says ' + data };
</script>`;

let app: TestApp;
let stop: () => Promise<void>;
let daemon: TestDaemon;
test.beforeAll(async () => {
  await ensureTestImage();
  const port = await freePort();
  const appsDomain = `apps.localhost:${port}`;
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ PORT: String(port), APPS_DOMAIN: appsDomain })));
});
test.afterAll(async () => {
  await daemon?.cleanUp();
  await stop?.();
});

test('a port of a container is opened behind sign-in, by a token, by everybody, and not at all', async ({
  browser,
}) => {
  test.setTimeout(180_000);
  const ada = await app.signUp('Ada Lovelace');
  const port = await freeHostPort();
  const { id, slug } = await runNotebook(ada, port);
  const origin = app.ctx.config.appOrigin;
  const address = `http://${slug}-${port}.${app.ctx.config.appsDomain?.host}/`;
  const page = await openAs(browser, origin, ada, `/cloud/containers/${id}`);
  const stranger = await (await browser.newContext()).newPage();

  await test.step('its page has the address, and opens it through the sign-in', async () => {
    await expect(page.getByTestId('port-address')).toHaveText(address);
    await expect(page.getByTestId('container-port')).toContainText('Private');
    await expectAccessible(page, 'the ports of a container');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    const [opened] = await Promise.all([page.waitForEvent('popup'), page.getByTestId('port-open').click()]);
    await expect(opened.getByRole('heading', { level: 1 })).toHaveText('Notebook');
    await expect(opened.getByText('the socket says hello')).toBeVisible();
    expect(opened.url()).toBe(address);
    await opened.close();
  });

  await test.step('who is not signed in gets to the login, and nothing of it', async () => {
    await stranger.goto(address);
    await expect(stranger.getByRole('heading', { level: 1 })).not.toHaveText('Notebook');
    expect(new URL(stranger.url()).origin).toBe(origin);
  });

  await test.step('a program opens it with a token, as the page says', async () => {
    await expect(page.getByTestId('container-port')).toContainText(
      `curl -H "Authorization: Bearer $STAGI_TOKEN" ${address}`,
    );
    const { token } = await anApiToken(app.ctx, ada);
    expect(await fetched(address, {})).toBe(401);
    expect(await fetched(address, { authorization: `Bearer ${token}` })).toBe(200);
  });

  await test.step('its server binds it for nobody else', async () => {
    expect(await bindingsOf(slug)).toEqual([['127.0.0.1', port]]);
  });

  await test.step('it is made public, which says what that means, and is open to everybody', async () => {
    await page.getByTestId('port-change').click();
    await expect(page.getByText('Anybody who knows its address can then open it')).toBeVisible();
    await expectAccessible(page, 'making a port public');
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByText('The port is public')).toBeVisible();
    await expect(page.getByTestId('container-port')).toContainText('Anybody who knows this address can open it.');
    await stranger.goto(address);
    await expect(stranger.getByRole('heading', { level: 1 })).toHaveText('Notebook');
    await expect(stranger.getByText('the socket says hello')).toBeVisible();
  });

  await test.step('its server binds it for everybody when it is recreated, which says what is kept and lost', async () => {
    await expect(page.getByText('it opens when the container is next recreated')).toBeVisible();
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    await page.getByTestId('port-recreate').click();
    await expect(page.getByText('Kept: its Unique ID and address, its volumes and its logs.')).toBeVisible();
    await expectAccessible(page, 'recreating a container for its ports');
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByTestId('port-recreate')).toHaveCount(0);
    await until('it is bound for everybody', 60_000, async () => (await bindingsOf(slug))[0]?.[0] === '0.0.0.0');
    await expect(page.getByTestId('pending-edit')).toHaveCount(0);
    await expect(page.getByTestId('port-recreate')).toHaveCount(0);
  });

  await test.step('without the link of its server a plain page says so', async () => {
    await daemon.end('SIGKILL');
    await stranger.setViewportSize(PHONE);
    await expect
      .poll(async () => {
        await stranger.goto(address);
        return stranger.getByRole('heading', { level: 1 }).textContent();
      })
      .toBe('The server cannot be reached');
    expect(await sideways(stranger)).toBeLessThanOrEqual(0);
    daemon.start();
    await expect
      .poll(async () => {
        await stranger.goto(address);
        return stranger.getByRole('heading', { level: 1 }).textContent();
      })
      .toBe('Notebook');
  });

  await test.step('a stopped container says so, on its page and at its address', async () => {
    await ada.client(api.containers.stop, { id });
    await expect(page.getByTestId('container-status').first()).toHaveText(/stopped/i);
    await stranger.goto(address);
    await expect(stranger.getByRole('heading', { level: 1 })).toHaveText('The container is not running');
    await page.getByTestId('port-open').hover();
    await expect(page.getByText('The container is not running')).toBeVisible();
  });
});

/** A running container that serves a page with a WebSocket. */
async function runNotebook(ada: Person, port: number): Promise<{ id: number; slug: string }> {
  const serverId = await aRentedInstance(app.ctx, ada);
  const { token } = await app.ctx.db.transaction().execute((trx) => issueEnrolment(app.ctx, trx, serverId, 'rented'));
  daemon = await createDaemon({ node: String(serverId), token: async () => token });
  daemon.start();
  const slug = `notebook-${process.pid}`;
  const { entity } = await until('the server takes containers', 60_000, () =>
    ada
      .client(api.containers.create, {
        instanceRef: { id: serverId },
        title: 'Notebook',
        slug,
        dockerImage: TEST_IMAGE,
        command: `busybox nc -ll -p 80 -e sh -c 'eval "$SERVE"'`,
        env: [
          { name: 'SERVE', value: SERVE },
          { name: 'PAGE', value: PAGE },
        ],
        cpus: 0.5,
        portMappings: [{ host: port, container: 80 }],
      })
      .catch(() => null),
  );
  await until('it runs', 60_000, async () => {
    const { entity: now } = await ada.client(api.containers.view, { id: entity.id });
    return now.status === 'running';
  });
  return { id: entity.id, slug };
}

/** Addresses and ports of the server, as Docker shows them. */
async function bindingsOf(slug: string): Promise<[string | undefined, number | undefined][]> {
  const [{ Ports = [] } = {}] = await docker.listContainers({ filters: { name: [`stagi-${slug}`] } });
  return Ports.map(({ IP, PublicPort }) => [IP, PublicPort]);
}

/** The status of an answer; names below `localhost` are this machine. */
function fetched(address: string, headers: Record<string, string>): Promise<number> {
  const { host, port } = new URL(address);
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, headers: { host, ...headers } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}
