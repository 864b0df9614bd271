import assert from "node:assert/strict";
import { withoutComments } from "./function_comments.ts";

Deno.test("only comments and blanks outside of texts make no difference", () => {
  const body =
    "begin\n  -- Why.\n  return 'a  b' || e'\\'--c' || \"d--e\" /* f */ || $x$ -- g $x$;\nend;";
  assert.equal(
    withoutComments(body),
    "begin return 'a  b' || e'\\'--c' || \"d--e\" || $x$ -- g $x$; end;",
  );
  assert.equal(
    withoutComments(body.replace("-- Why.", "-- Another\n  -- reason.")),
    withoutComments(body),
  );
  for (
    const [text, other] of [["a  b", "a b"], ["--c", "--d"], ["d--e", "d--f"], ["-- g", "-- h"]]
  ) {
    assert.notEqual(withoutComments(body.replace(text, other)), withoutComments(body));
  }
});
