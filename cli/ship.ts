import { isAbsolute, join } from "node:path";
import { Failure, sentence } from "../local/failure.ts";
import { environment, localStack, namedUrl } from "./client/target.ts";
import { parseOptions } from "./options.ts";
import { isOfShipper } from "./shipping/events.ts";
import { follow } from "./shipping/follow.ts";
import { readLines } from "./shipping/lines.ts";
import { createProgress, type Extent } from "./shipping/progress.ts";
import { createSender } from "./shipping/sender.ts";
import { Shipper, type Source, type Totals } from "./shipping/shipper.ts";

const help = `Sends log files to Logloom: npm run ship -- [OPTIONS] [FILE…]

Without FILE, or with -, it reads standard input. A line with a JSON object is an event, any other
line is a message. Files may be compressed with gzip.

  --follow FILE          send new lines of FILE, through rotation and truncation
  --from-start           with --follow: begin with the existing lines
  --url URL              the project's address; else LOGLOOM_URL, else the running local stack
  --key KEY              an API key; else LOGLOOM_API_KEY, else the local stack's demo key
  --service NAME         the service of events without one
  --host-name NAME       the host of events without one
  --env NAME             the env of events without one
  --parallel N           batches under way at once, 1 to 16 (default 2)
  --gzip                 compress requests
  --give-up-after S      how long to retry a batch, in seconds (default 600; --follow never gives up)

A file whose lines have their own times may be sent again: within a day nothing is stored twice.

Exit code: 0 all events were accepted, 2 some were rejected, 1 not all could be sent, also after
Ctrl-C.`;

const exitCodes = { accepted: 0, notSent: 1, rejected: 2 };

/** How long a stop waits for requests under way. */
const stopMs = 5000;

Deno.exit(await main());

async function main(): Promise<number> {
  let options: Options;
  let shipper: Shipper;
  const started = performance.now();
  let extent: Extent | undefined;
  const progress = createProgress(() => extent);
  const stop = new AbortController();
  try {
    options = readOptions(Deno.args);
    if (options.help) {
      console.log(help);
      return exitCodes.accepted;
    }
    const { url, apiKey } = await readTarget(options);
    shipper = new Shipper({
      send: createSender({
        url,
        apiKey,
        gzip: options.gzip,
        giveUpAfterMs: options.follow === undefined ? options.giveUpAfterMs : Infinity,
        wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        now: () => Date.now(),
        onRetry: (reason, delayMs) => progress.retry(reason, delayMs),
      }),
      parallel: options.parallel,
      defaults: options.defaults,
      isSkipped: options.follow === undefined ? () => false : isOfShipper,
      onProgress: (totals) => progress.show(totals),
    });
  } catch (error) {
    return complain(error);
  }

  const finished = (failure?: unknown): number => {
    progress.clear();
    report(shipper.totals, performance.now() - started);
    if (failure !== undefined) return complain(failure);
    return shipper.totals.rejected > 0 ? exitCodes.rejected : exitCodes.accepted;
  };
  const end = () => Deno.exit(finished(new Failure("stopped before all was sent.")));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      stop.abort();
      // Of a file the rest is not sent; what is followed ends with what was read.
      setTimeout(end, options.follow === undefined ? 0 : stopMs);
    });
  }
  try {
    extent = await extentOf(options);
    for await (const source of sources(options, stop.signal, extent)) await shipper.ship(source);
    await shipper.finish();
  } catch (error) {
    return finished(error);
  }
  return finished();
}

function complain(error: unknown): number {
  console.error(`logloom: ${sentence(error)}`);
  return exitCodes.notSent;
}

interface Options {
  readonly help: boolean;
  readonly files: readonly string[];
  readonly follow: string | undefined;
  readonly fromStart: boolean;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly gzip: boolean;
  readonly parallel: number;
  readonly giveUpAfterMs: number;
  readonly defaults: { readonly service?: string; readonly host?: string; readonly env?: string };
}

