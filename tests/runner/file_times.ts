/** How many seconds each test file took. */
export type FileTimes = Record<string, number>;

/** Measures the test files of `deno test` by the lines that announce them. */
export class DenoFileTimes {
  readonly times: FileTimes = {};
  readonly #now: () => number;
  #file?: string;
  #began = 0;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  hear(line: string): void {
    const file = /^running \d+ tests? from \.\/(\S+)/.exec(line)?.[1];
    if (!file) return;
    this.end();
    this.#file = file;
    this.#began = this.#now();
  }

  end(): FileTimes {
    if (this.#file) add(this.times, this.#file, (this.#now() - this.#began) / 1000);
    this.#file = undefined;
    return this.times;
  }
}

/** Reads the times in the output of `pg_prove --timer`. A file that ran twice has the sum. */
export function proveFileTimes(text: string): FileTimes {
  const times: FileTimes = {};
  // Output of psql may come before the result, which is then on a line of its own.
  for (
    const [, file, ms] of text.matchAll(
      /^(?:\[[\d:]+\] )?(\S+\.sql) \.+(?:(?!\.sql \.)[^])*?ok +(\d+) ms/gm,
    )
  ) {
    add(times, file, Number(ms) / 1000);
  }
  return times;
}

function add(times: FileTimes, file: string, seconds: number): void {
  times[file] = (times[file] ?? 0) + seconds;
}

export function sumOfTimes(all: FileTimes[]): FileTimes {
  const times: FileTimes = {};
  for (const [file, seconds] of all.flatMap((one) => Object.entries(one))) {
    add(times, file, seconds);
  }
  return times;
}

/** Returns the slowest files of all steps, the slowest first. */
export function slowest(
  rows: { name: string; files?: FileTimes }[],
  count = 10,
): { step: string; file: string; seconds: number }[] {
  return rows
    .flatMap(({ name, files = {} }) =>
      Object.entries(files).map(([file, seconds]) => ({ step: name, file, seconds }))
    )
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, count);
}
