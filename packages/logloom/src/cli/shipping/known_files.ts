import { createHash } from "node:crypto";
import { type FileHandle, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ownFolder, writeOwnFile } from "../profiles.ts";

/** A file, and what earlier runs shipped of it. */
export interface KnownFile {
  /** The same after it was renamed, and another after its content was replaced. */
  readonly identity: string;
  /** The numbers of the last lines of earlier runs. */
  readonly earlier: ReadonlySet<number>;
  /** Told before the last batch is sent, so that a run whose answer is lost counts too. */
  remember(line: number): Promise<void>;
}

interface Shipped {
  /** The last lines of its runs. */
  readonly lines: readonly number[];
  /** The time of the newest, in milliseconds. */
  readonly at: number;
  /** How much of the beginning is in the identity: the file may have been shorter than a kilobyte. */
  readonly head: number;
}

const name = "shipped.json";
const headBytes = 1024;

/** The service forgets after a day which batches it has. */
const lifetimeMs = 86_400_000;

/**
 * A file that has grown is cut where it ended before: its batches are the same as they were, with the same keys, and
 * the service stores them once. A file is known by its device, its inode and its beginning; undefined for a pipe.
 */
export async function knownFile(file: FileHandle): Promise<KnownFile | undefined> {
  const stats = await file.stat({ bigint: true });
  if (!stats.isFile()) return undefined;
  const { dev, ino } = stats;
  const { buffer, bytesRead } = await file.read(new Uint8Array(headBytes), 0, headBytes, 0);
  const identityOf = (head: number) =>
    createHash("sha256").update(`${dev}:${ino}:${head}\n`).update(buffer.subarray(0, head))
      .digest("hex");

  const shipped = await readShipped();
  const heads = new Set(Object.values(shipped).map(({ head }) => head));
  // It may have been shorter when it was shipped first.
  const head = [...heads].find((one) => one <= bytesRead && identityOf(one) in shipped) ??
    bytesRead;
  const identity = identityOf(head);
  return {
    identity,
    earlier: new Set(shipped[identity]?.lines),
    async remember(line) {
      const latest = await readShipped();
      const lines = new Set(latest[identity]?.lines).add(line);
      latest[identity] = { lines: [...lines], at: Date.now(), head };
      // Without it a grown file doubles its last batch, which is no reason not to send.
      await writeOwnFile(name, latest).catch(() => {});
    },
  };
}

async function readShipped(): Promise<Record<string, Shipped>> {
  try {
    const all: Record<string, Shipped> = JSON.parse(
      await readFile(join(ownFolder(), name), "utf8"),
    );
    return Object.fromEntries(
      Object.entries(all).filter(([, { at }]) => at > Date.now() - lifetimeMs),
    );
  } catch {
    return {};
  }
}
