/// <reference lib="dom" />
// @deno-types="../node_modules/playwright-core/index.d.ts"
import { type Browser, chromium } from "../node_modules/playwright-core/index.mjs";
import { headlessShell as executablePath, installBrowser } from "../../local/browser.ts";
import { buildConsole, publishConsole } from "../../local/build_console.ts";
import { Failure } from "../../local/exit_on_failure.ts";
import { userToken } from "../../local/signing_keys.ts";
import { checkout, stackNamed } from "../../local/stack.ts";
import { runningState } from "../../local/stack_state.ts";
import { prepareSystem } from "../../local/system.ts";
import { firedAlerts, furnishedTenant, tenantOf } from "./tenant.ts";
import { type Shot, shots } from "./shots.ts";

const folder = `${checkout}/.logloom/shots`;
const images = `${checkout}/docs/images`;
const sizes = [{ width: 1440, height: 900 }, { width: 390, height: 844 }];
/** The size of pictures in the docs. */
const documentSize = { width: 1280, height: 760 };

/** Takes the named pictures, or all of them. */
export async function takePictures(names: string[]): Promise<void> {
  const stack = stackNamed("dev");
  const state = await runningState(stack);
  if (!state?.hasConsole) {
    throw new Failure("No local stack is running: npm start.");
  }
  const unknown = names.filter((name) => !shots.some((shot) => shot.name === name));
  if (unknown.length > 0) {
    throw new Failure(`There is no picture ${unknown.join(", ")}.`);
  }
  const wanted = shots.filter(({ name }) => names.length === 0 || names.includes(name));
  await Deno.mkdir(folder, { recursive: true });
  const progress = (step: string) => console.log(`  ${step} …`);
  await installBrowser(executablePath, progress);
  await buildConsole(progress);
  await publishConsole(await prepareSystem(progress), stack);
  progress("Sending a day of logs");
  const tenant = await furnishedTenant(state.url);
  if (wanted.some(({ name }) => ["alerts", "incident", "deliveries", "history"].includes(name))) {
    progress("Waiting for the rules to fire");
    await firedAlerts(tenant);
  }

  // The docs show the port of a stack without an offset.
  const usual = "127.0.0.1:54321";
  const rule = `MAP ${usual} ${new URL(state.url).host}`;
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", `--host-resolver-rules=${rule}`],
  });
  const addresses = {
    member: () => `#token=${tenant.token}`,
    newcomer: () => `#token=${tenantOf(state.url, `new-${crypto.randomUUID()}`).token}`,
    nobody: () => "",
    "without-tenant": () => `#token=${userToken(crypto.randomUUID(), "")}`,
  };
  const address = ({ as }: Shot) => `http://${usual}/${addresses[as ?? "member"]()}`;
  try {
    for (const theme of ["light", "dark"] as const) {
      for (const size of sizes) {
        progress(`Taking pictures, ${theme}, ${size.width} wide`);
        for (const shot of wanted) {
          const png = await picture(browser, shot, address(shot), theme, size);
          await Deno.writeFile(`${folder}/${shot.name}-${theme}-${size.width}.png`, png);
        }
      }
    }
    for (const shot of wanted) {
      if (shot.document === undefined) continue;
      const png = await picture(browser, shot, address(shot), "light", documentSize);
      await Deno.writeFile(`${images}/${shot.document}.webp`, await webp(browser, png));
    }
  } finally {
    await browser.close();
  }
  console.log(`The pictures are in ${folder}.`);
}

async function picture(
  browser: Browser,
  shot: Shot,
  address: string,
  colorScheme: "light" | "dark",
  viewport: { width: number; height: number },
): Promise<Uint8Array> {
  const context = await browser.newContext({ viewport, colorScheme, timezoneId: "UTC" });
  try {
    const page = await context.newPage();
    // A busy machine must not fail the run.
    page.setDefaultTimeout(90_000);
    await page.addInitScript(() =>
      localStorage.setItem("logloom-preferences", JSON.stringify({ knowsItsWay: true }))
    );
    await shot.before?.(page);
    await page.goto(address);
    await page.waitForSelector(
      shot.as === "nobody" || shot.as === "without-tenant" ? ".gate" : ".shell",
    );
    await page.evaluate((hash) => {
      location.hash = hash;
    }, shot.hash);
    await shot.then?.(page);
    // Wait for charts, counts and hover effects.
    await page.waitForLoadState("networkidle", { timeout: 2500 }).catch(() => {});
    await page.waitForTimeout(400);
    return await page.screenshot();
  } catch (error) {
    throw new Failure(`${shot.name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await context.close();
  }
}

/** Encodes as WebP with the browser's encoder: a quarter of the size of PNG, and text stays sharp. */
export async function webp(browser: Browser, png: Uint8Array): Promise<Uint8Array> {
  const page = await browser.newPage();
  const encoded = await page.evaluate(async (bytes) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(bytes)]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.8 });
    return [...new Uint8Array(await blob.arrayBuffer())];
  }, [...png]);
  await page.close();
  return Uint8Array.from(encoded);
}
