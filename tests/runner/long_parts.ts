import { chosenTests } from "./step.ts";

/** A part of a long step: a test file, or a share of a file with many tests. */
export interface Part {
  name: string;
  step: string;
  file?: string;
  /** "2/4" */
  share?: string;
  seconds: number;
}

/** How a long step is divided. Seconds are for two slow cores, beside two other stacks. */
interface Division {
  /** Folders with the step's test files. A step without folders is one part. */
  tests?: string[];
  /** A change below these paths concerns all parts. A change of a test file concerns only its own parts. */
  sources: string[];
  /** Seconds before the first test. */
  setup: number;
  /** Seconds of a part. */
  seconds: number;
  /**
   * Files that take longer. `shares` is the number of parts into which a file's tests are divided; each part takes this
   * time.
   */
  slow?: Record<string, { seconds: number; shares?: number }>;
  /** Variables that limit a test without an end of its own. */
  env?: Record<string, string>;
}

// Steps that need most turns come first, because a step has one stack in each turn.
export const divisions: Record<string, Division> = {
  "hosted-all": {
    tests: ["tests/e2e/long", "tests/faults/long", "tests/hosted/long"],
    sources: ["tests/hosted/step.ts", "local/deno_runtimes.ts"],
    setup: 35,
    seconds: 50,
    slow: {
      "tests/e2e/long/alert_channels_test.ts": { seconds: 25 },
      "tests/e2e/long/slow_bodies_test.ts": { seconds: 75 },
      "tests/e2e/long/streams_failures_test.ts": { seconds: 25 },
      "tests/e2e/long/streams_outages_test.ts": { seconds: 70 },
      "tests/faults/long/kill_test.ts": { seconds: 80 },
      "tests/hosted/long/patterns_test.ts": { seconds: 120, shares: 3 },
    },
  },
  "archive": {
    tests: ["tests/archive"],
    sources: ["tests/archive/", "supabase/schemas/archive/", "supabase/functions/logloom-archive/"],
    setup: 50,
    seconds: 55,
    slow: {
      "tests/archive/kills_test.ts": { seconds: 80, shares: 5 },
      "tests/archive/faults_test.ts": { seconds: 70, shares: 5 },
    },
  },
  "senders-all": {
    tests: ["tests/senders"],
    sources: ["tests/senders/", "supabase/functions/ingest/protocols/"],
    setup: 55,
    seconds: 30,
    slow: {
      "tests/senders/curl_test.ts": { seconds: 60 },
      "tests/senders/otlp_test.ts": { seconds: 70 },
      "tests/senders/pino_elasticsearch_test.ts": { seconds: 60 },
      "tests/senders/syslog_test.ts": { seconds: 95, shares: 2 },
      "tests/senders/python_test.ts": { seconds: 95 },
    },
  },
  "memory": {
    tests: ["tests/memory"],
    sources: ["tests/memory/"],
    setup: 20,
    seconds: 95,
    slow: { "tests/memory/memory_test.ts": { seconds: 32, shares: 24 } },
  },
  "guest": {
    tests: ["tests/guest"],
    sources: ["tests/guest/", "packages/logloom/src/cli/guest/"],
    setup: 0,
    seconds: 80,
    slow: { "tests/guest/guest_test.ts": { seconds: 150, shares: 4 } },
  },
  "restore": {
    tests: ["tests/restore"],
    sources: ["tests/restore/", "local/restore", "local/drill"],
    setup: 30,
    seconds: 50,
    slow: { "tests/restore/restore_test.ts": { seconds: 95 } },
  },
  "package": {
    tests: ["tests/package"],
    sources: ["packages/logloom/", "tests/package/"],
    setup: 120,
    seconds: 15,
    slow: { "tests/package/cli_test.ts": { seconds: 80, shares: 2 } },
  },
  "console-all": {
    tests: ["tests/console/long"],
    sources: ["console/src/", "tests/console/"],
    setup: 70,
    seconds: 50,
    slow: { "tests/console/long/features_test.ts": { seconds: 45, shares: 2 } },
  },
  "chaos": {
    tests: ["tests/chaos"],
    sources: ["tests/chaos/"],
    setup: 20,
    seconds: 70,
    slow: { "tests/chaos/chaos_test.ts": { seconds: 120 } },
    env: { LOGLOOM_CHAOS_KILLS: "6" },
  },
  "model-all": {
    tests: ["tests/model"],
    sources: ["tests/model/"],
    setup: 20,
    seconds: 120,
    env: { MODEL_SECONDS: "120" },
  },
  "interleavings-all": { sources: ["tests/interleavings/"], setup: 25, seconds: 105 },
};

/** Returns all parts, in the order of the steps. */
export async function longParts(): Promise<Part[]> {
  const parts: Part[] = [];
  for (const [step, { tests, seconds, slow }] of Object.entries(divisions)) {
    if (!tests) parts.push({ name: step, step, seconds });
    for (const file of tests ? await chosenTests(tests, "_test.ts") : []) {
      const { shares = 1, ...own } = slow?.[file] ?? { seconds };
      for (let n = 1; n <= shares; n++) {
        const share = shares > 1 ? `${n}/${shares}` : undefined;
        const name = [step, file, share].filter(Boolean).join(" ");
        parts.push({ name, step, file, share, ...own });
      }
    }
  }
  return parts;
}

/** Returns whether a part tests one of these files. */
export function concerns(changed: string[], { step, file }: Part): boolean {
  return changed.some((path) =>
    path === file ||
    !path.endsWith("_test.ts") && divisions[step].sources.some((source) => path.startsWith(source))
  );
}
