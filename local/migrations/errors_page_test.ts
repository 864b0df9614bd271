import assert from "node:assert/strict";
import { errorsFile, pageOfErrors, type Register, registerIn, registers } from "./errors_page.ts";

Deno.test("docs/reference/errors.md has a table for each register, with each of its errors", async () => {
  const page = await Deno.readTextFile(errorsFile);
  const all = await registers();
  const listed = [...page.matchAll(/^\| `PT\d{3}` *\|/gm)].length;
  assert.equal(listed, all.flatMap(({ errors }) => errors).length);
  assert.ok(listed > 150);
  const written = (text: string) => text.replace(/ +\|/g, " |").replace(/-+/g, "-");
  assert.equal(
    written(pageOfErrors(page, all)).replace(/\s+/g, " "),
    written(page).replace(/\s+/g, " "),
  );
});

Deno.test("a register is read as PostgreSQL reads it", () => {
  const rows = `
  return query
  select e.name, e.status, e.message, coalesce(
      e.hint,
      'What else'
        ' is there?'
    ),
    e.explanation
  from (
    values
    ('a.b', 404, 'It isn''t (there), 100%%', null, null),
    ('a.c', 400, 'Missing: '
        'much',
      'Send %s.', 'It, too, is
missing.')
  ) e (name, status, message, hint, explanation);`;
  assert.deepEqual(registerIn(rows), {
    hint: "What else is there?",
    errors: [
      {
        name: "a.b",
        status: 404,
        message: "It isn't (there), 100%%",
        hint: null,
        explanation: null,
      },
      {
        name: "a.c",
        status: 400,
        message: "Missing: much",
        hint: "Send %s.",
        explanation: "It, too, is\nmissing.",
      },
    ],
  });
});

Deno.test("a register that cannot be read to its end is an error", () => {
  const values = (rows: string) => `return query values\n ${rows};`;
  assert.throws(() => registerIn("select 1"), /list of values/);
  assert.throws(() => registerIn(values("('a.b', 404, 'A', 'B')")), /A row is not/);
  assert.throws(() => registerIn(values("('a.b', 404, 'A', null, null) or true")), /not a row/);
  assert.throws(() => registerIn(values("('a.b', 404, 'A' || 'B', null, null)")), /A row is not/);
});

Deno.test("the page of errors drops removed errors, adds new ones and keeps the text beside the tables", () => {
  const page = (rows: string) =>
    `## Parameters

<!-- errors: parameters -->

${rows}
<!-- errors -->

Beside it.
`;
  const register: Register = {
    name: "parameters",
    hint: "Read <this>.",
    errors: [
      {
        name: "parameters.a",
        status: 400,
        message: "A | %s",
        hint: "Send %2$s%s*.",
        explanation: null,
      },
      {
        name: "parameters.b",
        status: 404,
        message: "100%%",
        hint: "No.",
        explanation: "It is `gone`.",
      },
      { name: "parameters.c", status: 429, message: "Full", hint: null, explanation: null },
    ],
  };
  assert.equal(
    pageOfErrors(page("| `PT400` | `Gone` | |\n"), [register]),
    page(`The hint of errors without one here: Read \\<this>.

| code | name | message | when, or what to do |
| --- | --- | --- | --- |
| \`PT400\` | \`parameters.a\` | \`A \\| …\` | Send …\\*. |
| \`PT404\` | \`parameters.b\` | \`100%\` | It is \`gone\`. |
| \`PT429\` | \`parameters.c\` | \`Full\` |  |
`),
  );
  assert.throws(() => pageOfErrors("## Parameters\n", [register]), /no marks/);
});
