import type { Totals } from "./shipper.ts";

export interface Progress {
  show(totals: Totals): void;
  retry(reason: string, delayMs: number): void;
  clear(): void;
}

const refreshMs = 100;

/** How much of the files was read. Undefined if an input has no known end. */
export interface Extent {
  read: number;
  readonly total: number;
}

/** Returns counts and speed, and for files also the share that is done and the time that remains. */
export function progressLine(totals: Totals, elapsedMs: number, extent?: Extent): string {
  const { accepted, rejected, bytes } = totals;
  const perSecond = Math.round((accepted + rejected) / (elapsedMs / 1000));
  const parts = [
    `${accepted.toLocaleString("en")} accepted, ${rejected.toLocaleString("en")} rejected`,
    `${(bytes / 1e6).toFixed(1)} MB`,
    `${perSecond.toLocaleString("en")}/s`,
  ];
  if (extent !== undefined && extent.total > 0 && extent.read > 0) {
    const done = Math.min(1, extent.read / extent.total);
    parts.push(`${Math.floor(100 * done)} %`, `${whileOf((elapsedMs * (1 - done)) / done)} left`);
  }
  return parts.join(" · ");
}

function whileOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Shows progress: on a terminal one line that is updated, elsewhere only lines that belong in a log. */
export function createProgress(extent: () => Extent | undefined): Progress {
  const isTerminal = process.stderr.isTTY === true;
  const started = performance.now();
  let lastShown = 0;
  let lastReason = "";

  const write = (text: string) => process.stderr.write(text);

  return {
    show(totals) {
      lastReason = "";
      const now = performance.now();
      if (!isTerminal || now - lastShown < refreshMs) return;
      lastShown = now;
      write(`\r\x1b[K${progressLine(totals, now - started, extent())}`);
    },
    retry(reason, delayMs) {
      const seconds = (delayMs / 1000).toFixed(1);
      if (isTerminal) write(`\r\x1b[K${reason}; trying again in ${seconds} s`);
      else if (reason !== lastReason) console.error(`${reason}; trying again`);
      lastReason = reason;
    },
    clear() {
      if (isTerminal) write("\r\x1b[K");
    },
  };
}
