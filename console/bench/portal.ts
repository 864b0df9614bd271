/// <reference lib="dom" />
// @deno-types="../node_modules/playwright-core/index.d.ts"
import { type Browser, chromium } from "../node_modules/playwright-core/index.mjs";
import { headlessShell as executablePath } from "../../local/browser.ts";
import { portalOrigins } from "../../local/processes/gateway.ts";
import { checkout } from "../../local/stack.ts";

/** An application's page: one of the origins that may frame the portal on the local stack. */
const application = portalOrigins.find((one) => one.includes("127.0.0.1")) ?? "";

/** Milliseconds from adding the element to a page until its frame paints the first rows. */
export async function measurePortal(
  { url, token, count }: { url: string; token: string; count: number },
): Promise<number[]> {
  const element = await elementScript();
  const { hostname, port } = new URL(application);
  const server = Deno.serve({ hostname, port: Number(port), onListen: () => {} }, (request) => {
    const isScript = request.url.endsWith(".js");
    return new Response(isScript ? element : "<!doctype html><title>app</title>", {
      headers: { "Content-Type": isScript ? "text/javascript" : "text/html" },
    });
  });
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const times: number[] = [];
  try {
    for (let n = 0; n < count; n++) times.push(await firstRows(browser, url, token));
  } finally {
    await browser.close();
    await server.shutdown();
  }
  return times;
}

/** The element as a page loads it, compiled by the console's build tool. */
async function elementScript(): Promise<string> {
  const program = `import { readFile } from "node:fs/promises";
import { transformWithOxc } from "vite";
const file = "../packages/logloom/src/viewer/element.ts";
console.log((await transformWithOxc(await readFile(file, "utf8"), file)).code);`;
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: ["--input-type=module", "--eval", program],
    cwd: `${checkout}/console`,
  }).output();
  const decoder = new TextDecoder();
  if (code !== 0) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout);
}

/** Starts with an empty browser cache. */
async function firstRows(browser: Browser, url: string, token: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.addInitScript(() => {
      const found = (at: number) => Object.assign(globalThis, { firstRows: at });
      new MutationObserver((_, observer) => {
        if (!document.querySelector("[data-row]")) return;
        observer.disconnect();
        // A task queued by the next frame runs when that frame is painted.
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => found(performance.timeOrigin + performance.now());
          port2.postMessage(null);
        });
      }).observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${application}/`);
    const began = await page.evaluate(async ({ src, token }) => {
      const script = "/element.js";
      const { defineViewer } = await import(script);
      defineViewer();
      const viewer = document.createElement("logloom-viewer");
      viewer.setAttribute("src", src);
      viewer.setAttribute("range", "24h");
      Object.assign(viewer, { getToken: () => token });
      const now = performance.timeOrigin + performance.now();
      document.body.append(viewer);
      return now;
    }, { src: `${url}/portal.html`, token });
    await page.frameLocator("iframe").locator("[data-row]").first().waitFor();
    const frame = page.frames().find((one) => one.url().startsWith(url));
    await frame?.waitForFunction(() => "firstRows" in globalThis);
    const painted = await frame?.evaluate(() =>
      (globalThis as unknown as { firstRows: number }).firstRows
    );
    return (painted ?? NaN) - began;
  } finally {
    await context.close();
  }
}
