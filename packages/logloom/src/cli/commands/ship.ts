import { type FileHandle, open, stat } from "node:fs/promises";
import { exitCodes, Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { wholeNumber } from "../options.ts";
import { leave } from "../output.ts";
import { isOfShipper } from "../shipping/events.ts";
import { follow, isMissing, readLive } from "../shipping/follow.ts";
import { knownFile } from "../shipping/known_files.ts";
import { readLines, textIn } from "../shipping/split_lines.ts";
import { createProgress, type Extent } from "../shipping/progress.ts";
import { createSender } from "../shipping/sender.ts";
import { Shipper, type Source, type Totals } from "../shipping/shipper.ts";
import { readSender, type TargetOptions, withTarget } from "../project_options.ts";

interface Options extends TargetOptions {
  follow?: string;
  fromStart?: true;
  service?: string;
  hostName?: string;
  env?: string;
  parallel: string;
  gzip?: true;
  giveUpAfter: string;
  json?: true;
}

/** How long a stop waits for open requests. */
const stopMs = 5000;
/** How long a line of standard input waits for more lines before it is sent. */
const liveMs = 2000;

export function ship(cli: Cli): Command {
  return withTarget(newCommand(cli, "ship", "Sends log files, or standard input", {
    examples: [
      "--service web /var/log/app.log /var/log/app.log.1.gz",
      "--follow /var/log/app.log",
      "myapp | $ --service myapp",
    ],
    notes:
      `Without a file, or with -, it reads standard input. A line with a JSON object is an event; any
other line is a message, whose time and level are read. Files may be compressed with gzip. The API
key is that of the profile, or LOGLOOM_API_KEY.

A file whose lines have their own times may be sent again, also when it has grown: within a day
nothing is stored twice.`,
    exit: `0 all events were accepted, 2 some were rejected, 1 not all could be sent. Ctrl-C
leaves out the rest of a file (1); of standard input and --follow what was read is sent.`,
  }))
    .argument("[file...]", "the files")
    .option("--follow <file>", "send new lines of the file, through rotation and truncation")
    .option("--from-start", "with --follow: begin with the existing lines")
    .option("--service <name>", "the service of events without one")
    .option("--host-name <name>", "the host of events without one")
    .option("--env <name>", "the env of events without one")
    .option("--parallel <n>", "batches under way at once, 1 to 16", "2")
    .option("--gzip", "compress requests")
    .option("--give-up-after <s>", "seconds to retry a batch; --follow never gives up", "600")
    .option("--json", "the counts as a JSON object")
    .action(async (files: string[], options: Options) => {
      if (options.follow !== undefined && files.length > 0) {
        throw new Failure("--follow takes its one file and no others.");
      }
      await shipAll(cli, files.length > 0 ? files : ["-"], options);
    });
}

async function shipAll(cli: Cli, files: readonly string[], options: Options): Promise<void> {
  const { follow: followed, service, hostName: host, env } = options;
  const parallel = wholeNumber("--parallel", options.parallel, 1, 16);
  const giveUpAfterMs = 1000 * wholeNumber("--give-up-after", options.giveUpAfter, 0, 86_400);
  const started = performance.now();
  const extent = followed === undefined ? await extentOf(cli, files) : undefined;
  const progress = createProgress(() => extent);
  const shipper = new Shipper({
    send: createSender({
      ...await readSender(cli, options),
      gzip: options.gzip === true,
      giveUpAfterMs: followed === undefined ? giveUpAfterMs : Infinity,
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      now: () => Date.now(),
      onRetry: (reason, delayMs) => progress.retry(reason, delayMs),
    }),
    parallel,
    defaults: {
      ...service !== undefined && { service },
      ...host !== undefined && { host },
      ...env !== undefined && { env },
    },
    isSkipped: followed === undefined ? () => false : isOfShipper,
    onProgress: (totals) => progress.show(totals),
  });

  const tell = () => {
    progress.clear();
    report(shipper.totals, performance.now() - started, options.json === true);
  };
  const end = () => {
    tell();
    console.error("logloom: stopped before all was sent.");
    return leave(exitCodes.failed);
  };
  // When it is interrupted, `ship` stops reading files, which can be sent again. Standard input cannot be read again,
  // so all lines that were read are sent.
  let isFile = false;
  cli.signal.addEventListener("abort", () => {
    setTimeout(end, isFile ? 0 : stopMs).unref();
  });
  try {
    const sources = followed === undefined
      ? sourcesOf(cli, files, extent)
      : [followedSource(cli, followed, options.fromStart === true)];
    for await (const source of sources) {
      if (cli.signal.aborted) {
        await shipper.finish();
        return await end();
      }
      isFile = source.file !== undefined;
      await shipper.ship(source);
    }
    await shipper.finish();
  } finally {
    tell();
  }
  if (shipper.totals.rejected > 0) cli.exitWith(exitCodes.rejected);
}

/** Returns the size of the files. Undefined if an input has no known end. */
async function extentOf(cli: Cli, files: readonly string[]): Promise<Extent | undefined> {
  if (files.includes("-")) return undefined;
  let total = 0;
  for (const name of files) {
    const file = await stat(cli.path(name)).catch(() => undefined);
    total += file?.size ?? 0;
  }
  return { read: 0, total };
}

function followedSource(cli: Cli, name: string, fromStart: boolean): Source {
  const { signal } = cli;
  return { name, lines: follow({ path: cli.path(name), fromStart, pollMs: 250, signal }) };
}

async function* sourcesOf(
  cli: Cli,
  files: readonly string[],
  extent: Extent | undefined,
): AsyncGenerator<Source> {
  for (const name of files) {
    if (name === "-") {
      const text = textIn("standard input", readLines(process.stdin));
      yield { name: "standard input", lines: readLive(text, liveMs, cli.signal) };
    } else {
      const file = await openFile(name, cli.path(name));
      try {
        const lines = textIn(name, readLines(counted(file, extent)));
        const known = await knownFile(file);
        yield known === undefined
          ? { name, lines: readLive(lines, liveMs, cli.signal) }
          : { name, lines, file: known };
      } finally {
        await file.close();
      }
    }
  }
}

async function openFile(name: string, path: string): Promise<FileHandle> {
  try {
    if ((await stat(path)).isDirectory()) throw new Failure(`${name} is a folder.`);
    return await open(path);
  } catch (error) {
    if (isMissing(error)) throw new Failure(`there is no file ${name}.`);
    if ((error as { code?: string }).code === "EACCES") {
      throw new Failure(`you may not read ${name}.`);
    }
    throw error;
  }
}

async function* counted(file: FileHandle, extent: Extent | undefined): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { buffer, bytesRead } = await file.read(new Uint8Array(65_536), 0, 65_536, null);
    if (bytesRead === 0) return;
    if (extent !== undefined) extent.read += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function report(totals: Totals, elapsedMs: number, asJson: boolean): void {
  const { accepted, rejected, bytes, batches, reasons } = totals;
  if (asJson) {
    const seconds = Math.round(elapsedMs) / 1000;
    console.log(JSON.stringify({ accepted, rejected, bytes, batches, seconds, reasons }));
    return;
  }
  console.log(
    `${plural(accepted, "event", "events")} accepted, ${rejected.toLocaleString("en")} rejected ` +
      `(${(bytes / 1e6).toFixed(1)} MB in ${plural(batches, "batch", "batches")}, ` +
      `${(elapsedMs / 1000).toFixed(1)} s)`,
  );
  for (const reason of reasons) console.log(`  rejected: ${reason}`);
  const more = rejected - reasons.length;
  if (reasons.length > 0 && more > 0) console.log(`  and ${more.toLocaleString("en")} more`);
}

function plural(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
