// npm run console:shots [-- NAME…]: takes pictures of the running local stack, in both themes and two widths: of every
// screen, or of the named ones. Also takes the pictures for the docs.
import { run } from "../../local/exit_on_failure.ts";
import { installConsolePackages } from "../../local/build_console.ts";

await run(async () => {
  // The browser driver is one of these packages, so it is imported after they are installed.
  await installConsolePackages("all");
  const { takePictures } = await import("./pictures.ts");
  await takePictures(Deno.args);
});
