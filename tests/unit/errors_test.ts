import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { errorsIn, raisedErrors } from "../raised_errors.ts";

Deno.test("docs/errors.md lists what the database can raise, each once, and nothing else", async () => {
  const page = await Deno.readTextFile(`${checkout}/docs/errors.md`);
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
      perform private.query_refuse(
        p_positions[v_at],
        'A term is missing'
          || case when v_token = '' then ' at the end' else ' before ' || v_token end,
        'Hint'
      );
      perform private.refuse_ingest(429, format('Too many: %s', v_n), 'Hint', v_headers);
      perform private.query_regex_refuse(v_position, v_part || ' is none');
      raise sqlstate 'PT400' using message = p_message, hint = p_hint;
      comment on constraint a_is_b on app.a is
        'Invalid a: no b
      Send b.';
    `),
    [
      { code: "PT404", message: "It isn't there, sorry" },
      { code: "PT400", message: "Missing: …!" },
      { code: "PT400", message: "… of …; …" },
      { code: "PT400", message: "A term is missing at the end" },
      { code: "PT400", message: "A term is missing before …" },
      { code: "PT400", message: "Regular expression: … is none" },
      { code: "PT429", message: "Too many: …" },
      { code: "PT400", message: "Invalid a: no b" },
    ],
  );
});
