import { join } from "node:path";
import postgres from "postgres";
import { Failure, run } from "../local/failure.ts";
import { exists } from "../local/files.ts";
import { checkout } from "../local/stack.ts";
import { parseOptions } from "./options.ts";

const help =
  `Carries the data of Logloom 0.1.0 over to this version (docs/upgrade.md says when and how):

  npm run from-0.1.0 -- export DATABASE_URL DIR   reads everything of 0.1.0 into the new folder DIR
  npm run from-0.1.0 -- import DATABASE_URL DIR   writes plans, tenants, members, settings, saved
                                                  searches, rules and addresses
  npm run from-0.1.0 -- ship DATABASE_URL DIR --url URL
                                                  sends the records, as npm run ship does

Records get new ids and a new received_at; their own times stay. API keys and webhook secrets are not
carried over: make new ones.

Exit code: 0, or 1 after an error.`;

/** What is carried over as rows, in the order in which it can be written, without what 1.0.0 keeps for itself. */
const tables = [
  { name: "logloom.plans", without: [] },
  { name: "logloom.tenants", without: [] },
  { name: "logloom.tenant_members", without: [] },
  { name: "logloom.tenant_settings", without: [] },
  { name: "logloom.saved_searches", without: ["last_run_at", "run_count"] },
  { name: "logloom.alert_rules", without: ["last_evaluated_at", "last_value", "last_error"] },
  {
    name: "logloom_private.notification_addresses",
    without: ["code_hash", "code_expires_at", "tries"],
  },
] as const;

type Row = Record<string, unknown>;

interface Manifest {
  tables: Record<string, Row[]>;
  /** The file of each tenant's records, beside this one, and how many it has. */
  records: { tenant_id: string; file: string; records: number }[];
}

const manifestName = "logloom-0.1.0.json";

/** Reads rows and sealed records of 0.1.0. Nothing is changed there. */
export async function exportFrom(databaseUrl: string, folder: string): Promise<Manifest> {
  await using sql = open(databaseUrl);
  const [{ is_old }] = await sql`
    select to_regclass('logloom_private.sealed_chunks') is not null as is_old`;
  if (!is_old) throw new Failure("There is no Logloom 0.1.0 in this database.");
  if (await exists(folder)) throw new Failure(`${folder} is there already; name a new folder.`);
  const [{ waiting }] = await sql`
    select coalesce(sum(q.events), 0)::float8 as waiting
    from logloom_private.queue q
    join logloom_private.queue_slots s on s.slot = q.slot
    where q.batch_id > s.moved_through`;
  if (waiting > 0) {
    throw new Failure(
      `${waiting} events still wait in the queue. Stop all senders, then try again.`,
    );
  }
  await Deno.mkdir(folder, { mode: 0o700, recursive: true });
  return await sql.begin("isolation level repeatable read read only", async (tx) => {
    const manifest: Manifest = { tables: {}, records: [] };
    for (const { name, without } of tables) {
      const rows = await tx.unsafe(`select to_jsonb(t) - $1::text[] as row from ${name} t`, [
        [...without],
      ]);
      manifest.tables[name] = rows.map(({ row }) => row);
    }
    const tenants = await tx`select tenant_id from logloom.tenants order by tenant_id`;
    for (const [index, { tenant_id }] of tenants.entries()) {
      const file = `records-${index + 1}.ndjson`;
      const records = await writeRecords(tx, tenant_id, join(folder, file));
      if (records > 0) manifest.records.push({ tenant_id, file, records });
    }
    await Deno.writeTextFile(join(folder, manifestName), JSON.stringify(manifest, null, 2), {
      mode: 0o600,
    });
    return manifest;
  }) as Manifest;
}

/** Rows first, then one sealed chunk after the other: each as the event that makes such a record. */
async function writeRecords(
  tx: postgres.TransactionSql,
  tenantId: string,
  path: string,
): Promise<number> {
  const event = `jsonb_strip_nulls(to_jsonb(r) - '{tenant_id,id,received_at,arrival,attrs}'::text[])
    || case when r.attrs is null then '{}' else jsonb_build_object('attrs', r.attrs) end`;
  const chunks = await tx`
    select chunk_id::text from logloom_private.sealed_chunks
    where tenant_id = ${tenantId} order by first_ts, chunk_id`;
  const sources: [string, unknown[]][] = [
    [`select r.* from logloom.logs r where r.tenant_id = $1`, [tenantId]],
    ...chunks.map(({ chunk_id }): [string, unknown[]] => [
      `select r.* from logloom_private.chunk_records($1, $2::bigint, null, null, null) r`,
      [tenantId, chunk_id],
    ]),
  ];
  await Deno.writeTextFile(path, "", { createNew: true, mode: 0o600 });
  let records = 0;
  for (const [source, values] of sources) {
    const query = tx.unsafe(
      `select (${event})::text as event from (${source}) r order by r.ts, r.id`,
      values as string[],
    );
    for await (const rows of query.cursor(1000)) {
      await Deno.writeTextFile(path, rows.map(({ event }) => `${event}\n`).join(""), {
        append: true,
      });
      records += rows.length;
    }
  }
  return records;
}

