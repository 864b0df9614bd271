import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { clientOf, createKey, ingest, newTenant, type Tenant } from "../support/client.ts";
import { changeSettings, type Database, openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually, pause } from "../support/eventually.ts";
import { keepDown } from "../support/processes.ts";
import { stack } from "../support/stack.ts";

export interface Trial {
  readonly tenant: Tenant;
  readonly key: string;
  readonly db: Database;
  /** What a sender's program finds in its environment. */
  readonly env: Record<string, string>;
}

export async function withTrial(name: string, act: (trial: Trial) => Promise<void>): Promise<void> {
  await using db = openDatabase();
  const tenant = await newTenant(name);
  const { key_value: key } = await createKey(tenant);
  const env = { LOGLOOM_URL: stack.url, LOGLOOM_API_KEY: key, NO_COLOR: "1" };
  await act({ tenant, key, db, env });
}

/** The block of a page of docs/guides/send that has this name behind its language. */
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

/** Runs a program to its end, which has to be a good one. */
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
  const { code, stdout, stderr } = await child.output();
  const said = new TextDecoder().decode(stdout);
  assert.equal(code, 0, `${program}: ${said}${new TextDecoder().decode(stderr)}`);
  return said;
}

const folder = `${checkout}/tests/senders`;

/** Runs a program of Node as a file beside the senders' packages. */
export async function runNode(source: string, env: Record<string, string>): Promise<string> {
  const file = await Deno.makeTempFile({ dir: folder, prefix: ".run-", suffix: ".mjs" });
  try {
    await Deno.writeTextFile(file, source);
    return await runProgram({ program: "node", args: ["--no-warnings", file], env, cwd: folder });
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

/** Waits until a search finds as many events as are wanted, and gives them back. */
export async function found({ tenant }: Trial, query: string, count = 1): Promise<Log[]> {
  const search = async () => {
    const body = await clientOf(tenant.token).call("search_logs", {
      p_query_dsl: query,
    });
    return body.logs;
  };
  await eventually(`${count} events of ${query}`, async () => (await search()).length >= count);
  return await search();
}

/** Whether trials that take long are wanted too. */
export const isLong = Deno.env.get("LOGLOOM_LONG") === "1";

export const events = 60;
const everyMs = 120;

/** A program that says `say(n)` for each of the trial's events, and stays for what is on its way. */
export function sendingProgram(
  block: string,
  say: (n: string) => string,
  end = "",
  stayMs = 12_000,
): string {
  return `${block}
for (let n = 0; n < ${events}; n++) {
  ${say("n")};
  await new Promise((resolve) => setTimeout(resolve, ${everyMs}));
}
${end}
await new Promise((resolve) => setTimeout(resolve, ${stayMs}));
process.exit(0);
`;
}

export interface Promised {
  /** How many of the numbered events may be missing. */
  readonly lost: "none" | "some";
  readonly doubled: "none" | "some";
  /** What a sender loses by itself, whether or not there is an outage, may be the last event, too. */
  readonly isLeaky?: boolean;
}

/**
 * Sends numbered events ("event 7") while the service answers 503 for five seconds in their midst,
 * and compares what arrived with what the protocol promises.
 */
export async function throughAnOutage(
  trial: Trial,
  send: () => Promise<unknown>,
  promised: Promised,
): Promise<void> {
  const { db } = trial;
  const sending = send();
  // A failure is reported where it is awaited.
  sending.catch(() => {});
  await eventually("the first events", async () => (await numbersOf(trial)).length > 0);
  await outage(db);
  await sending;
  const numbers = await arrived(trial, promised);
  const last = promised.isLeaky ? Math.max(...numbers) : events - 1;
  assert.ok(numbers.has(0) && numbers.has(last) && last > events / 2, `${[...numbers]}`);
}

/** Who does not answer in an outage: the service refuses, or there is none. */
export type Away = "refuses" | "is not there";

export interface Flood {
  readonly count: number;
  readonly away: Away;
  /** Writes the lines of the events from `from` up to `to`. */
  readonly say: (from: number, to: number) => Promise<void>;
  /** How many may be there twice. */
  readonly mostDoubled: number;
}

/** Thousands of events as fast as they go, the last half of them in an outage of five seconds. */
export async function flooded(trial: Trial, flood: Flood): Promise<void> {
  const { count, away, say, mostDoubled } = flood;
  await say(0, count / 2);
  await eventually("the first events", async () => (await numbersOf(trial)).length > 0);
  const over = away === "refuses" ? outage(trial.db) : withoutIngest();
  await pause(500);
  const saying = say(count / 2, count);
  saying.catch(() => {});
  await over;
  await saying;
  await eventually(`all ${count} of ${trial.tenant.id}`, async () => {
    const numbers = await numbersOf(trial);
    return new Set(numbers).size === count;
  }, { every: 500 });
  await queueIsEmpty(trial.db);
  const doubled = (await numbersOf(trial)).length - count;
  assert.ok(doubled <= mostDoubled, `${doubled} of ${count} are there twice`);
}

async function withoutIngest(): Promise<void> {
  await using _down = await keepDown("ingest");
  await pause(5000);
}

/** The same for a sender that sends all in one request, which comes when the outage has begun. */
export async function intoAnOutage(
  trial: Trial,
  send: () => Promise<unknown>,
  promised: Promised,
): Promise<void> {
  const over = outage(trial.db);
  await eventually("the service refuses", async () => {
    const { status } = await ingest(trial.tenant.headers, [{ msg: "refused" }]);
    return status === 503;
  });
  await send();
  await over;
  await arrived(trial, promised);
}

async function outage(db: Database): Promise<void> {
  await using _full = await changeSettings(db, { queue_hard_limit_bytes: 0 });
  await new Promise((resolve) => setTimeout(resolve, 5000));
}

/** The numbers of the events that arrived, as it was promised. */
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
  /** What is changed in the block to try a variant of it. */
  readonly variant?: (block: string) => string;
  /** Finds what the block sends. */
  readonly query: string;
  /** Logs "event <n>" by what the block made; `n` is an expression. */
  readonly say: (n: string) => string;
  readonly promised: Promised;
  /** Flushes. */
  readonly end?: string;
  /** How long a sender takes to send again what was refused. */
  readonly stayMs?: number;
  /** How long it takes to send its example. */
  readonly exampleMs?: number;
}

/** Runs the page's block and finds what it sent; in long trials through an outage, too. */
export function testNodeSender(sender: NodeSender): void {
  const { name, page, block, variant = (text) => text, end = "", stayMs = 12_000 } = sender;
  const { exampleMs = 2500 } = sender;
  const trialName = name.replace(/\W+/g, "-");

  Deno.test(`${name}: what its example sends is found`, async () => {
    await withTrial(trialName, async (trial) => {
      const program = variant(await blockOf(page, block));
      await runNode(
        `${program}\n${end}\nsetTimeout(() => process.exit(0), ${exampleMs});\n`,
        trial.env,
      );
      const [log] = await found(trial, sender.query);
      assert.equal(log.msg, "card declined");
    });
  });

  Deno.test({
    name: `${name}: through an outage of five seconds`,
    ignore: !isLong,
    fn: () =>
      withTrial(trialName, async (trial) => {
        const program = variant(await blockOf(page, block));
        const source = sendingProgram(program, sender.say, end, stayMs);
        await throughAnOutage(trial, () => runNode(source, trial.env), sender.promised);
      }),
  });
}

export const declined = 'service:shop level:error attrs.order:7 "card declined"';
export const declinedOfNobody = 'level:error attrs.order:7 "card declined"';
