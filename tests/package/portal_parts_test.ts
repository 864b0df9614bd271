/// <reference lib="dom" />
import assert from "node:assert/strict";
import { inBrowser } from "../console/browser.ts";
import { makeThings, store } from "../console/steps.ts";
import { openDatabase } from "../support/database.ts";
import { becomes, eventually } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { moreFiles, open, origin, picture, portal, sessionOf } from "./portal.ts";

// The parts of the portal other than the search, each on a page of the shop.

const shown = ["search", "errors", "audit", "usage", "dashboards", "streams", "alerts"];
for (const part of [...shown, "keys"]) {
  moreFiles[`/${part}`] = `<!doctype html><html lang="en"><title>shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/shop.css">
<main><h1>Shop</h1><logloom-viewer src="${portal}" part="${part}"></logloom-viewer></main>
<script type="module" src="/shop.js"></script></html>`;
}

/** A tenant with records and audit events of two customers. */
async function shop() {
  const user = await newUser();
  await store(user, [
    { level: "error", msg: "payment of ann failed", service: "shop", customer: 42 },
    { level: "error", msg: "delivery for bob is lost", service: "shop", customer: 43 },
  ]);
  await using db = openDatabase();
  await db`
    insert into logloom.audit_events (tenant_id, source, actor, action, subject, targets)
    values
      (${user.tenantId}, 'app', '43', 'invoice.paid', '',
        '[{"type": "invoice", "id": "ann-1"}, {"type": "customer", "id": "42"}]'),
      (${user.tenantId}, 'app', '42', 'invoice.void', '',
        '[{"type": "invoice", "id": "bob-1"}, {"type": "customer", "id": "43"}]')`;
  return user;
}

const operations: Record<string, string[]> = {
  errors: ["get_error_group", "list_error_groups"],
  audit: ["list_audit_events"],
  usage: ["get_tenant_usage"],
};

/** Checks what holds for every part. */
async function holds(part: string, tab: Awaited<ReturnType<typeof open>>): Promise<void> {
  await eventually("ready", async () => (await tab.said()).some(([name]) => name === "ready"));
  assert.deepEqual(await tab.faultsWithin(), [], "axe");
  const called = tab.requests.map(({ url }) => url.split("/logloom-read/v1/")[1])
    .filter((path) => path !== undefined && path !== "validate_query");
  assert.deepEqual([...new Set(called)].sort(), operations[part]);
  const told = new Set((await tab.said()).map(([name]) => name));
  assert.deepEqual([...told].sort(), ["ready", "token-needed"]);
  await picture(tab.page, part);
}

inBrowser("errors and audit: two customers of a tenant see nothing of each other", async () => {
  const user = await shop();
  for (const [customer, own, other] of [[42, "ann", "bob"], [43, "bob", "ann"]] as const) {
    const { token } = await sessionOf(user, {
      p_parts: ["errors", "audit"],
      p_customer: `${customer}`,
      p_query_dsl: `@customer:${customer}`,
    });
    {
      await using tab = await open(token, { at: `${origin}/errors` });
      const group = tab.frame.getByRole("button", { name: own });
      await group.waitFor();
      // By keyboard into the group, and back.
      await group.focus();
      await tab.page.keyboard.press("Enter");
      await tab.frame.getByText("Newest records").first().waitFor();
      assert.equal(await tab.frame.getByRole("button", { name: "Show in search" }).count(), 0);
      await tab.frame.getByRole("button", { name: "All errors" }).press("Enter");
      await group.waitFor();
      await holds("errors", tab);
      const answers = (await Promise.all(tab.answers)).join("\n");
      assert.match(answers, new RegExp(`(of|for) ${own} `));
      assert.doesNotMatch(answers, new RegExp(`(of|for) ${other} `));
    }
    await using tab = await open(token, { at: `${origin}/audit` });
    await tab.frame.getByText(`${own}-1`).waitFor();
    await holds("audit", tab);
    assert.doesNotMatch((await Promise.all(tab.answers)).join("\n"), new RegExp(`${other}-1`));
  }
});

