import fc from "fast-check";
import { tell } from "../support/trial_counts.ts";
import { assertComplete, assertStored } from "./assertions.ts";
import { type At, type ModelCommand, ran } from "./command.ts";
import { people } from "./commands/members.ts";
import { reading } from "./commands/reading.ts";
import { sending } from "./commands/sending.ts";
import { kills, trouble } from "./commands/faults.ts";
import { upkeep } from "./commands/sealing_and_retention.ts";
import { realTenant, Service, statusOf } from "./service.ts";
import { Model, retentionAtFirst, viewQuery } from "./tenant_model.ts";

// Runs random commands on the stack and on a model in memory; both must agree after each command. Runs are repeated for
// MODEL_SECONDS, each with its own seed. MODEL_SEED=… repeats a run; with MODEL_PATH=… MODEL_REPLAY=… (path and
// replayPath of a failure) it repeats the shrunk run.

const given = Deno.env.get("MODEL_SEED");
const seconds = Number(Deno.env.get("MODEL_SECONDS") ?? (given === undefined ? 60 : 0));
/** The time for shrinking a failure. */
const shrinkingMs = 1000 * Number(Deno.env.get("MODEL_SHRINK_SECONDS") ?? 240);

const weights: [number, Record<string, fc.Arbitrary<ModelCommand>>][] = [
  [8, { ingest: sending.ingest }],
  [1, { ...sending }],
  [2, { ...reading }],
  [2, { seal: upkeep.seal, unseal: upkeep.unseal, erase: upkeep.erase }],
  [1, { replace: upkeep.replace, shorten: upkeep.shorten }],
  [1, { ...people }],
  [1, { kill: trouble.kill, clock: trouble.clock }],
];

const commands = fc.commands(
  [fc.oneof(
    ...weights.flatMap(([weight, some]) =>
      Object.values(some).map((arbitrary) => ({ weight, arbitrary }))
    ),
  )],
  { maxCommands: 60, size: "max", replayPath: Deno.env.get("MODEL_REPLAY") },
);

Deno.test(`random commands have the same result as the model, for ${seconds} s`, async () => {
  const end = performance.now() + seconds * 1000;
  let seed = Number(given ?? Math.floor(Math.random() * 2 ** 31));
  let runs = 0;
  do {
    console.log(`MODEL_SEED=${seed}`);
    // A repeated or shrunk run goes to its end.
    ran.until = seconds > 0 ? end : Infinity;
    await fc.assert(fc.asyncProperty(commands, run), {
      seed,
      path: Deno.env.get("MODEL_PATH"),
      numRuns: 1,
      unbiased: true,
      interruptAfterTimeLimit: shrinkingMs,
      markInterruptAsFailure: true,
      verbose: fc.VerbosityLevel.None,
    });
    seed++;
    runs++;
  } while (performance.now() < end);
  console.log(`${runs} runs, ${ran.commands} commands, ${kills.count} kills`);
  tell({ runs, commands: ran.commands, kills: kills.count });
});

async function run(drawn: Iterable<ModelCommand>): Promise<void> {
  const model = new Model();
  const service = new Service(await Promise.all([realTenant(), realTenant()]));
  try {
    await begin(model, service);
    await fc.asyncModelRun(() => ({ model, real: service }), drawn);
    for (const tenant of model.tenants.keys()) await end(atOf(model, service, tenant));
  } finally {
    ran.until = Infinity;
    await service.disconnect();
  }
}

function atOf(model: Model, service: Service, tenant: number): At {
  return { known: model.tenants[tenant], real: service.tenants[tenant], model, service };
}

/** Creates two tenants on the largest plan, with a key, and a member besides the owner. */
async function begin(model: Model, service: Service): Promise<void> {
  for (const [n, real] of service.tenants.entries()) {
    const known = model.tenants[n];
    const { owner, asOwner, other } = real;
    await service.sql`
      insert into logloom.tenants (tenant_id, plan_id) values (${owner.id}, 'enterprise')`;
    await asOwner.call("update_tenant_settings", {
      pipeline_config: { retention_days: retentionAtFirst },
    });
    const view = await asOwner.call("create_log_view", { p_name: "api", p_query_dsl: viewQuery });
    real.viewId = view.view_id;
    await asOwner.call("add_tenant_member", { p_user_id: other.userId, p_role: "member" });
    const { key_id, key_value } = await asOwner.call("create_api_key", { p_name: "model" });
    known.keys.push({ id: key_id, value: key_value, works: true });
    known.tailCursor = (await asOwner.call("tail_logs", { p_query_dsl: "" })).next_cursor;
  }
}

/** Compares the tenant with the model, also after unsealing; then deletes it, after which nobody may search. */
async function end(at: At): Promise<void> {
  const { real } = at;
  await assertComplete(at);
  await assertStored(at);
  await assertComplete(at);
  await real.asOwner.call("delete_tenant", { p_tenant_id: real.owner.id });
  const status = await statusOf(real.asOther.search(""));
  if (status === 200) throw new Error("a member of a deleted tenant searches");
}
