import assert from "node:assert/strict";
import { outputOf } from "../../local/process_output.ts";
import { checkout } from "../../local/stack.ts";
import { clientOf, createKey, ingest, newTenant, type Tenant } from "../support/client.ts";
import { changeSettings, type Database, openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually, patience, pause } from "../support/eventually.ts";
import { keepDown } from "../support/processes.ts";
import { stack } from "../support/stack.ts";

export interface Trial {
  readonly tenant: Tenant;
  readonly key: string;
  readonly db: Database;
  /** The environment of the sender's program. */
  readonly env: Record<string, string>;
}

export async function withTrial(name: string, act: (trial: Trial) => Promise<void>): Promise<void> {
  await using db = openDatabase();
  const tenant = await newTenant(name);
  const { key_value: key } = await createKey(tenant);
  const env = { LOGLOOM_URL: stack.url, LOGLOOM_API_KEY: key, NO_COLOR: "1" };
  await act({ tenant, key, db, env });
}

/** Returns the block with this name (after its language) in a page of docs/guides/send. */
export async function blockOf(page: string, name: string): Promise<string> {
  const text = await Deno.readTextFile(`${checkout}/docs/guides/send/${page}`);
  const block = new RegExp(`^\`\`\`\\w+ ${name.replaceAll(".", "\\.")}\n([\\s\\S]*?)^\`\`\``, "m")
    .exec(text)?.[1];
  assert.ok(block, `docs/guides/send/${page} has no block ${name}`);
  return block;
}

export interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd?: string;
  readonly stdin?: string;
}

