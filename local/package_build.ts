import { run } from "./exit_on_failure.ts";
import { buildPackage } from "./npm_package.ts";

// npm run package:build: makes the tarball that an application installs.
await run(async () => {
  const packed = await buildPackage((step) => console.log(`  ${step} …`));
  console.log(`\nInstall it into an application:\n\n  npm install ${packed}\n`);
});