/** Writes rows of 0.1.0 into an installation that has no tenants yet: all of them or none. */
export async function importInto(databaseUrl: string, folder: string): Promise<void> {
  await using sql = open(databaseUrl);
  const manifest = await readManifest(folder);
  await requireThisVersion(sql);
  const [{ count }] = await sql`select count(*)::integer as count from logloom.tenants`;
  if (count > 0) throw new Failure(`There are ${count} tenants already; nothing was imported.`);
  await sql.begin(async (tx) => {
    const existing = await tx`select p.plan_id, to_jsonb(p) as row from logloom.plans p`;
    const plans = new Map(existing.map(({ plan_id, row }) => [plan_id, row as Row]));
    await tx`delete from logloom.plans where true`;
    for (const { name } of tables) {
      for (const row of manifest.tables[name]) {
        // A limit that 0.1.0 did not have is the one of the plan that we ship under this name.
        const whole = name === "logloom.plans"
          ? { ...plans.get(String(row.plan_id)) ?? plans.get("free"), ...row }
          : row;
        plans.delete(String(name === "logloom.plans" ? row.plan_id : ""));
        await insert(tx, name, whole);
      }
    }
    for (const row of plans.values()) {
      await insert(tx, "logloom.plans", { ...row, is_default: false });
    }
  });
}

async function insert(tx: postgres.TransactionSql, table: string, row: Row): Promise<void> {
  const columns = await tx`
    select quote_ident(a.attname) as name
    from pg_attribute a
    where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = '' and a.attname = any (${Object.keys(row)})`;
  const names = columns.map(({ name }) => name).join(", ");
  await tx.unsafe(
    `insert into ${table} (${names})
     select ${names} from jsonb_populate_record(null::${table}, $1::text::jsonb)`,
    [JSON.stringify(row)],
  );
}

/** Sends each tenant's records by npm run ship, with a key that is revoked when they are there. */
export async function shipAll(
  databaseUrl: string,
  folder: string,
  url: string,
  say: (line: string) => void = console.log,
): Promise<void> {
  await using sql = open(databaseUrl);
  await requireThisVersion(sql);
  for (const { tenant_id, file, records } of (await readManifest(folder)).records) {
    if (!await exists(join(folder, file))) continue;
    const [key] = await sql`
      select k.key_id, k.key_value
      from logloom_private.issue_api_key(
        ${tenant_id}, ${`carried over, ${file}`}, now() + interval '7 days', '{ingest}', null
      ) k`;
    try {
      say(`${file}: ${records} records of ${JSON.stringify(tenant_id)}`);
      const { code } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--allow-all", `${checkout}/cli/logloom.ts`, "ship", join(folder, file)],
        env: { LOGLOOM_URL: url, LOGLOOM_API_KEY: key.key_value },
      }).spawn().status;
      if (code === 1) {
        throw new Failure(
          `${file} was not sent to its end. Erase what came of it (delete_logs), then run this again.`,
        );
      }
      await Deno.rename(join(folder, file), join(folder, `${file}.shipped`));
    } finally {
      await sql`update logloom.api_keys set revoked_at = now() where key_id = ${key.key_id}`;
    }
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await Deno.readTextFile(join(folder, manifestName)));
}

async function requireThisVersion(sql: postgres.Sql): Promise<void> {
  const [{ is_there }] = await sql`
    select to_regclass('logloom_private.blocks') is not null as is_there`;
  if (!is_there) throw new Failure("Install this version of Logloom first.");
}

function open(databaseUrl: string): postgres.Sql & AsyncDisposable {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: () => {},
    connection: { TimeZone: "UTC", DateStyle: "ISO", statement_timeout: 0 },
  });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end() });
}

if (import.meta.main) {
  await run(async () => {
    const { values, positionals: [verb, databaseUrl, folder, ...others] } = parseOptions({
      args: Deno.args,
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h" }, url: { type: "string" } },
    });
    if (values.help) return console.log(help);
    if (folder === undefined || others.length > 0) throw new Failure(help);
    if (verb === "export") {
      const { tables, records } = await exportFrom(databaseUrl, folder);
      for (const [name, rows] of Object.entries(tables)) console.log(`${name}: ${rows.length}`);
      const sum = records.reduce((sum, { records }) => sum + records, 0);
      return console.log(`records: ${sum}, of ${records.length} tenants`);
    }
    if (verb === "import") return await importInto(databaseUrl, folder);
    if (verb === "ship" && values.url) return await shipAll(databaseUrl, folder, values.url);
    throw new Failure(help);
  });
}
