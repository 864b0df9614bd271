/// <reference lib="dom" />
// npm run console:shots [-- DIR]: a picture of every screen of the running local stack, in both themes and two widths.
// @deno-types="./node_modules/playwright-core/index.d.ts"
import { chromium, type Page } from "./node_modules/playwright-core/index.mjs";
import { Failure, run } from "../local/failure.ts";
import { installConsolePackages } from "../local/console.ts";
import { userToken } from "../local/keys.ts";
import { checkout, stackNamed } from "../local/stack.ts";
import { runningState } from "../local/state.ts";

interface Shot {
  name: string;
  hash: string;
  /** Brings the screen to what is to be seen. */
  then?: (page: Page) => Promise<void>;
  isNewTenant?: boolean;
}

const shots: Shot[] = [
  { name: "search", hash: "q=&from=now-24h" },
  {
    name: "record",
    hash: "q=level:error&from=now-24h",
    then: async (page) => {
      await page.locator("[data-row]").nth(2).click();
    },
  },
  { name: "numbers", hash: "q=%7C+count()+by+service&from=now-24h" },
  { name: "wrong-query", hash: "q=level:loud" },
  { name: "nothing-found", hash: "q=service:nobody&from=now-5m" },
  { name: "live", hash: "q=level:error&live=1" },
  { name: "empty-project", hash: "", isNewTenant: true },
  { name: "alerts", hash: "/alerts" },
  {
    name: "alert-preview",
    hash: "/alerts",
    then: async (page) => {
      await page.getByRole("button", { name: "Change" }).last().click();
      await page.waitForTimeout(2500);
    },
  },
  { name: "history", hash: "/history" },
  { name: "saved", hash: "/saved" },
  { name: "keys", hash: "/keys" },
  { name: "usage", hash: "/usage" },
  { name: "health", hash: "/health" },
  { name: "settings", hash: "/settings" },
  { name: "members", hash: "/members" },
];

await run(async () => {
  const state = await runningState(stackNamed("dev"));
  if (!state?.demo || !state.hasConsole) throw new Failure("No local stack is running: npm start.");
  await installConsolePackages("all");
  const folder = Deno.args[0] ?? `${checkout}/.logloom/shots`;
  await Deno.mkdir(folder, { recursive: true });
  const wanted = Deno.args.slice(1);
  const executablePath = Deno.env.get("LOGLOOM_CHROMIUM") ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  for (const theme of ["light", "dark"] as const) {
    for (const [width, height] of [[1440, 900], [390, 844]]) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        timezoneId: "UTC",
      });
      for (const shot of shots) {
        if (wanted.length > 0 && !wanted.includes(shot.name)) continue;
        const token = shot.isNewTenant
          ? userToken(crypto.randomUUID(), `new-${crypto.randomUUID()}`)
          : state.demo.userTokens[0];
        const page = await context.newPage();
        await page.goto(`${state.url}/#token=${token}`);
        await page.waitForSelector(".shell");
        await page.evaluate((hash) => {
          location.hash = hash;
        }, shot.hash);
        await page.waitForLoadState("networkidle", { timeout: 8000 }).catch(() => {});
        await page.waitForTimeout(800);
        await shot.then?.(page);
        await page.waitForTimeout(600);
        await page.screenshot({ path: `${folder}/${shot.name}-${theme}-${width}.png` });
        await page.close();
      }
      await context.close();
    }
  }
  await browser.close();
  console.log(`The pictures are in ${folder}.`);
});
