/// <reference lib="dom" />
import assert from "node:assert/strict";
import { story } from "../../console/shots/story.ts";
import { webp } from "../../console/shots/pictures.ts";
import { secretApiKey } from "../../local/signing_keys.ts";
import { checkout } from "../../local/stack.ts";
import { inBrowser } from "../console/browser.ts";
import { store } from "../console/steps.ts";
import { eventually, patience } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { newUser } from "../support/users.ts";
import { browser, examplePort, portal } from "./portal.ts";
import { project } from "./project.ts";

// Starts examples/portal like docs/guides/portal.md. With LOGLOOM_PORTAL_PICTURES=DIR it also takes the pictures of the
// documents.

const pictures = Deno.env.get("LOGLOOM_PORTAL_PICTURES");
const origin = `http://localhost:${examplePort}`;

/** Creates a tenant with a day of records of several customers. */
async function tenantWithCustomers() {
  const user = await newUser();
  const events = story(Date.now()).map((event, n) => ({ ...event, customer: n % 3 ? 42 : 43 }));
  for (let at = 0; at < events.length; at += 1000) {
    await store(user, events.slice(at, at + 1000));
  }
  await store(user, [
    { msg: "order of 42", customer: 42, level: "info", service: "checkout" },
    { msg: "order of 43", customer: 43, level: "info", service: "checkout" },
  ]);
  return user;
}

function start(tenant: string) {
  return new Deno.Command("node", {
    args: ["server.mjs"],
    cwd: `${project}/portal`,
    env: {
      SUPABASE_URL: stack.url,
      SUPABASE_SECRET_KEY: secretApiKey,
      PORTAL_URL: portal,
      TENANT: tenant,
      PORT: `${examplePort}`,
    },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
}

async function open(customer: number, options: { dark?: boolean; width?: number } = {}) {
  const { dark = false, width = 1280 } = options;
  const context = await browser.newContext({
    viewport: { width, height: width < 500 ? 844 : 800 },
    colorScheme: dark ? "dark" : "light",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const faults: string[] = [];
  page.on("console", (message) => {
    // All customers share half of the tenant's searches. A search without a free slot is repeated after a 429.
    if (message.text().includes("status of 429")) return;
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`${origin}/?customer=${customer}`);
  const frame = page.frameLocator("logloom-viewer iframe");
  await frame.locator("[data-row]").first().waitFor();
  await frame.locator(".histogram canvas").first().waitFor();
  return {
    page,
    frame,
    async [Symbol.asyncDispose]() {
      await context.close();
      assert.deepEqual(faults, []);
    },
  };
}

inBrowser("examples/portal: two customers of a shop each see their own logs", async () => {
  const user = await tenantWithCustomers();
  await Deno.mkdir(`${project}/portal`, { recursive: true });
  for await (const { name } of Deno.readDir(`${checkout}/examples/portal`)) {
    await Deno.copyFile(`${checkout}/examples/portal/${name}`, `${project}/portal/${name}`);
  }
  const server = start(user.tenantId);
  try {
    await eventually("the example to answer", async () => {
      const { status } = await fetch(`${origin}/`).then(async (response) => {
        await response.body?.cancel();
        return response;
      });
      return status === 200;
    });
    for (const [customer, other] of [[42, 43], [43, 42]]) {
      await using tab = await open(customer);
      await tab.frame.getByRole("row").filter({ hasText: `order of ${customer}` }).first()
        .waitFor();
      const viewer = tab.page.locator("logloom-viewer");
      await viewer.evaluate((element, query) => element.setAttribute("query", query), "order of");
      await tab.page.waitForURL(/#q=order/);
      await tab.frame.getByText(`order of ${customer}`).first().waitFor();
      assert.equal(await tab.frame.getByText(`order of ${other}`).count(), 0);
    }
    // The secret key created both sessions for the page's own customer.
    const sessions = await user.client.call("list_log_portal_sessions", {});
    assert.deepEqual(
      sessions.map(({ query_dsl, origins, created_by }) => [query_dsl, origins, created_by]),
      [43, 42].map((customer) => [`@customer:${customer}`, [origin], null]),
    );
    // The page of each other part.
    const heads = {
      errors: "Errors",
      dashboards: "Dashboards",
      alerts: "Alerts",
      streams: "Log streams",
      activity: "Audit",
      usage: "Usage",
    };
    for (const [path, name] of Object.entries(heads)) {
      const page = await browser.newPage();
      page.setDefaultTimeout(patience);
      await page.goto(`${origin}/${path}?customer=42`);
      await page.frameLocator("logloom-viewer iframe").getByRole("heading", { name, level: 1 })
        .waitFor();
      await page.close();
    }
    if (pictures) await takePictures(pictures);
  } finally {
    server.kill("SIGTERM");
    await server.status;
  }
});

async function takePictures(folder: string): Promise<void> {
  for (const dark of [false, true]) {
    for (const width of [1280, 390]) {
      await using tab = await open(42, { dark, width });
      await tab.page.waitForLoadState("networkidle", { timeout: 2500 }).catch(() => {});
      await tab.page.waitForTimeout(400);
      const png = await tab.page.screenshot();
      await Deno.writeFile(`${folder}/example-${dark ? "dark" : "light"}-${width}.png`, png);
      if (width < 500) continue;
      const image = `${checkout}/docs/images/portal${dark ? "-dark" : ""}.webp`;
      await Deno.writeFile(image, await webp(browser, png));
    }
  }
}
