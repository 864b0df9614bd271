import type { Totals } from "./shipper.ts";

export interface Progress {
  show(totals: Totals): void;
  retry(reason: string, delayMs: number): void;
  clear(): void;
}

const refreshMs = 100;

/** One line on a terminal, updated in place; elsewhere only what belongs in a log. */
export function createProgress(): Progress {
  const isTerminal = Deno.stderr.isTerminal();
  const started = performance.now();
  let lastShown = 0;
  let lastReason = "";

  function write(text: string): void {
    Deno.stderr.writeSync(new TextEncoder().encode(text));
  }

  return {
    show({ accepted, rejected, bytes }) {
      lastReason = "";
      const now = performance.now();
      if (!isTerminal || now - lastShown < refreshMs) return;
      lastShown = now;
      const perSecond = Math.round((accepted + rejected) / ((now - started) / 1000));
      const megabytes = (bytes / 1e6).toFixed(1);
      write(
        `\r\x1b[K${accepted.toLocaleString("en")} accepted, ${rejected.toLocaleString("en")} ` +
          `rejected · ${megabytes} MB · ${perSecond.toLocaleString("en")}/s`,
      );
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