function readOptions(args: string[]): Options {
  const { values, positionals } = parseOptions({
    args,
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h" },
      follow: { type: "string" },
      "from-start": { type: "boolean" },
      url: { type: "string" },
      key: { type: "string" },
      service: { type: "string" },
      "host-name": { type: "string" },
      env: { type: "string" },
      parallel: { type: "string" },
      gzip: { type: "boolean" },
      "give-up-after": { type: "string" },
    },
  });
  if (values.follow !== undefined && positionals.length > 0) {
    throw new Failure("--follow takes its one file and no others.");
  }
  return {
    help: values.help ?? false,
    files: positionals.length > 0 ? positionals : ["-"],
    follow: values.follow,
    fromStart: values["from-start"] ?? false,
    url: values.url,
    key: values.key,
    gzip: values.gzip ?? false,
    parallel: wholeNumber("--parallel", values.parallel ?? "2", 1, 16),
    giveUpAfterMs: 1000 * wholeNumber(
      "--give-up-after",
      values["give-up-after"] ?? "600",
      0,
      86_400,
    ),
    defaults: {
      ...values.service !== undefined && { service: values.service },
      ...values["host-name"] !== undefined && { host: values["host-name"] },
      ...values.env !== undefined && { env: values.env },
    },
  };
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Failure(`${option} takes a whole number from ${least} to ${most}, not ${text}.`);
}

async function readTarget(options: Options): Promise<{ url: string; apiKey: string }> {
  const url = namedUrl(options.url);
  const apiKey = options.key ?? environment("LOGLOOM_API_KEY");
  if (url !== undefined && apiKey !== undefined) return { url, apiKey };
  // A key is only sent to its own project.
  if (url !== undefined) {
    throw new Failure("an API key is needed for that address: --key or LOGLOOM_API_KEY.");
  }
  const state = await localStack("--key");
  const localKey = apiKey ?? state.demo?.apiKey;
  if (localKey === undefined) {
    throw new Failure("the local stack has no demo key: name a key by --key or LOGLOOM_API_KEY.");
  }
  return { url: state.url, apiKey: localKey };
}

/** The size of the files; undefined where something has no known end. */
async function extentOf({ follow, files }: Options): Promise<Extent | undefined> {
  if (follow !== undefined || files.includes("-")) return undefined;
  let total = 0;
  for (const name of files) {
    const file = await Deno.stat(fromCaller(name)).catch(() => undefined);
    total += file?.size ?? 0;
  }
  return { read: 0, total };
}

async function* sources(
  options: Options,
  signal: AbortSignal,
  extent: Extent | undefined,
): AsyncGenerator<Source> {
  if (options.follow !== undefined) {
    const path = fromCaller(options.follow);
    const lines = follow({ path, fromStart: options.fromStart, pollMs: 250, signal });
    yield { name: options.follow, lines };
    return;
  }
  for (const name of options.files) {
    if (name === "-") yield { name: "standard input", lines: readLines(Deno.stdin.readable) };
    else yield { name, lines: readFile(name, extent), isFile: true };
  }
}

async function* readFile(name: string, extent: Extent | undefined): AsyncGenerator<string[]> {
  try {
    using file = await Deno.open(fromCaller(name));
    if ((await file.stat()).isDirectory) throw new Failure(`${name} is a folder.`);
    const counted = file.readable.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          if (extent !== undefined) extent.read += chunk.length;
          controller.enqueue(chunk);
        },
      }),
    );
    yield* readLines(counted);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Failure(`there is no file ${name}.`);
    throw error;
  }
}

/** npm runs scripts in the package's folder and names the caller's in INIT_CWD. */
function fromCaller(path: string): string {
  if (isAbsolute(path)) return path;
  const folder = Deno.env.get("INIT_CWD");
  return folder === undefined ? path : join(folder, path);
}

function report(totals: Totals, elapsedMs: number): void {
  const { accepted, rejected, bytes, batches, reasons } = totals;
  console.log(
    `${counted(accepted, "event", "events")} accepted, ${rejected.toLocaleString("en")} rejected ` +
      `(${(bytes / 1e6).toFixed(1)} MB in ${counted(batches, "batch", "batches")}, ` +
      `${(elapsedMs / 1000).toFixed(1)} s)`,
  );
  for (const reason of reasons) console.log(`  rejected: ${reason}`);
  const more = rejected - reasons.length;
  if (reasons.length > 0 && more > 0) console.log(`  and ${more.toLocaleString("en")} more`);
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
