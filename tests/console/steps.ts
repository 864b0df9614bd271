import assert from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { newUser, type User } from "../support/users.ts";
import type { Page } from "./browser.ts";

/** Sends events, all of which are taken. */
export async function send(token: string, events: unknown[]): Promise<void> {
  const response = await fetch(`${stack.url}/functions/v1/ingest`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(events),
  });
  assert.deepEqual(await response.json(), {
    success: true,
    ingested: events.length,
    rejected: 0,
  });
}

/**
 * Sends events of the last three days and waits until a search finds them: what asks once, like a page with a fixed
 * range, is opened on what is stored.
 */
export async function store(user: User, events: unknown[]): Promise<void> {
  const records = async () => {
    const [{ value }] = await user.client.call("log_stats", {
      p_query_dsl: "| count()",
      p_ts_from: "now-3d",
    });
    return value ?? 0;
  };
  const before = await records();
  await send(user.token, events);
  await eventually(
    "the events are searchable",
    async () => await records() === before + events.length,
  );
}

export const isSeen = (page: Page, text: string) =>
  page.getByRole("row").filter({ hasText: text }).first().waitFor();

/** The box shows an example where it is empty: only rows count. */
export const isGone = (page: Page, text: string) =>
  page.getByRole("row").filter({ hasText: text }).first().waitFor({
    state: "detached",
  });

/** Runs a query as a person does: types it and presses Enter. */
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
    {
      ts: at(40),
      level: "info",
      service: "api",
      msg: "GET /users 200",
      attrs: { status: 200 },
    },
    {
      ts: at(30),
      level: "warn",
      service: "api",
      msg: "slow query",
      attrs: { status: 200, ms: 1520 },
    },
    {
      ts: at(2),
      level: "error",
      service: "shop",
      msg: "card declined",
      attrs: { status: 402 },
    },
    {
      ts: at(1),
      level: "error",
      service: "api",
      msg: "<img src=x onerror=alert(1)>",
      attrs: {},
    },
  ]);
  return user;
}

/** What stands in the search box. */
export async function boxText(page: Page): Promise<string> {
  const text = await page.getByRole("textbox", { name: "Query" }).innerText();
  return text.replaceAll("\n", "");
}
