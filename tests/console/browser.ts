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
  /** The fragment to open: the search by default; "" for the page's first screen. */
  hash?: string;
  theme?: "light" | "dark";
  width?: number;
  height?: number;
  /** Matches failures that this test provokes: requests, or lines of the browser's console. */
  expected?: RegExp;
  url?: string;
  timezone?: string;
  /** The reader's locale. */
  locale?: string;
  /** A first visit, with its notes. */
  isFirstVisit?: boolean;
  /** Runs before the page opens, for example to route requests. */
  prepare?: (page: Page) => Promise<unknown>;
}

/** A name for the stack that is not localhost, so that browsers treat the page as insecure. */
export const plainHost = "logloom.test";

/** A test in the browser that all tests of a file share, so its resources outlive the test. */
export function inBrowser(name: string, test: () => Promise<void>): void {
  const fn = () => test().catch((error) => Promise.reject(withItsCauses(error)));
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });
}

/** Deno shows no causes of a SuppressedError, which a test throws that fails and whose tab fails, too. */
function withItsCauses(error: unknown): unknown {
  const causes = (of: unknown): unknown[] =>
    of instanceof SuppressedError ? [...causes(of.suppressed), of.error] : [of];
  return error instanceof SuppressedError
    ? new AggregateError(causes(error), error.message)
    : error;
}

/** Opens a browser. Errors and failed requests in its pages fail the test. */
export async function openBrowser() {
  const browser: Browser = await chromium.launch({
    executablePath,
    timeout: patience,
    args: ["--no-sandbox", `--host-resolver-rules=MAP ${plainHost} 127.0.0.1`],
  });

  /** Opens a tab that shares nothing with other tabs. */
  async function open(token: string | null, options: Options = {}) {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
      colorScheme: options.theme ?? "light",
      timezoneId: options.timezone ?? "UTC",
      locale: options.locale,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    // A busy machine must not fail the test.
    page.setDefaultTimeout(patience);
    const faults: string[] = [];
    const note = (fault: string) => {
      // Several tabs may exceed the tenant's searches at once. The page retries.
      if (/status (of )?429/.test(fault)) return;
      if (!options.expected?.test(fault)) faults.push(fault);
    };
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) note(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => note(`error: ${error.message}`));
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "";
      // The page cancels requests that it no longer needs.
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
        // A handler may still fetch for a request that the test does not await.
        await page.unrouteAll({ behavior: "ignoreErrors" });
        await context.close();
        for (const fault of faults) console.log(`fault: ${fault}`);
        assert.deepEqual(faults, [], "only expected failures");
      },
    };
  }
  return { open, [Symbol.asyncDispose]: () => browser.close() };
}

interface AxeResult {
  violations: { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }[];
}

/** What axe-core finds on the page: WCAG 2.2 A and AA, and best practices. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // The page's policy forbids other scripts, but does not bind the debugger.
  await page.evaluate(await Deno.readTextFile(axe));
  const result = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run: () => Promise<unknown> } }).axe.run()
  ) as AxeResult;
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`)
  );
}
