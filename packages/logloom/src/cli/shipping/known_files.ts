import { createHash } from "node:crypto";
import { type FileHandle, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ownFolder, writeOwnFile } from "../profiles.ts";

/** A file, and what earlier runs sent of it. */
export interface KnownFile {
  /** Stays the same when the file is renamed, and changes when its content is replaced. */
  readonly identity: string;
  /** The number of the last line that each earlier run sent. */
  readonly earlier: ReadonlySet<number>;
  /** Call this before the last batch is sent, so that the run counts even if the answer is lost. */
  remember(line: number): Promise<void>;
}

interface Shipped {
  /** The numbers of the last lines of its runs. */
  readonly lines: readonly number[];
  /** The time of the newest run, in milliseconds. */
  readonly at: number;
  /**
   * How many bytes of the beginning are part of the identity. Fewer than 1024 if the file was short at its first run.
   */
  readonly head: number;
}

const name = "shipped.json";
const headBytes = 1024;

/** The service forgets the keys of batches after a day. */
const lifetimeMs = 86_400_000;

/**
 * Finds what earlier runs sent of a file. A file that has grown is cut into batches at the same places as before. The
 * earlier batches keep their keys, so the service stores them only once. A file is recognised by device, inode and
 * beginning; undefined for a pipe.
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
  // The file may have been shorter at its first run.
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
      // If this fails, the last batch may be stored twice once the file has grown. That is better than not sending.
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
