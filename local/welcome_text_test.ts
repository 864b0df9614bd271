import assert from "node:assert/strict";
import type { State } from "./stack_state.ts";
import { welcome } from "./welcome_text.ts";

Deno.test("a start prints the address and the anon key, which supabase-js needs", () => {
  const said: string[] = [];
  const { log } = console;
  console.log = (text: string) => said.push(text);
  try {
    welcome(
      {
        url: "http://u",
        anonKey: "eyJ",
        databaseUrl: "d",
        logs: "l",
        warnings: [],
      } as never as State,
    );
  } finally {
    console.log = log;
  }
  assert.match(said.join("\n"), /API {8}http:\/\/u\n {2}Anon key {3}eyJ\n/);
});
