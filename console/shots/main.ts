// npm run console:shots [-- NAME…]: pictures of every screen, or of the named ones, with a day of logs on the running
// local stack, in both themes and two widths; and the pictures of the documents.
import { run } from "../../local/exit_on_failure.ts";
import { installConsolePackages } from "../../local/console.ts";

await run(async () => {
  // The browser driver is one of these packages: it exists only now.
  await installConsolePackages("all");
  const { takePictures } = await import("./pictures.ts");
  await takePictures(Deno.args);
});
