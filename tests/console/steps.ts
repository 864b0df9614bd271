import assert from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { newUser, type User } from "../support/users.ts";
import type { Locator, Page } from "./browser.ts";

/** Sends events without waiting until they are visible. For live pages and streams; other tests use `store`. */
export async function send(token: string, events: unknown[]): Promise<void> {
  const response = await fetch(`${stack.url}/functions/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(events),
  });
  assert.deepEqual(await response.json(), { success: true, ingested: events.length, rejected: 0 });
}

/** Sends events of the last three days and waits until a search finds them. */
export async function store(user: User, events: unknown[]): Promise<void> {
  const records = async () => {
    const [{ value }] = await user.client.call("log_stats", {
      p_query_dsl: "| count()",
      p_ts_from: "now-3d",
    });
    return value ?? 0;
  };
  // The tenant's open pages may already run as many searches as its plan allows.
  const before = await eventually("the records are counted", records);
  await send(user.token, events);
  await eventually(
    "the events are searchable",
    async () => await records() === before + events.length,
  );
}

/** Makes a log stream and an alert rule in a customer's portal session. */
export async function makeThings(token: string | null, headers = {}): Promise<void> {
  const make = async (operation: string, parameters: object) => {
    const response = await fetch(`${stack.url}/functions/v1/logloom-read/v1/${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(parameters),
    });
    assert.equal(response.status, 200, await response.text());
  };
  await make("create_log_stream", {
    p_name: "to a bucket",
    p_kind: "webhook",
    p_config: { url: "https://receiver.example/logs" },
  });
  await make("create_alert_rule", {
    p_name: "any error",
    p_query_dsl: "level:error",
    p_threshold: 0,
    p_comparison: "gt",
    p_window_minutes: 5,
    p_cooldown_minutes: 30,
    p_enabled: true,
  });
}

export const isSeen = (page: Page, text: string) =>
  page.getByRole("row").filter({ hasText: text }).first().waitFor();

/** Looks only at rows, because an empty box shows an example. */
export const isGone = (page: Page, text: string) =>
  page.getByRole("row").filter({ hasText: text }).first().waitFor({ state: "detached" });

/** An element's box. Asks again if the element is being rendered at that moment. */
export const boxOf = (what: Locator) => eventually("it is drawn", () => what.boundingBox());

/** Drags over the chart once it is up to date. `from` and `to` are parts of its width. */
export async function dragOver(page: Page, from: number, to: number): Promise<void> {
  const chart = await boxOf(page.locator(".histogram:not([data-old]) .u-over"));
  await page.mouse.move(chart.x + chart.width * from, chart.y + 20);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width * to, chart.y + 20, { steps: 5 });
  await page.mouse.up();
}

/** Types a query and presses Enter. */
export async function search(page: Page, query: string): Promise<void> {
  await page.locator(".query-host").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Backspace");
  await page.keyboard.type(query);
  await page.keyboard.press("Enter");
}

/** A user whose tenant has four records of the last hour. */
export async function withLogs(): Promise<User> {
  const user = await newUser();
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  await store(user, [
    { ts: at(40), level: "info", service: "api", msg: "GET /users 200", attrs: { status: 200 } },
    {
      ts: at(30),
      level: "warn",
      service: "api",
      msg: "slow query",
      attrs: { status: 200, ms: 1520 },
    },
    { ts: at(2), level: "error", service: "shop", msg: "card declined", attrs: { status: 402 } },
    { ts: at(1), level: "error", service: "api", msg: "<img src=x onerror=alert(1)>", attrs: {} },
  ]);
  return user;
}

/** The list of completions, once the fields have loaded and the list takes keys. */
export async function completions(page: Page): Promise<Locator> {
  await page.locator(".fields .value").first().waitFor();
  const list = page.locator(".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)");
  await list.waitFor();
  return list;
}

/** The text in the search box. */
export async function boxText(page: Page): Promise<string> {
  const text = await page.getByRole("textbox", { name: "Query" }).innerText();
  return text.replaceAll("\n", "");
}
