import assert from "node:assert/strict";
import { chromium, installBrowser } from "../../local/browser.ts";
import { installConsolePackages } from "../../local/build_console.ts";
import { checkout } from "../../local/stack.ts";
import { found, longTest, runNode, withTrial } from "./sender.ts";

const driver = `${checkout}/console/node_modules/playwright-core/index.mjs`;

/** A request of the page: a path below ingest, and headers. */
interface Sent {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const trace = {
  traceparent: "00-5b8efff798038103d269b633813fc60c-eee19b7ec3c1b174-01",
  tracestate: "a=b",
  baggage: "c=d",
};

longTest({
  name: "a page of another origin may send, with every header that browsers' senders set",
  fn: async () => {
    await installBrowser(chromium, console.log);
    await installConsolePackages("all");
    await withTrial("browser", async (trial) => {
      const key = { "X-API-Key": trial.key };
      const json = { "Content-Type": "application/json" };
      const sent: Sent[] = [
        // The headers of functions.invoke of supabase-js, and of its retries.
        {
          path: "",
          headers: {
            ...json,
            Authorization: `Bearer ${trial.tenant.token}`,
            apikey: "anon",
            "x-client-info": "supabase-js-web/2",
            "x-region": "eu-central-1",
            "x-retry-count": "1",
            "x-supabase-api-version": "2024-01-01",
          },
          body: '{"msg":"browser 0"}',
        },
        { path: "", headers: { ...json, ...key, ...trace }, body: '{"msg":"browser 1"}' },
        {
          path: "",
          headers: { ...json, ...key, "Idempotency-Key": "k", "X-Custom-Thing": "1" },
          body: '{"msg":"browser 2"}',
        },
        {
          path: "/v1/logs",
          headers: { ...json, ...key, ...trace },
          body:
            '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"browser 3"}}]}]}]}',
        },
        {
          path: "/api/v2/logs?ddsource=browser",
          headers: { "Content-Type": "text/plain", "DD-API-KEY": trial.key, ...trace },
          body: '[{"message":"browser 4"}]',
        },
      ];
      const page = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen: () => {} },
        () => new Response("<title>shop</title>", { headers: { "Content-Type": "text/html" } }),
      );
      try {
        const said = await runNode(
          `
          import { chromium } from ${JSON.stringify(driver)};
          const browser = await chromium.launch({
            executablePath: ${JSON.stringify(chromium)},
            args: ["--no-sandbox"],
          });
          const page = await browser.newPage();
          await page.goto("http://127.0.0.1:${page.addr.port}/");
          const url = process.env.LOGLOOM_URL + "/functions/v1/ingest";
          const answers = await page.evaluate(async ({ url, sent, key }) => {
            const answers = [];
            for (const { path, headers, body } of sent) {
              answers.push(await fetch(url + path, { method: "POST", headers, body })
                .then(({ status }) => status, String));
            }
            const refused = await fetch(url, { method: "POST", body: "{" });
            answers.push(refused.status, (await refused.json()).error);
            answers.push(navigator.sendBeacon(url + "/lines?api_key=" + key, "browser 5"));
            return answers;
          }, { url, sent: ${JSON.stringify(sent)}, key: process.env.LOGLOOM_API_KEY });
          // The beacon is sent when the page closes.
          await page.goto("about:blank");
          console.log(JSON.stringify(answers));
          await browser.close();
        `,
          trial.env,
        );
        assert.deepEqual(JSON.parse(said), [
          ...[200, 200, 200, 200, 202],
          ...[400, "Missing authorization header", true],
        ]);
        const logs = await found(trial, "browser", 6);
        assert.deepEqual(
          logs.map(({ msg }) => msg).toSorted(),
          [0, 1, 2, 3, 4, 5].map((n) => `browser ${n}`),
        );
      } finally {
        await page.shutdown();
      }
    });
  },
});
