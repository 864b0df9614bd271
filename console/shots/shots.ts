/// <reference lib="dom" />
// @deno-types="../node_modules/playwright-core/index.d.ts"
import type { Page } from "../node_modules/playwright-core/index.mjs";

export interface Shot {
  readonly name: string;
  /** The part of the address after `#`. */
  readonly hash: string;
  /** Who looks; by default a member of a tenant with a day of logs. */
  readonly as?: "newcomer" | "nobody" | "without-tenant";
  /** Runs before the page opens, for example to delay answers. */
  readonly before?: (page: Page) => Promise<unknown>;
  /** Brings the screen into the state to show and waits for it. */
  readonly then?: (page: Page) => Promise<unknown>;
  /** The picture's name in the docs. */
  readonly document?: string;
}

const rows = (page: Page) => page.locator("[data-row]").first().waitFor();
const table = (page: Page) => page.locator("main tbody tr").first().waitFor();
const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).click();
const dialog = (page: Page) => page.getByRole("dialog").waitFor();

/** The service never answers, so the page shows what it shows while loading. */
const held = (page: Page) => page.route("**/rest/v1/rpc/**", () => {});

const refused = (page: Page) =>
  page.route("**/rest/v1/rpc/**", (route) =>
    route.fulfill({
      status: 408,
      json: { code: "PT408", message: "The search took too long", hint: "Narrow it." },
    }));

const away = (page: Page) =>
  page.route("**/{rest,functions}/v1/**", (route) => route.abort("connectionrefused"));

