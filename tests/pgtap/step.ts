import { checkout, databasePassword } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";
import {
  atLeastOneFailure,
  chosenTests,
  type Context,
  output,
  type Step,
  type StepResult,
  sum,
} from "../runner/step.ts";
import { proveFileTimes } from "../runner/file_times.ts";
import { pgtapDatabase } from "../runner/test_stack.ts";

export const pgtap: Step = {
  name: "pgtap",
  title: "the database, by pg_prove",
  needsStack: true,
  run: proveAll,
};

async function proveAll({ files, stack: testStack }: Context): Promise<StepResult> {
  if (!testStack) throw new Error("pgTAP needs a stack");
  const { stack, system } = testStack;
  // Files that tests include end in .psql, so that no runner takes them for tests.
  const all = (await walk(["supabase/tests", "citus"])).filter((path) => /\.p?sql$/.test(path));
  const tests = await chosenTests(
    files.length ? files : ["supabase/tests", "citus/tests"],
    ".test.sql",
  );
  if (tests.length === 0) return { passed: 0, failed: 0 };

  // pg_prove sees the stack's folder, not necessarily the checkout.
  const folder = `${system.folder(stack)}/tests`;
  for (const path of all) {
    const copy = `${folder}/${path}`;
    await system.makeFolder("postgres", copy.slice(0, copy.lastIndexOf("/")));
    await system.writeFile("postgres", copy, await Deno.readTextFile(`${checkout}/${path}`));
  }
  const prove = async (paths: string[], sealed?: string): Promise<StepResult> => {
    if (paths.length === 0) return { passed: 0, failed: 0 };
    if (sealed) console.log(`with the records of each test ${sealed}:`);
    const { code, text } = await output(
      system.command("postgres", "/usr/bin/pg_prove", [
        "--timer",
        "--psql-bin",
        `${system.postgresBin}/psql`,
        "--host=127.0.0.1",
        `--port=${stack.ports.postgres}`,
        "--username=postgres",
        `--dbname=${pgtapDatabase}`,
        ...paths.map((path) => `${folder}/${path}`),
      ]),
      {
        PGPASSWORD: databasePassword,
        TZ: "UTC",
        LC_ALL: "C.UTF-8",
        PGOPTIONS: sealed ? `-c logloom_test.sealed=${sealed}` : "",
      },
      (line) => line.replaceAll(`${folder}/`, "").replaceAll("supabase/tests/", ""),
    );
    const run = Number(/^Files=\d+, Tests=(\d+)/m.exec(text)?.[1] ?? 0);
    const failed = [...text.matchAll(/Failed (\d+)\/\d+ subtests/g)]
      .reduce((sum, [, count]) => sum + Number(count), 0);
    return {
      ...atLeastOneFailure(code, run - failed, failed),
      files: proveFileTimes(text.replaceAll(`${folder}/`, "")),
    };
  };
  // Tests that read records run three times: with rows, with sealed records, and with both. The answers must be the
  // same.
  const reading = tests.filter((path) =>
    /\/tests\/search\/(?!plans|counts_|days\.|a_slow)/.test(path)
  );
  return sum([await prove(tests), await prove(reading, "all"), await prove(reading, "some")]);
}
