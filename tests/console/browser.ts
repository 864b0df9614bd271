/// <reference lib="dom" />
import assert from "node:assert/strict";
// @deno-types="../../console/node_modules/playwright-core/index.d.ts"
import {
  type Browser,
  chromium,
  type Locator,
  type Page,
} from "../../console/node_modules/playwright-core/index.mjs";
import { headlessShell as executablePath } from "../../local/browser.ts";
import { patience } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";

const axe = new URL("../../console/node_modules/axe-core/axe.min.js", import.meta.url);

export type { Locator, Page };

export interface Options {
  /** Where to begin: the search unless told otherwise; the page's own beginning is "". */
  hash?: string;
  theme?: "light" | "dark";
  width?: number;
  height?: number;
  /** Failures that this test provokes: a request, or a line of the browser's console, with this text. */
  expected?: RegExp;
  url?: string;
  timezone?: string;
  /** The language of the reader. */
  locale?: string;
  /** Somebody who was never here, whom notes explain the page. */
  isFirstVisit?: boolean;
  /** Before the page is opened: routes that answer in the service's place. */
  prepare?: (page: Page) => Promise<unknown>;
}

/** A name of the stack that is not the machine's own: over plain HTTP it gets what insecure pages get. */
export const plainHost = "logloom.test";

/** A test in a browser that outlives it, since the tests of a file share one. */
export function inBrowser(name: string, test: () => Promise<void>): void {
  Deno.test({ name, fn: test, sanitizeOps: false, sanitizeResources: false });
}

/** A browser whose pages fail the test on what no page should do. */
export async function openBrowser() {
  const browser: Browser = await chromium.launch({
    executablePath,
    timeout: patience,
    args: ["--no-sandbox", `--host-resolver-rules=MAP ${plainHost} 127.0.0.1`],
  });

  /** A tab of its own context: nothing is shared with another. */
  async function open(token: string | null, options: Options = {}) {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
      colorScheme: options.theme ?? "light",
      timezoneId: options.timezone ?? "UTC",
      locale: options.locale,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    // A busy machine is no failure: what never comes fails all the same.
    page.setDefaultTimeout(patience);
    const faults: string[] = [];
    const note = (fault: string) => {
      // Several tabs of a tenant may ask too much at once: the page waits and asks again.
      if (/status (of )?429/.test(fault)) return;
      if (!options.expected?.test(fault)) faults.push(fault);
    };
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) note(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => note(`error: ${error.message}`));
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "";
      // The page takes back what it does not need any more.
      if (reason !== "net::ERR_ABORTED") note(`failed: ${request.url()} ${reason}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) note(`status ${response.status()}: ${response.url()}`);
    });
    await page.addInitScript((isFirstVisit) => {
      const kept = "logloom-preferences";
      if (!isFirstVisit && !localStorage.getItem(kept)) {
        localStorage.setItem(kept, JSON.stringify({ knowsItsWay: true }));
      }
    }, options.isFirstVisit ?? false);
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    await options.prepare?.(page);
    const url = options.url ?? `${stack.url}/`;
    await page.goto(token === null ? url : `${url}#token=${token}`);
    if (token !== null) await page.waitForSelector(".shell");
    const hash = options.hash ?? (token === null ? "" : "/search");
    if (hash !== "") {
      await page.evaluate((to) => {
        location.hash = to;
      }, hash);
    }
    return {
      page,
      faults,
      async [Symbol.asyncDispose]() {
        await context.close();
        for (const fault of faults) console.log(`fault: ${fault}`);
        assert.deepEqual(faults, [], "nothing fails that was not expected to");
      },
    };
  }
  return { open, [Symbol.asyncDispose]: () => browser.close() };
}

interface AxeResult {
  violations: { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }[];
}

/** What axe-core finds on a page as it is now: rules of WCAG 2.2 A and AA, and its best practices. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // The page's policy forbids scripts of others; the debugger is not bound by it.
  await page.evaluate(await Deno.readTextFile(axe));
  const result = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run: () => Promise<unknown> } }).axe.run()
  ) as AxeResult;
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`)
  );
}