export const shots: Shot[] = [
  { name: "overview", hash: "/overview", then: table },
  { name: "search", hash: "q=level:%3E=warn&from=now-1h", then: rows, document: "console-search" },
  { name: "search-day", hash: "q=&from=now-24h", then: rows },
  {
    name: "record",
    hash: "q=service:checkout+level:error&from=now-1h",
    then: async (page) => {
      await rows(page);
      await page.locator("[data-row]").nth(1).click();
      await page.locator(".detail").waitFor();
    },
  },
  {
    name: "context",
    hash: "q=service:checkout+level:error&from=now-1h",
    then: async (page) => {
      await rows(page);
      await page.locator("[data-row]").nth(1).click();
      await press(page, /^Context/);
      await page.locator(".context-rows li.this").waitFor();
    },
  },
  {
    name: "columns",
    hash: "q=service:gateway&from=now-1h&cols=route,attrs.duration_ms,attrs.region",
    then: rows,
  },
  { name: "numbers", hash: "q=%7C+count()+by+service&from=now-24h", then: table },
  {
    name: "lines",
    hash:
      "q=service:gateway+%7C+avg(attrs.duration_ms),+max(attrs.duration_ms)+by+route&from=now-24h",
    then: table,
  },
  {
    name: "one-number",
    hash: "q=level:error+%7C+count()&from=now-24h",
    then: (page) => page.locator(".single").waitFor(),
  },
  {
    name: "wrong-query",
    hash: "q=level:loud",
    then: (page) => page.getByTestId("query-error").waitFor(),
  },
  {
    name: "nothing-found",
    hash: "q=service:nobody&from=now-5m",
    then: (page) => page.getByText("Nothing found").waitFor(),
  },
  { name: "patterns", hash: "q=&from=now-6h&tab=patterns", then: table },
  { name: "changes", hash: "q=&from=now-1h&tab=changes", then: table },
  {
    name: "calendar",
    hash: "from=now-1h",
    then: async (page) => {
      await rows(page);
      await press(page, /Range:/);
      await press(page, "Choose days");
      await page.locator(".calendar").waitFor();
    },
  },
  { name: "live", hash: "q=level:error&live=1", then: rows },
  { name: "loading", hash: "q=level:error", before: held },
  { name: "too-slow", hash: "q=level:error", before: refused },
  {
    name: "away",
    hash: "q=level:error",
    before: away,
    then: (page) => page.getByText("cannot be reached").first().waitFor(),
  },
  {
    name: "help",
    hash: "q=&from=now-1h",
    then: async (page) => {
      await rows(page);
      await press(page, "Keys and queries");
      await dialog(page);
    },
  },
  {
    name: "empty-project",
    hash: "",
    as: "newcomer",
    then: async (page) => {
      await press(page, "Create a key and fill it in");
      await page.locator("code.secret").waitFor();
    },
    document: "console-empty",
  },
  { name: "errors", hash: "/errors", then: table },
  {
    name: "error",
    hash: "/errors",
    then: async (page) => {
      await page.locator("main tbody .card-title").first().click();
      await page.locator(".u-over").waitFor();
    },
  },
  // The incidents may be over before the last pictures are taken.
  { name: "alerts", hash: "/alerts?state=all", then: table },
  {
    name: "alert-preview",
    hash: "/alerts?tab=rules",
    then: async (page) => {
      await page.getByRole("button", { name: "Payments fail" }).click();
      await page.getByText(/it would have fired/).waitFor();
    },
    document: "console-alert",
  },
  {
    name: "deliveries",
    hash: "/alerts?tab=rules",
    then: async (page) => {
      const rule = page.getByRole("row").filter({ hasText: "Payments fail" });
      await rule.getByRole("button", { name: "Deliveries" }).click();
      await page.getByRole("dialog").locator("tbody tr").first().waitFor();
    },
  },
  {
    name: "incident",
    hash: "/alerts?state=all",
    then: async (page) => {
      await page.locator("main tbody .card-title").first().click();
      await page.locator(".incident-facts").waitFor();
    },
  },
  { name: "rules", hash: "/alerts?tab=rules", then: table },
  { name: "history", hash: "/alerts?tab=history", then: table },
  { name: "channels", hash: "/alerts?tab=channels", then: table },
  { name: "silences", hash: "/alerts?tab=silences", then: table },
  { name: "dashboards", hash: "/dashboards", then: table },
  {
    name: "dashboard",
    hash: "/dashboards",
    then: async (page) => {
      await page.getByRole("button", { name: "Shop", exact: true }).click();
      await page.locator(".panels .u-over").first().waitFor();
    },
  },
  {
    name: "palette",
    hash: "/keys",
    then: async (page) => {
      await table(page);
      await page.keyboard.press("Control+k");
      await dialog(page);
    },
  },
  { name: "saved", hash: "/saved", then: (page) => page.locator(".card").first().waitFor() },
  {
    name: "saved-dialog",
    hash: "/saved",
    then: async (page) => {
      await page.getByRole("button", { name: "Change Card processor" }).click();
      await dialog(page);
    },
  },
  { name: "keys", hash: "/keys", then: table },
  {
    name: "key-rotate",
    hash: "/keys",
    then: async (page) => {
      await page.getByRole("button", { name: "Rotate" }).first().click();
      await dialog(page);
    },
  },
  { name: "usage", hash: "/usage", then: (page) => page.locator("main h2").first().waitFor() },
  { name: "health", hash: "/health", then: (page) => page.locator("main h2").first().waitFor() },
  {
    name: "settings",
    hash: "/settings",
    then: (page) => page.locator("main h2").first().waitFor(),
  },
  { name: "streams", hash: "/settings?tab=streams", then: table },
  {
    name: "stream-change",
    hash: "/settings?tab=streams",
    then: async (page) => {
      await page.getByRole("button", { name: "Warehouse" }).click();
      await dialog(page);
    },
  },
  {
    name: "archive",
    hash: "/settings?tab=archive",
    then: (page) => page.getByText("Nothing is archived yet").waitFor(),
  },
  { name: "members", hash: "/members", then: table },
  {
    name: "member-new",
    hash: "/members",
    then: async (page) => {
      await press(page, "Add a member");
      await dialog(page);
    },
  },
  {
    name: "user-menu",
    hash: "/keys",
    then: async (page) => {
      await table(page);
      await press(page, "User and display");
    },
  },
  ...["overview", "dashboards", "alerts", "saved", "keys", "usage", "settings", "members"].map(
    (screen): Shot => ({ name: `${screen}-empty`, hash: `/${screen}`, as: "newcomer" }),
  ),
  { name: "keys-loading", hash: "/keys", before: held },
  { name: "sign-in", hash: "", as: "nobody" },
  { name: "no-tenant", hash: "", as: "without-tenant" },
];
