import assert from "node:assert/strict";
import {
  pageWithPicture,
  picture,
  pictureFile,
  upwardArrows,
  uses,
  usesIn,
} from "./rooms_picture.ts";
import { rooms } from "./schemas.ts";

const house = [
  {
    path: "supabase/schemas/cellar/tables/wine.sql",
    text: `
      -- logloom_private.light is not for here.
      create table logloom.wine (wine_id uuid primary key);
      comment on table logloom.wine is 'Read by logloom_private.light; 1'
        ' and others.';
    `,
  },
  {
    path: "supabase/schemas/hall/door.sql",
    text: `
create function logloom_private.door() returns void as $$
begin
  execute 'select logloom_private.light()';
end;
$$;`,
  },
  {
    path: "supabase/schemas/roof/light.sql",
    text: `
create function logloom_private.light() returns void as $$
  select from logloom.wine, logloom_private.door();
$$;
create procedure public.light() as $$call logloom_private.light()$$;`,
  },
];
const order = ["cellar", "hall", "roof"];

Deno.test("no room uses an object of a later room", async () => {
  const found = await uses();
  assert.ok(found.length > 100);
  assert.deepEqual(upwardArrows(found, await rooms()), []);
});

Deno.test("the picture of the rooms is current: npm run migration", async () => {
  assert.equal(await Deno.readTextFile(pictureFile), await pageWithPicture());
});

Deno.test("a use is found in code and in dynamic SQL, but not in comments", () => {
  const found = usesIn(house);
  assert.deepEqual(upwardArrows(found, order), [
    "supabase/schemas/hall/door.sql uses logloom_private.light of roof, a later room",
  ]);
  assert.equal(
    picture(found, order),
    "```mermaid\ngraph TD\n  roof --> cellar\n  roof --> hall\n```",
  );
});
