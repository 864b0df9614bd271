import { type Database, openDatabase } from "./database.ts";
import { stack } from "./stack.ts";

/** Creates a database without jobs. */
export async function ownDatabase(name: string, max = 1): Promise<Database> {
  const admin = openDatabase(undefined, 1);
  await admin`drop database if exists ${admin(name)} with (force)`;
  await admin`create database ${admin(name)} template pgtap owner postgres`;
  const url = new URL(stack.adminDatabaseUrl);
  url.pathname = `/${name}`;
  const sql = openDatabase(url.href, max);
  return Object.assign(sql, {
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 1 });
      await admin`drop database ${admin(name)} with (force)`;
      await admin.end();
    },
  });
}
