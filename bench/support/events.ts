import { Failure } from "../../local/exit_on_failure.ts";

export type Event = Record<string, unknown>;

/** Reads the events of a file (NDJSON, .gz too). Without a file, generates events of the same kinds. */
export async function loadEvents(path: string | undefined): Promise<Event[]> {
  if (!path) return makeEvents(20_000);
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Failure(`There is no file ${path}.`);
  }
  const bytes = path.endsWith(".gz")
    ? file.readable.pipeThrough(new DecompressionStream("gzip"))
    : file.readable;
  const text = await new Response(bytes).text();
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Event);
}

export interface Body {
  events: number;
  bytes: number;
  /** Gives a body current times: its events are spread over the last second. */
  stamped(): Uint8Array;
}

/** Makes bodies of at most `limit` bytes. Each event has a `ts`. */
export function makeBodies(events: Event[], limit: number): Body[] {
  const bodies: Body[] = [];
  const encoder = new TextEncoder();
  const anyTime = new Date(0).toISOString();
  let parts: string[] = [];
  let places: number[] = [];
  let size = 2;
  const flush = () => {
    bodies.push(stampable(encoder.encode(`[${parts.join(",")}]`), places));
    parts = [];
    places = [];
    size = 2;
  };
  for (const event of events) {
    const text = JSON.stringify({ ts: anyTime, ...event, ...("ts" in event && { ts: anyTime }) });
    const bytes = encoder.encode(text).length + 1;
    if (size + bytes > limit) flush();
    places.push(size - 1 + '{"ts":"'.length);
    parts.push(text);
    size += bytes;
  }
  if (parts.length > 0 && bodies.length === 0) flush();
  return bodies;
}

/** `places`: the positions of the events' times in the body. */
function stampable(body: Uint8Array, places: number[]): Body {
  const encoder = new TextEncoder();
  return {
    events: places.length,
    bytes: body.length,
    stamped() {
      const sent = body.slice();
      const now = Date.now();
      let time = new Uint8Array();
      let timeMs = 0;
      for (const [n, place] of places.entries()) {
        const ms = now - 1000 + Math.floor((n * 1000) / places.length);
        if (ms !== timeMs) time = encoder.encode(new Date(ms).toISOString());
        timeMs = ms;
        sent.set(time, place);
      }
      return sent;
    },
  };
}

function makeEvents(count: number): Event[] {
  const services = ["api", "web", "worker", "openssh", "billing", "search"];
  const messages = [
    (n: number) => `GET /images/${n % 97}.png 200`,
    (n: number) =>
      `Failed password for invalid user admin${n % 31} from 10.0.${n % 256}.7 port ${n}`,
    (n: number) =>
      `Finished task ${n}.0 in stage ${n % 40}.0 (TID ${n}). 2703 bytes sent to driver`,
    (n: number) =>
      `Receiving block blk_${n * 7919} src: /10.0.0.${n % 250}:54106 dest: /10.0.0.1:50010`,
    (n: number) => `connection refused by upstream db-${n % 9} after ${n % 3000} ms`,
  ];
  const levels = ["info", "info", "info", "info", "debug", "warn", "error"];
  return Array.from({ length: count }, (_, n) => ({
    level: levels[n % levels.length],
    msg: messages[n % messages.length](n),
    service: services[n % services.length],
    env: "prod",
    host: `${services[n % services.length]}-${n % 12}`,
    attrs: { template: `E${n % 120}`, pid: n % 32768, component: "node", bytes: (n * 37) % 90_000 },
  }));
}
