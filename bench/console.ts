import { buildConsole, installConsolePackages, publishConsole } from "../local/build_console.ts";
import { headlessShell, installBrowser } from "../local/browser.ts";
import { userToken } from "../local/signing_keys.ts";
import { portalOrigins } from "../local/processes/gateway.ts";
import { prepareSystem } from "../local/system.ts";
import { createKey, post } from "./ingest/requests.ts";
import { drain } from "./ingest/writer.ts";
import { type Event, loadEvents, makeBodies } from "./support/events.ts";
import { type Figure, percentile, printFigures } from "./support/report.ts";
import { startBenchStack, step } from "./support/stack.ts";

/** Measures with Chromium's tracing how soon the console shows an answer, and how smoothly it scrolls. */
export async function run(): Promise<void> {
  await installConsolePackages("all");
  await installBrowser(headlessShell, step);
  await buildConsole(step);
  // The browser driver is one of the console's packages, which are installed only now.
  const { measureDrawing } = await import(
    new URL("../console/bench/drawing.ts", import.meta.url).href
  );
  await using bench = await startBenchStack();
  await publishConsole(await prepareSystem(step), bench.stack);
  const key = await createKey(bench, "bench");
  const events = await loadEvents(undefined);
  const send = async (some: Event[]) => {
    for (const body of makeBodies(some, 490_000)) {
      const response = await post(`${bench.state.url}/functions/v1/ingest`, key, body.stamped());
      await response.body?.cancel();
    }
  };
  await send(events);
  await drain(bench);
  step("Searching and scrolling");
  const services = ["api", "web", "worker", "openssh", "billing", "search"];
  const { searches, searchesCpu, frames, longestTask, longestTaskCpu } = await measureDrawing({
    url: bench.state.url,
    token: userToken(crypto.randomUUID(), "bench"),
    queries: [0, 1, 2].flatMap((round) =>
      services.map((service) => `service:${service}${" -level:debug".repeat(round)}`)
    ),
    send: (count: number) => send(events.slice(0, count)),
  });
  step("Opening the portal");
  const { measurePortal } = await import(
    new URL("../console/bench/portal.ts", import.meta.url).href
  );
  const { token } = await tokenOfSession(bench.state);
  const openings: number[] = await measurePortal({ url: bench.state.url, token, count: 10 });
  const figure = (name: string, value: number, most?: number): Figure => ({
    name,
    value: value.toFixed(0),
    ...most !== undefined && { limit: `≤ ${most}`, holds: value <= most },
  });
  const figures: Figure[] = [
    figure("rows painted after the answer, ms, p50", percentile(searches, 0.5)),
    figure(`… p95 of ${searches.length} searches of 100 rows`, percentile(searches, 0.95), 150),
    figure("… of that the page's processor time, ms, p95", percentile(searchesCpu, 0.95), 150),
    figure("frames while 5,000 live rows scroll, ms, p50", percentile(frames, 0.5)),
    figure("… p99", percentile(frames, 0.99)),
    figure(`… longest of ${frames.length}`, Math.max(...frames), 50),
    figure("longest work of the page meanwhile, ms", longestTask),
    figure("… processor time, ms", longestTaskCpu, 50),
    figure("portal: first rows after the element appears, ms, p50", percentile(openings, 0.5)),
    figure(
      `… p95 of ${openings.length}, nothing in the browser's cache`,
      percentile(openings, 0.95),
      1000,
    ),
  ];
  printFigures("Console, in Chromium", figures);
}

/** Creates a portal session, as a customer's backend does, and returns its token. */
async function tokenOfSession(
  { url, serviceRoleKey }: { url: string; serviceRoleKey: string },
): Promise<{ token: string }> {
  const response = await fetch(`${url}/rest/v1/rpc/create_log_portal_session`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${serviceRoleKey}` },
    body: JSON.stringify({ p_tenant_id: "bench", p_origins: portalOrigins }),
  });
  return await response.json();
}
