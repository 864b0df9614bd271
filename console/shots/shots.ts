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
  readonly before?: Step;
  /** Brings the screen into the state to show and waits for it. */
  readonly then?: Step;
  /** The picture's name in the docs. */
  readonly document?: string;
}

type Step = (page: Page) => Promise<unknown>;

const steps = (...all: Step[]): Step => async (page) => {
  for (const step of all) await step(page);
};
const seen = (what: string): Step => (page) => page.locator(what).first().waitFor();
const clicked = (what: string): Step => (page) => page.locator(what).first().click();
const pressed = (name: string | RegExp): Step => (page) =>
  page.getByRole("button", { name }).first().click();
const told = (text: string | RegExp): Step => (page) => page.getByText(text).first().waitFor();
const rows = seen("[data-row]");
const table = seen("main tbody tr");
const dialog: Step = (page) => page.getByRole("dialog").waitFor();
const secondRow: Step = (page) => page.locator("[data-row]").nth(1).click();

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
    then: steps(rows, secondRow, seen(".detail")),
  },
  {
    name: "context",
    hash: "q=service:checkout+level:error&from=now-1h",
    then: steps(rows, secondRow, pressed(/^Context/), seen(".context-rows li.this")),
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
  { name: "one-number", hash: "q=level:error+%7C+count()&from=now-24h", then: seen(".single") },
  { name: "wrong-query", hash: "q=level:loud", then: seen("[data-testid=query-error]") },
  { name: "nothing-found", hash: "q=service:nobody&from=now-5m", then: told("Nothing found") },
  { name: "patterns", hash: "q=&from=now-6h&tab=patterns", then: table },
  { name: "changes", hash: "q=&from=now-1h&tab=changes", then: table },
  {
    name: "calendar",
    hash: "from=now-1h",
    then: steps(rows, pressed(/Range:/), pressed("Choose days"), seen(".calendar")),
  },
  { name: "live", hash: "q=level:error&live=1", then: rows },
  { name: "loading", hash: "q=level:error", before: held },
  { name: "too-slow", hash: "q=level:error", before: refused },
  { name: "away", hash: "q=level:error", before: away, then: told("cannot be reached") },
  { name: "help", hash: "q=&from=now-1h", then: steps(rows, pressed("Keys and queries"), dialog) },
  {
    name: "empty-project",
    hash: "",
    as: "newcomer",
    then: steps(pressed("Create a key and fill it in"), seen("code.secret")),
    document: "console-empty",
  },
  { name: "errors", hash: "/errors", then: table },
  {
    name: "error",
    hash: "/errors",
    then: steps(clicked("main tbody .card-title"), seen(".u-over")),
  },
  // The incidents may be over before the last pictures are taken.
  { name: "alerts", hash: "/alerts?state=all", then: table },
  {
    name: "alert-preview",
    hash: "/alerts?tab=rules",
    then: steps(pressed("Payments fail"), told(/it would have fired/)),
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
    then: steps(clicked("main tbody .card-title"), seen(".incident-facts")),
  },
  { name: "rules", hash: "/alerts?tab=rules", then: table },
  { name: "history", hash: "/alerts?tab=history", then: table },
  { name: "channels", hash: "/alerts?tab=channels", then: table },
  { name: "silences", hash: "/alerts?tab=silences", then: table },
  { name: "dashboards", hash: "/dashboards", then: table },
  {
    name: "dashboard",
    hash: "/dashboards",
    then: steps(pressed(/^Shop$/), seen(".panels .u-over")),
  },
  {
    name: "palette",
    hash: "/keys",
    then: steps(table, (page) => page.keyboard.press("Control+k"), dialog),
  },
  { name: "saved", hash: "/saved", then: seen(".card") },
  { name: "saved-dialog", hash: "/saved", then: steps(pressed("Change Card processor"), dialog) },
  { name: "keys", hash: "/keys", then: table },
  { name: "key-rotate", hash: "/keys", then: steps(pressed("Rotate"), dialog) },
  { name: "usage", hash: "/usage", then: seen("main h2") },
  { name: "health", hash: "/health", then: seen("main h2") },
  { name: "settings", hash: "/settings", then: seen("main h2") },
  { name: "streams", hash: "/settings?tab=streams", then: table },
  {
    name: "stream-change",
    hash: "/settings?tab=streams",
    then: steps(pressed("Warehouse"), dialog),
  },
  { name: "archive", hash: "/settings?tab=archive", then: told("Nothing is archived yet") },
  { name: "members", hash: "/members", then: table },
  { name: "member-new", hash: "/members", then: steps(pressed("Add a member"), dialog) },
  { name: "user-menu", hash: "/keys", then: steps(table, pressed("User and display")) },
  ...["overview", "dashboards", "alerts", "saved", "keys", "usage", "settings", "members"].map(
    (screen): Shot => ({ name: `${screen}-empty`, hash: `/${screen}`, as: "newcomer" }),
  ),
  { name: "keys-loading", hash: "/keys", before: held },
  { name: "sign-in", hash: "", as: "nobody" },
  { name: "no-tenant", hash: "", as: "without-tenant" },
];
