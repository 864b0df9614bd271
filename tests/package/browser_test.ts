/// <reference lib="dom" />
import assert from "node:assert/strict";
// @deno-types="../../console/node_modules/playwright-core/index.d.ts"
import { chromium, type Page } from "../../console/node_modules/playwright-core/index.mjs";
import { chromium as executablePath } from "../../local/browser.ts";
import { checkout } from "../../local/stack.ts";
import { inBrowser } from "../console/browser.ts";
import { eventually, patience } from "../support/eventually.ts";
import { rpc } from "../support/client.ts";
import { stack } from "../support/stack.ts";
import { newTrial, records, type Trial } from "./programs.ts";
import { project } from "./project.ts";

const scripts: Record<string, string> = {
  "/logloom.js": `${project}/node_modules/logloom/dist/index.js`,
  "/supabase.js": `${project}/node_modules/@supabase/supabase-js/dist/umd/supabase.js`,
};

/** A page of another origin than the service. */
async function withPage(
  { tenant, env }: Trial,
  html: string,
  act: (page: Page) => Promise<void>,
): Promise<void> {
  const { status, body: { token } } = await rpc(tenant.token, "create_ingest_token", {
    p_service: "page",
  });
  assert.equal(status, 200);
  const config = `
    export const token = ${JSON.stringify(token)};
    export const url = ${JSON.stringify(stack.url)};
    export const key = ${JSON.stringify(env.LOGLOOM_API_KEY)};
    export const publishableKey = ${JSON.stringify(stack.anonKey)};
    export const options = { accessToken: async () => ${JSON.stringify(tenant.token)} };`;
  const served = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      const script = pathname === "/config.js"
        ? config
        : pathname in scripts && await Deno.readTextFile(scripts[pathname]);
      return script
        ? new Response(script, { headers: { "Content-Type": "text/javascript" } })
        : new Response(html, { headers: { "Content-Type": "text/html" } });
    },
  );
  const browser = await chromium.launch({
    executablePath,
    timeout: patience,
    args: ["--no-sandbox"],
  });
  try {
    // Closing a page that has its own context would also close the context and cancel its requests.
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    await page.goto(`http://127.0.0.1:${served.addr.port}/shop`);
    await act(page);
  } finally {
    await browser.close();
    await served.shutdown();
  }
}

const keyed = `<!DOCTYPE html><title>shop</title><script type="module">
  import { createLogger } from "./logloom.js";
  import { key, url } from "./config.js";
  window.log = createLogger({ url, key, service: "page" });
  window.log.captureErrors();
</script>`;

interface Logging {
  log: { info(msg: string, fields?: object): void };
}

const loggerIsThere = (page: Page) => page.waitForFunction(() => "log" in globalThis);

/** Waits until there are this many records and returns them. */
const arrived = ({ tenant }: Trial, count: number) =>
  eventually(`${count} records`, async () => {
    const all = await records(tenant);
    return all.length >= count && all;
  });

inBrowser("a page that is left at once still sends what it logged", async () => {
  const trial = await newTrial("package-page");
  await withPage(trial, keyed, async (page) => {
    await loggerIsThere(page);
    await page.evaluate(() => {
      const { log } = globalThis as unknown as Logging;
      for (let n = 0; n < 300; n++) log.info("left behind", { n });
      addEventListener("pagehide", () => log.info("the last word"), { capture: true });
      location.href = "about:blank";
    });
    await page.waitForURL("about:blank");
    const all = await arrived(trial, 301);
    assert.deepEqual(
      all.map(({ msg, attrs }) => attrs?.n ?? msg).toSorted((a, b) => Number(a) - Number(b)),
      [...Array(300).keys(), "the last word"],
    );
  });
});

