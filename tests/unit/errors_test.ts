import assert from "node:assert/strict";
import { errorsFile, errorsIn, pageOfErrors, raisedErrors } from "../../local/migrations/errors.ts";

Deno.test("docs/errors.md lists what the database can raise, each once, and nothing else", async () => {
  const page = await Deno.readTextFile(errorsFile);
  const listed = [...page.matchAll(/^\| `(PT\d{3})` *\| `(.*?)` *\|/gm)]
    .map(([, code, message]) => `${code} ${message.replaceAll("\\|", "|")}`);
  const raised = (await raisedErrors()).map(({ code, message }) => `${code} ${message}`);
  assert.ok(raised.length > 50);
  assert.deepEqual(listed.sort(), raised.sort());
});

Deno.test("an error is found however its message is put together", () => {
  assert.deepEqual(
    errorsIn(`
      raise sqlstate 'PT404' using
        message = 'It isn''t there, sorry',
        hint = 'Look elsewhere.';
      raise sqlstate 'PT400' using message = 'Missing: ' || p_name || '!';
      raise sqlstate 'PT400' using
        message = format('%s of %s; %I', v_a, coalesce(v_b, 'x')), hint = 'None, (really)';
      perform logloom_private.query_refuse(
        p_positions[v_at],
        'A term is missing'
          || case when v_token = '' then ' at the end' else ' before ' || v_token end,
        'Hint'
      );
      perform logloom_private.refuse_ingest(429, format('Too many: %s', v_n), 'Hint', v_headers);
      perform logloom_private.query_regex_refuse(v_position, v_part || ' is none');
      raise sqlstate 'PT400' using message = p_message, hint = p_hint;
      comment on constraint a_is_b on logloom.a is
        'Invalid a: no b
      Send b.';
    `),
    [
      { code: "PT404", message: "It isn't there, sorry", hint: "Look elsewhere." },
      { code: "PT400", message: "Missing: …!" },
      { code: "PT400", message: "… of …; …", hint: "None, (really)" },
      { code: "PT400", message: "A term is missing at the end", hint: "Hint" },
      { code: "PT400", message: "A term is missing before …", hint: "Hint" },
      { code: "PT400", message: "Regular expression: … is none" },
      { code: "PT429", message: "Too many: …", hint: "Hint" },
      { code: "PT400", message: "Invalid a: no b" },
    ],
  );
});

Deno.test("a page of errors loses what nothing raises, and gains what is new under its room", () => {
  const page = `## Parameters

| code    | message | when |
| ------- | ------- | ---- |
| \`PT400\` | \`Kept \\| …\` | Somebody wrote this. |
| \`PT400\` | \`Gone\` | |

## Ingest

| code    | message | when |
| ------- | ------- | ---- |
| \`PT503\` | \`Full\` | |

## The end
`;
  const raised = [
    { code: "PT400", message: "Kept | …", room: "foundations" },
    { code: "PT503", message: "Full", room: "ingest" },
    { code: "PT429", message: "Slower", hint: "Wait … s.", room: "ingest" },
    { code: "PT400", message: "New", room: "foundations" },
  ];
  const expected = page
    .replace("| `PT400` | `Gone` | |", "| `PT400` | `New` |  |")
    .replace("`Full` | |", "`Full` | |\n| `PT429` | `Slower` | Wait … s. |");
  assert.equal(pageOfErrors(page, raised), expected);
});
