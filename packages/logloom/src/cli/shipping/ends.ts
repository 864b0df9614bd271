import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ownFolder, writeOwnFile } from "../profiles.ts";

/** Where a file ended in earlier runs. */
export interface FileEnds {
  /** The numbers of the last lines. */
  readonly earlier: ReadonlySet<number>;
  /** Told before the last batch is sent, so that a run whose answer is lost counts too. */
  remember(line: number): Promise<void>;
}

/** For each file the last lines of its runs, and the time of the newest, in milliseconds. */
type Shipped = Record<string, { lines: number[]; at: number }>;

const name = "shipped.json";

/** The service forgets after a day which batches it has. */
const lifetimeMs = 86_400_000;

/**
 * A file that has grown is cut where it ended before: its batches are the same as they were, with the same keys, and
 * the service stores them once.
 */
export async function endsOf(path: string): Promise<FileEnds> {
  const file = resolve(path);
  return {
    earlier: new Set((await readShipped())[file]?.lines),
    async remember(line) {
      const shipped = await readShipped();
      const lines = new Set(shipped[file]?.lines).add(line);
      shipped[file] = { lines: [...lines], at: Date.now() };
      // Without it a grown file doubles its last batch, which is no reason not to send.
      await writeOwnFile(name, shipped).catch(() => {});
    },
  };
}

async function readShipped(): Promise<Shipped> {
  try {
    const all: Shipped = JSON.parse(await readFile(join(ownFolder(), name), "utf8"));
    return Object.fromEntries(
      Object.entries(all).filter(([, { at }]) => at > Date.now() - lifetimeMs),
    );
  } catch {
    return {};
  }
}
