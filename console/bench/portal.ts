/// <reference lib="dom" />
// @deno-types="../node_modules/playwright-core/index.d.ts"
import { type Browser, chromium } from "../node_modules/playwright-core/index.mjs";
// @deno-types="../node_modules/typescript/lib/typescript.d.ts"
import typescript from "../node_modules/typescript/lib/typescript.js";
import { chromium as executablePath } from "../../local/browser.ts";
import { portalOrigins } from "../../local/processes/gateway.ts";
import { checkout } from "../../local/stack.ts";

/** Milliseconds from the moment the element is put into a page until the first rows are painted in its frame. */
export async function measurePortal(
  { url, token, count }: { url: string; token: string; count: number },
): Promise<number[]> {
  const source = await Deno.readTextFile(`${checkout}/packages/logloom/src/viewer/element.ts`);
  const { ModuleKind, ScriptTarget } = typescript;
  const element = typescript.transpileModule(source, {
    compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 },
  }).outputText;
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const times: number[] = [];
  try {
    for (let n = 0; n < count; n++) times.push(await firstRows(browser, url, token, element));
  } finally {
    await browser.close();
  }
  return times;
}

/** In a browser that knows neither the page nor its files. */
async function firstRows(
  browser: Browser,
  url: string,
  token: string,
  element: string,
): Promise<number> {
  const [origin = ""] = portalOrigins;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    await page.route(
      `${origin}/**`,
      (route) =>
        route.request().url().endsWith(".js")
          ? route.fulfill({ contentType: "text/javascript", body: element })
          : route.fulfill({ contentType: "text/html", body: "<!doctype html><title>app</title>" }),
    );
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
    await page.goto(`${origin}/`);
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
