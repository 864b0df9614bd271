import postgres from "postgres";
import { removeCluster } from "../local/database.ts";
import { Failure } from "../local/failure.ts";
import { removeIfThere } from "../local/files.ts";
import { databaseUrl, type Stack, stackNamed } from "../local/stack.ts";
import { runningState } from "../local/state.ts";
import { prepareSystem, type System } from "../local/system.ts";
import { endLeftovers, up } from "../local/up.ts";

/** The database that pgTAP tests in: as migrated, with no job at work in it. */
export const pgtapDatabase = "pgtap";

export interface TestStack {
  stack: Stack;
  system: System;
  stop(): Promise<void>;
}

/** Starts a stack of the tests' own, with no data of an earlier run, beside whatever else runs. */
export async function startTestStack(): Promise<TestStack> {
  const progress = (step: string) => console.log(`  ${step} …`);
  const stack = stackNamed("test");
  if (await runningState(stack)) {
    throw new Failure("Another npm test of this checkout is running; wait until it has ended.");
  }
  const system = await prepareSystem(progress);
  await endLeftovers(stack);
  await removeCluster(system, stack);
  await removeIfThere(stack.folder);
  // Notifications go to receivers that the tests start: any port for webhooks, this one for email.
  Deno.env.set("LOGLOOM_ALLOW_LOCAL_WEBHOOKS", "1");
  Deno.env.set("LOGLOOM_SMTP_HOST", "127.0.0.1");
  Deno.env.set("LOGLOOM_SMTP_PORT", `${stack.ports.internal + 9}`);
  Deno.env.set("LOGLOOM_SMTP_FROM", "Logloom <alerts@logloom.example>");
  const running = await up(stack, system, {
    progress,
    afterDatabase: () => clonePgtapDatabase(stack),
  });
  return {
    stack,
    system,
    stop: async () => {
      await running.stop();
      await removeCluster(system, stack);
    },
  };
}

export function pgtapUrl(stack: Stack): string {
  return databaseUrl("postgres", stack.ports.postgres, pgtapDatabase);
}

/** A database can be cloned while nobody is in it: pg_cron's launcher is kept out meanwhile. */
async function clonePgtapDatabase(stack: Stack): Promise<void> {
  const url = databaseUrl("supabase_admin", stack.ports.postgres, "template1");
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`alter database postgres with allow_connections false`;
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'postgres'`;
    await sql`create database ${sql(pgtapDatabase)} template postgres owner postgres`;
  } finally {
    await sql`alter database postgres with allow_connections true`;
    await sql.end();
  }
}
