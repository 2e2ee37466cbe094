import { main } from "../mesh-node/main.ts";

process.exitCode = await main(process.argv.slice(2));
