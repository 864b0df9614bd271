/// <reference lib="dom" />
// @deno-types="../node_modules/playwright-core/index.d.ts"
import { chromium, type Page } from "../node_modules/playwright-core/index.mjs";
import { headlessShell as executablePath } from "../../local/browser.ts";

export interface Drawing {
  /** Milliseconds from the end of each answer until its rows are painted. */
  searches: number[];
  /** The page's processor time in that interval, which other work on the machine does not change. */
  searchesCpu: number[];
  /** Milliseconds between two frames of a scroll through the live rows. */
  frames: number[];
  /** The longest task of the page's main thread during the scroll, in milliseconds. */
  longestTask: number;
  /** The most processor time that one task took, in milliseconds. */
  longestTaskCpu: number;
}

const categories = [
  "devtools.timeline",
  "disabled-by-default-devtools.timeline.frame",
  "blink.user_timing",
  "toplevel",
  "__metadata",
];

/** Traces Chromium during searches with 100 rows and during a scroll through 5,000 live rows. */
export async function measureDrawing(
  { url, token, queries, send }: {
    url: string;
    token: string;
    queries: string[];
    /** Sends about this many events. */
    send: (count: number) => Promise<void>;
  },
): Promise<Drawing> {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(120_000);
    await page.addInitScript(() =>
      localStorage.setItem("logloom-preferences", JSON.stringify({ knowsItsWay: true }))
    );
    await page.goto(`${url}/#token=${token}`);
    await page.locator(".shell").waitFor();
    await page.evaluate(() => {
      location.hash = "/search";
    });
    await page.locator("[data-row]").first().waitFor();
    const traced = async (act: () => Promise<void>) => {
      await browser.startTracing(page, { categories });
      await act();
      const text = new TextDecoder().decode(await browser.stopTracing());
      return (JSON.parse(text) as { traceEvents: TraceEvent[] }).traceEvents;
    };
    const ofSearches = searchesIn(await traced(() => search(page, queries)));

    await fillLiveView(page, send);
    return { ...ofSearches, ...scrollIn(await traced(() => scroll(page))) };
  } finally {
    await browser.close();
  }
}

/** Runs the queries one after another and marks when each one's rows are painted. */
async function search(page: Page, queries: string[]): Promise<void> {
  await page.evaluate(() => {
    new MutationObserver((changes) => {
      const isRow = (node: Node) => node instanceof Element && node.matches(".row-place");
      if (!changes.some(({ addedNodes }) => [...addedNodes].some(isRow))) return;
      // A task queued by the next frame runs when that frame is painted.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => performance.mark("painted");
        port2.postMessage(null);
      });
    }).observe(document.body, { childList: true, subtree: true });
  });
  for (const query of queries) {
    const answered = page.waitForResponse((response) => response.url().endsWith("/search_logs"));
    await page.evaluate((text) => {
      location.hash = `q=${encodeURIComponent(text)}&from=now-24h`;
    }, query);
    await answered;
    await page.locator("[data-row]").first().waitFor();
    // Charts and fields are drawn too, so the next search starts on an idle page.
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(400);
  }
}

async function fillLiveView(page: Page, send: (count: number) => Promise<void>): Promise<void> {
  await page.evaluate(() => {
    location.hash = "live=1";
  });
  await page.getByText("Following new records.").waitFor();
  await send(12_000);
  await page.getByText("Only the last 5,000 are shown.").waitFor();
  // Everything has arrived once the newest row no longer changes.
  const newest = () => page.locator("[data-row]").first().getAttribute("data-row");
  for (let before = ""; before !== await newest();) {
    before = await newest() ?? "";
    await page.waitForTimeout(3000);
  }
}

/** Scrolls with the wheel from the newest row to the oldest, and half the way back. */
async function scroll(page: Page): Promise<void> {
  const rows = await page.locator(".rows").boundingBox();
  if (!rows) throw new Error("there are no rows");
  await page.mouse.move(rows.x + rows.width / 2, rows.y + rows.height / 2);
  for (let step = 0; step < 260; step++) await page.mouse.wheel(0, step < 180 ? 650 : -650);
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  ts: number;
  dur?: number;
  tdur?: number;
  args: { name?: string; data?: { requestId?: string; url?: string } };
}

const ms = (microseconds: number) => microseconds / 1000;

function searchesIn(events: TraceEvent[]): Pick<Drawing, "searches" | "searchesCpu"> {
  const asked = new Set(
    events.filter(({ name, args }) =>
      name === "ResourceSendRequest" && args.data?.url?.endsWith("/search_logs")
    ).map(({ args }) => args.data?.requestId),
  );
  const painted = events.filter(({ name }) => name === "painted").map(({ ts }) => ts);
  const tasks = tasksIn(events);
  const waits = events.filter(({ name, args }) =>
    name === "ResourceFinish" && asked.has(args.data?.requestId)
  ).map(({ ts }) => [ts, Math.min(...painted.filter((at) => at > ts))] as const)
    .filter(([, until]) => Number.isFinite(until));
  return {
    searches: waits.map(([from, until]) => ms(until - from)),
    searchesCpu: waits.map(([from, until]) =>
      ms(
        tasks.filter(({ ts }) => ts >= from && ts < until)
          .reduce((sum, { tdur = 0 }) => sum + tdur, 0),
      )
    ),
  };
}

function scrollIn(events: TraceEvent[]): Omit<Drawing, "searches" | "searchesCpu"> {
  const pid = mainThread(events)?.pid;
  const drawn = events.filter((event) => event.name === "DrawFrame" && event.pid === pid)
    .map(({ ts }) => ts).toSorted((a, b) => a - b);
  const tasks = tasksIn(events);
  return {
    frames: drawn.slice(1).map((ts, i) => ms(ts - (drawn[i] ?? ts))),
    longestTask: Math.max(...tasks.map(({ dur }) => ms(dur ?? 0))),
    longestTaskCpu: Math.max(...tasks.map(({ tdur }) => ms(tdur ?? 0))),
  };
}

/** The tasks of the page's main thread. */
function tasksIn(events: TraceEvent[]): TraceEvent[] {
  const main = mainThread(events);
  return events.filter(({ name, pid, tid }) =>
    name.endsWith("RunTask") && pid === main?.pid && tid === main?.tid
  );
}

function mainThread(events: TraceEvent[]): TraceEvent | undefined {
  return events.find(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
}
