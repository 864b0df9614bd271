import { deepStrictEqual } from "node:assert/strict";
import { sqlStyleFaults } from "./style.ts";

Deno.test("lower-case SQL with an indentation of two spaces has no fault", () => {
  const text = `-- A Comment may say SELECT.
create function logloom_private.greet(p_name text)
returns text
as $$
begin
  return 'Hello, It''s ' || p_name || e'\\'NOW\\'' || "Quoted" || $json$ {"A": 1} $json$;
end;
$$;
`;
  deepStrictEqual(sqlStyleFaults(text), []);
});

Deno.test("each fault of the style is reported with its line", () => {
  const text = `select 1;\n\tselect 2; \n\n\nSELECT 3;\n   select 4;\nselect '${
    "x".repeat(100)
  }';\nend`;
  deepStrictEqual(sqlStyleFaults(text), [
    { line: 2, message: "a tab; indent with two spaces" },
    { line: 2, message: "blanks at the end of the line" },
    { line: 4, message: "a second empty line" },
    { line: 5, message: "upper case: SELECT" },
    { line: 6, message: "indented by an odd number of spaces" },
    { line: 7, message: "longer than 100 columns" },
    { line: 8, message: "no newline at the end of the file" },
  ]);
});

Deno.test("code between $$ and $$ is read as code", () => {
  deepStrictEqual(sqlStyleFaults("do $$\nBEGIN\n  null;\nend\n$$;\n"), [
    { line: 2, message: "upper case: BEGIN" },
  ]);
});