inBrowser("usage shows the host's limits, and not the plan's", async () => {
  const user = await shop();
  const { token } = await sessionOf(user, {
    p_parts: ["usage"],
    p_customer: "42",
    p_limits: { monthly_events: 4 },
  });
  await using tab = await open(token, {
    at: `${origin}/usage`,
    dark: true,
    width: 390,
    height: 844,
  });
  await tab.frame.getByText("of 4", { exact: true }).waitFor();
  assert.equal(await tab.frame.getByText(/^of /).count(), 1, "bytes have no limit");
  assert.equal(await tab.frame.getByText(/Stored|Plan/).count(), 0);
  await holds("usage", tab);
});

inBrowser("axe finds nothing in any part, light or dark, narrow or wide", async () => {
  const user = await shop();
  const common = { p_customer: "42", p_limits: { monthly_events: 100 } };
  const { token } = await sessionOf(user, {
    ...common,
    p_parts: shown.filter((part) => part !== "usage"),
    p_query_dsl: "@customer:42",
  });
  const usage = await sessionOf(user, { ...common, p_parts: ["usage"] });
  await user.client.call("create_log_dashboard", {
    p_name: "Your shop",
    p_is_shared: true,
    p_in_portal: true,
    p_panels: [{ title: "Errors", query_dsl: "level:error | count()", kind: "number" }],
  });
  await makeThings(token, { "x-logloom-origin": origin });
  /** What each part shows when it is complete. */
  const seen: Record<string, string> = {
    search: "payment of ann failed",
    errors: "payment of ann failed",
    audit: "ann-1",
    usage: "of 100",
    dashboards: "Your shop",
    streams: "to a bucket",
    alerts: "any error",
  };
  for (const part of shown) {
    await using tab = await open(part === "usage" ? usage.token : token, {
      at: `${origin}/${part}`,
    });
    if (part === "alerts") await tab.frame.getByRole("tab", { name: "Rules" }).press("Enter");
    await tab.frame.getByText(seen[part]).first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await tab.page.emulateMedia({ colorScheme });
      const background = colorScheme === "dark" ? "rgb(18, 23, 27)" : "rgb(255, 255, 255)";
      await becomes(
        background,
        () =>
          tab.inner().evaluate(() => getComputedStyle(document.documentElement).backgroundColor),
      );
      for (const width of [390, 768, 1280]) {
        await tab.page.setViewportSize({ width, height: 844 });
        await tab.rests();
        assert.deepEqual(await tab.faultsWithin(), [], `${part} ${colorScheme} ${width}`);
        await picture(tab.page, `${part}-${colorScheme}-${width}`);
      }
    }
    const add = { streams: "New stream", alerts: "New rule" }[part];
    if (add === undefined) continue;
    await tab.page.setViewportSize({ width: 390, height: 844 });
    await tab.frame.getByRole("button", { name: add }).press("Enter");
    await tab.frame.getByRole("dialog").waitFor();
    await tab.rests();
    assert.deepEqual(await tab.faultsWithin(), [], `${add}`);
    await picture(tab.page, `${part}-dialog`);
  }
});

inBrowser("a part that the session lacks is refused, and the host is told", async () => {
  const user = await shop();
  const { token } = await sessionOf(user, { p_parts: ["search"] });
  await using tab = await open(token, { at: `${origin}/audit`, expected: /status of 403/ });
  await eventually("the error", async () => (await tab.said()).some(([name]) => name === "error"));
  const [, detail] = (await tab.said()).find(([name]) => name === "error") ?? [];
  assert.deepEqual(detail, {
    status: 403,
    message: "The audit trail is not in views or portal sessions",
  });
});

inBrowser("a part that does not exist shows nothing", async () => {
  const user = await newUser();
  const { token } = await sessionOf(user);
  await using tab = await open(token, { at: `${origin}/keys` });
  await tab.frame.getByText("These logs have no such part.").waitFor();
  assert.ok(!tab.requests.some(({ url }) => url.includes("logloom-read")));
});