inBrowser(
  "a page that is closed while a batch is being sent loses and doubles nothing",
  async () => {
    const trial = await newTrial("package-page");
    await withPage(trial, keyed, async (page) => {
      await loggerIsThere(page);
      const isOnItsWay = page.waitForRequest(/ingest$/);
      await page.evaluate(() => {
        const { log } = globalThis as unknown as Logging;
        // A batch is full at 500 events and sent at once. The rest is sent when the page closes.
        for (let n = 0; n < 540; n++) log.info("event", { n });
      });
      await isOnItsWay;
      await page.close({ runBeforeUnload: true });
      const numbers = (await arrived(trial, 540)).map(({ attrs }) => Number(attrs?.n));
      assert.deepEqual(numbers.toSorted((a, b) => a - b), [...Array(540).keys()]);
    });
  },
);

inBrowser("a page's uncaught errors and rejections are logged", async () => {
  const trial = await newTrial("package-page");
  await withPage(trial, keyed, async (page) => {
    await loggerIsThere(page);
    await page.evaluate(() => {
      setTimeout(() => {
        throw new TypeError("no such cart");
      });
      Promise.reject(new Error("no such order"));
    });
    const texts = (await arrived(trial, 2)).map(({ level, msg }) => `${level} ${msg}`);
    assert.deepEqual(texts.toSorted(), [
      "error uncaught error: no such cart",
      "error unhandled rejection: no such order",
    ]);
  });
});

inBrowser(
  "examples/browser.html: the page logs as its user, also when it is left at once",
  async () => {
    const trial = await newTrial("example-page");
    const html = await Deno.readTextFile(`${checkout}/examples/browser.html`);
    await withPage(trial, html, async (page) => {
      await page.evaluate(() => {
        document.querySelector("button")?.click();
        location.href = "about:blank";
      });
      await page.waitForURL("about:blank");
      const [{ service, msg, attrs }, ...more] = await arrived(trial, 1);
      assert.deepEqual(more, []);
      assert.deepEqual([service, msg, attrs], ["shop-page", "order placed", null]);
    });
  },
);

const withToken = `<!DOCTYPE html><title>shop</title><script type="module">
  import { createLogger } from "./logloom.js";
  import { token, url } from "./config.js";
  const to = url + "/functions/v1/ingest";
  window.log = createLogger({ url, token: async () => token, service: "page" });
  addEventListener("pagehide", () => {
    log.info("by the logger");
    fetch(to, {
      method: "POST",
      keepalive: true,
      headers: { "Authorization": "Bearer " + token, "Content-Type": "application/json" },
      body: JSON.stringify([{ msg: "by fetch" }]),
    });
    navigator.sendBeacon(to, JSON.stringify({ token, events: [{ msg: "by beacon" }] }));
  }, { capture: true });
</script>`;

inBrowser("a page with a token sends while it closes: by logger, fetch and beacon", async () => {
  const trial = await newTrial("package-page");
  await withPage(trial, withToken, async (page) => {
    await loggerIsThere(page);
    await page.goto("about:blank");
    const all = await arrived(trial, 3);
    assert.deepEqual(
      all.map(({ msg, service }) => `${service}: ${msg}`).toSorted(),
      ["page: by beacon", "page: by fetch", "page: by the logger"],
    );
  });
});

inBrowser("a page's events are rejected if their service is not its token's", async () => {
  const trial = await newTrial("package-page");
  const html = withToken.replace('service: "page"', 'service: "api", onRejected')
    .replace(
      "const to",
      "window.rejected = []; const onRejected = (one) => rejected.push(one); const to",
    );
  await withPage(trial, html, async (page) => {
    await loggerIsThere(page);
    const codes = await page.evaluate(async () => {
      const { log, rejected } = globalThis as unknown as {
        log: { info(msg: string): void; flush(): Promise<boolean> };
        rejected: { code: string; message: string }[];
      };
      log.info("a");
      await log.flush();
      return rejected.map(({ code, message }) => [code, message]);
    });
    assert.deepEqual(codes, [[
      "service_is_another",
      "The token may only send for the service page",
    ]]);
  });
});