/** Runs a program, which must succeed. */
export async function runProgram({ program, args, env, cwd, stdin }: Run): Promise<string> {
  const child = new Deno.Command(program, {
    args: [...args],
    env,
    cwd,
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await outputOf(child, AbortSignal.timeout(patience));
  assert.equal(code, 0, `${program}: ${stdout}${stderr}`);
  return stdout;
}

const folder = `${checkout}/tests/senders`;

/** Sends a line to a running program, and waits until the program has done it. */
export type Tell = (line: string) => Promise<void>;

/** Runs a program that reads lines and answers each with `done` and its number. */
export async function tellProgram(
  { program, args, env, cwd }: Run,
  act: (tell: Tell) => Promise<void>,
): Promise<void> {
  const child = new Deno.Command(program, {
    args: [...args],
    env,
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let said = "";
  let hasEnded = false;
  const reading = Promise.all([child.stdout, child.stderr].map(async (stream) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) said += text;
  }));
  const ended = child.status.then(() => {
    hasEnded = true;
  });
  const writer = child.stdin.getWriter();
  let told = 0;
  try {
    await act(async (line) => {
      told += 1;
      await writer.write(new TextEncoder().encode(`${line}\n`));
      await eventually(
        `${program} has done what it was told: ${line}`,
        () => Promise.resolve(hasEnded || said.includes(`done ${told}\n`)),
      );
      assert.ok(!hasEnded, `${program} has ended: ${said}`);
    });
  } finally {
    // Killed after its work, because Node may hang at its end.
    if (!hasEnded) child.kill("SIGKILL");
    await ended;
    await reading;
  }
}

/** Runs a Node program beside the senders' packages. */
export function runNode(source: string, env: Record<string, string>): Promise<string> {
  return asNodeFile(source, env, runProgram);
}

/** Runs the page's block in Node, which sends events as told. */
export function tellNode(
  { block, say = () => "", end = "", atOnce = 1 }: {
    block: string;
    say?: (n: string) => string;
    end?: string;
    /** How many events it sends without a pause. */
    atOnce?: number;
  },
  env: Record<string, string>,
  act: (tell: Tell) => Promise<void>,
): Promise<void> {
  const source = `import { createInterface } from "node:readline";
${block}
let done = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const [from, to] = line.split(" ").map(Number);
  for (let n = from; n < to; n++) {
    ${say("n")};
    if (n % ${atOnce} === 0) await new Promise((resolve) => setTimeout(resolve, ${everyMs}));
  }
  if (line === "end") {
    ${end}
  }
  console.log("\\ndone " + ++done);
}
`;
  return asNodeFile(source, env, (run) => tellProgram(run, act));
}

export async function asNodeFile<T>(
  source: string,
  env: Record<string, string>,
  act: (run: Run) => Promise<T>,
  suffix: ".mjs" | ".cjs" = ".mjs",
): Promise<T> {
  const file = await Deno.makeTempFile({ dir: folder, prefix: ".run-", suffix });
  try {
    await Deno.writeTextFile(file, source);
    return await act({ program: "node", args: ["--no-warnings", file], env, cwd: folder });
  } finally {
    await Deno.remove(file);
  }
}

export interface Log {
  ts: string;
  level: string | null;
  msg: string | null;
  service: string | null;
  host: string | null;
  route: string | null;
  req_id: string | null;
  attrs: Record<string, unknown> | null;
}

/** Waits until a search finds this many events, and returns them. */
export async function found({ tenant }: Trial, query: string, count = 1): Promise<Log[]> {
  const search = async () => {
    const body = await clientOf(tenant.token).call("search_logs", { p_query_dsl: query });
    return body.logs;
  };
  await eventually(`${count} events of ${query}`, async () => (await search()).length >= count);
  return await search();
}

/** Registers a test that only the long step runs. */
export function longTest(test: Deno.TestDefinition): void {
  if (Deno.env.get("LOGLOOM_LONG") === "1") Deno.test(test);
}

export const events = 60;
const everyMs = 120;

export interface Promised {
  /** How many of the numbered events may be missing. */
  readonly lost: "none" | "some";
  readonly doubled: "none" | "some";
  /** Whether the sender may lose events without an outage, also the last one. */
  readonly isLeaky?: boolean;
}

/** Sends the trial's events. */
export interface Sending {
  /** Sends the events from `from` up to `to`, some milliseconds apart. */
  readonly say: (from: number, to: number) => Promise<void>;
  /** Flushes the sender. */
  readonly end?: () => Promise<void>;
  /** How long the sender takes to send refused events again. Duplicates would arrive by then. */
  readonly stayMs?: number;
}

/**
 * Sends numbered events ("event 7"), a third of them while the service answers 503 for five seconds. Compares the arrived
 * events with the sender's promise.
 */
export async function throughAnOutage(
  trial: Trial,
  { say, end = () => Promise.resolve(), stayMs = 12_000 }: Sending,
  promised: Promised,
): Promise<void> {
  const [second, third] = [events / 3, 2 * events / 3];
  await say(0, second);
  await eventually("the first events", async () => (await numbersOf(trial)).length > 0);
  await duringAnOutage(trial, () => say(second, third));
  await say(third, events);
  const said = performance.now();
  await end();
  await eventually("what was sent last", async () => {
    const numbers = new Set(await numbersOf(trial));
    if (promised.lost === "none") return numbers.size === events;
    return promised.isLeaky ? Math.max(...numbers) >= third : numbers.has(events - 1);
  });
  // Waits for possible duplicates.
  await pause(stayMs - (performance.now() - said));
  assert.ok((await arrived(trial, promised)).has(0));
}

/** Kinds of outages: the service answers 503, the function is down, or the gateway is down. */
export const ways = ["refuses", "is not there", "cannot be reached"] as const;
export type Away = typeof ways[number];

export interface Flood extends Sending {
  readonly away: Away;
  /** How many events may arrive twice. */
  readonly mostDoubled: number;
}

export const many = 20_000;

/** Sends many events, half of them during an outage of ten seconds. */
export async function flooded(trial: Trial, flood: Flood): Promise<void> {
  const { away, say, stayMs = 0, mostDoubled } = flood;
  await say(0, many / 2);
  await eventually("the first events", async () => (await numbersOf(trial)).length > 0);
  await duringAnOutage(trial, () => say(many / 2, many), away, 10_000);
  await eventually(`all ${many} of ${trial.tenant.id}`, async () => {
    const numbers = await numbersOf(trial);
    return new Set(numbers).size === many;
  }, { every: 500 });
  await pause(stayMs);
  await queueIsEmpty(trial.db);
  const doubled = (await numbersOf(trial)).length - many;
  assert.ok(doubled <= mostDoubled, `${doubled} of ${many} are there twice`);
}

/** Does the same with a program that sends all events after the beginning of the outage and then ends. */
export async function intoAnOutage(
  trial: Trial,
  send: () => Promise<unknown>,
  away: Away,
): Promise<void> {
  await duringAnOutage(trial, send, away, 10_000);
  await queueIsEmpty(trial.db);
  assert.deepEqual(await numbersOf(trial), Array.from({ length: many }, (_, n) => n));
}

/** Runs an action during an outage. The action may take longer. */
export async function duringAnOutage(
  trial: Trial,
  act: () => Promise<unknown>,
  away: Away = "refuses",
  outageMs = 5000,
): Promise<void> {
  let acting: Promise<unknown>;
  {
    await using _down = away === "refuses"
      ? await changeSettings(trial.db, { queue_hard_limit_bytes: 0 })
      : await keepDown(away === "is not there" ? "ingest" : "gateway");
    if (away === "refuses") await serviceRefuses(trial);
    acting = act();
    // A failure is reported where it is awaited.
    acting.catch(() => {});
    await pause(outageMs);
  }
  await acting;
}

async function serviceRefuses({ tenant }: Trial): Promise<void> {
  await eventually("the service refuses", async () => {
    const { status } = await ingest(tenant.headers, [{ msg: "refused" }]);
    return status === 503;
  });
}

/** Checks the sender's promise and returns the numbers of the arrived events. */
async function arrived(trial: Trial, { lost, doubled }: Promised): Promise<Set<number>> {
  await queueIsEmpty(trial.db);
  const numbers = await numbersOf(trial);
  const different = new Set(numbers);
  if (doubled === "none") assert.equal(numbers.length, different.size, `doubled: ${numbers}`);
  if (lost === "none") {
    const missing = Array.from({ length: events }, (_, n) => n).filter((n) => !different.has(n));
    assert.deepEqual(missing, [], `of ${trial.tenant.id}`);
  }
  return different;
}

async function numbersOf({ db, tenant }: Trial): Promise<number[]> {
  const rows = await db`
    select (regexp_match(l.msg, 'event ([0-9]+)'))[1]::integer as n
    from logloom.logs l where l.tenant_id = ${tenant.id} and l.msg ~ 'event [0-9]+' order by 1`;
  return rows.map(({ n }) => n);
}

export interface NodeSender {
  readonly name: string;
  readonly page: string;
  readonly block: string;
  /** Changes the block to test a variant. */
  readonly variant?: (block: string) => string;
  /** Finds what the block sends. */
  readonly query: string;
  /** Code that logs "event <n>" with the block's logger; `n` is an expression. */
  readonly say: (n: string) => string;
  readonly promised: Promised;
  /** Flushes. */
  readonly end?: string;
  /** How long the sender takes to send refused events again. */
  readonly stayMs?: number;
  /** The outages in which it loses none of 20,000 events. */
  readonly floods?: readonly Away[];
}

/** Tests that the page's block sends an event. The long step also tests it through an outage. */
export function testNodeSender(sender: NodeSender): void {
  const { name, page, block, variant = (text) => text, say, end, stayMs, promised } = sender;
  const trialName = name.replace(/\W+/g, "-");

  Deno.test(`${name}: the example's event is found`, async () => {
    await withTrial(trialName, async (trial) => {
      const program = { block: variant(await blockOf(page, block)), end };
      await tellNode(program, trial.env, async (tell) => {
        await tell("end");
        const [log] = await found(trial, sender.query);
        assert.equal(log.msg, "card declined");
      });
    });
  });

  if (sender.floods) {
    for (const away of sender.floods) {
      longTest({
        name: `${name}: 20,000 events, while the service ${away} for ten seconds`,
        fn: () =>
          withTrial(trialName, async (trial) => {
            const program = { block: variant(await blockOf(page, block)), say, end, atOnce: 120 };
            await tellNode(
              program,
              trial.env,
              (tell) => flooded(trial, { ...sayingBy(tell), away, stayMs, mostDoubled: 0 }),
            );
          }),
      });
    }
    return;
  }

  longTest({
    name: `${name}: through an outage of five seconds`,
    fn: () =>
      withTrial(trialName, async (trial) => {
        const program = { block: variant(await blockOf(page, block)), say, end };
        await tellNode(
          program,
          trial.env,
          (tell) => throughAnOutage(trial, { ...sayingBy(tell), stayMs }, promised),
        );
      }),
  });
}

/** Sends by telling a program. */
export function sayingBy(tell: Tell): Sending {
  return { say: (from, to) => tell(`${from} ${to}`), end: () => tell("end") };
}

export const declined = 'service:shop level:error attrs.order:7 "card declined"';
export const declinedOfNobody = 'level:error attrs.order:7 "card declined"';
