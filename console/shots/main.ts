// npm run console:shots [-- NAME…]: pictures of every screen, or of those that are named, of a day of logs on the
// running local stack, in both themes and two widths; and those that the documents have.
import { run } from "../../local/failure.ts";
import { installConsolePackages } from "../../local/console.ts";

await run(async () => {
  // What drives the browser is one of these packages: it is there only now.
  await installConsolePackages("all");
  const { takePictures } = await import("./pictures.ts");
  await takePictures(Deno.args);
});
