import { randomUUID } from "node:crypto";
import { createReader } from "../../read/reader.ts";
import { checkDatabase } from "../doctor/database.ts";
import { checkHealth } from "../doctor/service.ts";
import { Failure } from "../failure.ts";
import { humanLine } from "../format_lines.ts";
import { readProfile } from "../profiles.ts";
import { exchange } from "../shipping/http_exchange.ts";
import { done, indent, left, type Step, todo } from "./steps.ts";
import type { Setup } from "./setup.ts";

/** How long a search may take to find the record. Usually it takes a second. */
const visibleWithinMs = 60_000;

/** How long after the migrations each job has run once. */
const firstRunWithinMs = 90_000;

/** Sends a record and waits until a search finds it. */
export function proofStep(setup: Setup): Step {
  const { project, profile, cli } = setup;
  return {
    name: "proof",
    look: () => Promise.resolve(todo("sends a record, and finds it by a search")),
    async run() {
      const stored = await readProfile(profile);
      const readKey = stored?.api_key ?? "";
      const proof = randomUUID();
      const record = { level: "info", service: "logloom-init", msg: "Logloom works", proof };
      const sent = await exchange(`${project.url}/functions/v1/ingest`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-API-Key": setup.appKey ?? readKey },
        body: JSON.stringify([record]),
        signal: cli.signal,
      });
      if (sent.body.ingested !== 1) {
        throw new Failure(`the record was not accepted: ${sent.reason}.`);
      }
      setup.say(`${indent}sent   ${JSON.stringify(record)}`);
      const reader = createReader({ url: project.url, key: readKey });
      for (const end = Date.now() + visibleWithinMs;;) {
        const { logs } = await reader.search(`service:logloom-init @proof:"${proof}"`, cli);
        if (logs.length === 1) {
          setup.say(`${indent}found  ${humanLine(logs[0], false)}`);
          return done("a record was sent, and found by a search");
        }
        if (Date.now() > end) {
          throw new Failure(
            `the record was accepted, but no search found it within ${visibleWithinMs / 1000} s: ` +
              `${cli.call("doctor")} says why.`,
          );
        }
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    },
  };
}

/** Runs doctor's checks of the project and its database. */
export function doctorStep({ project, cli, prepare }: Setup): Step {
  return {
    name: "doctor",
    look: () => Promise.resolve(todo("checks functions and database")),
    async run() {
      const find = async () => [
        ...await checkHealth(project.url, cli.signal, (await prepare()).health),
        ...await checkDatabase(project.query, cli.supabase, project.url, cli.signal),
      ];
      let findings = await find();
      const wrong = () => findings.filter(({ status }) => status === "wrong");
      // The first run of a job creates the partitions. pg_cron starts it within a minute.
      const isBeginning = () => wrong().some(({ check }) => check === "health of partitions");
      for (const end = Date.now() + firstRunWithinMs; isBeginning() && Date.now() < end;) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        findings = await find();
      }
      const bad = wrong();
      if (bad.length === 0) return done(`${findings.length} checks, nothing is wrong`);
      return left(
        bad.map(({ check, message }) => `${check}: ${message}`).join("; "),
        [...new Set(bad.map(({ todo }) => todo))].join(" "),
      );
    },
  };
}
