import assert from "node:assert/strict";
import { propertiesOf } from "../../console/src/portal/theme.ts";

Deno.test("an accent is only as dark or light as needed to be readable", () => {
  const properties = propertiesOf({ accent: "#0F7" });
  assert.deepEqual(
    [properties["--accent"], properties["--accent-text"]],
    ["light-dark(#00803c, #00ff77)", "light-dark(#ffffff, #06201d)"],
  );
  assert.match(propertiesOf({ accent: "#7c2fb8" })["--accent"], /^light-dark\(#7c2fb8, /);
});

Deno.test("an invalid colour, font or radius is ignored", () => {
  for (
    const accent of ["#12345", "red", "#fff; x: y", "var(--x)", "url(x)", "", {}, null, ["#fff"]]
  ) {
    assert.deepEqual(propertiesOf({ accent }), {}, String(accent));
  }
  for (
    const font of [
      'a"; } b { c: d',
      "Inter; color: red",
      "url(//evil.example)",
      "a\\",
      "",
      {},
      null,
    ]
  ) {
    assert.deepEqual(propertiesOf({ font }), {}, String(font));
  }
  for (const radius of ["17", "-1", "1e9", "8px", "NaN", "", {}, undefined]) {
    assert.deepEqual(propertiesOf({ radius }), {}, String(radius));
  }
  assert.deepEqual(propertiesOf({ radius: "8", font: "Inter, 'Open Sans', system-ui" }), {
    "--radius": "8px",
    "--sans": '"Inter", "Open Sans", system-ui, sans-serif',
  });
});
