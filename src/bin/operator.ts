import { main } from "../cli/main.ts";

process.exitCode = await main(["operator", ...process.argv.slice(2)]);
